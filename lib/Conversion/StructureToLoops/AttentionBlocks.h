//===- AttentionBlocks.h - Blocks of scores -------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attention and its gradients are made of: products of rows and columns in
// scratch memory, group by group of rows and block by block of columns, and
// what bias, mask and window do to them. Rows are queries and columns keys, or
// the other way round.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_ATTENTIONBLOCKS_H
#define NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_ATTENTIONBLOCKS_H

#include "MatrixBlocks.h"

#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

namespace nested::tile {

/// Rows in memory, whose elements are neighbours.
struct MemoryRows {
  mlir::Value memory, offset, row;
};

/// A number for each row and column; of nothing if there is no memory.
struct MemoryPairs {
  mlir::Value memory, offset, row, column;

  MemoryPairs() = default;
  MemoryPairs(mlir::Value memory, mlir::ValueRange access) : memory(memory) {
    if (memory)
      std::tie(offset, row, column) =
          std::make_tuple(access[0], access[1], access[2]);
  }
  MemoryPairs transposed() const {
    MemoryPairs result = *this;
    std::swap(result.row, result.column);
    return result;
  }
  explicit operator bool() const { return bool(memory); }
};

/// What changes scores, and how many there are.
struct ScoreSpec {
  mlir::Value rows, columns;
  /// Of row 0, among the columns.
  mlir::Value position;
  /// The columns that a row sees before and behind its position; none: all.
  std::optional<int64_t> left, right;
  std::optional<double> softCap;
  double scale;
  MemoryPairs bias, mask;
};

/// What attention or its gradient says of scores; rows are queries.
template <typename Op>
ScoreSpec getSpec(Op op, mlir::Value queries, mlir::Value keys) {
  ScoreSpec spec;
  spec.rows = queries;
  spec.columns = keys;
  spec.position = op.getPosition();
  spec.left = op.getLeft();
  spec.right = op.getRight();
  if (op.getSoftCap())
    spec.softCap = op.getSoftCap()->convertToDouble();
  spec.scale = op.getScale().convertToDouble();
  spec.bias = MemoryPairs(op.getBias(), op.getBiasAccess());
  spec.mask = MemoryPairs(op.getMask(), op.getMaskAccess());
  return spec;
}

class AttentionBlocks {
protected:
  /// Rows whose scores are made at a time, and the columns of them.
  static constexpr int64_t kGroup = 24, kColumns = 128;
  /// All rows.
  static constexpr int64_t kMostRows = ragged::kMaxTileQueries;
  static_assert(kMostRows % kGroup == 0, "groups are whole but for the last");

  AttentionBlocks(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element,
                  int64_t vectorBits, ScoreSpec spec);

  mlir::Value number(mlir::OpBuilder &at, double value, mlir::Type as);
  mlir::Value lowest(mlir::OpBuilder &at, mlir::Type as);
  mlir::Value splat(mlir::OpBuilder &at, mlir::Value x) {
    return mlir::vector::BroadcastOp::create(at, loc, vector, x);
  }
  mlir::Value sum(mlir::OpBuilder &at, mlir::Value x, mlir::Value y) {
    return mlir::arith::AddFOp::create(at, loc, x, y);
  }
  mlir::Value product(mlir::OpBuilder &at, mlir::Value x, mlir::Value y) {
    return mlir::arith::MulFOp::create(at, loc, x, y);
  }
  /// e^x for numbers that are not positive.
  mlir::Value exponential(mlir::OpBuilder &at, mlir::Value x);
  /// All elements of a vector in one, halves with each other.
  mlir::Value fold(mlir::OpBuilder &at, mlir::Value x,
                   llvm::function_ref<mlir::Value(mlir::OpBuilder &,
                                                  mlir::Value, mlir::Value)>
                       combine);
  mlir::Value allocate(int64_t size);
  /// `size` in whole vectors.
  int64_t pad(int64_t size) const {
    return llvm::alignTo(size, static_cast<uint64_t>(shape.lanes));
  }
  bool hasWindow() const { return spec.left || spec.right; }
  bool changesPairs() const { return spec.bias || spec.mask; }
  /// What rows are multiplied by before scores are made of them: the argument
  /// of tanh if there is a soft cap.
  double getRowScale() const {
    return spec.softCap ? spec.scale / *spec.softCap : spec.scale;
  }

  /// Columns of `size` elements as panels: wide ones, then what is left.
  void forWidths(int64_t size,
                 llvm::function_ref<void(int64_t column, int64_t width)> body);
  /// Blocks of 6 rows of a group.
  void forBlocks(
      mlir::OpBuilder &at, mlir::Value live,
      llvm::function_ref<void(mlir::OpBuilder &, mlir::Value block)> body);
  /// Vectors of `size` elements, then elements, of a row: `width` is 0 then.
  void forElements(
      mlir::OpBuilder &at, int64_t size,
      llvm::function_ref<void(mlir::OpBuilder &, mlir::Value, int64_t width)>
          body);
  /// Elements of memory in the type of sums.
  mlir::Value load(mlir::OpBuilder &at, mlir::Value memory, mlir::Value place,
                   int64_t width);

  /// Rows side by side, times `scale`. Blocks are whole: behind the last row it
  /// is copied again.
  void copyRows(mlir::OpBuilder &at, const MemoryRows &from, int64_t size,
                double scale, mlir::Value to);
  /// 0 in all rows of scratch memory, blocks of rows whole.
  void clearRows(mlir::OpBuilder &at, mlir::Value memory, int64_t size);
  /// Columns [first, first + count) as panels, for products with their
  /// elements (the rows of a panel).
  void packAcross(mlir::OpBuilder &at, const MemoryRows &from, int64_t size,
                  mlir::Value first, mlir::Value count, mlir::Value panels);
  /// The same for sums over the columns (the rows of a panel).
  void packAlong(mlir::OpBuilder &at, const MemoryRows &from, int64_t size,
                 mlir::Value first, mlir::Value count, mlir::Value panels);

  using Pack = llvm::function_ref<void(mlir::OpBuilder &, mlir::Value first,
                                       mlir::Value count)>;
  using Group = llvm::function_ref<void(mlir::OpBuilder &, mlir::Value row,
                                        mlir::Value live, mlir::Value first,
                                        mlir::Value count)>;
  /// The blocks of columns that some row sees: `pack` for each, `group` for
  /// each group of rows that sees one of its columns.
  void forGroups(mlir::OpBuilder &at, Pack pack, Group group);

  /// The bounds [low, high) of columns that rows [row, last] see.
  std::pair<mlir::Value, mlir::Value>
  visible(mlir::OpBuilder &at, mlir::Value row, mlir::Value last);
  /// Those of a block of rows, from `first` on and at most `count`.
  std::pair<mlir::Value, mlir::Value> visibleOf(mlir::OpBuilder &at,
                                                mlir::Value row,
                                                mlir::Value first,
                                                mlir::Value count);
  /// `into = rows * panels`, where a block of rows sees a panel; rows are
  /// `depth` elements each.
  void emitProducts(mlir::OpBuilder &at, mlir::Value row, mlir::Value live,
                    mlir::Value first, mlir::Value count, mlir::Value rows,
                    int64_t depth, mlir::Value panels, mlir::Value into);
  /// `out = out * shrink + weights * panels` (no shrink: 1), over the columns
  /// that a block of rows sees.
  void addProducts(mlir::OpBuilder &at, mlir::Value row, mlir::Value live,
                   mlir::Value first, mlir::Value count, mlir::Value weights,
                   mlir::Value panels, int64_t size, mlir::Value shrink,
                   mlir::Value out);

  using Row = llvm::function_ref<void(mlir::OpBuilder &, mlir::Value local,
                                      mlir::Value begin, mlir::Value end)>;
  /// The rows of a group; columns [begin, end) of the block are all that their
  /// block of rows sees.
  void forRows(mlir::OpBuilder &at, mlir::Value row, mlir::Value live,
               mlir::Value first, mlir::Value count, Row body);
  /// The vectors of a row that columns [begin, end) lie in.
  std::pair<mlir::Value, mlir::Value>
  vectorsOf(mlir::OpBuilder &at, mlir::Value begin, mlir::Value end);
  /// Bias, and -inf where the mask does not hold, of one row and columns
  /// [begin, end) of the block, element by element, to `extra`.
  void readPairs(mlir::OpBuilder &at, mlir::Value row, mlir::Value first,
                 mlir::Value begin, mlir::Value end);
  /// Whether the row sees all columns of vectors [from, to).
  mlir::Value seesAll(mlir::OpBuilder &at, mlir::Value row, mlir::Value first,
                      mlir::Value from, mlir::Value to);
  /// The columns of a block that one row sees, as vectors.
  struct Bounds {
    mlir::Value lanes, low, high;
  };
  Bounds getBounds(mlir::OpBuilder &at, mlir::Value row, mlir::Value first);
  /// The scores of vector `v` of the block, behind the soft cap, with what else
  /// changes them. `bounds`: -inf for columns that the row does not see, and
  /// for those behind the last one.
  mlir::Value changeScores(mlir::OpBuilder &at, mlir::Value scores,
                           mlir::Value v, const Bounds *bounds);

  /// Rows of scratch memory times a factor each, to memory; added to what is
  /// there where `accumulate`, an i1 or null, holds.
  void
  writeRows(mlir::OpBuilder &at, mlir::Value from, int64_t size,
            const MemoryRows &to, mlir::Value accumulate,
            llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value row)>
                getFactor);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
  BlockShape shape;
  Sums sums;
  mlir::VectorType vector;
  ScoreSpec spec;
  /// What is added to the scores of a row; null if nothing is.
  mlir::Value extra;
};

/// Lowers a `ragged.tile_attention_gradient`, which stays.
void emitAttentionGradient(mlir::OpBuilder &b,
                           ragged::TileAttentionGradientOp op,
                           int64_t vectorBits);

} // namespace nested::tile

#endif // NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_ATTENTIONBLOCKS_H
