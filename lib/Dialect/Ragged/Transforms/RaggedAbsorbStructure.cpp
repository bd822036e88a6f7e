//===- RaggedAbsorbStructure.cpp - Structure given as dense arguments ---===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDABSORBSTRUCTURE
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedAbsorbStructure
    : nested::ragged::impl::RaggedAbsorbStructureBase<RaggedAbsorbStructure> {
  void runOnOperation() override;

private:
  LogicalResult absorbLengths(BlockArgument arg);
};
} // namespace

static bool isDynamicTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

/// Lengths of one symbol become an argument that is that structure.
LogicalResult RaggedAbsorbStructure::absorbLengths(BlockArgument arg) {
  if (!arg.hasOneUse())
    return emitError(arg.getLoc())
           << "expected lengths given as a dense argument to be used once, by "
              "ragged.partition or ragged.with_lengths";
  Operation *user = *arg.user_begin();
  OpBuilder b(user);
  if (auto partition = dyn_cast<PartitionOp>(user)) {
    if (partition.getSources().size() != 1)
      return partition.emitOpError(
          "does not support the lengths of several symbols as "
          "dense arguments; take the partition as an argument");
    arg.setType(partition.getType());
    partition.getResult().replaceAllUsesWith(arg);
    partition.erase();
    return success();
  }
  auto withLengths = cast<WithLengthsOp>(user);
  auto type = cast<RaggedTensorType>(withLengths.getResult().getType());
  arg.setType(getPartitionType(type));
  auto source = cast<RaggedTensorType>(withLengths.getSource().getType());
  Value values = ValuesOp::create(b, user->getLoc(), source.getValuesType(),
                                  withLengths.getSource());
  Value packed = PackOp::create(b, user->getLoc(), type, values, arg);
  withLengths.getResult().replaceAllUsesWith(packed);
  withLengths.erase();
  return success();
}

/// Values that are only packed, in one way, become the ragged argument that
/// they are packed to.
static void absorbValues(BlockArgument arg) {
  Type type;
  for (Operation *user : arg.getUsers()) {
    auto pack = dyn_cast<PackOp>(user);
    if (!pack || (type && pack.getType() != type))
      return;
    type = pack.getType();
  }
  if (!type)
    return;
  for (Operation *user : llvm::make_early_inc_range(arg.getUsers())) {
    user->getResult(0).replaceAllUsesWith(arg);
    user->erase();
  }
  arg.setType(type);
}

/// Row numbers and coordinates that are asked about are a list of their own: a
/// ragged argument over a batch that nothing else is over. Those of one op have
/// one length.
static void absorbLists(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  SymbolBindings bindings(func);
  unsigned number = 0;
  auto fresh = [&](StringRef stem) {
    StringAttr name;
    do
      name = StringAttr::get(context, stem + Twine(number));
    while (bindings.lookup(name) && ++number);
    return name;
  };
  func.walk([&](Operation *op) {
    if (!isa<LocateOp, LinearizeOp>(op))
      return;
    StringAttr symbol = fresh("rows"), batch = fresh("lists");
    ++number;
    auto type = RaggedTensorType::get({extent::symbol(symbol)},
                                      IntegerType::get(context, 64), {batch});
    for (Value operand : op->getOperands()) {
      auto arg = dyn_cast<BlockArgument>(operand);
      if (!arg || !isDynamicTensor(arg.getType()))
        continue;
      Type dense = arg.getType();
      arg.setType(type);
      OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
      auto values = ValuesOp::create(b, arg.getLoc(), dense, arg);
      arg.replaceAllUsesExcept(values, values);
    }
  });
}

void RaggedAbsorbStructure::runOnOperation() {
  func::FuncOp func = getOperation();
  if (!isEntry(func))
    return;
  // Lengths first: packs refer to the partitions that they make.
  for (BlockArgument arg : func.getArguments())
    if (isDynamicTensor(arg.getType()) && !arg.use_empty() &&
        llvm::all_of(arg.getUsers(),
                     llvm::IsaPred<PartitionOp, WithLengthsOp>) &&
        failed(absorbLengths(arg)))
      return signalPassFailure();
  for (BlockArgument arg : func.getArguments())
    if (isDynamicTensor(arg.getType()))
      absorbValues(arg);
  absorbLists(func);
  func.setFunctionType(FunctionType::get(
      &getContext(), func.getBody().getArgumentTypes(), func.getResultTypes()));
}
