// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels --split-input-file | FileCheck %s

// Gradients of two weights of 512 kB: each kernel goes through one accumulator for its tiles, and makes the squares, which are little work.
// CHECK-LABEL: func.func @large(
// CHECK: ragged.kernel "large_k0" space [N] path [B] groups 0
// CHECK: arith.mulf
// CHECK: ragged.tile_yield %{{[0-9]+}} : tensor<256x512xf32>
// CHECK: ragged.kernel "large_k1" space [N] path [B] groups 0
// CHECK: arith.mulf
// CHECK: ragged.tile_yield %{{[0-9]+}} : tensor<256x512xf32>
// CHECK-NOT: ragged.kernel
func.func @large(%x: !ragged.tensor<[N, 256], f32>, %v: tensor<256x512xf32>, %w: tensor<256x512xf32>) -> (tensor<256x512xf32>, tensor<256x512xf32>) {
  %s = ragged.map ins(%x : !ragged.tensor<[N, 256], f32>) {
  ^bb0(%a: f32):
    %m = arith.mulf %a, %a : f32
    ragged.yield %m : f32
  } -> !ragged.tensor<[N, 256], f32>
  %g = ragged.linear %s, %v : !ragged.tensor<[N, 256], f32>, tensor<256x512xf32> -> !ragged.tensor<[N, 512], f32>
  %h = ragged.linear %s, %w : !ragged.tensor<[N, 256], f32>, tensor<256x512xf32> -> !ragged.tensor<[N, 512], f32>
  %e = ragged.map ins(%g : !ragged.tensor<[N, 512], f32>) {
  ^bb0(%a: f32):
    %m = math.exp %a : f32
    ragged.yield %m : f32
  } -> !ragged.tensor<[N, 512], f32>
  %f = ragged.map ins(%h : !ragged.tensor<[N, 512], f32>) {
  ^bb0(%a: f32):
    %m = math.exp %a : f32
    ragged.yield %m : f32
  } -> !ragged.tensor<[N, 512], f32>
  %k = ragged.reduce sum %e dims [0, 1] batch : !ragged.tensor<[N, 512], f32> -> tensor<f32>
  %l = ragged.reduce sum %f dims [0, 1] batch : !ragged.tensor<[N, 512], f32> -> tensor<f32>
  %0:2 = ragged.gradient of(%k, %l : tensor<f32>, tensor<f32>) wrt(%v, %w : tensor<256x512xf32>, tensor<256x512xf32>)
      -> tensor<256x512xf32>, tensor<256x512xf32>
  return %0#0, %0#1 : tensor<256x512xf32>, tensor<256x512xf32>
}

// -----

// Both fit into the cache: one kernel.
// CHECK-LABEL: func.func @small(
// CHECK: ragged.kernel "small_k0" space [N] path [B] groups 0
// CHECK: ragged.tile_yield %{{[0-9]+}}, %{{[0-9]+}} : tensor<256x64xf32>, tensor<256x64xf32>
// CHECK-NOT: ragged.kernel
func.func @small(%x: !ragged.tensor<[N, 256], f32>, %v: tensor<256x64xf32>, %w: tensor<256x64xf32>) -> (tensor<256x64xf32>, tensor<256x64xf32>) {
  %s = ragged.map ins(%x : !ragged.tensor<[N, 256], f32>) {
  ^bb0(%a: f32):
    %m = arith.mulf %a, %a : f32
    ragged.yield %m : f32
  } -> !ragged.tensor<[N, 256], f32>
  %g = ragged.linear %s, %v : !ragged.tensor<[N, 256], f32>, tensor<256x64xf32> -> !ragged.tensor<[N, 64], f32>
  %h = ragged.linear %s, %w : !ragged.tensor<[N, 256], f32>, tensor<256x64xf32> -> !ragged.tensor<[N, 64], f32>
  %e = ragged.map ins(%g : !ragged.tensor<[N, 64], f32>) {
  ^bb0(%a: f32):
    %m = math.exp %a : f32
    ragged.yield %m : f32
  } -> !ragged.tensor<[N, 64], f32>
  %f = ragged.map ins(%h : !ragged.tensor<[N, 64], f32>) {
  ^bb0(%a: f32):
    %m = math.exp %a : f32
    ragged.yield %m : f32
  } -> !ragged.tensor<[N, 64], f32>
  %k = ragged.reduce sum %e dims [0, 1] batch : !ragged.tensor<[N, 64], f32> -> tensor<f32>
  %l = ragged.reduce sum %f dims [0, 1] batch : !ragged.tensor<[N, 64], f32> -> tensor<f32>
  %0:2 = ragged.gradient of(%k, %l : tensor<f32>, tensor<f32>) wrt(%v, %w : tensor<256x64xf32>, tensor<256x64xf32>)
      -> tensor<256x64xf32>, tensor<256x64xf32>
  return %0#0, %0#1 : tensor<256x64xf32>, tensor<256x64xf32>
}
