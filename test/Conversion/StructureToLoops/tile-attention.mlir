// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-attention, canonicalize))' | FileCheck %s

// Keys and values in panels of 64 keys; scores of 6 queries are 24 vectors, whose exponentials are the weights.

// CHECK-LABEL: func.func @plain
// CHECK-COUNT-24: vector.fma
// CHECK-NOT: math.tanh
// CHECK: vector.reduction <maximumf>
// CHECK: math.exp
// CHECK: vector.reduction <add>
// CHECK-COUNT-24: vector.fma
// CHECK-NOT: ragged.tile_attention
func.func @plain(%q: memref<?xf32>, %o: memref<?xf32>, %i: index) attributes {ragged.kernel} {
  ragged.tile_attention query %q[%i, %i] key %q[%i, %i] value %q[%i, %i] into %o[%i, %i] size [%i, %i] position %i
      {head_size = 64 : i64, value_size = 64 : i64, scale = 0.125 : f64} : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>
  return
}

// With all that can change a score; f64 has 8 lanes.

// CHECK-LABEL: func.func @changed
// CHECK: vector.fma {{.*}} vector<8xf64>
// CHECK: math.tanh {{.*}} vector<8xf64>
// CHECK: memref.load %{{.*}} : memref<?xi8>
// CHECK: arith.select %{{.*}} : vector<8xi1>, vector<8xf64>
func.func @changed(%q: memref<?xf64>, %m: memref<?xi8>, %o: memref<?xf64>, %i: index) attributes {ragged.kernel} {
  ragged.tile_attention query %q[%i, %i] key %q[%i, %i] value %q[%i, %i] into %o[%i, %i] size [%i, %i] position %i
      bias %q[%i, %i, %i] mask %m[%i, %i, %i]
      {head_size = 8 : i64, value_size = 4 : i64, scale = 0.5 : f64, soft_cap = 3.0 : f64, left = 9 : i64, right = 0 : i64}
      : memref<?xf64>, memref<?xf64>, memref<?xf64>, memref<?xf64> bias memref<?xf64> mask memref<?xi8>
  return
}
