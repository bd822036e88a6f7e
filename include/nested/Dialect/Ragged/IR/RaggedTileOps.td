//===- RaggedTileOps.td - tile access in lowered kernels -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_TILE_OPS
#define NESTED_RAGGED_TILE_OPS

// Ops of the structure phase. A kernel is now a `func.func` with the attribute `ragged.kernel`, on packed
// values (memrefs) and tables; a `scf.for` over tiles holds the tile program. These four ops are what is left of
// raggedness; `--tile-body` tiles them with the linalg ops and lowers them.

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_TileLoadOp : Ragged_Op<"tile_load", [MemoryEffects<[MemRead]>]> {
  let summary = "consecutive rows";
  let description = [{
    Row *r* of the result is row `row + r` of the source, for the live rows of the tile; the others are unspecified
    and must not be read from the source.

    ```mlir
    %x = ragged.tile_load %X[%row] live %n : memref<?x128xf32> -> tensor<48x128xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Index:$row, Index:$live);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source `[` $row `]` `live` $live attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Ragged_TileGatherOp : Ragged_Op<"tile_gather", [MemoryEffects<[MemRead]>]> {
  let summary = "rows by number";
  let description = [{
    Row *r* of the result is row `rows[r]` of the source, for the live rows of the tile.

    ```mlir
    %u = ragged.tile_gather %U[%rows] live %n : memref<?x128xf32>, tensor<48xindex> -> tensor<48x128xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, 1DTensorOf<[Index]>:$rows, Index:$live);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source `[` $rows `]` `live` $live attr-dict `:` type($source) `,` type($rows) `->` type($result)";
  let hasVerifier = 1;
}

def Ragged_TileStoreOp : Ragged_Op<"tile_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes the live rows of a tile, consecutively";
  let description = [{
    Never writes another row.

    ```mlir
    ragged.tile_store %q, %P[%row] live %n : tensor<48x128xf32>, memref<?x128xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, AnyMemRef:$dest, Index:$row, Index:$live);
  let assemblyFormat = "$value `,` $dest `[` $row `]` `live` $live attr-dict `:` type($value) `,` type($dest)";
  let hasVerifier = 1;
}

def Ragged_TileFoldOp : Ragged_Op<"tile_fold", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "folds the live rows of a tile into an accumulator that is carried from tile to tile";
  let description = [{
    For r in 0 .. live, in order: `acc = combine(row r of inputs, acc)`, elementwise; if `flush[r] >= 0` then
    `dest[flush[r]] = finalize(acc, aux[r]...)` and `acc = init`. Results are the accumulators after
    the tile, the operands `acc` those before it; the tile loop carries them. All of
    one static shape.

    ```mlir
    %acc1 = ragged.tile_fold ins(%q : tensor<48x128xf32>) acc(%acc : tensor<128xf32>) init(%zero : tensor<128xf32>)
        flush %f into(%S : memref<?x128xf32>) aux(%m : tensor<48xi64>) live %n combine {
    ^bb0(%x: f32, %a: f32):
      %0 = arith.addf %a, %x : f32
      ragged.yield %0 : f32
    } finalize {
    ^bb0(%a: f32, %k: i64):
      %0 = arith.sitofp %k : i64 to f32
      %1 = arith.divf %a, %0 : f32
      ragged.yield %1 : f32
    } -> tensor<128xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$inputs, Variadic<AnyStaticShapeTensor>:$acc,
      Variadic<AnyStaticShapeTensor>:$init, 1DTensorOf<[Index]>:$flush, Variadic<AnyMemRef>:$dests,
      Variadic<AnyStaticShapeTensor>:$aux, Index:$live);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let regions = (region SizedRegion<1>:$combine, SizedRegion<1>:$finalize);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)` `acc` `(` $acc `:` type($acc) `)` `init` `(` $init `:` type($init) `)`
    `flush` $flush `:` type($flush) `into` `(` $dests `:` type($dests) `)` (`aux` `(` $aux^ `:` type($aux) `)`)? `live` $live
    `combine` $combine `finalize` $finalize attr-dict `->` type($results)
  }];
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_TILE_OPS
