//===- RaggedHoistLinear.cpp - Linear maps before broadcasts --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each `linear`:
//
// 1. read its source as a sum of terms with fewer axes (LinearForm.h);
// 2. compare the cost of mapping each term with that of mapping the whole;
// 3. map the terms, and add the results where the whole was.
//
//===----------------------------------------------------------------------===//

#include "LinearForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDHOISTLINEAR
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedHoistLinear
    : nested::ragged::impl::RaggedHoistLinearBase<RaggedHoistLinear> {
  void runOnOperation() override;
};

/// Rewrites one function; values that several linear maps share are made once.
class Hoister {
public:
  explicit Hoister(func::FuncOp func) : func(func) {}
  void run();

private:
  /// Whether the terms can be mapped on their own.
  static bool isSplittable(const LinearForm &form);
  static Cost getCost(LinearOp op, const LinearForm &form);
  Value rewrite(LinearOp op, const LinearForm &form);
  /// The source of a term, centred and times its gains.
  Value getSource(TermBuilder &b, const Term &term);
  /// Along the last dim, with the accumulator's type.
  static Value getMean(TermBuilder &b, Value source);
  static Value getCentred(TermBuilder &b, Value source);
  /// The sum of the terms less their means, squared, as a value of type
  /// `whole`.
  Value getSquares(TermBuilder &b, NormalizeOp norm, const LogicalType &whole);
  /// 1 / sqrt(variance + eps) per row.
  Value getDeviation(TermBuilder &b, NormalizeOp norm);

  func::FuncOp func;
  LinearForms forms{/*normalize=*/true};
};
} // namespace

bool Hoister::isSplittable(const LinearForm &form) {
  int64_t last = form.type.getRank() - 1;
  return llvm::all_of(form.terms, [&](const Term &term) {
    return !term.source.dims.empty() && term.source.dims.back() == last &&
           variesAlong(term.source, form.type, last) &&
           LogicalType::of(term.source.value).areTrailingStatic(1);
  });
}

/// Multiply-adds count two. Per element of the result, a term is read, scaled
/// and added.
Cost Hoister::getCost(LinearOp op, const LinearForm &form) {
  LogicalType result = LogicalType::of(op.getResult());
  int64_t k = *LogicalType::of(op.getWeights()).extents[0].getConstant();
  Cost cost(op.getContext());
  NormalizeOp norm;
  for (const Term &term : form.terms) {
    LogicalType type = LogicalType::of(term.source.value);
    type.extents.back() = result.extents.back();
    cost.add(type, 2 * k);
    cost.add(result, 2 + term.scales.size());
    if (!term.norm)
      continue;
    // Centred once, squared for each row of the whole.
    cost.add(LogicalType::of(term.source.value), 4);
    cost.add(form.type, 2);
    norm = term.norm;
  }
  if (norm) {
    cost.add(result, 1);
    cost.add(form.type, 2);
  }
  return cost;
}

Value Hoister::getMean(TermBuilder &b, Value source) {
  Value wide = b.widen(source);
  LogicalType type = LogicalType::of(wide);
  int64_t last = type.getRank() - 1;
  int64_t columns = *type.extents[last].getConstant();
  Value sum = b.reduce(ReduceKind::Sum, wide, {last});
  return b.map(LogicalType::of(sum), sum,
               [&](OpBuilder &o, Location l, ValueRange x) {
                 return makeMul(o, l, x[0],
                                makeNumber(o, l, type.elementType,
                                           columns ? 1.0 / columns : 0.0));
               });
}

Value Hoister::getCentred(TermBuilder &b, Value source) {
  Value wide = b.widen(source);
  LogicalType type = LogicalType::of(wide);
  auto rows = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank() - 1));
  return b.map(type, {wide, b.broadcast({getMean(b, source), rows}, type)},
               [](OpBuilder &o, Location l, ValueRange x) -> Value {
                 return arith::SubFOp::create(o, l, x[0], x[1]);
               });
}

/// The sum of `inputs` times `factors`.
static Value createSum(OpBuilder &b, Location loc, ValueRange inputs,
                       ArrayRef<double> factors) {
  Value sum;
  for (auto [input, factor] : llvm::zip(inputs, factors)) {
    if (sum && factor == -1) {
      sum = arith::SubFOp::create(b, loc, sum, input);
      continue;
    }
    Value value = input;
    if (factor != 1)
      value =
          makeMul(b, loc, value, makeNumber(b, loc, input.getType(), factor));
    sum = sum ? makeAdd(b, loc, sum, value) : value;
  }
  return sum;
}

/// R6: the mean is taken off before squares are added up, as it is without the
/// rewrite. Off the whole where that is made for others too, so that the
/// centred terms need not be kept for it; else off the terms.
Value Hoister::getSquares(TermBuilder &b, NormalizeOp norm,
                          const LogicalType &whole) {
  Value source = norm.getSource();
  const LinearForm &form = forms.get(source);
  bool isMadeAnyway = form.type.elementType == whole.elementType &&
                      llvm::any_of(source.getUsers(), [](Operation *user) {
                        return !isa<NormalizeOp>(user);
                      });
  LogicalType type = whole;
  if (isMadeAnyway)
    type.extents.pop_back();
  type.order = RaggedTensorType::getDefaultOrder(type.extents);
  SmallVector<Value> inputs;
  SmallVector<double> factors;
  for (const Term &term : form.terms) {
    Placed part = term.source;
    if (isMadeAnyway)
      part.dims.pop_back();
    part.value =
        isMadeAnyway ? getMean(b, part.value) : getCentred(b, part.value);
    inputs.push_back(b.broadcast(part, type));
    factors.push_back(term.factor);
  }
  if (!isMadeAnyway)
    return b.map(whole, inputs, [&](OpBuilder &o, Location l, ValueRange x) {
      Value sum = createSum(o, l, x, factors);
      return makeMul(o, l, sum, sum);
    });
  Value mean = b.map(type, inputs, [&](OpBuilder &o, Location l, ValueRange x) {
    return createSum(o, l, x, factors);
  });
  auto rows = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return b.map(whole, {source, b.broadcast({mean, rows}, whole)},
               [](OpBuilder &o, Location l, ValueRange x) {
                 Value rest = arith::SubFOp::create(o, l, x[0], x[1]);
                 return makeMul(o, l, rest, rest);
               });
}

Value Hoister::getDeviation(TermBuilder &b, NormalizeOp norm) {
  LogicalType whole = LogicalType::of(norm.getSource());
  whole.elementType = getAccumulatorType(whole.elementType);
  int64_t last = whole.getRank() - 1;
  int64_t columns = *whole.extents[last].getConstant();
  Value squares = getSquares(b, norm, whole);
  Value sum = b.reduce(ReduceKind::Sum, squares, {last});
  Type type = whole.elementType;
  double eps = norm.getEps().convertToDouble();
  return b.map(
      LogicalType::of(sum), sum,
      [&](OpBuilder &o, Location l, ValueRange x) -> Value {
        Value perColumn = makeNumber(o, l, type, columns ? 1.0 / columns : 0.0);
        Value variance = makeMul(o, l, x[0], perColumn);
        Value root = math::SqrtOp::create(
            o, l, makeAdd(o, l, variance, makeNumber(o, l, type, eps)));
        return arith::DivFOp::create(o, l, makeNumber(o, l, type, 1), root);
      });
}

Value Hoister::getSource(TermBuilder &b, const Term &term) {
  Value source = term.source.value;
  if (term.norm)
    source = getCentred(b, source);
  for (Value gain : term.gains) {
    source = b.widen(source);
    LogicalType type = LogicalType::of(source);
    source = b.map(type, {source, b.widen(gain)},
                   [](OpBuilder &o, Location l, ValueRange x) {
                     return makeMul(o, l, x[0], x[1]);
                   });
  }
  return source;
}

Value Hoister::rewrite(LinearOp op, const LinearForm &form) {
  OpBuilder builder(op);
  TermBuilder b(builder, op.getLoc());
  LogicalType result = LogicalType::of(op.getResult()), whole = result;
  whole.elementType = getAccumulatorType(result.elementType);

  // Terms with the same scales are added before they are scaled.
  struct Group {
    SmallVector<Placed> scales;
    NormalizeOp norm;
    SmallVector<unsigned> inputs;
    SmallVector<double> factors;
    SmallVector<unsigned> scaleInputs;
  };
  std::vector<Group> groups;
  SmallVector<Value> inputs;
  Value bias = op.getBias();
  for (const Term &term : form.terms) {
    // The bias is where the sum of a dense term starts.
    bool addsBias = bias && LogicalType::of(term.source.value).isDense() &&
                    term.scales.empty() && !term.norm && term.factor == 1;
    Value mapped = b.linear(getSource(b, term), op.getWeights(),
                            addsBias ? bias : Value());
    if (addsBias)
      bias = Value();
    auto group = llvm::find_if(groups, [&](const Group &g) {
      return g.scales == term.scales && g.norm == term.norm;
    });
    if (group == groups.end()) {
      groups.push_back({term.scales, term.norm, {}, {}, {}});
      group = std::prev(groups.end());
    }
    group->inputs.push_back(inputs.size());
    group->factors.push_back(term.factor);
    inputs.push_back(b.broadcast({mapped, term.source.dims}, whole));
  }
  auto rows = llvm::to_vector(llvm::seq<int64_t>(0, whole.getRank() - 1));
  for (Group &group : groups) {
    SmallVector<Placed> scales(group.scales);
    if (group.norm)
      scales.push_back({getDeviation(b, group.norm), rows});
    for (Placed &scale : scales) {
      scale.value = b.widen(scale.value);
      group.scaleInputs.push_back(inputs.size());
      inputs.push_back(b.broadcast(scale, whole));
    }
  }
  std::optional<unsigned> biasInput;
  if (bias) {
    biasInput = inputs.size();
    inputs.push_back(b.widen(bias));
  }
  return b.map(result, inputs, [&](OpBuilder &o, Location l, ValueRange x) {
    Value sum;
    for (const Group &group : groups) {
      SmallVector<Value> values;
      for (unsigned input : group.inputs)
        values.push_back(x[input]);
      Value value = createSum(o, l, values, group.factors);
      for (unsigned input : group.scaleInputs)
        value = makeMul(o, l, value, x[input]);
      sum = sum ? makeAdd(o, l, sum, value) : value;
    }
    if (biasInput)
      sum = makeAdd(o, l, sum, x[*biasInput]);
    if (sum.getType() != result.elementType)
      sum = arith::TruncFOp::create(o, l, result.elementType, sum);
    return sum;
  });
}

void Hoister::run() {
  SmallVector<LinearOp> ops;
  func.walk([&](LinearOp op) { ops.push_back(op); });
  auto options =
      remark::RemarkOpts::name("HoistLinear").category("ragged-algebra");
  for (LinearOp op : ops) {
    const LinearForm &form = forms.get(op.getSource());
    if (form.isOpaque(op.getSource()) ||
        !isa<FloatType>(form.type.elementType) || !isSplittable(form))
      continue;
    LogicalType result = LogicalType::of(op.getResult());
    Cost before(op.getContext()), after = getCost(op, form);
    before.add(result, 2 * *form.type.extents.back().getConstant());
    if (!after.isLess(before)) {
      remark::missed(op.getLoc(), options)
          << remark::reason("its terms cost as much as their sum")
          << remark::metric("operations", before.str())
          << remark::metric("instead", after.str());
      continue;
    }
    Value value = rewrite(op, form);
    remark::passed(op.getLoc(), options)
        << remark::add("mapped before it is broadcast")
        << remark::metric("operations", after.str())
        << remark::metric("instead of", before.str());
    op.getResult().replaceAllUsesWith(value);
    op.erase();
    forms.clear();
  }
}

void RaggedHoistLinear::runOnOperation() {
  Hoister(getOperation()).run();
  eraseDeadOps(getOperation());
}
