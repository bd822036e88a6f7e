//===- RaggedKernelOps.td - ops of the kernels phase -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_KERNEL_OPS
#define NESTED_RAGGED_KERNEL_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_KernelOp : Ragged_Op<"kernel", [IsolatedFromAbove,
    SingleBlock, RecursiveMemoryEffects]> {
  let summary = "ragged outside, dense inside: a tile program over the rows of the batch";
  let description = [{
    The *iteration space* is all rows of the ragged extents `space` over `path`, in packed order; extents
    that are constant are allowed (leading static dims that became rows). Work is handed
    out in *units*:

    * `groups`: a unit is one index of the first `groups` extents; its rows are contiguous. With
      `groups` equal to the rank of the space every row is a unit (*row map*), with fewer the kernel folds
      (*segment*), 0 makes every sample a unit.
    * `chunks`: a unit is `chunk` rows regardless of samples, for reductions over the batch: partial
      results per chunk, then one pass over them, so that boundaries depend on total rows only (R8).

    The region is run for every tile of `tile` rows and is a program on tensors of static shape whose
    dim 0 is the tile's rows (or that have no row dim: shared values). Its first argument is the tile, the
    others are the inputs. Only the `tile_*` ops know about rows.

    * K1, row-independent: in every linalg op dim 0 of each tile operand is the same parallel loop,
      unpermuted; only `tile_reduce` crosses rows. This is R4 inside kernels, and the reason that no masks are
      needed: rows past the end of the batch or of the unit are computed from scratch contents and never
      stored or folded.

    A result whose `tile_yield` operand is a tile is stored row by row (its type has the ragged extents of
    `space`); one that comes from `tile_reduce` has the first `groups` extents (with `chunks`: a dense tensor).

    ```mlir
    %s = ragged.kernel "row_mean" space [N, M] path [B] groups 1 units groups tile 48
        ins(%x : !ragged.tensor<[N, M, 128], f32>) {
    ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, M, 128], f32>):
      %0 = ragged.tile_read %a at %t map affine_map<(d0, d1) -> (d0, d1)> : !ragged.tensor<[N, M, 128], f32> -> tensor<48x128xf32>
      %1 = ragged.tile_reduce %0 init [0.0 : f32] extents [M] combine {
      ^bb0(%x0: f32, %acc: f32):
        %2 = arith.addf %acc, %x0 : f32
        ragged.yield %2 : f32
      } finalize {
      ^bb0(%acc: f32, %m: i64):
        %n = arith.sitofp %m : i64 to f32
        %2 = arith.divf %acc, %n : f32
        ragged.yield %2 : f32
      } : tensor<48x128xf32> -> tensor<128xf32>
      ragged.tile_yield %1 : tensor<128xf32>
    } -> !ragged.tensor<[N, 128], f32>
    ```
  }];
  let arguments = (ins StrAttr:$kernel_name, Ragged_ExtentArrayAttr:$space, Ragged_PathAttr:$path, I64Attr:$groups,
      Ragged_UnitKindAttr:$units, DefaultValuedAttr<I64Attr, "0">:$chunk, I64Attr:$tile,
      Variadic<Ragged_AnyTensor>:$inputs);
  let results = (outs Variadic<Ragged_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kernel_name `space` custom<Extents>($space) `path` custom<Path>($path) `groups` $groups `units` `` $units
    (`chunk` $chunk^)? `tile` $tile `ins` `(` ($inputs^ `:` type($inputs))? `)` attr-dict-with-keyword
    $body (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Ragged_TileYieldOp : Ragged_PureOp<"tile_yield", [Terminator, ReturnLike, HasParent<"KernelOp">]> {
  let summary = "results of a kernel: tiles to store, folded values";
  let description = [{
    ```mlir
    ragged.tile_yield %q, %s : tensor<48x128xf32>, tensor<128xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

class Ragged_TileAccessOp<string mnemonic, list<Trait> traits = []>
    : Ragged_PureOp<mnemonic, traits # [DeclareOpInterfaceMethods<TileAccessOpInterface>]>;

def Ragged_TileReadOp : Ragged_TileAccessOp<"tile_read"> {
  let summary = "rows of an input for the rows of the tile";
  let description = [{
    `map` goes from the coordinates of the iteration space to the coordinates of the input's *row dims*: the first
    results of the map, as many as the input has ragged dims (in packed order), plus leading
    static dims when the kernel's space made rows of them. `offsets` adds extents to them, and `starts`
    per-row values of the tile (one operand or none for each of `start_dims`), whose rows a run-time check keeps inside
    of the input unless it has `outside`. An input whose path is a prefix
    of the kernel's is read at the parent sample; a dense input (empty path) has one sample.
    The result's dims after dim 0 are the input's remaining dims, in packed order; with `inner_offsets` (one per
    remaining dim) a part of each, which begins there and is as large as the result.
    With `outside` the coordinates, and the parts, may leave the input: that constant is read there.

    ```mlir
    %u = ragged.tile_read %U at %t map affine_map<(d0, d1) -> (d0)> : !ragged.tensor<[N, 128], f32> -> tensor<48x128xf32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, Ragged_TileType:$tile, AffineMapAttr:$map,
      OptionalAttr<Ragged_ExtentArrayAttr>:$offsets,
      OptionalAttr<DenseI64ArrayAttr>:$inner_offsets, OptionalAttr<TypedAttrInterface>:$outside,
      Variadic<RankedTensorOf<[AnyInteger]>>:$starts, OptionalAttr<DenseI64ArrayAttr>:$start_dims);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $source `at` $tile `map` $map (`offsets` custom<Extents>($offsets)^)? (`inner_offsets` $inner_offsets^)?
    (`outside` $outside^)? (`starts` `(` $starts^ `:` type($starts) `)` `dims` $start_dims)?
    attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ragged_TileLookupOp : Ragged_Op<"tile_lookup", [MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<TileAccessOpInterface>]> {
  let summary = "rows of a dense table by the tile's own indices";
  let description = [{
    An index outside the table is recorded as a run-time error; `what` names the place in the program.

    ```mlir
    %x = ragged.tile_lookup %table[%i] : tensor<21x384xf32>, tensor<48xi64> -> tensor<48x384xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$table, RankedTensorOf<[AnyInteger]>:$indices, OptionalAttr<StrAttr>:$what);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$table `[` $indices `]` attr-dict `:` type($table) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def Ragged_TileCoordOp : Ragged_TileAccessOp<"tile_coord"> {
  let summary = "coordinate of each row of the tile along one dim of the space";
  let description = [{
    Along dim -1 it is the number of the row's instance.

    ```mlir
    %a = ragged.tile_coord %t dim 0 : tensor<48xi64>
    ```
  }];
  let arguments = (ins Ragged_TileType:$tile, I64Attr:$dim);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat = "$tile `dim` $dim attr-dict `:` type($result)";
}

def Ragged_TileExtentOp : Ragged_TileAccessOp<"tile_extent"> {
  let summary = "value of an extent in the sample of each row of the tile";
  let description = [{
    ```mlir
    %n = ragged.tile_extent %t <N * N> : tensor<48xi64>
    ```
  }];
  let arguments = (ins Ragged_TileType:$tile, Ragged_ExtentAttr:$extent);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat = "$tile $extent attr-dict `:` type($result)";
}

def Ragged_TileReduceOp : Ragged_TileAccessOp<"tile_reduce"> {
  let summary = "folds the rows of each unit; the only op that crosses rows";
  let description = [{
    For each unit, in the order of its rows: `acc = combine(row, acc)`, elementwise, from `init`; at the unit's
    end `finalize(acc, extents...)`. `combine` is associative, commutative and of type (T, T) -> T, so that partial
    results can be combined by it too. The extents are those of the unit's sample (i64 arguments of
    `finalize`); for units of kind `chunks` they are totals over the batch. A unit without rows gives `finalize(init)` (R5).

    See `ragged.kernel` for an example:

    ```mlir
    %1 = ragged.tile_reduce %0 init [0.0 : f32] extents [] combine {
    ^bb0(%x: f32, %acc: f32):
      %2 = arith.addf %acc, %x : f32
      ragged.yield %2 : f32
    } finalize {
    ^bb0(%acc: f32):
      ragged.yield %acc : f32
    } : tensor<48x128xf32> -> tensor<128xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$inputs, ArrayAttr:$init, Ragged_ExtentArrayAttr:$extents);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let regions = (region SizedRegion<1>:$combine, SizedRegion<1>:$finalize);
  let assemblyFormat = [{
    $inputs `init` $init `extents` custom<Extents>($extents) `combine` $combine `finalize` $finalize
    attr-dict `:` type($inputs) `->` type($results)
  }];
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_KERNEL_OPS
