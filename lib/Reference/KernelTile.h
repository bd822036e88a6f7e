//===- KernelTile.h - The values of a tile program --------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The region of a kernel on one tile: dense tensors of static shape, and what
// linalg, tensor, arith and math make of them.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_REFERENCE_KERNELTILE_H
#define NESTED_LIB_REFERENCE_KERNELTILE_H

#include "Interpreter.h"
#include "Scalars.h"

namespace nested::reference {

/// One row of the iteration space.
struct TileRow {
  int64_t instance;
  llvm::SmallVector<int64_t, 4> coordinates;
  int64_t unit;
};

/// NaN, or integers that would be noticed.
void fillWithPoison(llvm::MutableArrayRef<Number> numbers, DType dtype);
inline void fillWithPoison(Array &array) {
  fillWithPoison(array.data, array.dtype);
}

class Tile {
public:
  Tile(int64_t size, int64_t live, llvm::ArrayRef<TileRow> rows, bool roundEach)
      : size(size), live(live), rows(rows), roundEach(roundEach) {}

  /// An array of this type, full of poison.
  Array makeTile(mlir::Type type) const;
  /// `isTile`: its dim 0 is the rows of the tile. Its slack becomes poison.
  void set(mlir::Value value, Array array, bool isTile);
  const Array &get(mlir::Value value) const { return values.at(value).array; }
  /// An op that knows nothing of rows.
  mlir::LogicalResult run(mlir::Operation *op);
  /// The scalar that a constant is; nullopt for other values.
  static std::optional<Number> getConstant(mlir::Value value);

  /// Rows of a tile, and how many of them are rows of the grain.
  const int64_t size, live;
  const llvm::ArrayRef<TileRow> rows;

private:
  struct Value {
    Array array;
    bool isTile;
  };

  mlir::LogicalResult runLinalg(mlir::Operation *op);
  mlir::LogicalResult runElementwise(mlir::Operation *op);
  bool isTile(mlir::Value value) const { return values.at(value).isTile; }

  bool roundEach;
  llvm::DenseMap<mlir::Value, Value> values;
};

} // namespace nested::reference

#endif // NESTED_LIB_REFERENCE_KERNELTILE_H
