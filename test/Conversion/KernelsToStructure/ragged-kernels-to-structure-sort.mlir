// RUN: nested-opt %s --ragged-kernels-to-structure --canonicalize --cse --split-input-file | FileCheck %s

// 16 columns are sorted side by side: rows are turned into integers and kept in scratch, a comparator is a minimum
// and a maximum of two of them. What a NaN or -0 is among is sorted with indices instead; the 8 columns that are left
// are sorted one by one.
// CHECK-LABEL: func.func @values_sort0(
// CHECK: %[[RECORDS:.*]] = memref.alloc() : memref<32768xi32>
// CHECK: %[[INDEXED:.*]] = memref.alloc() : memref<16384xi64>
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xi32>)
// CHECK: vector.load {{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: vector.store {{.*}}, %[[RECORDS]]
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK: %[[LOW:.*]] = vector.load %[[RECORDS]]
// CHECK: %[[HIGH:.*]] = vector.load %[[RECORDS]]
// CHECK-DAG: arith.minsi %[[LOW]], %[[HIGH]] : vector<16xi32>
// CHECK-DAG: arith.maxsi %[[LOW]], %[[HIGH]] : vector<16xi32>
// CHECK: vector.store {{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: } else {
// CHECK: arith.minsi {{.*}} : vector<8xi64>
func.func @values(%x: !ragged.tensor<[N, 40], f32>) -> !ragged.tensor<[N, 40], f32> {
  %y, %i = ragged.sort %x dim 0 : !ragged.tensor<[N, 40], f32> -> !ragged.tensor<[N, 40], f32>, !ragged.tensor<[N, 40], i64>
  return %y : !ragged.tensor<[N, 40], f32>
}

// -----

// Indices are asked for: all records have them, 8 columns at a time.
// CHECK-LABEL: func.func @indices_sort0(
// CHECK-NOT: xi32>
// CHECK: arith.minsi {{.*}} : vector<8xi64>
// CHECK: vector.store {{.*}} : memref<?xi64>, vector<8xi64>
func.func @indices(%x: !ragged.tensor<[N, 8], i16>) -> !ragged.tensor<[N, 8], i64> {
  %y, %i = ragged.sort %x dim 0 : !ragged.tensor<[N, 8], i16> -> !ragged.tensor<[N, 8], i16>, !ragged.tensor<[N, 8], i64>
  return %i : !ragged.tensor<[N, 8], i64>
}

// -----

// Fewer columns than a line holds: no network.
// CHECK-LABEL: func.func @few_sort0(
// CHECK-NOT: arith.minsi {{.*}} : vector
func.func @few(%x: !ragged.tensor<[N, 4], f32>) -> !ragged.tensor<[N, 4], f32> {
  %y, %i = ragged.sort %x dim 0 : !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[N, 4], f32>, !ragged.tensor<[N, 4], i64>
  return %y : !ragged.tensor<[N, 4], f32>
}
