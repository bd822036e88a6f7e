//===- Passes.h - From the structure phase to loops -------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_CONVERSION_STRUCTURETOLOOPS_PASSES_H
#define NESTED_CONVERSION_STRUCTURETOLOOPS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/StringRef.h"

namespace nested {

#define GEN_PASS_DECL
#include "nested/Conversion/StructureToLoops/Passes.h.inc"

/// On a `scf.for` over the tiles of a kernel; its body is a tile program.
inline constexpr llvm::StringLiteral kTileLoopAttr = "ragged.tile_loop";

/// On a `ragged.tile_gather` whose rows mostly follow each other in the source:
/// what lies behind a tile is likely the next one, and is fetched ahead.
inline constexpr llvm::StringLiteral kConsecutiveAttr = "ragged.consecutive";

/// On memory that a kernel function reads or writes: tiles read and write their
/// own rows of it. Where rows are found through tables that are filled for each
/// tile, entry i is row i of the tile; of an argument, if it has no gaps.
inline constexpr llvm::StringLiteral kOwnRowsAttr = "ragged.own_rows";

/// On memory of arguments and of one result of a kernel function that is
/// several kernels: an element of it is read only by the unit whose element of
/// the result it is, and not once that has been written.
inline constexpr llvm::StringLiteral kOwnUnitsAttr = "ragged.own_units";

/// On a `ragged.tile_fold` whose groups begin where tiles begin: which rows a
/// tile has then does not depend on where a call begins.
inline constexpr llvm::StringLiteral kWholeTilesAttr = "ragged.whole_tiles";

/// On a `ragged.launch` that depends on dense arguments alone.
inline constexpr llvm::StringLiteral kPrepareAttr = "ragged.prepare";

/// What the lowering of tile programs needs to know about the machine.
struct TileOptions : mlir::PassPipelineOptions<TileOptions> {
  Option<int64_t> vectorBits{*this, "vector-bits",
                             llvm::cl::desc("Width of a vector register"),
                             llvm::cl::init(512)};
  Option<int64_t> blockRows{
      *this, "mr", llvm::cl::desc("Rows of a register block (0: choose)"),
      llvm::cl::init(0)};
  Option<int64_t> blockColumns{
      *this, "np", llvm::cl::desc("Columns of a register block (0: choose)"),
      llvm::cl::init(0)};
  Option<int64_t> packBytes{
      *this, "pack-bytes",
      llvm::cl::desc("Copy shared operands of more bytes into panels"),
      llvm::cl::init(262144)};
};

/// From kernels of the structure phase to kernels of the loops phase: scf,
/// vector, memref, arith and math, which `lib/Conversion/LoopsToLLVM` takes.
void buildStructureToLoops(mlir::OpPassManager &pm, const TileOptions &options);

/// Makes the pipeline known as `lower-tile-programs`.
void registerTilePipeline();

#define GEN_PASS_REGISTRATION
#include "nested/Conversion/StructureToLoops/Passes.h.inc"

} // namespace nested

#endif // NESTED_CONVERSION_STRUCTURETOLOOPS_PASSES_H
