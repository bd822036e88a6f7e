// RUN: nested-reference %s | FileCheck %s

// y[n] = sum over m of u[n] * v[m], per sample; of nothing, the init.
// CHECK-LABEL: @contract
// CHECK: [0] [60, 120]
// CHECK-NEXT: [1] [0]
func.func @contract(
    %u: !ragged.tensor<[N], f32> {
      reference.values = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>,
      reference.lengths = [array<i64: 2, 1>]},
    %v: !ragged.tensor<[M], f32> {
      reference.values = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>,
      reference.lengths = [array<i64: 3, 0>]}) -> !ragged.tensor<[N], f32> {
  %zero = ragged.fill 0.0 : f32 -> !ragged.tensor<[N], f32>
  %y = ragged.generic dims [N, M] iterators ["parallel", "reduction"] path [B]
      maps [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a)>]
      ins(%u, %v : !ragged.tensor<[N], f32>, !ragged.tensor<[M], f32>)
      outs(%zero : !ragged.tensor<[N], f32>) {
  ^bb0(%x: f32, %z: f32, %acc: f32):
    %0 = arith.mulf %x, %z : f32
    %1 = arith.addf %acc, %0 : f32
    ragged.yield %1 : f32
  } -> !ragged.tensor<[N], f32>
  return %y : !ragged.tensor<[N], f32>
}

// Per-sample offsets: the last two, backwards (a linear map), and every other
// element (one that is not).
// CHECK-LABEL: @slices
// CHECK: 0 :
// CHECK-NEXT: [0] [3, 2]
// CHECK-NEXT: [1] [5, 4]
// CHECK: 1 :
// CHECK-NEXT: [0] [1, 1, 2]
// CHECK-NEXT: [1] [4, 4]
func.func @slices(
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>,
      reference.lengths = [array<i64: 3, 2>]}) -> (!ragged.tensor<[2], f32>, !ragged.tensor<[N], f32>) {
  %e = ragged.empty : !ragged.tensor<[2], f32>
  %0 = ragged.generic dims [2] iterators ["parallel"] path [B]
      maps [affine_map<(a) -> (1 - a)>, affine_map<(a) -> (a)>] offsets [[#ragged.extent<N - 2>]]
      ins(%x : !ragged.tensor<[N], f32>) outs(%e : !ragged.tensor<[2], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[2], f32>
  %f = ragged.empty : !ragged.tensor<[N], f32>
  %1 = ragged.generic dims [N] iterators ["parallel"] path [B]
      maps [affine_map<(a) -> (a floordiv 2)>, affine_map<(a) -> (a)>]
      ins(%x : !ragged.tensor<[N], f32>) outs(%f : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return %0, %1 : !ragged.tensor<[2], f32>, !ragged.tensor<[N], f32>
}

// Reduced over the batch, with coordinates, and two results.
// CHECK-LABEL: @batch
// CHECK: 0 : tensor<f32>
// CHECK-NEXT: 6
// CHECK: 1 : tensor<i64>
// CHECK-NEXT: 1
func.func @batch(
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>,
      reference.lengths = [array<i64: 2, 1>]}) -> (tensor<f32>, tensor<i64>) {
  %f = ragged.fill 0.0 : f32 -> tensor<f32>
  %i = ragged.fill 0 : i64 -> tensor<i64>
  %0:2 = ragged.generic dims [N] iterators ["reduction"] path [B]
      maps [affine_map<(a) -> (a)>, affine_map<(a) -> ()>, affine_map<(a) -> ()>] batch_reduced
      ins(%x : !ragged.tensor<[N], f32>) outs(%f, %i : tensor<f32>, tensor<i64>) {
  ^bb0(%a: f32, %sum: f32, %coordinates: i64):
    %1 = arith.addf %a, %sum : f32
    %2 = ragged.index 0 : i64
    %3 = arith.addi %2, %coordinates : i64
    ragged.yield %1, %3 : f32, i64
  } -> tensor<f32>, tensor<i64>
  return %0#0, %0#1 : tensor<f32>, tensor<i64>
}
