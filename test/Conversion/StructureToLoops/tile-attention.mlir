// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-attention, canonicalize))' | FileCheck %s

// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-attention{vector-bits=256}, canonicalize))' \
// RUN:   | FileCheck %s --check-prefix=AVX2

// 128 keys and values in panels of 4 vectors, narrower ones for the last keys; scores of 6 queries are 24 vectors that go
// to scratch memory, where they become weights: exponentials of what is not positive.

// CHECK-LABEL: func.func @plain
// CHECK-DAG: %[[QUERIES:.*]] = memref.alloc() : memref<12288xf32>
// CHECK-DAG: %[[SCORES:.*]] = memref.alloc() : memref<3072xf32>
// CHECK: vector.store %{{.*}}, %[[QUERIES]]
// CHECK-COUNT-24: vector.fma
// CHECK-COUNT-24: vector.store %{{.*}}, %[[SCORES]]
// CHECK-COUNT-12: vector.fma
// CHECK-COUNT-12: vector.store %{{.*}}, %[[SCORES]]
// CHECK-COUNT-6: vector.fma
// CHECK-COUNT-6: vector.store %{{.*}}, %[[SCORES]]
// CHECK-NOT: math.tanh
// CHECK: math.exp {{.*}}nested.not_positive
// CHECK: math.exp {{.*}}nested.not_positive
// CHECK-COUNT-24: vector.fma
// CHECK-NOT: ragged.tile_attention
// AVX2-LABEL: func.func @plain
// AVX2: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
func.func @plain(%q: memref<?xf32>, %o: memref<?xf32>, %i: index) attributes {ragged.kernel} {
  ragged.tile_attention query %q[%i, %i] key %q[%i, %i] value %q[%i, %i] into %o[%i, %i] size [%i, %i] position %i
      {head_size = 64 : i64, value_size = 64 : i64, scale = 0.125 : f64} : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>
  return
}

// With all that can change a score; f64 has 8 lanes.

// CHECK-LABEL: func.func @changed
// CHECK: vector.fma {{.*}} vector<8xf64>
// CHECK: memref.load %{{.*}} : memref<?xi8>
// CHECK: math.tanh {{.*}} vector<8xf64>
// CHECK: arith.select %{{.*}} : vector<8xi1>, vector<8xf64>
func.func @changed(%q: memref<?xf64>, %m: memref<?xi8>, %o: memref<?xf64>, %i: index) attributes {ragged.kernel} {
  ragged.tile_attention query %q[%i, %i] key %q[%i, %i] value %q[%i, %i] into %o[%i, %i] size [%i, %i] position %i
      bias %q[%i, %i, %i] mask %m[%i, %i, %i]
      {head_size = 8 : i64, value_size = 4 : i64, scale = 0.5 : f64, soft_cap = 3.0 : f64, left = 9 : i64, right = 0 : i64}
      : memref<?xf64>, memref<?xf64>, memref<?xf64>, memref<?xf64> bias memref<?xf64> mask memref<?xi8>
  return
}

// Gradients of queries: scores and products with the seed, 24 vectors of each; exponentials from the normalizer, no largest score;
// the tile adds to those of queries only.

// CHECK-LABEL: func.func @of_queries
// CHECK-DAG: %[[SCORES:.*]] = memref.alloc() : memref<3072xf32>
// CHECK-COUNT-24: vector.fma
// CHECK-COUNT-24: vector.fma
// CHECK-COUNT-1: math.exp {{.*}}nested.not_positive
// CHECK-NOT: arith.cmpf ogt
// CHECK-COUNT-24: vector.fma
// CHECK-NOT: ragged.tile_attention_gradient
func.func @of_queries(%q: memref<?xf32>, %o: memref<?xf32>, %i: index, %c: i1) attributes {ragged.kernel} {
  ragged.tile_attention_gradient query %q[%i, %i] key %q[%i, %i] value %q[%i, %i] seed %q[%i, %i] result %q[%i, %i]
      normalizer %q[%i, %i] size [%i, %i] position %i accumulate %c into query %o[%i, %i]
      {head_size = 64 : i64, value_size = 64 : i64, scale = 0.125 : f64}
      : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32> into query memref<?xf32>
  return
}

// Gradients of a bias are added up in a wider type.

// CHECK-LABEL: func.func @of_bias
// CHECK-SAME: %[[OUT:[^:]*]]: memref<?xf64>, %{{.*}}, %[[C:[^:]*]]: i1)
// CHECK: math.exp
// CHECK: %[[FOUND:.*]] = arith.extf %{{.*}} : f32 to f64
// CHECK: %[[OLD:.*]] = memref.load %[[OUT]]
// CHECK: %[[SOFAR:.*]] = arith.select %[[C]], %[[OLD]], %{{.*}} : f64
// CHECK: %[[SUM:.*]] = arith.addf %[[SOFAR]], %[[FOUND]] : f64
// CHECK: memref.store %[[SUM]], %[[OUT]]
func.func @of_bias(%q: memref<?xf32>, %o: memref<?xf32>, %d: memref<?xf64>, %i: index, %c: i1) attributes {ragged.kernel} {
  ragged.tile_attention_gradient query %q[%i, %i] key %q[%i, %i] value %q[%i, %i] seed %q[%i, %i] result %q[%i, %i]
      normalizer %q[%i, %i] size [%i, %i] position %i accumulate %c bias %q[%i, %i, %i]
      into query %o[%i, %i] bias_gradient %d[%i, %i, %i] {head_size = 8 : i64, value_size = 4 : i64, scale = 0.5 : f64, right = 0 : i64}
      : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>
        bias memref<?xf32> into query memref<?xf32> bias_gradient memref<?xf64>
  return
}

// Gradients of keys and values, with all that can change a score: the slope of the soft cap is made again from tanh; what is
// written is added to what is there where `accumulate` holds.

// CHECK-LABEL: func.func @of_keys
// CHECK-SAME: %[[C:[^:]*]]: i1)
// CHECK: memref.load %{{.*}} : memref<?xi8>
// CHECK: %[[BENT:.*]] = math.tanh {{.*}} vector<8xf64>
// CHECK: math.exp
// CHECK: arith.mulf %[[BENT]], %[[BENT]]
// CHECK-COUNT-2: arith.select %[[C]]
func.func @of_keys(%q: memref<?xf64>, %m: memref<?xi8>, %o: memref<?xf64>, %i: index, %c: i1) attributes {ragged.kernel} {
  ragged.tile_attention_gradient query %q[%i, %i] key %q[%i, %i] value %q[%i, %i] seed %q[%i, %i] result %q[%i, %i]
      normalizer %q[%i, %i] size [%i, %i] position %i accumulate %c bias %q[%i, %i, %i] mask %m[%i, %i, %i]
      into key %o[%i, %i] value %o[%i, %i]
      {head_size = 8 : i64, value_size = 4 : i64, scale = 0.5 : f64, soft_cap = 3.0 : f64, left = 9 : i64, right = 0 : i64}
      : memref<?xf64>, memref<?xf64>, memref<?xf64>, memref<?xf64>, memref<?xf64>, memref<?xf64>
        bias memref<?xf64> mask memref<?xi8> into key memref<?xf64> value memref<?xf64>
  return
}
