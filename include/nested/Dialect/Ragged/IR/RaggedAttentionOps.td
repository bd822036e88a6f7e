//===- RaggedAttentionOps.td - attention -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_ATTENTION_OPS
#define NESTED_RAGGED_ATTENTION_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_AttentionOp : Ragged_PureOp<"attention", [AttrSizedOperandSegments, Ragged_Differentiable]> {
  let summary = "softmax(scores) times values, without storing the scores";
  let description = [{
    `query [N, H, D]`, `key [M, G, D]` and `value [M, G, E]` give `[N, H, E]`; H is a multiple of G, and heads
    `h * G floordiv H` of key and value serve query head *h* (grouped heads). N and M are any extents, per sample; D
    and E are static and stored last. Query *i* is at position `i + M - N`, so that the last query is aligned with the
    last key. It sees the keys from `position - left` to `position + right` (`left`, `right`: no bound if
    absent; causal: `right = 0`) for which `mask` (`[N, M]` or `[N, M, H]`, i1) holds.

        score[i, j, h] = cap(scale * dot(query[i, h], key[j, h'])) + bias[i, j, h]    cap(s) = soft_cap * tanh(s / soft_cap)

    `bias` is `[N, M]` or `[N, M, H]`. `scale` is 1 / sqrt(D) unless said.

    * R5: a query that sees no key gives 0.
    * R4: samples are isolated. Inside a sample a NaN or an infinity in a value reaches every query that shares a
      block of keys with it, whether or not the query sees that key.
    * R6: scores, softmax (shifted by the largest score) and sums are in f32 (f64 for f64).
    * R8: keys are taken in blocks from the first one on.

    ```mlir
    %o = ragged.attention %q, %k, %v bias %b {right = 0 : i64} : !ragged.tensor<[N, 8, 64], f32>,
        !ragged.tensor<[N, 8, 64], f32>, !ragged.tensor<[N, 8, 64], f32> bias !ragged.tensor<[N, N, 8], f32>
        -> !ragged.tensor<[N, 8, 64], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$query, Ragged_AnyTensor:$key, Ragged_AnyTensor:$value,
      Optional<Ragged_AnyTensor>:$bias, Optional<Ragged_AnyTensor>:$mask, OptionalAttr<F64Attr>:$scale,
      OptionalAttr<F64Attr>:$soft_cap, OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`mask` $mask^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`bias` type($bias)^)? (`mask` type($mask)^)?
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ragged_TileAttentionOp : Ragged_Op<"tile_attention", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "attention of a block of queries of one head, on memory";
  let description = [{
    Query *r* of `rows` is at `query[offset + r * row]`, key *j* of `keys` at `key[offset + j * row]`, and so on; the
    elements of a head are neighbours. `position` is that of the first query. `bias` and `mask` have an offset and two strides,
    by query and by key.

    ```mlir
    ragged.tile_attention query %Q[%q0, %qs] key %K[%k0, %ks] value %V[%v0, %vs] into %O[%o0, %os]
        size [%rows, %keys] position %p {head_size = 64 : i64, value_size = 64 : i64, scale = 0.125 : f64}
        : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$query, Index:$query_offset, Index:$query_row, AnyMemRef:$key, Index:$key_offset,
      Index:$key_row, AnyMemRef:$value, Index:$value_offset, Index:$value_row, AnyMemRef:$dest, Index:$dest_offset,
      Index:$dest_row, Index:$rows, Index:$keys, Index:$position, Optional<AnyMemRef>:$bias,
      Variadic<Index>:$bias_access, Optional<AnyMemRef>:$mask, Variadic<Index>:$mask_access,
      I64Attr:$head_size, I64Attr:$value_size, F64Attr:$scale, OptionalAttr<F64Attr>:$soft_cap,
      OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right);
  let assemblyFormat = [{
    `query` $query `[` $query_offset `,` $query_row `]` `key` $key `[` $key_offset `,` $key_row `]`
    `value` $value `[` $value_offset `,` $value_row `]` `into` $dest `[` $dest_offset `,` $dest_row `]`
    `size` `[` $rows `,` $keys `]` `position` $position (`bias` $bias^ `[` $bias_access `]`)?
    (`mask` $mask^ `[` $mask_access `]`)? attr-dict `:` type($query) `,` type($key) `,` type($value) `,` type($dest)
    (`bias` type($bias)^)? (`mask` type($mask)^)?
  }];
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_ATTENTION_OPS
