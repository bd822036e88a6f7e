//===- MatrixBlocks.h - Panels and register blocks ------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What products of matrices in memory are made of: copying a part of one matrix
// into panels, and the sum over the depth of a block of accumulators.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_MATRIXBLOCKS_H
#define NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_MATRIXBLOCKS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace nested::tile {

/// Index arithmetic with constants folded.
class Indices {
public:
  Indices(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}
  mlir::Value constant(int64_t value) const {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value add(mlir::Value x, int64_t y) const {
    return y ? add(x, constant(y)) : x;
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) const;
  mlir::Value mul(mlir::Value x, mlir::Value y) const;
  mlir::Value mul(mlir::Value x, int64_t y) const {
    return mul(x, constant(y));
  }
  /// Rounded down, of a number that is not negative.
  mlir::Value div(mlir::Value x, int64_t y) const;
  mlir::Value ceilDiv(mlir::Value x, int64_t y) const {
    return div(add(x, y - 1), y);
  }
  mlir::Value rem(mlir::Value x, int64_t y) const;
  mlir::Value min(mlir::Value x, mlir::Value y) const;
  mlir::Value max(mlir::Value x, mlir::Value y) const;
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y) const {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  mlir::Value less(mlir::Value x, mlir::Value y) const {
    return compare(mlir::arith::CmpIPredicate::slt, x, y);
  }
  /// A loop without results.
  void
  loop(mlir::Value from, mlir::Value to, int64_t step,
       llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> body) const;
  void
  loop(mlir::Value to,
       llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> body) const {
    loop(constant(0), to, 1, body);
  }

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Shape of register blocks for a type of sums.
struct BlockShape {
  BlockShape(mlir::Type type, int64_t vectorBits);
  mlir::Type type;
  int64_t lanes, rows = 6, vectors, steps;

  mlir::VectorType getVector() const {
    return mlir::VectorType::get({lanes}, type);
  }
};

/// Steps over the depth that one iteration of the innermost loop takes. AVX2
/// has 12 multiply-adds a step, half as many as others, and the end of a loop
/// after each costs 5 % of them.
inline int64_t getStepsOfDepth(int64_t vectorBits) {
  return vectorBits == 256 ? 2 : 1;
}

/// `part`, or less where the size is known and smaller: whole multiples.
int64_t getPart(mlir::Value size, int64_t part, int64_t multiple);

/// A matrix in memory of one dim: element (i, j) is at `offset + i * row + j *
/// column`, or `offset + table[i] + j * column`.
struct Matrix {
  mlir::Value memory, offset, row, column, table;
};

/// Arithmetic of sums.
class Sums {
public:
  Sums(mlir::Type type, bool isBool) : type(type), isBool(isBool) {}
  mlir::Value zero(mlir::OpBuilder &b, mlir::Location loc,
                   mlir::Type shape) const;
  mlir::Value add(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                  mlir::Value y) const;
  mlir::Value multiplyAdd(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                          mlir::Value y, mlir::Value acc) const;
  /// A number or vector of a narrower type in the type of sums.
  mlir::Value widen(mlir::OpBuilder &b, mlir::Location loc,
                    mlir::Value x) const;
  mlir::Type getType() const { return type; }

private:
  mlir::Type type;
  bool isBool;
};

/// The panels of `columns` columns: of the full width, then, for what is left,
/// of half of it and so on. All vectors of a panel but the last one are whole.
void forPanels(mlir::OpBuilder &b, mlir::Location loc, mlir::Value columns,
               const BlockShape &shape,
               llvm::function_ref<void(mlir::OpBuilder &, mlir::Value column,
                                       int64_t width)>
                   body);

/// The parts of a depth, of at most `part`; at least one, since a sum over
/// nothing is written too (R5). `isFirst`: what is summed replaces what is
/// there, unless `accumulate` holds.
void forDepth(mlir::OpBuilder &b, mlir::Location loc, mlir::Value depth,
              int64_t part, mlir::Value accumulate,
              llvm::function_ref<void(mlir::OpBuilder &, mlir::Value first,
                                      mlir::Value count, mlir::Value isFirst)>
                  body);

/// Copies `count` rows of `from`, starting at row `first`, and its columns
/// [begin, begin + width * lanes) into `panel[at + i * width * lanes + j]`;
/// columns from `end` on are zero. `isWhole`: there are none of those.
void packPanel(mlir::OpBuilder &b, mlir::Location loc, const Matrix &from,
               mlir::Value first, mlir::Value count, mlir::Value begin,
               mlir::Value end, bool isWhole, int64_t width,
               const BlockShape &shape, const Sums &sums, mlir::Value panel,
               mlir::Value at);

/// Carries values through `count` steps, `together` of them in an iteration.
llvm::SmallVector<mlir::Value>
loopOverSteps(mlir::OpBuilder &b, mlir::Location loc, mlir::Value count,
              int64_t together, mlir::ValueRange inits,
              llvm::function_ref<llvm::SmallVector<mlir::Value>(
                  mlir::OpBuilder &, mlir::Value step, mlir::ValueRange)>
                  body);

/// Sums over the depth for `shape.rows` rows of lhs at `rowOffsets` and a panel
/// of `width` vectors: row by row, vector by vector.
llvm::SmallVector<mlir::Value>
sumBlock(mlir::OpBuilder &b, mlir::Location loc, const Matrix &lhs,
         mlir::ValueRange rowOffsets, mlir::Value first, mlir::Value count,
         mlir::Value panel, mlir::Value at, int64_t width,
         const BlockShape &shape, const Sums &sums);

} // namespace nested::tile

#endif // NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_MATRIXBLOCKS_H
