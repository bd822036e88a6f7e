//===- RaggedReduceFirst.cpp - Reductions before what they commute with ---===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each sum and mean:
//
// 1. read its source as a sum of terms (LinearForm.h);
// 2. a term that is a linear map, whose result only reductions need, is reduced
//    before it is mapped; an axis that a term does not have is not reduced, the
//    term is counted instead;
// 3. what is left is added up and reduced as a whole.
//
// max and min of what does not have the axis are that itself.
//
//===----------------------------------------------------------------------===//

#include "LinearForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDREDUCEFIRST
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedReduceFirst
    : nested::ragged::impl::RaggedReduceFirstBase<RaggedReduceFirst> {
  void runOnOperation() override;
};

/// One reduction, while it is rewritten.
class Reducer {
public:
  Reducer(ReduceOp op, LinearForms &forms)
      : op(op), forms(forms), form(forms.get(op.getSource())), builder(op),
        b(builder, op.getLoc()), result(LogicalType::of(op.getResult())) {}
  /// The new value; null if nothing is gained.
  Value run();

private:
  bool isReduced(int64_t dim) { return llvm::is_contained(op.getDims(), dim); }
  /// Dims of the source that are reduced, a repeating one among them.
  SmallVector<int64_t> getReduced(const Placed &source);
  /// Product of the reduced extents along which nothing varies.
  ExtentAttr getRepeats(const Placed &source);
  /// The linear map that can follow the reduction of a term.
  LinearOp getLinear(const Term &term);
  bool feedsSumsOnly(Value value, unsigned depth = 0);
  /// What remains of `source` as a value of the result's dims.
  Placed reduce(ReduceKind kind, Value value, const Placed &source);
  Value runOnExtremum();
  /// `value` times `repeats`, or, in a mean, unless that is 0.
  Value count(OpBuilder &o, Location l, Value value, Value repeats,
              int64_t factor);
  void report(const Cost &before, const Cost &after);

  ReduceOp op;
  LinearForms &forms;
  const LinearForm &form;
  OpBuilder builder;
  TermBuilder b;
  LogicalType result;
};
} // namespace

static bool hasFewerAxes(const Placed &source, const LogicalType &whole) {
  for (int64_t dim = 0; dim < whole.getRank(); ++dim)
    if (!variesAlong(source, whole, dim) &&
        whole.extents[dim].getConstant() != 1)
      return true;
  return false;
}

static bool isSumOrMean(ReduceOp op) {
  return (op.getKind() == ReduceKind::Sum ||
          op.getKind() == ReduceKind::Mean) &&
         !op.getBatch() && !op.getKeepdims() &&
         isa<FloatType>(LogicalType::of(op.getResult()).elementType);
}

SmallVector<int64_t> Reducer::getReduced(const Placed &source) {
  SmallVector<int64_t> reduced;
  for (auto [k, dim] : llvm::enumerate(source.dims))
    if (isReduced(dim))
      reduced.push_back(k);
  return reduced;
}

ExtentAttr Reducer::getRepeats(const Placed &source) {
  ExtentAttr repeats = extent::constant(op.getContext(), 1);
  for (int64_t dim : op.getDims())
    if (!variesAlong(source, form.type, dim))
      repeats = extent::mul(repeats, form.type.extents[dim]);
  return repeats;
}

/// Whether all that is made of the value is sums and means of it, so that it
/// need not be made before they are.
bool Reducer::feedsSumsOnly(Value value, unsigned depth) {
  constexpr unsigned maxDepth = 16;
  return depth < maxDepth &&
         llvm::all_of(
             value.getUsers(),
             [&](Operation *user) {
               if (auto reduction = dyn_cast<ReduceOp>(user))
                 return isSumOrMean(reduction) &&
                        !llvm::is_contained(reduction.getDims(),
                                            LogicalType::of(value).getRank() -
                                                1);
               if (!isa<MapOp, BroadcastOp, TransposeOp>(user))
                 return false;
               const LinearForm &made = forms.get(user->getResult(0));
               return !made.isOpaque(user->getResult(0)) &&
                      llvm::all_of(made.terms,
                                   [](const Term &t) {
                                     return t.scales.empty() && t.gains.empty();
                                   }) &&
                      feedsSumsOnly(user->getResult(0), depth + 1);
             });
}

LinearOp Reducer::getLinear(const Term &term) {
  auto linear = term.source.value.getDefiningOp<LinearOp>();
  if (!linear || !term.scales.empty() || !term.gains.empty())
    return {};
  SmallVector<int64_t> reduced = getReduced(term.source);
  int64_t last = LogicalType::of(linear.getResult()).getRank() - 1;
  if (reduced.empty() || llvm::is_contained(reduced, last) ||
      !feedsSumsOnly(linear.getResult()))
    return {};
  // The rows of the source are read instead of those of the result.
  LogicalType source = LogicalType::of(linear.getSource()),
              mapped = LogicalType::of(linear.getResult());
  LogicalType rows = mapped;
  for (int64_t k : reduced)
    rows.extents[k] = extent::constant(op.getContext(), 1);
  int64_t depth = *source.extents[last].getConstant();
  Cost before(op.getContext()), after(op.getContext());
  before.add(mapped, 2 * depth + 2);
  after.add(source, 2);
  after.add(rows, 2 * depth);
  return after.isLess(before) ? linear : LinearOp();
}

Placed Reducer::reduce(ReduceKind kind, Value value, const Placed &source) {
  SmallVector<int64_t> reduced = getReduced(source);
  Placed left;
  left.value = reduced.empty() ? value
                               : b.reduce(kind, value, reduced, /*batch=*/false,
                                          /*keepdims=*/false, op.getEmpty());
  for (int64_t dim : source.dims) {
    if (isReduced(dim))
      continue;
    int64_t position = 0;
    for (int64_t before = 0; before < dim; ++before)
      position += !isReduced(before);
    left.dims.push_back(position);
  }
  return left;
}

Value Reducer::count(OpBuilder &o, Location l, Value value, Value repeats,
                     int64_t factor) {
  bool sums = op.getKind() == ReduceKind::Sum;
  if (sums && factor != 1)
    value = makeMul(o, l, value, makeNumber(o, l, value.getType(), factor));
  if (!repeats)
    return value;
  if (sums)
    return makeMul(
        o, l, value,
        arith::SIToFPOp::create(o, l, value.getType(), repeats).getResult());
  // R5: the mean of nothing is 0.
  Value zero =
      arith::ConstantOp::create(o, l, o.getIntegerAttr(repeats.getType(), 0));
  Value isEmpty =
      arith::CmpIOp::create(o, l, arith::CmpIPredicate::eq, repeats, zero);
  Value nothing =
      arith::ConstantOp::create(o, l, o.getZeroAttr(value.getType()));
  return arith::SelectOp::create(o, l, isEmpty, nothing, value);
}

void Reducer::report(const Cost &before, const Cost &after) {
  auto options =
      remark::RemarkOpts::name("ReduceFirst").category("ragged-algebra");
  remark::passed(op.getLoc(), options)
      << remark::add("reduced before it is mapped or broadcast")
      << remark::metric("operations", after.str())
      << remark::metric("instead of", before.str());
}

Value Reducer::runOnExtremum() {
  if (form.terms.size() != 1 || !form.terms[0].isPlain() ||
      op.getEmpty() != EmptyPolicy::Zero || op.getBatch() || op.getKeepdims())
    return {};
  const Placed &source = form.terms[0].source;
  ExtentAttr repeats = getRepeats(source);
  if (!repeats || repeats.getConstant() == 1 || repeats.getConstant() == 0)
    return {};
  Cost before(op.getContext()), after(op.getContext());
  before.add(form.type, 1);
  after.add(LogicalType::of(source.value), 1);
  report(before, after);
  Placed left = reduce(op.getKind(), source.value, source);
  SmallVector<Value> inputs = {b.broadcast(left, result)};
  if (!repeats.isStatic())
    inputs.push_back(b.extent(repeats, result));
  return b.map(result, inputs, [&](OpBuilder &o, Location l, ValueRange x) {
    if (x.size() == 1)
      return x[0];
    Value zero =
        arith::ConstantOp::create(o, l, o.getIntegerAttr(x[1].getType(), 0));
    Value isEmpty =
        arith::CmpIOp::create(o, l, arith::CmpIPredicate::eq, x[1], zero);
    Value nothing = arith::ConstantOp::create(
        o, l, cast<TypedAttr>(o.getZeroAttr(x[0].getType())));
    return arith::SelectOp::create(o, l, isEmpty, nothing, x[0]).getResult();
  });
}

Value Reducer::run() {
  if (op.getKind() == ReduceKind::Max || op.getKind() == ReduceKind::Min)
    return runOnExtremum();
  if (!isSumOrMean(op) || op.getDims().empty())
    return {};
  for (int64_t dim : op.getDims())
    if (form.type.extents[dim].getConstant() == 0)
      return {};

  struct Part {
    Placed source;
    LinearOp linear;
    ExtentAttr repeats;
    double factor;
  };
  SmallVector<Part, 2> parts;
  SmallVector<Term, 2> rest;
  bool anyLinear = false;
  for (const Term &term : form.terms) {
    LinearOp linear = getLinear(term);
    ExtentAttr repeats = getRepeats(term.source);
    bool small = term.scales.empty() && term.gains.empty() &&
                 hasFewerAxes(term.source, form.type);
    if (!repeats || (!linear && !small)) {
      rest.push_back(term);
      continue;
    }
    anyLinear |= bool(linear);
    parts.push_back({term.source, linear, repeats, term.factor});
    // Where the sum of the bias starts for each element.
    if (linear && linear.getBias()) {
      Placed bias{linear.getBias(), {form.type.getRank() - 1}};
      parts.push_back({bias, {}, getRepeats(bias), term.factor});
    }
  }
  // What has to be added up per element is reduced as it is.
  if (parts.empty() || (!rest.empty() && !anyLinear))
    return {};

  Cost before(op.getContext()), after(op.getContext());
  before.add(form.type, 1 + form.terms.size());
  if (!rest.empty())
    after.add(form.type, 1 + rest.size());
  // R6: as a whole it would be accumulated in f64; so are its parts, and only
  // their sum is rounded.
  LogicalType wide = result;
  wide.elementType = getAccumulatorType(result.elementType);
  bool sumsRows = llvm::any_of(
      op.getDims(), [&](int64_t dim) { return form.type.isRagged(dim); });
  if (wide.elementType.isF32() && sumsRows)
    wide.elementType = builder.getF64Type();
  SmallVector<Value> inputs;
  SmallVector<std::optional<unsigned>> repeatInputs;
  auto add = [&](const Placed &left) {
    inputs.push_back(b.broadcast(left, wide));
  };
  for (const Part &part : parts) {
    LinearOp linear = part.linear;
    Value value = linear ? linear.getSource() : part.source.value;
    after.add(LogicalType::of(value), 1);
    // Before a linear map the sum is rounded as its source is.
    bool isWide = !linear && !getReduced(part.source).empty();
    Value from =
        isWide ? b.convertFloat(value, wide.elementType) : b.widen(value);
    Placed left = reduce(op.getKind(), from, part.source);
    if (linear) {
      int64_t depth =
          2 * *LogicalType::of(linear.getWeights()).extents[0].getConstant();
      before.add(LogicalType::of(linear.getResult()), depth);
      left.value = b.linear(left.value, linear.getWeights());
      after.add(LogicalType::of(left.value), depth);
    }
    add(left);
  }
  for (const Part &part : parts) {
    repeatInputs.emplace_back();
    if (part.repeats.isStatic())
      continue;
    repeatInputs.back() = inputs.size();
    inputs.push_back(b.extent(part.repeats, wide));
  }
  std::optional<unsigned> restInput;
  if (!rest.empty()) {
    LogicalType whole = form.type;
    whole.elementType = getAccumulatorType(whole.elementType);
    SmallVector<int64_t> dims(op.getDims());
    restInput = inputs.size();
    Value sum = b.convertFloat(b.sum(whole, rest), wide.elementType);
    inputs.push_back(b.reduce(op.getKind(), sum, dims));
  }
  report(before, after);
  return b.map(result, inputs, [&](OpBuilder &o, Location l, ValueRange x) {
    Value sum;
    for (auto [k, part] : llvm::enumerate(parts)) {
      Value repeats = repeatInputs[k] ? x[*repeatInputs[k]] : Value();
      Value value = x[k];
      if (value.getType() != wide.elementType)
        value = arith::ExtFOp::create(o, l, wide.elementType, value);
      value =
          count(o, l, value, repeats, part.repeats.getConstant().value_or(1));
      if (part.factor != 1)
        value = makeMul(o, l, value,
                        makeNumber(o, l, value.getType(), part.factor));
      sum = sum ? makeAdd(o, l, sum, value) : value;
    }
    if (restInput)
      sum = makeAdd(o, l, sum, x[*restInput]);
    if (sum.getType() != result.elementType)
      sum = arith::TruncFOp::create(o, l, result.elementType, sum);
    return sum;
  });
}

void RaggedReduceFirst::runOnOperation() {
  LinearForms forms(/*normalize=*/false);
  SmallVector<ReduceOp> ops;
  getOperation().walk([&](ReduceOp op) { ops.push_back(op); });
  for (ReduceOp op : ops) {
    Value value = Reducer(op, forms).run();
    if (!value)
      continue;
    op.getResult().replaceAllUsesWith(value);
    op.erase();
    forms.clear();
  }
  eraseDeadOps(getOperation());
}
