//===- RaggedFormContractions.cpp - Products of matrices as kernels -------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDFORMCONTRACTIONS
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedFormContractions
    : nested::ragged::impl::RaggedFormContractionsBase<RaggedFormContractions> {
  void runOnOperation() override;
};

/// What dims are to the two inputs and the result.
struct Dims {
  SmallVector<unsigned> batch, rows, columns, depth;
};
} // namespace

/// Whether the region adds the product of its two inputs to the accumulator;
/// inputs may be widened first.
static bool isMultiplyAdd(GenericOp op) {
  if (op.getInputs().size() != 2 || op->getNumResults() != 1)
    return false;
  Block &body = op.getBody().front();
  Operation *sum = body.getTerminator()->getOperand(0).getDefiningOp();
  Value acc = body.getArgument(2);
  bool isBool = acc.getType().isInteger(1);
  if (!sum || !(isBool ? isa<arith::OrIOp>(sum)
                       : isa<arith::AddFOp, arith::AddIOp>(sum)))
    return false;
  bool first = sum->getOperand(0) == acc;
  if (!first && sum->getOperand(1) != acc)
    return false;
  Operation *product = sum->getOperand(first ? 1 : 0).getDefiningOp();
  if (!product || !(isBool ? isa<arith::AndIOp>(product)
                           : isa<arith::MulFOp, arith::MulIOp>(product)))
    return false;
  auto inputOf = [&](Value value) {
    if (auto wide = value.getDefiningOp<arith::ExtFOp>())
      value = wide.getIn();
    return value;
  };
  Value lhs = inputOf(product->getOperand(0));
  Value rhs = inputOf(product->getOperand(1));
  Value x = body.getArgument(0), y = body.getArgument(1);
  return (lhs == x && rhs == y) || (lhs == y && rhs == x);
}

static bool startsFromZero(GenericOp op) {
  auto fill = op.getInits()[0].getDefiningOp<FillOp>();
  if (!fill)
    return false;
  if (auto number = dyn_cast<FloatAttr>(fill.getValue()))
    return number.getValue().isPosZero();
  return cast<IntegerAttr>(fill.getValue()).getValue().isZero();
}

/// Nothing if some dim is of no kind: of one input alone.
static std::optional<Dims> classify(GenericOp op) {
  Dims dims;
  for (unsigned dim = 0; dim < op.getDims().size(); ++dim) {
    bool lhs = op.getInputMap(0).isFunctionOfDim(dim);
    bool rhs = op.getInputMap(1).isFunctionOfDim(dim);
    bool kept = !op.isReduction(dim);
    if (lhs && rhs)
      (kept ? dims.batch : dims.depth).push_back(dim);
    else if (kept && (lhs || rhs))
      (lhs ? dims.rows : dims.columns).push_back(dim);
    else
      return std::nullopt;
  }
  return dims;
}

/// Maps of dims and constants only, no sums of dims, and nothing outside of the
/// inputs.
static bool areAccessesPlain(GenericOp op) {
  for (unsigned i = 0; i < 2; ++i) {
    if (op.getInputOutside(i))
      return false;
    for (AffineExpr expr : op.getInputMap(i).getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        return false;
  }
  return true;
}

/// Rows times weights, which tile programs compute.
static bool isRowsTimesWeights(GenericOp op, const Dims &dims) {
  bool dense = false;
  for (Value input : op.getInputs())
    dense |= LogicalType::of(input).isDense();
  return dense && llvm::all_of(dims.depth, [&](unsigned dim) {
           return op.getDims()[dim].isStatic();
         });
}

/// Chunks of rows of the batch are those of the ragged depth dims, and all else
/// is the same for every sample.
static std::string whyNotBatch(GenericOp op, const Dims &dims) {
  for (const SmallVector<unsigned> &list :
       {dims.batch, dims.rows, dims.columns})
    for (unsigned dim : list)
      if (!op.getDims()[dim].isStatic())
        return "a ragged dim is kept";
  if (op.getPath().size() != 1)
    return "the path has several components";
  for (unsigned i = 0; i < 2; ++i)
    for (ExtentAttr offset : op.getInputOffsets(i))
      if (!offset.isStatic())
        return "a slice starts elsewhere in every sample";
  return "";
}

/// A sum over the batch of products of rows that kernels make, row by row, in
/// the space of the sum: part of the kernel that makes them, which then need
/// not be stored. Its accumulator must stay in a cache.
static bool isSumOfMadeRows(GenericOp op, const Dims &dims) {
  constexpr int64_t mostBytes = 1 << 20;
  LogicalType type = LogicalType::of(op.getResult(0));
  if (!isa<Float32Type, Float64Type>(type.elementType) ||
      dims.rows.size() != 1 || dims.columns.size() != 1 || !dims.batch.empty())
    return false;
  int64_t bytes = type.elementType.getIntOrFloatBitWidth() / 8;
  for (ExtentAttr extent : type.extents)
    bytes *= *extent.getConstant();
  if (bytes > mostBytes || bytes == 0)
    return false;
  FailureOr<GenericPlan> plan = planGeneric(op);
  if (failed(plan))
    return false;
  bool isMade = false;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (LogicalType::of(input).elementType != type.elementType ||
        !isReadByRow(*plan, i))
      return false;
    auto producer = input.getDefiningOp<GenericOp>();
    if (!producer || producer->getNumResults() != 1)
      continue;
    FailureOr<GenericPlan> other = planGeneric(producer);
    isMade |= succeeded(other) && !other->isFold() &&
              other->space == plan->space &&
              producer.getPathNames() == op.getPathNames();
  }
  return isMade;
}

void RaggedFormContractions::runOnOperation() {
  func::FuncOp func = getOperation();
  IRRewriter rewriter(&getContext());
  SmallVector<GenericOp> ops;
  func.walk([&](GenericOp op) { ops.push_back(op); });
  for (GenericOp op : ops) {
    if (!isMultiplyAdd(op) || !startsFromZero(op) || !areAccessesPlain(op))
      continue;
    std::optional<Dims> dims = classify(op);
    bool batch = op.getBatchReduced();
    if (!dims || dims->rows.empty() || dims->columns.empty() ||
        (dims->depth.empty() && !batch))
      continue;
    auto missed = [&](StringRef reason) {
      remark::missed(op.getLoc(), remark::RemarkOpts::name("Tile").category(
                                      "ragged-contraction"))
          << remark::reason("{0}", reason);
    };
    if (!batch && isRowsTimesWeights(op, *dims)) {
      missed("rows times weights, part of a tile program");
      continue;
    }
    if (std::string why = batch ? whyNotBatch(op, *dims) : ""; !why.empty()) {
      missed(why);
      continue;
    }
    if (batch && isSumOfMadeRows(op, *dims)) {
      missed("a sum of rows that the same kernel makes");
      continue;
    }
    rewriter.setInsertionPoint(op);
    auto kernel = ContractKernelOp::create(
        rewriter, op.getLoc(), op.getResult(0).getType(), op.getInputs()[0],
        op.getInputs()[1], op.getExtents(), op.getIterators(), op.getPath(),
        op.getMaps(), op.getOffsetsAttr(), batch);
    remark::passed(op.getLoc(), remark::RemarkOpts::name("Kernel").category(
                                    "ragged-contraction"))
        << remark::add(batch ? "summed over chunks of the batch's rows, "
                             : "a product of values of one sample, ")
        << remark::metric("dims", formatExtents(op.getDims()));
    rewriter.replaceOp(op, kernel.getResult());
  }
}
