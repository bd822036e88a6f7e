// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: func.func @make
func.func @make(%x: !ragged.tensor<[N, 128], f32>) {
  // CHECK: ragged.empty : !ragged.tensor<[N, 128], f32>
  %e = ragged.empty : !ragged.tensor<[N, 128], f32>
  // CHECK: ragged.fill 0.000000e+00 : f32 -> !ragged.tensor<[N, 128], f32>
  %z = ragged.fill 0.0 : f32 -> !ragged.tensor<[N, 128], f32>
  // CHECK: ragged.iota dim 0 : !ragged.tensor<[N, N], i64>
  %i = ragged.iota dim 0 : !ragged.tensor<[N, N], i64>
  return
}

// CHECK-LABEL: func.func @map
func.func @map(%x: !ragged.tensor<[N, 128], f32>, %b: tensor<128xf32>) -> !ragged.tensor<[N, 128], f32> {
  // CHECK: ragged.map ins(%{{.*}}, %{{.*}} : !ragged.tensor<[N, 128], f32>, tensor<128xf32>) {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[C:.*]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK-NEXT: ragged.yield %[[C]] : f32
  // CHECK-NEXT: } -> !ragged.tensor<[N, 128], f32>
  %z = ragged.map ins(%x, %b : !ragged.tensor<[N, 128], f32>, tensor<128xf32>) {
  ^bb0(%a: f32, %c: f32):
    %d = arith.addf %a, %c : f32
    ragged.yield %d : f32
  } -> !ragged.tensor<[N, 128], f32>
  return %z : !ragged.tensor<[N, 128], f32>
}

// CHECK-LABEL: func.func @map_of_nothing
func.func @map_of_nothing() -> tensor<4xi64> {
  // CHECK: ragged.map ins() {
  // CHECK: } -> tensor<4xi64>
  %z = ragged.map ins() {
    %c = arith.constant 7 : i64
    ragged.yield %c : i64
  } -> tensor<4xi64>
  return %z : tensor<4xi64>
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%u: !ragged.tensor<[N, 128], f32>, %v: !ragged.tensor<[M], f32>) {
  // CHECK: ragged.broadcast %{{.*}} dims [0, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, M, 128], f32>
  %p = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, M, 128], f32>
  return
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x: !ragged.tensor<[N, 384], f32>, %w: tensor<384x128xf32>, %b: tensor<128xf32>) {
  // CHECK: ragged.linear %{{.*}}, %{{.*}} : !ragged.tensor<[N, 384], f32>, tensor<384x128xf32> -> !ragged.tensor<[N, 128], f32>
  %y = ragged.linear %x, %w : !ragged.tensor<[N, 384], f32>, tensor<384x128xf32> -> !ragged.tensor<[N, 128], f32>
  // CHECK: ragged.linear %{{.*}}, %{{.*}} bias %{{.*}} : !ragged.tensor<[N, 384], f32>, tensor<384x128xf32>, tensor<128xf32> -> !ragged.tensor<[N, 128], f32>
  %z = ragged.linear %x, %w bias %b : !ragged.tensor<[N, 384], f32>, tensor<384x128xf32>, tensor<128xf32>
      -> !ragged.tensor<[N, 128], f32>
  return
}

// CHECK-LABEL: func.func @reduce
func.func @reduce(%p: !ragged.tensor<[N, M, 128], f32>, %x: !ragged.tensor<[N, 128], f32>) {
  // CHECK: ragged.reduce mean %{{.*}} dims [1] : !ragged.tensor<[N, M, 128], f32> -> !ragged.tensor<[N, 128], f32>
  %s = ragged.reduce mean %p dims [1] : !ragged.tensor<[N, M, 128], f32> -> !ragged.tensor<[N, 128], f32>
  // CHECK: ragged.reduce sum %{{.*}} dims [0] batch : !ragged.tensor<[N, 128], f32> -> tensor<128xf32>
  %t = ragged.reduce sum %x dims [0] batch : !ragged.tensor<[N, 128], f32> -> tensor<128xf32>
  // CHECK: ragged.reduce max %{{.*}} dims [1] keepdims empty identity : !ragged.tensor<[N, M, 128], f32> -> !ragged.tensor<[N, 1, 128], f32>
  %u = ragged.reduce max %p dims [1] keepdims empty identity : !ragged.tensor<[N, M, 128], f32> -> !ragged.tensor<[N, 1, 128], f32>
  return
}

// CHECK-LABEL: func.func @normalize
func.func @normalize(%x: !ragged.tensor<[N, N, 128], f32>, %g: tensor<128xf32>, %b: tensor<128xf32>) {
  // CHECK: ragged.normalize layer %{{.*}} scale %{{.*}} offset %{{.*}} {eps = {{.*}} : f64} : !ragged.tensor<[N, N, 128], f32>, scale tensor<128xf32>, offset tensor<128xf32> -> !ragged.tensor<[N, N, 128], f32>
  %y = ragged.normalize layer %x scale %g offset %b {dims = 1 : i64, eps = 1.0e-6 : f64}
      : !ragged.tensor<[N, N, 128], f32>, scale tensor<128xf32>, offset tensor<128xf32> -> !ragged.tensor<[N, N, 128], f32>
  // CHECK: ragged.normalize layer %{{.*}} : !ragged.tensor<[N, N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %z = ragged.normalize layer %x : !ragged.tensor<[N, N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  return
}

// CHECK-LABEL: func.func @generic
func.func @generic(%u: !ragged.tensor<[N, 128], f32>, %v: !ragged.tensor<[M, 128], f32>) {
  %zero = ragged.fill 0.0 : f32 -> !ragged.tensor<[N, 128], f32>
  // CHECK: ragged.generic dims [N, M, 128] iterators ["parallel", "reduction", "parallel"] path [B] maps [
  // CHECK-SAME: ins(%{{.*}}, %{{.*}} : !ragged.tensor<[N, 128], f32>, !ragged.tensor<[M, 128], f32>)
  // CHECK-SAME: outs(%{{.*}} : !ragged.tensor<[N, 128], f32>) {
  // CHECK: ragged.index 1 : i64
  // CHECK: } -> !ragged.tensor<[N, 128], f32>
  %s = ragged.generic dims [N, M, 128] iterators ["parallel", "reduction", "parallel"] path [B]
      maps [affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (b, c)>, affine_map<(a, b, c) -> (a, c)>]
      ins(%u, %v : !ragged.tensor<[N, 128], f32>, !ragged.tensor<[M, 128], f32>)
      outs(%zero : !ragged.tensor<[N, 128], f32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %i = ragged.index 1 : i64
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %acc, %0 : f32
    ragged.yield %1 : f32
  } -> !ragged.tensor<[N, 128], f32>
  return
}

// Offsets, and a reduction over the batch.
// CHECK-LABEL: func.func @generic_options
func.func @generic_options(%x: !ragged.tensor<[N, 8], f32>) {
  %zero = ragged.fill 0.0 : f32 -> tensor<8xf32>
  // CHECK: ragged.generic dims [N - 1, 8] iterators ["reduction", "parallel"] path [B] maps
  // CHECK-SAME: offsets {{\[\[}}#ragged.extent<1>, #ragged.extent<0>]] batch_reduced
  %s = ragged.generic dims [N - 1, 8] iterators ["reduction", "parallel"] path [B]
      maps [affine_map<(a, c) -> (a, c)>, affine_map<(a, c) -> (c)>]
      offsets [[#ragged.extent<1>, #ragged.extent<0>]] batch_reduced
      ins(%x : !ragged.tensor<[N, 8], f32>) outs(%zero : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %1 = arith.addf %acc, %a : f32
    ragged.yield %1 : f32
  } -> tensor<8xf32>
  return
}
