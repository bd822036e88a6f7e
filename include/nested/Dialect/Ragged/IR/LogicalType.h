//===- LogicalType.h - One view of ragged and dense tensors -----*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every compute op accepts ragged tensors and dense ones (the empty path). A
// `LogicalType` is the view under which they are the same: path, extents,
// element type, order of storage. Also the helpers for lists of extents and for
// paths.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_LOGICALTYPE_H
#define NESTED_DIALECT_RAGGED_IR_LOGICALTYPE_H

#include "nested/Dialect/Ragged/IR/Ragged.h"

namespace nested::ragged {

struct LogicalType {
  /// Batch path; empty for a dense tensor.
  llvm::SmallVector<mlir::StringAttr> path;
  /// One per logical dim.
  llvm::SmallVector<ExtentAttr> extents;
  mlir::Type elementType;
  /// Logical dims in the order in which they are stored.
  llvm::SmallVector<int64_t> order;

  LogicalType() = default;
  /// Default packed order.
  LogicalType(llvm::ArrayRef<mlir::StringAttr> path,
              llvm::ArrayRef<ExtentAttr> extents, mlir::Type elementType);

  /// Of a ragged tensor or of a builtin tensor of static shape; nullopt for
  /// another type.
  static std::optional<LogicalType> get(mlir::Type type);
  static std::optional<LogicalType> get(mlir::Value value) {
    return get(value.getType());
  }
  /// The same for a type that a verifier has already accepted.
  static LogicalType of(mlir::Type type);
  static LogicalType of(mlir::Value value) { return of(value.getType()); }

  /// The type again: a builtin tensor when the path is empty. Null if the path
  /// is empty and an extent ragged: there is no such type.
  mlir::Type toType() const;

  int64_t getRank() const { return extents.size(); }
  bool isDense() const { return path.empty(); }
  bool isRagged(int64_t dim) const { return !extents[dim].isStatic(); }
  bool hasDefaultOrder() const;
  /// Logical dims that are ragged (static), in packed order.
  llvm::SmallVector<int64_t> getRaggedDims() const;
  llvm::SmallVector<int64_t> getStaticDims() const;
  /// The ragged extents, in packed order: the tuple of the partition.
  llvm::SmallVector<ExtentAttr> getRaggedExtents() const;
  /// Product of the ragged extents: rows of one sample.
  ExtentAttr getRowExtent() const;
  /// Static extents in packed order.
  llvm::SmallVector<int64_t> getRowShape() const;
  /// Whether the last `count` logical dims are static and stored last, in
  /// order.
  bool areTrailingStatic(int64_t count) const;

  mlir::MLIRContext *getContext() const { return elementType.getContext(); }

  bool operator==(const LogicalType &other) const {
    return path == other.path && extents == other.extents &&
           elementType == other.elementType && order == other.order;
  }
  bool operator!=(const LogicalType &other) const { return !(*this == other); }
};

/// Whether `prefix` is a prefix of `path`, the whole path and the empty one
/// included.
bool isPathPrefix(llvm::ArrayRef<mlir::StringAttr> prefix,
                  llvm::ArrayRef<mlir::StringAttr> path);
/// The longer of two paths if one is a prefix of the other.
std::optional<llvm::SmallVector<mlir::StringAttr>>
joinPaths(llvm::ArrayRef<mlir::StringAttr> lhs,
          llvm::ArrayRef<mlir::StringAttr> rhs);
/// `[B]`
llvm::SmallVector<mlir::StringAttr> getDefaultPath(mlir::MLIRContext *context);

/// Between attributes of ops and lists.
llvm::SmallVector<ExtentAttr> toExtents(mlir::ArrayAttr attr);
llvm::SmallVector<mlir::StringAttr> toPath(mlir::ArrayAttr attr);
mlir::ArrayAttr makeExtentsAttr(mlir::MLIRContext *context,
                                llvm::ArrayRef<ExtentAttr> extents);
mlir::ArrayAttr makePathAttr(mlir::MLIRContext *context,
                             llvm::ArrayRef<mlir::StringAttr> path);

/// The partition that a tensor's rows are laid out by.
PartitionType getPartitionType(RaggedTensorType type);

/// The type with symbols replaced in extents and, by symbols, in the path;
/// other types as they are. Null if there is no such type (overflow, a stored
/// order that static dims do not allow).
mlir::Type substituteSymbols(mlir::Type type,
                             mlir::DictionaryAttr substitution);

/// Whether numbers of this type are what tensors hold: i1, i8, i16, i32, i64,
/// ui8, f16, bf16, f32, f64.
bool isValidElementType(mlir::Type type);
/// What regions and tiles hold for elements of this type: the same, but
/// integers without a sign, as `arith` has them.
mlir::Type getScalarType(mlir::Type elementType);

/// Text for messages: `[N, 3, N + M]`, `[B, S]`.
std::string formatExtents(llvm::ArrayRef<ExtentAttr> extents);
std::string formatPath(llvm::ArrayRef<mlir::StringAttr> path);

/// `custom<Extents>` and its like of the assembly formats.
mlir::ParseResult parseExtents(mlir::AsmParser &parser, mlir::ArrayAttr &attr);
void printExtents(mlir::AsmPrinter &printer, mlir::Operation *op,
                  mlir::ArrayAttr attr);
mlir::ParseResult parsePath(mlir::AsmParser &parser, mlir::ArrayAttr &attr);
void printPath(mlir::AsmPrinter &printer, mlir::Operation *op,
               mlir::ArrayAttr attr);
mlir::ParseResult parseOptionalExtent(mlir::AsmParser &parser,
                                      ExtentAttr &attr);
void printOptionalExtent(mlir::AsmPrinter &printer, mlir::Operation *op,
                         ExtentAttr attr);
/// A list of types of any length, a comma, one more type.
mlir::ParseResult parseListThenType(mlir::AsmParser &parser,
                                    llvm::SmallVectorImpl<mlir::Type> &list,
                                    mlir::Type &last);
void printListThenType(mlir::AsmPrinter &printer, mlir::Operation *op,
                       mlir::TypeRange list, mlir::Type last);
/// `, scale T, offset T`, either or both.
mlir::ParseResult parseScaleAndOffset(mlir::AsmParser &parser,
                                      mlir::Type &scale, mlir::Type &offset);
void printScaleAndOffset(mlir::AsmPrinter &printer, mlir::Operation *op,
                         mlir::Type scale, mlir::Type offset);

} // namespace nested::ragged

#endif // NESTED_DIALECT_RAGGED_IR_LOGICALTYPE_H
