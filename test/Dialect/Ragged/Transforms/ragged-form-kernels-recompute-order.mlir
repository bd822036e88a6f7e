// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels | FileCheck %s

// The gradients of both singles of a pair are sums over rows and over columns. Each kernel makes the pairs in the order of its
// own rows; nothing of pair size is stored.
// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, 4], f32>, %[[Y:.*]]: !ragged.tensor<[M, 4], f32>
// CHECK: ragged.kernel "both_k{{[0-9]}}" space [N, M] path [B] groups 1
// CHECK: math.exp
// CHECK: } -> !ragged.tensor<[N, 4], f32>
// CHECK: ragged.kernel "both_k{{[0-9]}}" space [M, N] path [B] groups 1
// CHECK: math.exp
// CHECK: } -> !ragged.tensor<[M, 4], f32>
func.func @both(%x: !ragged.tensor<[N, 4], f32>, %y: !ragged.tensor<[M, 4], f32>) -> (!ragged.tensor<[N, 4], f32>, !ragged.tensor<[M, 4], f32>) {
  %a = ragged.broadcast %x dims [0, 2] : !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[N, M, 4], f32>
  %b = ragged.broadcast %y dims [1, 2] : !ragged.tensor<[M, 4], f32> -> !ragged.tensor<[N, M, 4], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 4], f32>, !ragged.tensor<[N, M, 4], f32>) {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %v : f32
    %e = math.exp %s : f32
    ragged.yield %e : f32
  } -> !ragged.tensor<[N, M, 4], f32>
  %l = ragged.reduce sum %p dims [0, 1, 2] batch : !ragged.tensor<[N, M, 4], f32> -> tensor<f32>
  %0:2 = ragged.gradient of(%l : tensor<f32>) wrt(%x, %y : !ragged.tensor<[N, 4], f32>, !ragged.tensor<[M, 4], f32>)
      -> !ragged.tensor<[N, 4], f32>, !ragged.tensor<[M, 4], f32>
  return %0#0, %0#1 : !ragged.tensor<[N, 4], f32>, !ragged.tensor<[M, 4], f32>
}

// Two orders of one square of cells, each with a product of matrices: two kernels, whose tiles are larger than those of one.
// CHECK-LABEL: func.func @square(
// CHECK: ragged.kernel "square_k{{[0-9]}}" space [N, N] path [B] groups 1
// CHECK: } -> !ragged.tensor<[N, 64], f32>{{$}}
// CHECK: ragged.kernel "square_k{{[0-9]}}" space [N, N] path [B] groups 1
// CHECK: } -> !ragged.tensor<[N, 64], f32>{{$}}
func.func @square(%x: !ragged.tensor<[N, 64], f32>, %y: !ragged.tensor<[N, 64], f32>, %w: tensor<64x256xf32>)
    -> (!ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 64], f32>) {
  %a = ragged.broadcast %x dims [0, 2] : !ragged.tensor<[N, 64], f32> -> !ragged.tensor<[N, N, 64], f32>
  %b = ragged.broadcast %y dims [1, 2] : !ragged.tensor<[N, 64], f32> -> !ragged.tensor<[N, N, 64], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, N, 64], f32>, !ragged.tensor<[N, N, 64], f32>) {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %v : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 64], f32>
  %h = ragged.linear %p, %w : !ragged.tensor<[N, N, 64], f32>, tensor<64x256xf32> -> !ragged.tensor<[N, N, 256], f32>
  %e = ragged.map ins(%h : !ragged.tensor<[N, N, 256], f32>) {
  ^bb0(%u: f32):
    %s = math.exp %u : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 256], f32>
  %l = ragged.reduce sum %e dims [0, 1, 2] batch : !ragged.tensor<[N, N, 256], f32> -> tensor<f32>
  %0:2 = ragged.gradient of(%l : tensor<f32>) wrt(%x, %y : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 64], f32>)
      -> !ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 64], f32>
  return %0#0, %0#1 : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 64], f32>
}
