// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: func.func @sort
func.func @sort(%x: !ragged.tensor<[N, 8], f32>, %d: tensor<4x2xi32>) {
  // CHECK: ragged.sort %{{.*}} dim 0 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], i64>
  %v, %i = ragged.sort %x dim 0 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], i64>
  // CHECK: ragged.sort %{{.*}} dim 1 descending : tensor<4x2xi32> -> tensor<4x2xi32>, tensor<4x2xi64>
  %w, %j = ragged.sort %d dim 1 descending : tensor<4x2xi32> -> tensor<4x2xi32>, tensor<4x2xi64>
  return
}

// CHECK-LABEL: func.func @searchsorted
func.func @searchsorted(%s: !ragged.tensor<[K], f32>, %x: !ragged.tensor<[N, 8], f32>, %d: tensor<9xf32>) {
  // CHECK: ragged.searchsorted %{{.*}}, %{{.*}} right : !ragged.tensor<[K], f32>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], i64>
  %0 = ragged.searchsorted %s, %x right : !ragged.tensor<[K], f32>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], i64>
  // CHECK: ragged.searchsorted %{{.*}}, %{{.*}} : tensor<9xf32>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], i64>
  %1 = ragged.searchsorted %d, %x : tensor<9xf32>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], i64>
  return
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%z: !ragged.tensor<[K, 8], f32>, %i: !ragged.tensor<[N], i64>, %x: !ragged.tensor<[N, 8], f32>) {
  // CHECK: ragged.scatter set %{{.*}}, %{{.*}}, %{{.*}} : !ragged.tensor<[K, 8], f32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[K, 8], f32>
  %y = ragged.scatter set %z, %i, %x : !ragged.tensor<[K, 8], f32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[K, 8], f32>
  return
}

// The updates of all samples, in one dense result.
// CHECK-LABEL: func.func @scatter_over_batch
func.func @scatter_over_batch(%z: tensor<21x8xf32>, %i: !ragged.tensor<[N], i64>, %x: !ragged.tensor<[N, 8], f32>) {
  // CHECK: ragged.scatter add %{{.*}}, %{{.*}}, %{{.*}} : tensor<21x8xf32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N, 8], f32> -> tensor<21x8xf32>
  %y = ragged.scatter add %z, %i, %x : tensor<21x8xf32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N, 8], f32> -> tensor<21x8xf32>
  return
}
