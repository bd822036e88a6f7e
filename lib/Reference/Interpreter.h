//===- Interpreter.h - Runs one function --------------------------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_REFERENCE_INTERPRETER_H
#define NESTED_LIB_REFERENCE_INTERPRETER_H

#include "Loops.h"
#include "Scope.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "nested/Dialect/Ragged/IR/RaggedBatch.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"
#include "nested/Reference/Reference.h"

namespace nested::reference {

/// One activation of a function: its values and its symbols. Each op has a
/// method that is its meaning; the methods are grouped by family of ops, a file
/// each.
class Interpreter {
public:
  Interpreter(const Options &options, unsigned depth = 0)
      : options(options), scope(options.numSamples, options.maxElements),
        depth(depth) {}

  /// Reads the arguments of an entry and binds the symbols that they bind
  /// (Arguments.cpp).
  mlir::LogicalResult bindEntry(mlir::func::FuncOp func,
                                llvm::ArrayRef<Argument> arguments);
  /// Runs the body. The arguments' values have been set.
  mlir::FailureOr<std::vector<RaggedValue>> runBody(mlir::func::FuncOp func);

private:
  using Op = mlir::Operation;
  using Result = mlir::LogicalResult;

  Result run(Op *op);

  // StructureOps.cpp
  Result run(ragged::PartitionOp op);
  Result run(ragged::LengthsOp op);
  Result run(ragged::OffsetsOp op);
  Result run(ragged::RowSplitsOp op);
  Result run(ragged::TotalOp op);
  Result run(ragged::ExtentOp op);
  Result run(ragged::InstanceOp op);
  Result run(ragged::LocateOp op);
  Result run(ragged::LinearizeOp op);
  Result run(ragged::ValuesOp op);
  Result run(ragged::PackOp op);
  Result run(ragged::WithLengthsOp op);
  Result run(ragged::CastOp op);
  /// A partition of this type, from the symbols.
  mlir::FailureOr<RaggedValue> allocatePartition(Op *op,
                                                 ragged::PartitionType type);
  Result run(ragged::BarrierOp op);

  // Calls.cpp
  Result run(ragged::CallOp op);
  Result bindCallee(ragged::CallOp op, mlir::func::FuncOp callee,
                    Interpreter &inner);

  // ComputeOps.cpp
  Result run(mlir::arith::ConstantOp op);
  Result run(ragged::EmptyOp op);
  Result run(ragged::FillOp op);
  Result run(ragged::IotaOp op);
  Result run(ragged::MapOp op);
  Result run(ragged::BroadcastOp op);
  Result runElementwise(Op *op);

  // Contractions.cpp
  Result run(ragged::LinearOp op);

  // Reductions.cpp
  Result run(ragged::ReduceOp op);

  // Normalizations.cpp
  Result run(ragged::SoftmaxOp op);
  Result run(ragged::NormalizeOp op);

  // AttentionOp.cpp
  Result run(ragged::AttentionOp op);
  Result run(ragged::AttentionGradientOp op);

  // EinsumOp.cpp
  Result run(ragged::ContractOp op);

  // GenericOp.cpp
  Result run(ragged::GenericOp op);

  // MoveOps.cpp
  Result run(ragged::TransposeOp op);
  Result run(ragged::SliceOp op);
  Result run(ragged::PadOp op);
  Result run(ragged::ConcatOp op);
  Result run(ragged::GatherOp op);
  Result run(ragged::TakeOp op);
  Result run(ragged::TakeAlongOp op);
  Result run(ragged::ReshapeOp op);
  Result run(ragged::MaskedSelectOp op);
  Result run(ragged::NestOp op);
  Result run(ragged::UnnestOp op);
  Result run(ragged::RenestOp op);

  // BatchOps.cpp
  Result run(ragged::SelectBatchOp op);
  Result run(ragged::RepeatBatchOp op);
  Result run(ragged::MoveBatchOp op);
  Result run(ragged::BindSizeOp op);
  Result moveBatch(Op *op);
  /// For each parent the members that the results have: instances of the
  /// sources' path.
  mlir::FailureOr<std::vector<std::vector<int64_t>>>
  chooseMembers(Op *op, const ragged::BatchMove &move);
  /// Binds the symbols of a choice.
  Result bindMembers(Op *op, const ragged::BatchMove &move,
                     llvm::ArrayRef<std::vector<int64_t>> chosen);
  /// Checks that the symbols of the chosen members are those of this choice.
  Result checkMembers(Op *op, const ragged::BatchMove &move,
                      llvm::ArrayRef<std::vector<int64_t>> chosen);

  // ScanOps.cpp
  Result run(ragged::ScanOp op);
  Result run(ragged::AccumulateOp op);

  // SortOps.cpp
  Result run(ragged::SortOp op);
  Result run(ragged::SearchSortedOp op);
  Result run(ragged::ScatterOp op);

  // KernelOp.cpp
  friend class KernelRun;
  Result run(ragged::KernelOp op);

  // What they share.

  const RaggedValue &get(mlir::Value value) const { return *values.at(value); }
  /// Sets the value of a result; checks that its shape is what its type says.
  Result set(mlir::Value value, RaggedValue result);
  /// A value of this type, its shapes computed from the symbols, all zero.
  mlir::FailureOr<RaggedValue> allocate(Op *op, mlir::Type type);
  /// A one-dimensional `tensor<?xi64>`.
  static RaggedValue makeVector(mlir::Type type,
                                llvm::ArrayRef<int64_t> numbers);
  mlir::FailureOr<const Instances *> getInstances(Op *op, Path path) {
    return scope.getInstances([=] { return op->emitError(); }, path);
  }
  /// Binds the symbols of a result's type that nothing has bound before to the
  /// sizes of the value.
  Result bindFresh(Op *op, mlir::Value result, const RaggedValue &value);
  /// A scalar of the function, for regions that use it.
  std::optional<Number> getScalar(mlir::Value value) const;
  /// Where in a value an instance's numbers are, for a value whose path is a
  /// prefix of the instances' path.
  static const Array &getArray(const RaggedValue &value,
                               const ragged::LogicalType &type,
                               const Instances &instances, int64_t instance) {
    return value.instances[instances.ancestors[type.path.size()][instance]];
  }

  // Arguments.cpp
  mlir::FailureOr<RaggedValue> readArgument(mlir::func::FuncOp func,
                                            unsigned index, mlir::Type declared,
                                            const Argument &argument);
  Result bindArguments(mlir::func::FuncOp func,
                       llvm::ArrayRef<mlir::Type> declared,
                       llvm::ArrayRef<Argument> arguments);
  Result checkArgument(mlir::func::FuncOp func, unsigned index,
                       mlir::Type declared, const Argument &argument);
  Result runEntryChecks(mlir::func::FuncOp func);
  /// Those of them whose symbols are all bound by now.
  Result runReadyChecks(mlir::func::FuncOp func);

  const Options &options;
  Scope scope;
  unsigned depth;
  llvm::DenseSet<mlir::StringAttr> fromData;
  std::vector<mlir::DictionaryAttr> pendingChecks;
  llvm::DenseMap<mlir::Value, std::unique_ptr<RaggedValue>> values;
};

/// Path of a ragged tensor, a partition, or of a dense value (empty).
Path getPath(mlir::Type type);
/// Extents of a ragged tensor or a partition.
llvm::ArrayRef<ragged::ExtentAttr> getExtents(mlir::Type type);

} // namespace nested::reference

#endif // NESTED_LIB_REFERENCE_INTERPRETER_H
