// RUN: nested-reference %s | FileCheck %s
// RUN: nested-opt --tensor-to-generic %s | nested-reference | FileCheck %s

// CHECK-LABEL: @transpose
// CHECK: 0 : !ragged.tensor<[M, N], f32>
// CHECK-NEXT: [0] {{\[}}[1, 4], [2, 5], [3, 6]]
// CHECK-NEXT: [1] [] shape (0, 2)
func.func @transpose(
    %x: !ragged.tensor<[N, M], f32> {
      reference.values = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>,
      reference.lengths = [array<i64: 2, 2>, array<i64: 3, 0>]}) -> !ragged.tensor<[M, N], f32> {
  %0 = ragged.transpose %x permutation [1, 0] : !ragged.tensor<[N, M], f32> -> !ragged.tensor<[M, N], f32>
  return %0 : !ragged.tensor<[M, N], f32>
}

// A ragged dim that is not the leading one is stored first: [N, 2, 3].
// CHECK-LABEL: @storage
// CHECK: 0 : !ragged.tensor<[2, N, 3], i32>
// CHECK-NEXT: [0] {{\[\[\[}}0, 1, 2], [6, 7, 8]], {{\[\[}}3, 4, 5], [9, 10, 11]]]
// CHECK-NEXT: [1] {{\[\[\[}}12, 13, 14]], {{\[\[}}15, 16, 17]]]
// CHECK: 1 : tensor<?x2x3xi32>
// CHECK-NEXT: {{\[\[\[}}0, 1, 2], [3, 4, 5]], {{\[\[}}6, 7, 8], [9, 10, 11]], {{\[\[}}12, 13, 14], [15, 16, 17]]]
func.func @storage(
    %x: !ragged.tensor<[2, N, 3], i32> {
      reference.values = dense<[[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]], [[12, 13, 14], [15, 16, 17]]]>
        : tensor<3x2x3xi32>,
      reference.lengths = [array<i64: 2, 1>]}) -> (!ragged.tensor<[2, N, 3], i32>, tensor<?x2x3xi32>) {
  %0 = ragged.values %x : !ragged.tensor<[2, N, 3], i32> -> tensor<?x2x3xi32>
  return %x, %0 : !ragged.tensor<[2, N, 3], i32>, tensor<?x2x3xi32>
}

// Stored column by column.
// CHECK-LABEL: @order
// CHECK: [0] {{\[}}[1, 3, 5], [2, 4, 6]]
// CHECK: tensor<?xf32>
// CHECK-NEXT: [1, 2, 3, 4, 5, 6]
func.func @order(
    %x: !ragged.tensor<[N, M], f32, order = [1, 0]> {
      reference.values = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>,
      reference.lengths = [array<i64: 2>, array<i64: 3>]})
    -> (!ragged.tensor<[N, M], f32, order = [1, 0]>, tensor<?xf32>) {
  %0 = ragged.values %x : !ragged.tensor<[N, M], f32, order = [1, 0]> -> tensor<?xf32>
  return %x, %0 : !ragged.tensor<[N, M], f32, order = [1, 0]>, tensor<?xf32>
}

// First rows given by the caller: gaps, shared rows, slack at the end.
// CHECK-LABEL: @base
// CHECK: [0] [2, 3]
// CHECK-NEXT: [1] [3, 4, 5]
func.func @base(
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>,
      reference.lengths = [array<i64: 2, 3>], reference.base = array<i64: 1, 2>}) -> !ragged.tensor<[N], f32> {
  return %x : !ragged.tensor<[N], f32>
}

// CHECK-LABEL: @slice
// CHECK: 0 :
// CHECK-NEXT: [0] {{\[}}[3, 4], [5, 6]]
// CHECK-NEXT: [1] [] shape (0, 2)
// CHECK: 1 :
// CHECK-NEXT: [0] [5, 6]
// CHECK-NEXT: [1] [7, 8]
// CHECK: 2 :
// CHECK-NEXT: [0] {{\[}}[2], [4], [6]]
// CHECK-NEXT: [1] {{\[}}[8]]
func.func @slice(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>,
      reference.lengths = [array<i64: 3, 1>]})
    -> (!ragged.tensor<[N - 1, 2], f32>, !ragged.tensor<[2], f32>, !ragged.tensor<[N, 1], f32>) {
  %0 = ragged.slice %x dim 0 start <1> size <N - 1> : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[N - 1, 2], f32>
  %1 = ragged.slice %x dim 0 start <N - 1> size <1> drop : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[2], f32>
  %2 = ragged.slice %x dim 1 start <1> size <1> : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[N, 1], f32>
  return %0, %1, %2 : !ragged.tensor<[N - 1, 2], f32>, !ragged.tensor<[2], f32>, !ragged.tensor<[N, 1], f32>
}

// CHECK-LABEL: @gather
// CHECK: 0 :
// CHECK-NEXT: [0] {{\[}}[5, 6], [1, 2]]
// CHECK-NEXT: [1] {{\[}}[3, 4]]
// CHECK: 1 : tensor<2x2xf32>
// CHECK-NEXT: {{\[}}[3, 4], [3, 4]]
func.func @gather(
    %i: !ragged.tensor<[N], i64> {
      reference.values = dense<[2, 0, 1]> : tensor<3xi64>, reference.lengths = [array<i64: 2, 1>]},
    %table: tensor<3x2xf32> {reference.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>})
    -> (!ragged.tensor<[N, 2], f32>, tensor<2x2xf32>) {
  %0 = ragged.gather %table, %i : tensor<3x2xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 2], f32>
  %ones = arith.constant dense<1> : tensor<2xi64>
  %1 = ragged.gather %table, %ones : tensor<3x2xf32>, tensor<2xi64> -> tensor<2x2xf32>
  return %0, %1 : !ragged.tensor<[N, 2], f32>, tensor<2x2xf32>
}

// A symbol from data; what follows is over it.
// CHECK-LABEL: @masked_select
// CHECK: 0 :
// CHECK-NEXT: [0] [] shape (0, 2)
// CHECK-NEXT: [1] {{\[}}[3, 4], [7, 8]]
// CHECK: 1 :
// CHECK-NEXT: [0] [0, 0]
// CHECK-NEXT: [1] [10, 12]
// CHECK: 2 :
// CHECK-NEXT: [0] 0
// CHECK-NEXT: [1] 2
func.func @masked_select(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>,
      reference.lengths = [array<i64: 1, 3>]},
    %m: !ragged.tensor<[N], i1> {reference.values = dense<[false, true, false, true]> : tensor<4xi1>})
    -> (!ragged.tensor<[K, 2], f32>, !ragged.tensor<[2], f32>, !ragged.tensor<[], i64>) {
  %0 = ragged.masked_select %x, %m : !ragged.tensor<[N, 2], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K, 2], f32>
  %1 = ragged.reduce sum %0 dims [0] : !ragged.tensor<[K, 2], f32> -> !ragged.tensor<[2], f32>
  %2 = ragged.extent <K> : !ragged.tensor<[], i64>
  return %0, %1, %2 : !ragged.tensor<[K, 2], f32>, !ragged.tensor<[2], f32>, !ragged.tensor<[], i64>
}

// Tokens to sentences and back.
// CHECK-LABEL: @nest
// CHECK: 0 :
// CHECK-NEXT: path 1 = [2, 0]
// CHECK-NEXT: [0] {{\[}}[1]]
// CHECK-NEXT: [1] {{\[}}[2], [3]]
// CHECK: 1 :
// CHECK-NEXT: [0] {{\[}}[1], [5]]
// CHECK-NEXT: [1] [] shape (0, 1)
// CHECK: 2 :
// CHECK-NEXT: path 1 = [2, 0]
// CHECK-NEXT: [0] {{\[}}[1]]
// CHECK-NEXT: [1] {{\[}}[2], [3]]
// CHECK: 3 :
// CHECK-NEXT: path 1 = [2, 0]
// CHECK-NEXT: [0] [1]
// CHECK-NEXT: [1] [5]
func.func @nest(
    %x: !ragged.tensor<[N, 1], f32> {
      reference.values = dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>, reference.lengths = [array<i64: 3, 0>]},
    %n: !ragged.tensor<[S], i64> {
      reference.values = dense<[1, 2]> : tensor<2xi64>, reference.lengths = [array<i64: 2, 0>]})
    -> (!ragged.tensor<[T, 1], f32, path = [B, S]>, !ragged.tensor<[S, 1], f32>,
        !ragged.tensor<[T, 1], f32, path = [B, S]>, !ragged.tensor<[1], f32, path = [B, S]>) {
  %0 = ragged.nest %x, %n : !ragged.tensor<[N, 1], f32>, !ragged.tensor<[S], i64>
      -> !ragged.tensor<[T, 1], f32, path = [B, S]>
  %1 = ragged.reduce sum %0 dims [0] : !ragged.tensor<[T, 1], f32, path = [B, S]> -> !ragged.tensor<[1], f32, path = [B, S]>
  %2 = ragged.unnest %1 : !ragged.tensor<[1], f32, path = [B, S]> -> !ragged.tensor<[S, 1], f32>
  %3 = ragged.renest %x : !ragged.tensor<[N, 1], f32> -> !ragged.tensor<[T, 1], f32, path = [B, S]>
  %4 = ragged.renest %2 : !ragged.tensor<[S, 1], f32> -> !ragged.tensor<[1], f32, path = [B, S]>
  return %0, %2, %3, %4 : !ragged.tensor<[T, 1], f32, path = [B, S]>, !ragged.tensor<[S, 1], f32>,
      !ragged.tensor<[T, 1], f32, path = [B, S]>, !ragged.tensor<[1], f32, path = [B, S]>
}

// Rows of a table become members; what a sample has is repeated for each.
// CHECK-LABEL: @renest
// CHECK: 0 :
// CHECK-NEXT: path 1 = [2, 0, 1]
// CHECK-NEXT: [0] {{\[}}[1, 2, 3]]
// CHECK-NEXT: [1] {{\[}}[4, 5, 6]]
// CHECK-NEXT: [2] {{\[\[\]\]}} shape (1, 0)
// CHECK: 1 :
// CHECK-NEXT: path 1 = [2, 0, 1]
// CHECK-NEXT: [0] {{\[}}[11, 12, 13]]
// CHECK-NEXT: [1] {{\[}}[14, 15, 16]]
// CHECK-NEXT: [2] {{\[\[\]\]}} shape (1, 0)
// CHECK: 2 :
// CHECK-NEXT: [0] {{\[\[}}[11, 12, 13]], {{\[}}[14, 15, 16]]]
// CHECK-NEXT: [1] [] shape (0, 1, 1)
// CHECK-NEXT: [2] {{\[\[\[\]\]\]}} shape (1, 1, 0)
func.func @renest(
    %x: !ragged.tensor<[N, 1, M], f32> {
      reference.values = dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]> : tensor<6x1xf32>,
      reference.lengths = [array<i64: 2, 0, 1>, array<i64: 3, 1, 0>]},
    %c: !ragged.tensor<[], f32> {reference.values = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>})
    -> (!ragged.tensor<[1, M], f32, path = [B, N]>, !ragged.tensor<[1, M], f32, path = [B, N]>, !ragged.tensor<[N, 1, M], f32>) {
  %0 = ragged.renest %x : !ragged.tensor<[N, 1, M], f32> -> !ragged.tensor<[1, M], f32, path = [B, N]>
  %1 = ragged.broadcast %c dims [] : !ragged.tensor<[], f32> -> !ragged.tensor<[1, M], f32, path = [B, N]>
  %2 = ragged.map ins(%0, %1 : !ragged.tensor<[1, M], f32, path = [B, N]>, !ragged.tensor<[1, M], f32, path = [B, N]>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[1, M], f32, path = [B, N]>
  %3 = ragged.unnest %2 : !ragged.tensor<[1, M], f32, path = [B, N]> -> !ragged.tensor<[N, 1, M], f32>
  return %0, %2, %3 : !ragged.tensor<[1, M], f32, path = [B, N]>, !ragged.tensor<[1, M], f32, path = [B, N]>, !ragged.tensor<[N, 1, M], f32>
}

// What is padded with, in front and behind; per sample in the third.
// CHECK-LABEL: @pad
// CHECK: [0] {{\[}}[9, 9], [1, 2], [9, 9], [9, 9]]
// CHECK-NEXT: [1] {{\[}}[9, 9], [9, 9], [9, 9]]
// CHECK: [0] {{\[}}[0, 1, 2, 0, 0]]
// CHECK-NEXT: [1] [] shape (0, 5)
// CHECK: [0] {{\[}}[1, 2], [3, 3]]
// CHECK-NEXT: [1] [] shape (0, 2)
func.func @pad(
    %x: !ragged.tensor<[N, 2], i32> {
      reference.values = dense<[[1, 2]]> : tensor<1x2xi32>, reference.lengths = [array<i64: 1, 0>]})
    -> (!ragged.tensor<[N + 3, 2], i32>, !ragged.tensor<[N, 5], i32>, !ragged.tensor<[2 * N, 2], i32>) {
  %0 = ragged.pad %x low [1, 0] high [2, 0] value 9 : i32 : !ragged.tensor<[N, 2], i32> -> !ragged.tensor<[N + 3, 2], i32>
  %1 = ragged.pad %x low [0, 1] high [0, 2] value 0 : i32 : !ragged.tensor<[N, 2], i32> -> !ragged.tensor<[N, 5], i32>
  %2 = ragged.pad %x low [0, 0] high [N, 0] value 3 : i32 : !ragged.tensor<[N, 2], i32> -> !ragged.tensor<[2 * N, 2], i32>
  return %0, %1, %2 : !ragged.tensor<[N + 3, 2], i32>, !ragged.tensor<[N, 5], i32>, !ragged.tensor<[2 * N, 2], i32>
}

// CHECK-LABEL: @concat
// CHECK: [0] [7, 1, 2, 5, 8]
// CHECK-NEXT: [1] [7, 6, 8]
func.func @concat(
    %c: tensor<1xi32> {reference.values = dense<7> : tensor<1xi32>},
    %x: !ragged.tensor<[N], i32> {
      reference.values = dense<[1, 2]> : tensor<2xi32>, reference.lengths = [array<i64: 2, 0>]},
    %y: !ragged.tensor<[M], i32> {
      reference.values = dense<[5, 6]> : tensor<2xi32>, reference.lengths = [array<i64: 1, 1>]})
    -> !ragged.tensor<[M + N + 2], i32> {
  %e = ragged.fill 8 : i32 -> !ragged.tensor<[1], i32>
  %0 = ragged.concat %c, %x, %y, %e dim 0 : tensor<1xi32>, !ragged.tensor<[N], i32>, !ragged.tensor<[M], i32>, !ragged.tensor<[1], i32> -> !ragged.tensor<[M + N + 2], i32>
  return %0 : !ragged.tensor<[M + N + 2], i32>
}

// CHECK-LABEL: @steps
// CHECK: [0] [3, 2, 1]
// CHECK-NEXT: [1] []
// CHECK: [0] [1, 3]
// CHECK-NEXT: [1] []
func.func @steps(
    %x: !ragged.tensor<[N], i32> {
      reference.values = dense<[1, 2, 3]> : tensor<3xi32>, reference.lengths = [array<i64: 3, 0>]})
    -> (!ragged.tensor<[N], i32>, !ragged.tensor<[(N + 1) floordiv 2], i32>) {
  %0 = ragged.slice %x dim 0 start <N - 1> size <N> step -1 : !ragged.tensor<[N], i32> -> !ragged.tensor<[N], i32>
  %1 = ragged.slice %x dim 0 start <0> size <(N + 1) floordiv 2> step 2 : !ragged.tensor<[N], i32> -> !ragged.tensor<[(N + 1) floordiv 2], i32>
  return %0, %1 : !ragged.tensor<[N], i32>, !ragged.tensor<[(N + 1) floordiv 2], i32>
}

// CHECK-LABEL: @take
// CHECK: [0] {{\[}}[5, 6], [1, 2], [5, 6]]
// CHECK-NEXT: [1] {{\[}}[7, 8]]
// CHECK: [0] {{\[}}[2, 1, 2], [4, 3, 4], [6, 5, 6]]
// CHECK-NEXT: [1] {{\[}}[8, 7, 8]]
// CHECK: [0] {{\[}}[5, 6], [3, 2], [1, 6]]
// CHECK-NEXT: [1] {{\[}}[7, 8]]
func.func @take(
    %x: !ragged.tensor<[N, 2], i32> {
      reference.values = dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>,
      reference.lengths = [array<i64: 3, 1>]},
    %i: !ragged.tensor<[M], i64> {
      reference.values = dense<[2, 0, 2, 0]> : tensor<4xi64>, reference.lengths = [array<i64: 3, 1>]},
    %c: tensor<3xi32> {reference.values = dense<[1, 0, 1]> : tensor<3xi32>},
    %a: !ragged.tensor<[M, 2], i32> {
      reference.values = dense<[[2, 2], [1, 0], [0, 2], [0, 0]]> : tensor<4x2xi32>,
      reference.lengths = [array<i64: 3, 1>]})
    -> (!ragged.tensor<[M, 2], i32>, !ragged.tensor<[N, 3], i32>, !ragged.tensor<[M, 2], i32>) {
  %0 = ragged.take %x, %i dim 0 : !ragged.tensor<[N, 2], i32>, !ragged.tensor<[M], i64> -> !ragged.tensor<[M, 2], i32>
  %1 = ragged.take %x, %c dim 1 : !ragged.tensor<[N, 2], i32>, tensor<3xi32> -> !ragged.tensor<[N, 3], i32>
  %2 = ragged.take_along %x, %a dim 0 : !ragged.tensor<[N, 2], i32>, !ragged.tensor<[M, 2], i32> -> !ragged.tensor<[M, 2], i32>
  return %0, %1, %2 : !ragged.tensor<[M, 2], i32>, !ragged.tensor<[N, 3], i32>, !ragged.tensor<[M, 2], i32>
}

// CHECK-LABEL: @reshape
// CHECK: [0] [1, 2, 3, 4, 5, 6]
// CHECK-NEXT: [1] []
// CHECK: [0] {{\[}}[1], [2], [3], [4], [5], [6]]
func.func @reshape(
    %x: !ragged.tensor<[N, M], i32> {
      reference.values = dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>,
      reference.lengths = [array<i64: 2, 0>, array<i64: 3, 1>]})
    -> (!ragged.tensor<[M * N], i32>, !ragged.tensor<[M * N, 1], i32>) {
  %0 = ragged.reshape %x : !ragged.tensor<[N, M], i32> -> !ragged.tensor<[M * N], i32>
  %1 = ragged.reshape %0 : !ragged.tensor<[M * N], i32> -> !ragged.tensor<[M * N, 1], i32>
  return %0, %1 : !ragged.tensor<[M * N], i32>, !ragged.tensor<[M * N, 1], i32>
}
