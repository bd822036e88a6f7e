//===- Extent.cpp - Canonical integer expressions over symbols ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums are taken apart into terms (a coefficient and a sorted list of atoms),
// computed with, and put together again by `build`, the only place that makes
// Add and Mul.
//
//===----------------------------------------------------------------------===//

#include "ExtentTerms.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace nested::ragged;
using namespace nested::ragged::extent;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static int compareLists(ArrayRef<ExtentAttr> lhs, ArrayRef<ExtentAttr> rhs) {
  for (auto [l, r] : llvm::zip(lhs, rhs))
    if (int order = extent::compare(l, r))
      return order;
  if (lhs.size() == rhs.size())
    return 0;
  return lhs.size() < rhs.size() ? -1 : 1;
}

static int compareInts(int64_t lhs, int64_t rhs) {
  return lhs < rhs ? -1 : lhs > rhs;
}

/// Monomials: higher degree first, then by atoms.
static int compareAtoms(ArrayRef<ExtentAttr> lhs, ArrayRef<ExtentAttr> rhs) {
  if (lhs.size() != rhs.size())
    return lhs.size() > rhs.size() ? -1 : 1;
  return compareLists(lhs, rhs);
}

/// Atoms: symbols by name, then the others by kind and operands.
static int compareAtom(ExtentAttr lhs, ExtentAttr rhs) {
  if (lhs.getKind() != rhs.getKind())
    return lhs.getKind() < rhs.getKind() ? -1 : 1;
  if (lhs.isSymbol())
    return lhs.getName().getValue().compare(rhs.getName().getValue());
  return compareLists(lhs.getOperands(), rhs.getOperands());
}

static bool isAtom(ExtentAttr extent) {
  switch (extent.getKind()) {
  case ExtentKind::Constant:
  case ExtentKind::Add:
  case ExtentKind::Mul:
    return false;
  default:
    return true;
  }
}

int extent::compare(ExtentAttr lhs, ExtentAttr rhs) {
  if (lhs == rhs)
    return 0;
  if (isAtom(lhs) && isAtom(rhs))
    return compareAtom(lhs, rhs);
  Terms left = *getTerms(lhs), right = *getTerms(rhs);
  for (auto [l, r] : llvm::zip(left, right)) {
    if (int order = compareAtoms(l.atoms, r.atoms))
      return order;
    if (int order = compareInts(l.coefficient, r.coefficient))
      return order;
  }
  // The shorter sum has fewer terms of low degree: it comes last, as its
  // missing terms have degree "less than 0".
  return left.size() > right.size() ? -1 : left.size() < right.size();
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

static Term getTerm(ExtentAttr extent) {
  Term term;
  if (std::optional<int64_t> value = extent.getConstant()) {
    term.coefficient = *value;
    return term;
  }
  if (extent.getKind() != ExtentKind::Mul) {
    term.atoms.push_back(extent);
    return term;
  }
  ArrayRef<ExtentAttr> factors = extent.getOperands();
  if (std::optional<int64_t> value = factors.front().getConstant()) {
    term.coefficient = *value;
    factors = factors.drop_front();
  }
  term.atoms.assign(factors.begin(), factors.end());
  return term;
}

std::optional<Terms> extent::getTerms(ExtentAttr extent) {
  if (!extent)
    return std::nullopt;
  Terms terms;
  if (extent.getKind() == ExtentKind::Add) {
    for (ExtentAttr operand : extent.getOperands())
      terms.push_back(getTerm(operand));
  } else if (extent.getConstant() != 0) {
    terms.push_back(getTerm(extent));
  }
  return terms;
}

static ExtentAttr buildTerm(MLIRContext *context, const Term &term) {
  if (term.atoms.empty())
    return constant(context, term.coefficient);
  if (term.coefficient == 1 && term.atoms.size() == 1)
    return term.atoms.front();
  SmallVector<ExtentAttr> factors;
  if (term.coefficient != 1)
    factors.push_back(constant(context, term.coefficient));
  llvm::append_range(factors, term.atoms);
  return ExtentAttr::get(context, ExtentKind::Mul, 0, StringAttr(), factors);
}

ExtentAttr extent::build(MLIRContext *context, Terms terms) {
  llvm::sort(terms, [](const Term &lhs, const Term &rhs) {
    return compareAtoms(lhs.atoms, rhs.atoms) < 0;
  });
  SmallVector<ExtentAttr> operands;
  for (size_t i = 0, e = terms.size(); i < e;) {
    Term merged = terms[i++];
    for (; i < e && terms[i].atoms == merged.atoms; ++i)
      if (llvm::AddOverflow(merged.coefficient, terms[i].coefficient,
                            merged.coefficient))
        return {};
    // The one value whose magnitude cannot be written.
    if (merged.coefficient == std::numeric_limits<int64_t>::min())
      return {};
    if (merged.coefficient != 0)
      operands.push_back(buildTerm(context, merged));
  }
  if (operands.size() > maxTerms)
    return {};
  if (operands.empty())
    return constant(context, 0);
  if (operands.size() == 1)
    return operands.front();
  return ExtentAttr::get(context, ExtentKind::Add, 0, StringAttr(), operands);
}

//===----------------------------------------------------------------------===//
// Leaves, sums and products
//===----------------------------------------------------------------------===//

bool extent::isValidSymbolName(StringRef name) {
  if (name.empty() || !(llvm::isAlpha(name[0]) || name[0] == '_'))
    return false;
  if (!llvm::all_of(name, [](char c) {
        return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
      }))
    return false;
  return !llvm::is_contained({"floordiv", "mod", "min", "max"}, name);
}

ExtentAttr extent::constant(MLIRContext *context, int64_t value) {
  if (value == std::numeric_limits<int64_t>::min())
    return {};
  return ExtentAttr::get(context, ExtentKind::Constant, value, StringAttr(),
                         {});
}

ExtentAttr extent::symbol(MLIRContext *context, StringRef name) {
  if (!isValidSymbolName(name))
    return {};
  return ExtentAttr::get(context, ExtentKind::Symbol, 0,
                         StringAttr::get(context, name), {});
}

ExtentAttr extent::symbol(StringAttr name) {
  return name ? symbol(name.getContext(), name.getValue()) : ExtentAttr();
}

ExtentAttr extent::add(ExtentAttr lhs, ExtentAttr rhs) {
  if (!lhs || !rhs)
    return {};
  Terms terms = *getTerms(lhs);
  terms.append(*getTerms(rhs));
  return build(lhs.getContext(), std::move(terms));
}

ExtentAttr extent::mul(ExtentAttr lhs, ExtentAttr rhs) {
  if (!lhs || !rhs)
    return {};
  Terms left = *getTerms(lhs), right = *getTerms(rhs), product;
  // Like terms may still merge below `maxTerms`; this bounds the work.
  if (left.size() * right.size() > size_t(maxTerms) * 16)
    return {};
  for (const Term &l : left) {
    for (const Term &r : right) {
      Term term;
      if (llvm::MulOverflow(l.coefficient, r.coefficient, term.coefficient))
        return {};
      term.atoms.append(l.atoms);
      term.atoms.append(r.atoms);
      if (term.atoms.size() > maxTerms)
        return {};
      llvm::sort(term.atoms, [](ExtentAttr a, ExtentAttr b) {
        return compareAtom(a, b) < 0;
      });
      product.push_back(std::move(term));
    }
  }
  return build(lhs.getContext(), std::move(product));
}

ExtentAttr extent::add(ExtentAttr lhs, int64_t rhs) {
  return lhs ? add(lhs, constant(lhs.getContext(), rhs)) : ExtentAttr();
}

ExtentAttr extent::mul(ExtentAttr lhs, int64_t rhs) {
  return lhs ? mul(lhs, constant(lhs.getContext(), rhs)) : ExtentAttr();
}

ExtentAttr extent::neg(ExtentAttr operand) { return mul(operand, -1); }

ExtentAttr extent::sub(ExtentAttr lhs, ExtentAttr rhs) {
  return add(lhs, neg(rhs));
}

ExtentAttr extent::product(MLIRContext *context,
                           ArrayRef<ExtentAttr> operands) {
  ExtentAttr result = constant(context, 1);
  for (ExtentAttr operand : operands)
    result = mul(result, operand);
  return result;
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

static int64_t floorDivide(int64_t value, int64_t divisor) {
  int64_t quotient = value / divisor;
  return quotient - (value % divisor < 0);
}

ExtentAttr extent::floorDiv(ExtentAttr lhs, int64_t divisor) {
  if (!lhs || divisor <= 0)
    return {};
  if (divisor == 1)
    return lhs;
  MLIRContext *context = lhs.getContext();

  // Whole multiples come out: (c * q + r) floordiv c == q + r floordiv c.
  Terms whole, rest;
  int64_t common = divisor;
  Terms terms = *getTerms(lhs);
  for (const Term &term : terms) {
    int64_t quotient = floorDivide(term.coefficient, divisor);
    int64_t remainder = term.coefficient - quotient * divisor;
    if (quotient)
      whole.push_back({quotient, term.atoms});
    if (!remainder)
      continue;
    rest.push_back({remainder, term.atoms});
    if (!term.atoms.empty())
      common = std::gcd(common, remainder);
  }

  // (g * r + k) floordiv (g * c) == (r + k floordiv g) floordiv c.
  for (Term &term : rest)
    term.coefficient /= common;
  divisor /= common;
  ExtentAttr numerator = build(context, std::move(rest));
  ExtentAttr quotient = build(context, std::move(whole));
  if (!numerator || !quotient)
    return {};
  if (divisor == 1)
    return add(quotient, numerator);
  if (numerator.isStatic())
    return add(quotient, floorDivide(*numerator.getConstant(), divisor));

  // (x floordiv a + k) floordiv b == (x + a * k) floordiv (a * b).
  terms = *getTerms(numerator);
  const Term &first = terms.front();
  bool isNested =
      first.coefficient == 1 && first.atoms.size() == 1 &&
      first.atoms[0].getKind() == ExtentKind::FloorDiv &&
      (terms.size() == 1 || (terms.size() == 2 && terms[1].atoms.empty()));
  if (isNested) {
    ArrayRef<ExtentAttr> inner = first.atoms[0].getOperands();
    int64_t innerDivisor = *inner[1].getConstant();
    int64_t offset = 0, total = 0;
    bool overflow = llvm::MulOverflow(innerDivisor, divisor, total);
    if (terms.size() == 2)
      overflow |=
          llvm::MulOverflow(innerDivisor, terms[1].coefficient, offset) != 0;
    if (!overflow)
      return add(quotient, floorDiv(add(inner[0], offset), total));
  }

  // Values in [0, divisor) have no whole part.
  if (isKnownNonNegative(numerator) &&
      isKnownLE(numerator, constant(context, divisor - 1)))
    return quotient;

  return add(quotient,
             ExtentAttr::get(context, ExtentKind::FloorDiv, 0, StringAttr(),
                             {numerator, constant(context, divisor)}));
}

ExtentAttr extent::ceilDiv(ExtentAttr lhs, int64_t divisor) {
  if (divisor <= 0)
    return {};
  return floorDiv(add(lhs, divisor - 1), divisor);
}

ExtentAttr extent::mod(ExtentAttr lhs, int64_t divisor) {
  // Reducing the coefficients first keeps the products small.
  if (!lhs || divisor <= 0)
    return {};
  Terms terms = *getTerms(lhs);
  for (Term &term : terms)
    term.coefficient -= floorDivide(term.coefficient, divisor) * divisor;
  ExtentAttr reduced = build(lhs.getContext(), std::move(terms));
  return sub(reduced, mul(floorDiv(reduced, divisor), divisor));
}

//===----------------------------------------------------------------------===//
// Minimum and maximum
//===----------------------------------------------------------------------===//

static ExtentAttr buildMinMax(ExtentKind kind, ArrayRef<ExtentAttr> operands) {
  llvm::SmallSetVector<ExtentAttr, 4> flat;
  for (ExtentAttr operand : operands) {
    if (!operand)
      return {};
    if (operand.getKind() == kind)
      flat.insert_range(operand.getOperands());
    else
      flat.insert(operand);
  }
  // Not the value of an operand that another one bounds. Equal extents are one
  // object, so no two can bound each other.
  SmallVector<ExtentAttr> kept;
  for (ExtentAttr operand : flat) {
    bool isBounded = llvm::any_of(flat, [&](ExtentAttr other) {
      if (other == operand)
        return false;
      return kind == ExtentKind::Max ? isKnownLE(operand, other)
                                     : isKnownLE(other, operand);
    });
    if (!isBounded)
      kept.push_back(operand);
  }
  if (kept.empty())
    return {};
  if (kept.size() == 1)
    return kept.front();
  llvm::sort(kept, [](ExtentAttr lhs, ExtentAttr rhs) {
    return extent::compare(lhs, rhs) < 0;
  });
  return ExtentAttr::get(kept.front().getContext(), kind, 0, StringAttr(),
                         kept);
}

ExtentAttr extent::min(ArrayRef<ExtentAttr> operands) {
  return buildMinMax(ExtentKind::Min, operands);
}
ExtentAttr extent::max(ArrayRef<ExtentAttr> operands) {
  return buildMinMax(ExtentKind::Max, operands);
}
ExtentAttr extent::min(ExtentAttr lhs, ExtentAttr rhs) {
  return min({lhs, rhs});
}
ExtentAttr extent::max(ExtentAttr lhs, ExtentAttr rhs) {
  return max({lhs, rhs});
}

//===----------------------------------------------------------------------===//
// Symbols and values
//===----------------------------------------------------------------------===//

void ExtentAttr::getSymbols(
    llvm::SmallSetVector<StringAttr, 4> &symbols) const {
  if (isSymbol())
    symbols.insert(getName());
  for (ExtentAttr operand : getOperands())
    operand.getSymbols(symbols);
}

ExtentAttr
extent::substitute(ExtentAttr extent,
                   llvm::function_ref<ExtentAttr(StringAttr)> replacement) {
  if (!extent || extent.isStatic())
    return extent;
  if (extent.isSymbol()) {
    ExtentAttr replaced = replacement(extent.getName());
    return replaced ? replaced : extent;
  }
  SmallVector<ExtentAttr> operands;
  for (ExtentAttr operand : extent.getOperands())
    operands.push_back(substitute(operand, replacement));
  switch (extent.getKind()) {
  case ExtentKind::Add: {
    ExtentAttr sum = constant(extent.getContext(), 0);
    for (ExtentAttr operand : operands)
      sum = add(sum, operand);
    return sum;
  }
  case ExtentKind::Mul:
    return product(extent.getContext(), operands);
  case ExtentKind::FloorDiv:
    return floorDiv(operands[0], *operands[1].getConstant());
  case ExtentKind::Mod:
    return mod(operands[0], *operands[1].getConstant());
  case ExtentKind::Min:
    return min(operands);
  case ExtentKind::Max:
    return max(operands);
  default:
    return {};
  }
}

ExtentAttr extent::substitute(ExtentAttr extent, DictionaryAttr replacements) {
  return substitute(extent, [&](StringAttr name) {
    return replacements.getAs<ExtentAttr>(name);
  });
}

std::optional<int64_t>
extent::evaluate(ExtentAttr extent,
                 llvm::function_ref<std::optional<int64_t>(StringAttr)> value) {
  if (!extent)
    return std::nullopt;
  if (std::optional<int64_t> result = extent.getConstant())
    return result;
  if (extent.isSymbol())
    return value(extent.getName());
  std::optional<int64_t> result;
  for (ExtentAttr operandAttr : extent.getOperands()) {
    std::optional<int64_t> operand = evaluate(operandAttr, value);
    if (!operand)
      return std::nullopt;
    if (!result) {
      result = operand;
      continue;
    }
    switch (extent.getKind()) {
    case ExtentKind::Add:
      if (llvm::AddOverflow(*result, *operand, *result))
        return std::nullopt;
      break;
    case ExtentKind::Mul:
      if (llvm::MulOverflow(*result, *operand, *result))
        return std::nullopt;
      break;
    case ExtentKind::FloorDiv:
      result = floorDivide(*result, *operand);
      break;
    case ExtentKind::Mod:
      result = *result - floorDivide(*result, *operand) * *operand;
      break;
    case ExtentKind::Min:
      result = std::min(*result, *operand);
      break;
    case ExtentKind::Max:
      result = std::max(*result, *operand);
      break;
    default:
      return std::nullopt;
    }
  }
  return result;
}
