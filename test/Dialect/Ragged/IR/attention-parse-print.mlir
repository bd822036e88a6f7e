// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: func.func @attention
func.func @attention(%q: !ragged.tensor<[N, 4, 8], f32>, %k: !ragged.tensor<[M, 2, 8], f32>, %b: !ragged.tensor<[N, M, 4], f32>,
    %m: !ragged.tensor<[N, M], i1>) {
  // CHECK: ragged.attention %{{.*}}, %{{.*}}, %{{.*}} : !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32> -> !ragged.tensor<[N, 4, 8], f32>
  %o = ragged.attention %q, %k, %k : !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32>
      -> !ragged.tensor<[N, 4, 8], f32>
  // CHECK: ragged.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} mask %{{.*}} {left = 5 : i64, right = 0 : i64, scale = 5.000000e-01 : f64, soft_cap = 3.000000e+01 : f64}
  // CHECK-SAME: bias !ragged.tensor<[N, M, 4], f32> mask !ragged.tensor<[N, M], i1> -> !ragged.tensor<[N, 4, 8], f32>
  %p = ragged.attention %q, %k, %k bias %b mask %m {left = 5 : i64, right = 0 : i64, scale = 0.5 : f64, soft_cap = 30.0 : f64}
      : !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32>
        bias !ragged.tensor<[N, M, 4], f32> mask !ragged.tensor<[N, M], i1> -> !ragged.tensor<[N, 4, 8], f32>
  return
}

// CHECK-LABEL: func.func @tile_attention
func.func @tile_attention(%a: memref<?xf32>, %m: memref<?xi8>, %i: index) {
  // CHECK: ragged.tile_attention query %{{.*}}[%{{.*}}, %{{.*}}] key %{{.*}} value %{{.*}} into %{{.*}} size[%{{.*}}, %{{.*}}] position %{{.*}} bias %{{.*}} mask %{{.*}}
  ragged.tile_attention query %a[%i, %i] key %a[%i, %i] value %a[%i, %i] into %a[%i, %i] size [%i, %i] position %i
      bias %a[%i, %i, %i] mask %m[%i, %i, %i] {head_size = 8 : i64, value_size = 8 : i64, scale = 1.0 : f64}
      : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32> bias memref<?xf32> mask memref<?xi8>
  return
}
