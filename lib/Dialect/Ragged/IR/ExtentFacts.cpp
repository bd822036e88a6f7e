//===- ExtentFacts.cpp - What the form of an extent proves ----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `e >= 0` is decided by bounding, one at a time, the atoms that are not
// symbols: floordiv between (a - c + 1) / c and a / c, min and max by their
// operands. What is then left is a polynomial over symbols, which are at least
// 0: it is not negative if no coefficient is.
//
//===----------------------------------------------------------------------===//

#include "ExtentTerms.h"

using namespace mlir;
using namespace nested::ragged;
using namespace nested::ragged::extent;

/// Bounds how deep expressions are taken apart, as each min or max with
/// several operands multiplies the work.
static constexpr unsigned maxDepth = 8;

static bool isNonNegative(ExtentAttr extent, unsigned depth);

/// Replaces the term at `position`, `k * atom`, by `k * value`, after all terms
/// were multiplied by `scale`.
static ExtentAttr replaceTerm(MLIRContext *context, Terms terms,
                              size_t position, ExtentAttr value,
                              int64_t scale) {
  int64_t coefficient = terms[position].coefficient;
  terms.erase(terms.begin() + position);
  ExtentAttr rest = mul(build(context, std::move(terms)), scale);
  return add(rest, mul(value, coefficient));
}

static bool isAtomNonNegative(ExtentAttr atom, unsigned depth) {
  if (atom.isSymbol())
    return true;
  if (atom.getKind() == ExtentKind::FloorDiv)
    return isNonNegative(atom.getOperands()[0], depth);
  auto test = [&](ExtentAttr operand) { return isNonNegative(operand, depth); };
  if (atom.getKind() == ExtentKind::Max)
    return llvm::any_of(atom.getOperands(), test);
  return llvm::all_of(atom.getOperands(), test);
}

static bool isNonNegative(ExtentAttr extent, unsigned depth) {
  if (!extent)
    return false;
  Terms terms = *getTerms(extent);
  if (depth == 0)
    return terms.empty();
  --depth;
  MLIRContext *context = extent.getContext();

  if (llvm::all_of(terms, [&](const Term &term) {
        return term.coefficient >= 0 &&
               llvm::all_of(term.atoms, [&](ExtentAttr atom) {
                 return isAtomNonNegative(atom, depth);
               });
      }))
    return true;

  for (auto [position, term] : llvm::enumerate(terms)) {
    ExtentAttr atom = term.getSingleAtom();
    if (!atom || atom.isSymbol())
      continue;
    ArrayRef<ExtentAttr> operands = atom.getOperands();
    if (atom.getKind() == ExtentKind::FloorDiv) {
      int64_t divisor = *operands[1].getConstant();
      ExtentAttr bound =
          term.coefficient < 0 ? operands[0] : add(operands[0], 1 - divisor);
      // Multiplied by the divisor: all is integer, and `>= 0` is kept.
      if (isNonNegative(replaceTerm(context, terms, position, bound, divisor),
                        depth))
        return true;
      continue;
    }
    auto test = [&, position = position](ExtentAttr operand) {
      return isNonNegative(replaceTerm(context, terms, position, operand, 1),
                           depth);
    };
    // The value is one of the operands: it suffices that all of them do. The
    // largest bounds from below, the smallest from above: then one is enough.
    bool isBoundUseful =
        (atom.getKind() == ExtentKind::Max) == (term.coefficient > 0);
    if (isBoundUseful ? llvm::any_of(operands, test)
                      : llvm::all_of(operands, test))
      return true;
  }
  return false;
}

bool extent::isKnownNonNegative(ExtentAttr extent) {
  return isNonNegative(extent, maxDepth);
}

bool extent::isKnownLE(ExtentAttr lhs, ExtentAttr rhs) {
  if (!lhs || !rhs)
    return false;
  return lhs == rhs || isKnownNonNegative(sub(rhs, lhs));
}

bool extent::isKnownDifferent(ExtentAttr lhs, ExtentAttr rhs) {
  ExtentAttr difference = sub(lhs, rhs);
  return difference && difference.isStatic() && difference.getConstant() != 0;
}
