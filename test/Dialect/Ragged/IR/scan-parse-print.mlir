// RUN: nested-opt %s | nested-opt | FileCheck %s

// Two inputs, two carried values, two results of other types.
// CHECK-LABEL: func.func @scan
func.func @scan(%x: !ragged.tensor<[N, 8], f32>, %n: !ragged.tensor<[N, 8], i64>) {
  // CHECK: ragged.scan ins(%{{.*}}, %{{.*}} : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], i64>) dim 0 reverse init [0.000000e+00, 1] {
  // CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: i64, %{{.*}}: f64, %{{.*}}: i64):
  // CHECK: ragged.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f64, i64, i64, f32
  // CHECK: } -> !ragged.tensor<[N, 8], i64>, !ragged.tensor<[N, 8], f32>
  %a, %b = ragged.scan ins(%x, %n : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], i64>) dim 0 reverse init [0.0 : f64, 1 : i64] {
  ^bb0(%e: f32, %k: i64, %sum: f64, %product: i64):
    %0 = arith.extf %e : f32 to f64
    %1 = arith.addf %sum, %0 : f64
    %2 = arith.muli %product, %k : i64
    ragged.yield %1, %2, %product, %e : f64, i64, i64, f32
  } -> !ragged.tensor<[N, 8], i64>, !ragged.tensor<[N, 8], f32>
  return
}

// CHECK-LABEL: func.func @accumulate
func.func @accumulate(%x: !ragged.tensor<[N, 8], f32>, %d: tensor<4x2xi64>) {
  // CHECK: ragged.accumulate sum %{{.*}} dim 0 : !ragged.tensor<[N, 8], f32>
  %0 = ragged.accumulate sum %x dim 0 : !ragged.tensor<[N, 8], f32>
  // CHECK: ragged.accumulate logsumexp %{{.*}} dim 1 reverse exclusive : !ragged.tensor<[N, 8], f32>
  %1 = ragged.accumulate logsumexp %x dim 1 reverse exclusive : !ragged.tensor<[N, 8], f32>
  // CHECK: ragged.accumulate max %{{.*}} dim 0 reverse : tensor<4x2xi64>
  %2 = ragged.accumulate max %d dim 0 reverse : tensor<4x2xi64>
  return
}
