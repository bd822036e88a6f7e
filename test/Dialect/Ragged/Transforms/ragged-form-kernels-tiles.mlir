// RUN: nested-opt %s --tensor-to-generic | nested-opt --ragged-form-kernels | FileCheck %s --check-prefixes=CHECK,SMALL
// RUN: nested-opt %s --tensor-to-generic | nested-opt --pass-pipeline='builtin.module(func.func(ragged-form-kernels{large-tile-rows=96}))' | FileCheck %s --check-prefixes=CHECK,LARGE

// Weights that fill the second-level cache are read once per tile: tiles may be taller, where the target says so.
// CHECK-LABEL: func.func @large(
// SMALL: linalg.matmul {{.*}} -> tensor<48x1024xf32>
// LARGE: linalg.matmul {{.*}} -> tensor<96x1024xf32>
func.func @large(%x: !ragged.tensor<[N, 512], f32>, %w: tensor<512x1024xf32>) -> !ragged.tensor<[N, 1024], f32> {
  %y = ragged.linear %x, %w : !ragged.tensor<[N, 512], f32>, tensor<512x1024xf32> -> !ragged.tensor<[N, 1024], f32>
  return %y : !ragged.tensor<[N, 1024], f32>
}

// Half as many are not that many.
// CHECK-LABEL: func.func @small(
// CHECK: linalg.matmul {{.*}} -> tensor<48x512xf32>
func.func @small(%x: !ragged.tensor<[N, 512], f32>, %w: tensor<512x512xf32>) -> !ragged.tensor<[N, 512], f32> {
  %y = ragged.linear %x, %w : !ragged.tensor<[N, 512], f32>, tensor<512x512xf32> -> !ragged.tensor<[N, 512], f32>
  return %y : !ragged.tensor<[N, 512], f32>
}
