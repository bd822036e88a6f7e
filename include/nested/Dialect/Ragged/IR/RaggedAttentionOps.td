//===- RaggedAttentionOps.td - attention -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_ATTENTION_OPS
#define NESTED_RAGGED_ATTENTION_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

defvar Ragged_DifferentiableWithCache = DeclareOpInterfaceMethods<DifferentiableOpInterface, ["cacheValues"]>;

def Ragged_AttentionOp : Ragged_PureOp<"attention", [AttrSizedOperandSegments,
    Ragged_DifferentiableWithCache]> {
  let summary = "softmax(scores) times values, without storing the scores";
  let description = [{
    `query [N, H, D]`, `key [M, G, D]` and `value [M, G, E]` give `[N, H, E]`; H is a multiple of G, and heads
    `h * G floordiv H` of key and value serve query head *h* (grouped heads). N and M are any extents, per sample; D
    and E are static and stored last. Query *i* is at position `i + M - N`, so that the last query is aligned with the
    last key. It sees the keys from `position - left` to `position + right` (`left`, `right`: no bound if
    absent; causal: `right = 0`) for which `mask` (`[N, M]` or `[N, M, H]`, i1) holds.

        score[i, j, h] = cap(scale * dot(query[i, h], key[j, h'])) + bias[i, j, h]    cap(s) = soft_cap * tanh(s / soft_cap)

    `bias` is `[N, M]` or `[N, M, H]`. `scale` is 1 / sqrt(D) unless said. The result is stored in the order of its dims.

    * R5: a query that sees no key gives 0.
    * R4: samples are isolated. Inside a sample a NaN or an infinity in a value reaches every query that shares a
      block of keys with it, whether or not the query sees that key.
    * R6: scores, softmax (shifted by the largest score) and sums are in f32 (f64 for f64).
    * R8: keys are taken in blocks from the first one on.

    A second result, if there is one, is the normalizer: `[N, H, 2]` in the accumulator type (f32, or f64 for f64). It is the
    logarithm of the sum of exponentials as two numbers, which lose nothing where scores are large: with (shift, factor) of query
    *i* and head *h*, the weight of key *j* is `exp(score[i, j, h] - shift) * factor`. The shift is the largest score; both are 0
    for a query that sees no key. `ragged.attention_gradient` makes the weights again from it.

    ```mlir
    %o = ragged.attention %q, %k, %v bias %b {right = 0 : i64} : !ragged.tensor<[N, 8, 64], f32>,
        !ragged.tensor<[N, 8, 64], f32>, !ragged.tensor<[N, 8, 64], f32> bias !ragged.tensor<[N, N, 8], f32>
        -> !ragged.tensor<[N, 8, 64], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$query, Ragged_AnyTensor:$key, Ragged_AnyTensor:$value,
      Optional<Ragged_AnyTensor>:$bias, Optional<Ragged_AnyTensor>:$mask, OptionalAttr<F64Attr>:$scale,
      OptionalAttr<F64Attr>:$soft_cap, OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right);
  let results = (outs Ragged_AnyTensor:$result, Optional<Ragged_AnyTensor>:$normalizer);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`mask` $mask^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`bias` type($bias)^)? (`mask` type($mask)^)?
    `->` type($result) (`,` type($normalizer)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// `[N, H, 2]` in the accumulator type.
    static LogicalType getNormalizerType(const LogicalType &query);
  }];
}

def Ragged_AttentionGradientOp : Ragged_PureOp<"attention_gradient", [AttrSizedOperandSegments,
    Ragged_Differentiable]> {
  let summary = "the gradients of attention, without storing scores";
  let description = [{
    The gradients of the query, the key, the value and, as a fourth result, the bias of a `ragged.attention` of the same operands
    and attributes, from the gradient `seed` of its result. `result` and `normalizer` are its results. Weights are made
    again from the scores and the normalizer, a block of queries and keys at a time (FlashAttention-2, Dao 2023):

        weight = exp(score - shift) * factor          delta[i, h] = dot(seed[i, h], result[i, h])
        ds     = weight * (dot(seed[i, h], value[j, h']) - delta)            the gradient of score, and of bias
        dq[i]  = sum over j of ds * scale * k[j]      dk[j] = sum over i of ds * scale * q[i]       dv[j] = sum over i of weight * seed[i]

    with `ds` times the derivative of the soft cap in `dq` and `dk`, and sums over the heads of a group, or all those of a
    bias `[N, M]`. Gradients are of each sample of the query's path, also where an operand is shared by samples, and
    in the accumulator type (f32, or f64 for f64); who wants less, adds up or narrows. They are stored in the order of their dims.
    That of a bias is one for all members of the last of several components of the path, if the bias is: over `[B]`, in f64, for
    queries over `[B, I]` and a bias over `[B]` or a dense one. So in triangle attention no gradient has a third length.

    * R5: the gradients of what no query and no key meets are 0.
    * R4: samples are isolated. What has no weight has no gradient, however bad its score. Inside a sample a NaN in a key, a query or a
      seed reaches those that share a block with it.
    * R6, R8: sums are in f32 (f64 for f64), by blocks of 128 queries or keys from the first one on; that of a bias over members is in
      f64, in their order.

    It is differentiated as what it is defined by, products, scores and a softmax: second derivatives store the scores.

    ```mlir
    %dq, %dk, %dv = ragged.attention_gradient %q, %k, %v seed %s result %o, %n {right = 0 : i64}
        : !ragged.tensor<[N, 8, 64], f32>, !ragged.tensor<[N, 8, 64], f32>, !ragged.tensor<[N, 8, 64], f32>
        seed !ragged.tensor<[N, 8, 64], f32> result !ragged.tensor<[N, 8, 64], f32>, !ragged.tensor<[N, 8, 2], f32>
        -> !ragged.tensor<[N, 8, 64], f32>, !ragged.tensor<[N, 8, 64], f32>, !ragged.tensor<[N, 8, 64], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$query, Ragged_AnyTensor:$key, Ragged_AnyTensor:$value,
      Optional<Ragged_AnyTensor>:$bias, Optional<Ragged_AnyTensor>:$mask, Ragged_AnyTensor:$seed,
      Ragged_AnyTensor:$result, Ragged_AnyTensor:$normalizer, OptionalAttr<F64Attr>:$scale,
      OptionalAttr<F64Attr>:$soft_cap, OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right);
  let results = (outs Ragged_AnyTensor:$query_gradient, Ragged_AnyTensor:$key_gradient,
      Ragged_AnyTensor:$value_gradient, Optional<Ragged_AnyTensor>:$bias_gradient);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`mask` $mask^)? `seed` $seed `result` $result `,` $normalizer attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`bias` type($bias)^)? (`mask` type($mask)^)?
    `seed` type($seed) `result` type($result) `,` type($normalizer)
    `->` type($query_gradient) `,` type($key_gradient) `,` type($value_gradient) (`,` type($bias_gradient)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What the gradient of an operand is: of each sample of the query, in the accumulator type.
    static LogicalType getGradientType(const LogicalType &operand, const LogicalType &query);
    /// The same of a bias: maybe one for all members of a sample, in f64.
    static LogicalType getBiasGradientType(const LogicalType &bias, const LogicalType &query);
    /// Whether the gradient of the bias is one for all members of the last component of the path.
    bool sumsMembers();
  }];
}

def Ragged_TileAttentionOp : Ragged_Op<"tile_attention", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "attention of a block of queries of one head, on memory";
  let description = [{
    Query *r* of `rows` is at `query[offset + r * row]`, key *j* of `keys` at `key[offset + j * row]`, and so on; the
    elements of a head are neighbours. `position` is that of the first query. `bias` and `mask` have an offset and two strides,
    by query and by key. The two numbers of a normalizer are neighbours, too.

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
      Optional<AnyMemRef>:$normalizer, Variadic<Index>:$normalizer_access,
      I64Attr:$head_size, I64Attr:$value_size, F64Attr:$scale, OptionalAttr<F64Attr>:$soft_cap,
      OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right);
  let assemblyFormat = [{
    `query` $query `[` $query_offset `,` $query_row `]` `key` $key `[` $key_offset `,` $key_row `]`
    `value` $value `[` $value_offset `,` $value_row `]` `into` $dest `[` $dest_offset `,` $dest_row `]`
    `size` `[` $rows `,` $keys `]` `position` $position (`bias` $bias^ `[` $bias_access `]`)?
    (`mask` $mask^ `[` $mask_access `]`)? (`normalizer` $normalizer^ `[` $normalizer_access `]`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `,` type($dest)
    (`bias` type($bias)^)? (`mask` type($mask)^)? (`normalizer` type($normalizer)^)?
  }];
  let hasVerifier = 1;
}

def Ragged_TileAttentionGradientOp : Ragged_Op<"tile_attention_gradient", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "gradients of attention between queries and keys of one head, on memory";
  let description = [{
    Operands are those of `ragged.tile_attention`, and the seed and what the forward gave, by query. It writes, for the queries and keys of
    `size`, either the gradients of the queries (`into query`), summed over the keys, and maybe of the bias; or those of the keys and values
    (`into key`), summed over the queries. Gradients that several heads or members share are added to what is there if `accumulate`
    holds: all but those of queries. That of a bias may be in a wider type.

    ```mlir
    ragged.tile_attention_gradient query %Q[%q0, %qs] key %K[%k0, %ks] value %V[%v0, %vs] seed %S[%s0, %ss]
        result %O[%o0, %os] normalizer %L[%l0, %ls] size [%queries, %keys] position %p accumulate %more
        into key %DK[%dk0, %dks] value %DV[%dv0, %dvs] {head_size = 64 : i64, value_size = 64 : i64, scale = 0.125 : f64}
        : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>
        into key memref<?xf32> value memref<?xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$query, Index:$query_offset, Index:$query_row, AnyMemRef:$key, Index:$key_offset,
      Index:$key_row, AnyMemRef:$value, Index:$value_offset, Index:$value_row, AnyMemRef:$seed, Index:$seed_offset,
      Index:$seed_row, AnyMemRef:$result, Index:$result_offset, Index:$result_row, AnyMemRef:$normalizer,
      Index:$normalizer_offset, Index:$normalizer_row, Index:$queries, Index:$keys, Index:$position, I1:$accumulate,
      Optional<AnyMemRef>:$bias, Variadic<Index>:$bias_access, Optional<AnyMemRef>:$mask,
      Variadic<Index>:$mask_access, Optional<AnyMemRef>:$query_dest, Variadic<Index>:$query_dest_access,
      Optional<AnyMemRef>:$bias_dest, Variadic<Index>:$bias_dest_access, Optional<AnyMemRef>:$key_dest,
      Variadic<Index>:$key_dest_access, Optional<AnyMemRef>:$value_dest, Variadic<Index>:$value_dest_access,
      I64Attr:$head_size, I64Attr:$value_size, F64Attr:$scale, OptionalAttr<F64Attr>:$soft_cap,
      OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right);
  let assemblyFormat = [{
    `query` $query `[` $query_offset `,` $query_row `]` `key` $key `[` $key_offset `,` $key_row `]`
    `value` $value `[` $value_offset `,` $value_row `]` `seed` $seed `[` $seed_offset `,` $seed_row `]`
    `result` $result `[` $result_offset `,` $result_row `]`
    `normalizer` $normalizer `[` $normalizer_offset `,` $normalizer_row `]`
    `size` `[` $queries `,` $keys `]` `position` $position `accumulate` $accumulate
    (`bias` $bias^ `[` $bias_access `]`)? (`mask` $mask^ `[` $mask_access `]`)? `into`
    (`query` $query_dest^ `[` $query_dest_access `]`)? (`bias_gradient` $bias_dest^ `[` $bias_dest_access `]`)?
    (`key` $key_dest^ `[` $key_dest_access `]`)? (`value` $value_dest^ `[` $value_dest_access `]`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `,` type($seed) `,` type($result) `,` type($normalizer)
    (`bias` type($bias)^)? (`mask` type($mask)^)? `into` (`query` type($query_dest)^)?
    (`bias_gradient` type($bias_dest)^)? (`key` type($key_dest)^)? (`value` type($value_dest)^)?
  }];
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_ATTENTION_OPS
