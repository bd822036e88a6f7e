//===- RaggedGeneralizeContract.cpp - Contractions as generics
//--------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Dims that only one operand has and that nothing needs later are summed
//    away first.
// 2. Operands are contracted two by two, from left to right; each step is one
//    generic.
//
//===----------------------------------------------------------------------===//

#include "Equation.h"
#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
/// A value and the letters of its logical dims.
struct Term {
  Value value;
  std::string letters;

  bool has(char letter) const {
    return letters.find(letter) != std::string::npos;
  }
};

class Contraction {
public:
  Contraction(ContractOp op, RewriterBase &rewriter)
      : op(op), builder(rewriter, op.getLoc()) {}
  Value run();

private:
  Term sumAway(Term term, StringRef needed);
  Term combine(ArrayRef<Term> terms, StringRef output, bool batch);
  Value sumMembers(Value value);
  Type getSumType(ArrayRef<Term> terms, StringRef output, bool batch) const;

  ContractOp op;
  GenericBuilder builder;
};
} // namespace

static bool isIn(char letter, StringRef letters) {
  return letters.contains(letter);
}

/// R6: the type in which a step adds up.
Type Contraction::getSumType(ArrayRef<Term> terms, StringRef output,
                             bool batch) const {
  Type type =
      getAccumulatorType(LogicalType::of(terms.front().value).elementType);
  if (!type.isF32())
    return type;
  bool rows = false, columns = false, ragged = batch;
  for (const Term &term : terms) {
    LogicalType logical = LogicalType::of(term.value);
    for (auto [dim, letter] : llvm::enumerate(term.letters)) {
      bool isKept = isIn(letter, output);
      ragged |= !isKept && logical.isRagged(dim);
      if (terms.size() != 2 || !isKept)
        continue;
      const Term &other = terms[&term == &terms[0] ? 1 : 0];
      (&term == &terms[0] ? rows : columns) |= !other.has(letter);
    }
  }
  // Products of matrices add up blocks of terms, see ragged.tile_contract.
  if (ragged && !(rows && columns))
    return Float64Type::get(type.getContext());
  return type;
}

/// The product of one or two terms, summed over what `output` leaves out: one
/// generic, and one more for the last of several components of the path.
Term Contraction::combine(ArrayRef<Term> terms, StringRef output, bool batch) {
  MLIRContext *context = op.getContext();
  GenericBuilder::Spec spec;
  std::string letters = output.str();
  SmallVector<StringAttr> path;
  for (const Term &term : terms) {
    path = *joinPaths(path, LogicalType::of(term.value).path);
    // A sum over one element is that element: no dim of the generic.
    for (auto [dim, letter] : llvm::enumerate(term.letters))
      if (!isIn(letter, letters) &&
          LogicalType::of(term.value).extents[dim].getConstant() != 1)
        letters += letter;
  }
  auto positionOf = [&](char letter) { return letters.find(letter); };
  spec.dims.resize(letters.size());
  for (const Term &term : terms) {
    LogicalType type = LogicalType::of(term.value);
    SmallVector<AffineExpr> exprs;
    for (auto [dim, letter] : llvm::enumerate(term.letters)) {
      if (!isIn(letter, letters)) {
        exprs.push_back(getAffineConstantExpr(0, context));
        continue;
      }
      spec.dims[positionOf(letter)] = type.extents[dim];
      exprs.push_back(getAffineDimExpr(positionOf(letter), context));
    }
    spec.inputs.push_back(term.value);
    spec.maps.push_back(AffineMap::get(letters.size(), 0, exprs, context));
  }
  SmallVector<AffineExpr> kept;
  SmallVector<ExtentAttr> extents;
  for (size_t dim = 0; dim < letters.size(); ++dim) {
    spec.reduction.push_back(dim >= output.size());
    if (spec.reduction.back())
      continue;
    kept.push_back(getAffineDimExpr(dim, context));
    extents.push_back(spec.dims[dim]);
  }
  spec.path = path;
  bool overMembers = batch && path.size() > 1;
  batch &= !overMembers;
  spec.batchReduced = batch;
  spec.outputMap = AffineMap::get(letters.size(), 0, kept, context);
  if (batch)
    path.pop_back();

  bool sums = batch || output.size() != letters.size();
  Type narrow = LogicalType::of(terms.front().value).elementType;
  Type type =
      sums ? getSumType(terms, output, batch) : getAccumulatorType(narrow);
  LogicalType result(path, extents, type);
  spec.init = sums ? builder.fill(result, getNumberAttr(type, 0))
                   : builder.empty(result);
  bool isFloat = isa<FloatType>(type), isBool = type.isInteger(1);
  auto flags =
      arith::FastMathFlagsAttr::get(context, arith::FastMathFlags::contract);
  Value value = builder.build(spec, [&](OpBuilder &b, Location l,
                                        ValueRange x) {
    Value product;
    for (Value input : x.drop_back()) {
      input = makeFloat(b, l, type, input);
      if (!product)
        product = input;
      else if (isFloat)
        product = arith::MulFOp::create(b, l, product, input, flags);
      else
        product = isBool
                      ? arith::AndIOp::create(b, l, product, input).getResult()
                      : arith::MulIOp::create(b, l, product, input).getResult();
    }
    if (!sums)
      return product;
    if (isFloat)
      return arith::AddFOp::create(b, l, x.back(), product, flags).getResult();
    return isBool ? arith::OrIOp::create(b, l, x.back(), product).getResult()
                  : arith::AddIOp::create(b, l, x.back(), product).getResult();
  });
  if (overMembers)
    value = sumMembers(value);
  return {builder.convertFloat(value, getAccumulatorType(narrow)),
          output.str()};
}

/// The sum over the last of several components of the path.
Value Contraction::sumMembers(Value value) {
  Type narrow = LogicalType::of(value).elementType;
  Type wide = nested::ragged::getSumType(narrow, /*overRows=*/true);
  ReduceKind kind = narrow.isInteger(1) ? ReduceKind::Any : ReduceKind::Sum;
  return builder.reduceMembers(
      value, getIdentity(kind, wide),
      [&](OpBuilder &b, Location l, ValueRange x) -> Value {
        Value element = wide == narrow ? x[0] : makeFloat(b, l, wide, x[0]);
        return nested::ragged::combine(kind, wide, b, l, element, x[1]);
      },
      wide);
}

/// The term without the letters that are not among `needed`.
Term Contraction::sumAway(Term term, StringRef needed) {
  std::string kept;
  for (char letter : term.letters)
    if (isIn(letter, needed) && !isIn(letter, kept))
      kept += letter;
  bool drops = llvm::any_of(term.letters,
                            [&](char letter) { return !isIn(letter, needed); });
  return drops ? combine(term, kept, /*batch=*/false) : term;
}

Value Contraction::run() {
  Equation equation = Equation::of(op.getEquation());
  SmallVector<Term> terms;
  for (auto [value, letters] :
       llvm::zip_equal(op.getOperands(), equation.inputs))
    terms.push_back({value, letters});
  // Letters that are needed once the first `count` terms have been used.
  auto neededAfter = [&](size_t count) {
    std::string needed = equation.output;
    for (const Term &term : ArrayRef(terms).drop_front(count))
      needed += term.letters;
    return needed;
  };
  Term result = terms.front();
  if (terms.size() == 1)
    return combine(result, equation.output, op.getBatch()).value;
  for (size_t i = 1; i < terms.size(); ++i) {
    bool isLast = i + 1 == terms.size();
    Term next = terms[i];
    std::string needed = neededAfter(i + 1);
    result = sumAway(result, needed + next.letters);
    next = sumAway(next, needed + result.letters);
    std::string output = equation.output;
    if (!isLast) {
      output.clear();
      for (char letter : result.letters + next.letters)
        if (isIn(letter, needed) && !isIn(letter, output))
          output += letter;
    }
    result = combine({result, next}, output, isLast && op.getBatch());
  }
  return result.value;
}

FailureOr<SmallVector<Value>> ContractOp::generalize(RewriterBase &rewriter) {
  Value value = Contraction(*this, rewriter).run();
  GenericBuilder builder(rewriter, getLoc());
  Type type = LogicalType::of(getResult()).elementType;
  return SmallVector<Value>{builder.convertFloat(value, type)};
}
