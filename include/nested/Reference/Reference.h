//===- Reference.h - The reference interpreter ------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a program of the `tensor` or `generic` phase sample by sample with dense
// loops: slow, simple, and the statement of what each op means. It shares no
// code with the lowering, so that each can be tested against the other. It also
// runs the `kernels` phase, with rows that a kernel must not use poisoned.
//
// Numbers are computed in f64, or in the width of their integer type (they
// wrap); results are rounded to their type once, at the end, unless asked
// otherwise. Sums add in logical order.
//
// What cannot be computed is a diagnostic at the op that asked for it: lengths
// that disagree, an index out of range, an op that has no meaning here.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_REFERENCE_REFERENCE_H
#define NESTED_REFERENCE_REFERENCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace nested::reference {

/// Element types; the numbers are those of nested_dtype (nested/runtime.h).
enum class DType : int32_t {
  I1 = 1,
  I8 = 2,
  I16 = 3,
  I32 = 4,
  I64 = 5,
  U8 = 6,
  F16 = 10,
  BF16 = 11,
  F32 = 12,
  F64 = 13
};

/// Nullopt for types that tensors do not hold. `index` is an i64.
std::optional<DType> getDType(mlir::Type elementType);
bool isFloat(DType dtype);
/// Bytes in memory; i1 takes one.
int64_t getSize(DType dtype);
llvm::StringRef getName(DType dtype);

/// One element while the program runs: `f` of float types, `i` of the others,
/// sign extended, 0 or 1 for i1.
union Number {
  double f;
  int64_t i;
};

/// The nearest number of the type, ties to even.
double roundTo(DType dtype, double value);
/// The low bits of the integer type.
int64_t wrapTo(DType dtype, int64_t value);
Number readNumber(DType dtype, const void *memory);
/// Rounds to the type.
void writeNumber(DType dtype, Number number, void *memory);

/// A dense array, the last dim varies fastest.
struct Array {
  DType dtype = DType::F64;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<Number> data;
};

/// What an SSA value of a program is at run time.
struct RaggedValue {
  /// A ragged tensor, a partition, a builtin tensor or a scalar.
  mlir::Type type;
  /// One array per instance of the type's path, its dims in logical order; one
  /// in all for dense tensors and scalars. For a partition the shape is the
  /// tuple of extents, and there is no data.
  std::vector<Array> instances;

  // The following are for results of a program (and entry arguments).

  /// Number of samples; 1 without a path.
  int64_t numSamples = 1;
  /// For each component of the path after the first, one length per instance
  /// of the path before it.
  std::vector<std::vector<int64_t>> pathLengths;

  bool isRagged() const;
  /// Size of a logical dim in every instance.
  std::vector<int64_t> getLengths(int64_t dim) const;
  /// Rows of every instance.
  std::vector<int64_t> getRows() const;
  /// The packed values in the type's order of storage: [rows, static dims...].
  /// The array itself for dense values.
  Array getPacked() const;
  /// The same rounded to the type, in memory order.
  std::vector<char> getPackedBytes() const;
};

/// One argument of a call. Its memory is borrowed.
struct Argument {
  DType dtype = DType::F32;
  /// First element of row 0; may be null if there are no rows.
  const void *data = nullptr;
  /// Sizes of the logical dims, -1 for ragged ones, to be checked against the
  /// type; empty if the type is to be believed. A dense tensor of dynamic shape
  /// needs it.
  std::optional<llvm::SmallVector<int64_t, 4>> shape;
  /// Elements between neighbours: of [row, static dims...] for ragged values,
  /// of each dim for dense ones. Empty: contiguous.
  llvm::SmallVector<int64_t, 4> strides;
  /// -1: follows from lengths, or from other arguments.
  int64_t numSamples = -1;
  /// For each ragged dim, in logical order, one length per instance; nullopt
  /// where it follows from other arguments. Partitions: for each extent.
  std::vector<std::optional<std::vector<int64_t>>> lengths;
  /// For each component of the path after the first, one length per instance of
  /// the path before it.
  std::vector<std::optional<std::vector<int64_t>>> pathLengths;
  /// First row of each instance; nullopt: packed.
  std::optional<std::vector<int64_t>> base;
  /// Rows at `data`; -1: enough.
  int64_t rowCapacity = -1;
};

struct Options {
  /// Rounds every value and every scalar of a region to its type as it is
  /// computed, instead of results only.
  bool roundEach = false;
  /// Samples of a batch that no argument has.
  int64_t numSamples = 1;
  /// Elements of one value, above which a program is refused.
  int64_t maxElements = int64_t(1) << 31;
};

/// Runs a function. Errors go to the diagnostic handlers of its context.
/// Results are rounded to their types if `roundResults`.
llvm::FailureOr<std::vector<RaggedValue>>
run(mlir::func::FuncOp entry, llvm::ArrayRef<Argument> arguments,
    const Options &options = {}, bool roundResults = true);

/// Puts the ops that compute derivatives in the place of requests for them, by
/// the passes of the tensor phase: what a request means is the program that
/// they make. Leaves a module without requests as it is.
llvm::LogicalResult expandDerivatives(mlir::ModuleOp module);

/// The public function with this name, or the only one if `name` is empty;
/// null, with a diagnostic, if there is none.
mlir::func::FuncOp findEntry(mlir::Operation *module, llvm::StringRef name);

/// The dialects of these phases.
void registerDialects(mlir::DialectRegistry &registry);

/// The name of an argument in messages: its `ragged.name`, or its number.
std::string getArgumentName(mlir::func::FuncOp func, unsigned index);

/// Prints the value of each sample on a line, as nested lists.
void print(const RaggedValue &value, llvm::StringRef name,
           llvm::raw_ostream &os);

/// Arguments that a test wrote into the program, as attributes of the
/// function's arguments: `reference.values` (dense elements, the packed rows),
/// `reference.lengths` (an array of `array<i64: ...>`, one per ragged dim; unit
/// for one that is not given), `reference.path_lengths` (the same),
/// `reference.samples` and `reference.base`.
class AttributeArguments {
public:
  static llvm::FailureOr<AttributeArguments> get(mlir::func::FuncOp func);
  llvm::ArrayRef<Argument> getArguments() const { return arguments; }

private:
  std::vector<std::vector<char>> memory;
  std::vector<Argument> arguments;
};

} // namespace nested::reference

#endif // NESTED_REFERENCE_REFERENCE_H
