//===- Interpreter.cpp - Runs one function --------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nested;
using namespace nested::reference;

Path reference::getPath(Type type) {
  if (auto tensor = dyn_cast<ragged::RaggedTensorType>(type))
    return tensor.getPath();
  if (auto partition = dyn_cast<ragged::PartitionType>(type))
    return partition.getPath();
  return {};
}

ArrayRef<ragged::ExtentAttr> reference::getExtents(Type type) {
  if (auto tensor = dyn_cast<ragged::RaggedTensorType>(type))
    return tensor.getExtents();
  if (auto partition = dyn_cast<ragged::PartitionType>(type))
    return partition.getExtents();
  return {};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

FailureOr<RaggedValue> Interpreter::allocate(Operation *op, Type type) {
  RaggedValue value;
  value.type = type;
  auto emitError = [=] { return op->emitError(); };
  std::optional<DType> dtype = getDType(getElementTypeOrSelf(type));
  if (auto tensor = dyn_cast<ragged::RaggedTensorType>(type))
    dtype = getDType(tensor.getElementType());
  if (!dtype)
    return op->emitError("the reference interpreter does not support type ")
           << type;

  auto addArray = [&](SmallVector<int64_t, 4> shape,
                      int64_t &elements) -> LogicalResult {
    // A size of 0 makes the product 0, however large the others are.
    int64_t product = llvm::is_contained(shape, 0) ? 0 : 1;
    bool overflow = false;
    if (product)
      for (int64_t size : shape)
        overflow |= llvm::MulOverflow(product, size, product);
    if (overflow || llvm::AddOverflow(elements, product, elements) ||
        elements > options.maxElements) {
      InFlightDiagnostic diagnostic =
          op->emitError("a value of type ")
          << type << " has more elements than the reference interpreter takes ("
          << options.maxElements << "): ";
      if (overflow)
        diagnostic << "its size overflows 64 bits";
      else
        diagnostic << elements << " and more";
      scope.attachNotes(diagnostic, getExtents(type), getPath(type),
                        value.instances.size());
      return diagnostic;
    }
    Array array;
    array.dtype = *dtype;
    array.shape = std::move(shape);
    array.data.resize(product);
    value.instances.push_back(std::move(array));
    return success();
  };

  int64_t elements = 0;
  if (!value.isRagged()) {
    auto shaped = dyn_cast<RankedTensorType>(type);
    if (shaped && !shaped.hasStaticShape())
      return op->emitError("the reference interpreter does not know the size "
                           "of a value of type ")
             << type;
    SmallVector<int64_t, 4> shape;
    if (shaped)
      llvm::append_range(shape, shaped.getShape());
    if (failed(addArray(std::move(shape), elements)))
      return failure();
    return value;
  }
  FailureOr<const Instances *> instances = getInstances(op, getPath(type));
  if (failed(instances))
    return failure();
  for (int64_t i = 0; i < (*instances)->count; ++i) {
    FailureOr<SmallVector<int64_t, 4>> shape =
        scope.evaluate(emitError, getExtents(type), getPath(type), i);
    if (failed(shape) || failed(addArray(std::move(*shape), elements)))
      return failure();
  }
  return value;
}

RaggedValue Interpreter::makeVector(Type type, ArrayRef<int64_t> numbers) {
  RaggedValue value;
  value.type = type;
  Array &array = value.instances.emplace_back();
  array.dtype = DType::I64;
  array.shape = {static_cast<int64_t>(numbers.size())};
  for (int64_t number : numbers)
    array.data.emplace_back().i = number;
  return value;
}

std::optional<Number> Interpreter::getScalar(mlir::Value value) const {
  auto it = values.find(value);
  if (it == values.end() || !getDType(value.getType()))
    return std::nullopt;
  return it->second->instances.front().data.front();
}

LogicalResult Interpreter::set(mlir::Value value, RaggedValue result) {
  Operation *op = value.getDefiningOp();
  result.type = value.getType();
  // An invariant of every op; it fails where an op's operands have sizes that
  // its result's type does not allow for.
  Path path = getPath(result.type);
  if (result.isRagged()) {
    FailureOr<const Instances *> instances = getInstances(op, path);
    if (failed(instances))
      return failure();
    if ((*instances)->count != static_cast<int64_t>(result.instances.size()))
      return op->emitError("computes ")
             << result.instances.size() << " instances, but path "
             << ragged::formatPath(path) << " has " << (*instances)->count;
  }
  auto emitError = [=] { return op->emitError(); };
  for (auto [i, array] : llvm::enumerate(result.instances)) {
    if (result.isRagged()) {
      FailureOr<SmallVector<int64_t, 4>> shape =
          scope.evaluate(emitError, getExtents(result.type), path, i);
      if (failed(shape))
        return failure();
      for (auto [dim, size] : llvm::enumerate(*shape))
        if (size != array.shape[dim]) {
          InFlightDiagnostic diagnostic = op->emitError("computes ");
          diagnostic << array.shape[dim] << " elements along dim " << dim
                     << " in " << scope.describe(path, i) << ", but "
                     << getExtents(result.type)[dim].str() << " is " << size;
          scope.attachNotes(diagnostic, getExtents(result.type)[dim], path, i);
          return diagnostic;
        }
    }
    if (options.roundEach && isFloat(array.dtype))
      for (Number &number : array.data)
        number.f = roundTo(array.dtype, number.f);
  }
  values[value] = std::make_unique<RaggedValue>(std::move(result));
  return success();
}

LogicalResult Interpreter::bindFresh(Operation *op, mlir::Value result,
                                     const RaggedValue &value) {
  Type type = result.getType();
  Path path = getPath(type);
  auto emitError = [=] { return op->emitError(); };
  std::string origin = ("'" + op->getName().getStringRef() + "'").str();
  if (path.size() == 1 && !scope.isBatchBound(path[0]) &&
      failed(scope.bindBatch(emitError, path[0], value.instances.size(), origin,
                             op->getLoc())))
    return failure();
  for (auto [dim, extent] : llvm::enumerate(getExtents(type))) {
    if (!extent.isSymbol() || scope.lookup(extent.getName()))
      continue;
    SymbolValue symbol{SmallVector<StringAttr>(path), value.getLengths(dim),
                       origin, op->getLoc()};
    if (failed(scope.bind(emitError, extent.getName(), std::move(symbol))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops and bodies
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::run(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ragged::PartitionOp, ragged::LengthsOp, ragged::OffsetsOp,
            ragged::RowSplitsOp, ragged::TotalOp, ragged::ExtentOp,
            ragged::InstanceOp, ragged::LocateOp, ragged::LinearizeOp,
            ragged::ValuesOp, ragged::PackOp, ragged::WithLengthsOp,
            ragged::CastOp, ragged::BarrierOp, ragged::CallOp, ragged::EmptyOp,
            ragged::FillOp, ragged::IotaOp, ragged::MapOp, ragged::BroadcastOp,
            ragged::LinearOp, ragged::ContractOp, ragged::AttentionOp,
            ragged::AttentionGradientOp, ragged::ReduceOp, ragged::SoftmaxOp,
            ragged::NormalizeOp, ragged::GenericOp, ragged::TransposeOp,
            ragged::SliceOp, ragged::PadOp, ragged::ConcatOp, ragged::TakeOp,
            ragged::TakeAlongOp, ragged::ReshapeOp, ragged::GatherOp,
            ragged::MaskedSelectOp, ragged::NestOp, ragged::UnnestOp,
            ragged::RenestOp, ragged::ScanOp, ragged::AccumulateOp,
            ragged::SortOp, ragged::SearchSortedOp, ragged::ScatterOp,
            ragged::SelectBatchOp, ragged::RepeatBatchOp, ragged::MoveBatchOp,
            ragged::BindSizeOp, ragged::KernelOp, arith::ConstantOp>(
          [&](auto op) { return run(op); })
      .Default([&](Operation *op) { return runElementwise(op); });
}

/// For every op of a block, the values that no later op of it uses.
static llvm::DenseMap<Operation *, SmallVector<mlir::Value>>
findLastUses(Block &block) {
  llvm::DenseMap<Operation *, SmallVector<mlir::Value>> result;
  llvm::DenseSet<mlir::Value> seen;
  for (Operation &op : llvm::reverse(block))
    op.walk([&](Operation *inner) {
      for (mlir::Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block && seen.insert(operand).second)
          result[&op].push_back(operand);
    });
  return result;
}

FailureOr<std::vector<RaggedValue>> Interpreter::runBody(func::FuncOp func) {
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitError("the reference interpreter does not support '")
           << func.getName() << "': it has no body of one block";
  Block &block = func.getBody().front();
  auto lastUses = findLastUses(block);
  for (Operation &op : block.without_terminator()) {
    if (failed(run(&op)))
      return failure();
    if (!pendingChecks.empty() && failed(runReadyChecks(func)))
      return failure();
    // Pair-sized values are large: give them up as soon as possible.
    for (mlir::Value value : lastUses.lookup(&op))
      values.erase(value);
  }
  std::vector<RaggedValue> results;
  for (mlir::Value operand : block.getTerminator()->getOperands()) {
    RaggedValue result = get(operand);
    Path path = getPath(result.type);
    if (!path.empty()) {
      FailureOr<const Instances *> batch =
          getInstances(func, path.take_front(1));
      if (failed(batch))
        return failure();
      result.numSamples = (*batch)->count;
    }
    for (size_t k = 1; k < path.size(); ++k) {
      std::vector<int64_t> lengths;
      const Instances *outer = scope.lookupInstances(path.take_front(k));
      for (int64_t i = 0; i < outer->count; ++i) {
        FailureOr<int64_t> length = scope.evaluate(
            [&] { return func.emitError(); }, ragged::extent::symbol(path[k]),
            path.take_front(k), i);
        if (failed(length))
          return failure();
        lengths.push_back(*length);
      }
      result.pathLengths.push_back(std::move(lengths));
    }
    results.push_back(std::move(result));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

FailureOr<std::vector<RaggedValue>> reference::run(func::FuncOp entry,
                                                   ArrayRef<Argument> arguments,
                                                   const Options &options,
                                                   bool roundResults) {
  Interpreter interpreter(options);
  if (failed(interpreter.bindEntry(entry, arguments)))
    return failure();
  FailureOr<std::vector<RaggedValue>> results = interpreter.runBody(entry);
  if (failed(results))
    return failure();
  if (roundResults)
    for (RaggedValue &result : *results)
      for (Array &array : result.instances)
        if (isFloat(array.dtype))
          for (Number &number : array.data)
            number.f = roundTo(array.dtype, number.f);
  return results;
}

LogicalResult reference::expandDerivatives(ModuleOp module) {
  auto isRequest = [](Operation *op) {
    return isa<ragged::GradientOp, ragged::VariableOp, ragged::StopGradientOp,
               ragged::CustomGradientOp, ragged::CheckpointOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  if (!module.walk(isRequest).wasInterrupted())
    return success();
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.addPass(ragged::createRaggedInlineCalls());
  passes.addNestedPass<func::FuncOp>(ragged::createRaggedAutodiff());
  return passes.run(module);
}

func::FuncOp reference::findEntry(Operation *module, StringRef name) {
  SmallVector<func::FuncOp> entries;
  module->walk([&](func::FuncOp func) {
    if (func.isPublic() && !func.isExternal())
      entries.push_back(func);
  });
  if (name.empty() && entries.size() == 1)
    return entries.front();
  for (func::FuncOp func : entries)
    if (!name.empty() && func.getName() == name)
      return func;
  InFlightDiagnostic diagnostic = module->emitError();
  if (entries.empty())
    diagnostic << "the program has no entry (a public function with a body)";
  else if (name.empty())
    diagnostic << "the program has several entries; name one of them:";
  else
    diagnostic << "the program has no entry '" << name << "'; it has";
  for (auto [i, func] : llvm::enumerate(entries))
    diagnostic << (i ? ", '" : " '") << func.getName() << "'";
  return nullptr;
}

void reference::registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                  math::MathDialect, ragged::RaggedDialect,
                  tensor::TensorDialect>();
}
