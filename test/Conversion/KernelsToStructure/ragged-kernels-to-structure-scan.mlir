// RUN: nested-opt %s --ragged-kernels-to-structure --split-input-file | FileCheck %s

// A unit is a sample; blocks of 32 columns step down its rows with carried vectors, then the rest. The argument's
// rows are found through its table, the result is packed.
// CHECK-LABEL: func.func @columns_scan0(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[BASE:.*]]: memref<?xi64>, %[[Y:.*]]: memref<?xf32>, %[[OFFSETS:.*]]: memref<?xi64>, %[[LENGTHS:.*]]: memref<?xi64>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME: ragged.loop_kernel = "ragged.scan"
// CHECK: scf.for %[[SAMPLE:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: memref.load %[[LENGTHS]][%[[SAMPLE]]]
// CHECK: memref.load %[[BASE]][%[[SAMPLE]]]
// CHECK: memref.load %[[OFFSETS]][%[[SAMPLE]]]
// CHECK: scf.for {{.*}} {
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<32xf64>)
// CHECK: vector.load %[[X]]{{.*}} : memref<?xf32>, vector<32xf32>
// CHECK: arith.extf {{.*}} : vector<32xf32> to vector<32xf64>
// CHECK: vector.store {{.*}}, %[[Y]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<8xf64>)
// CHECK: ragged.launch @columns_scan0 units groups row_table %{{[0-9]+}} memrefs
// CHECK-SAME: bytes_per_row = 320 : i64
func.func @columns(%x: !ragged.tensor<[N, 40], f32>) -> !ragged.tensor<[N, 40], f32> {
  %y = ragged.scan ins(%x : !ragged.tensor<[N, 40], f32>) dim 0 init [0.0 : f64] {
  ^bb0(%a: f32, %sum: f64):
    %0 = arith.extf %a : f32 to f64
    %1 = arith.addf %sum, %0 : f64
    %2 = arith.truncf %1 : f64 to f32
    ragged.yield %1, %2 : f64, f32
  } -> !ragged.tensor<[N, 40], f32>
  return %y : !ragged.tensor<[N, 40], f32>
}

// -----

// Along the second of two ragged dims: a unit is an index of the first one.
// CHECK-LABEL: func.func @pairs_scan0(
// CHECK: scf.while
// CHECK: %[[UNITS:.*]] = ragged.table offsets <N> path [B]
// CHECK: ragged.launch @pairs_scan0 units groups row_table %{{.*}} unit_table %[[UNITS]] memrefs
func.func @pairs(%x: !ragged.tensor<[N, M], i64>) -> !ragged.tensor<[N, M], i64> {
  %y = ragged.scan ins(%x : !ragged.tensor<[N, M], i64>) dim 1 reverse init [0 : i64] {
  ^bb0(%a: i64, %sum: i64):
    %0 = arith.addi %sum, %a : i64
    ragged.yield %0, %sum : i64, i64
  } -> !ragged.tensor<[N, M], i64>
  return %y : !ragged.tensor<[N, M], i64>
}
