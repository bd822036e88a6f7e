// RUN: nested-opt %s --ragged-generalize --split-input-file --verify-diagnostics | FileCheck %s

// An extremum, then the least index where it is: sizes of inner dims count.
// CHECK-LABEL: func.func @argmax(
// CHECK: %[[MOST:.*]] = ragged.generic dims [N, M, 8]
// CHECK: arith.maximumf
// CHECK: %[[M:.*]] = ragged.extent <M>
// CHECK: ragged.generic dims [N, M, 8] iterators ["reduction", "reduction", "parallel"]
// CHECK-SAME: ins(%{{.*}}, %[[M]], %[[MOST]]
// CHECK-DAG: ragged.index 0
// CHECK-DAG: ragged.index 1
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf uno
// CHECK: arith.minsi
func.func @argmax(%x: !ragged.tensor<[N, M, 8], f32>) -> !ragged.tensor<[8], i64> {
  %y = ragged.reduce argmax %x dims [0, 1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[8], i64>
  return %y : !ragged.tensor<[8], i64>
}

// -----

// R6: sums of exponentials over rows are kept in f64.
// CHECK-LABEL: func.func @softmax(
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: arith.addf %{{.*}} : f64
// CHECK: arith.divf
// CHECK: math.exp
// CHECK: arith.mulf
func.func @softmax(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %y = ragged.softmax %x dims [0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}

// -----

// The members of a path are reduced first, and then over.
// CHECK-LABEL: func.func @path(
// CHECK: %[[EACH:.*]] = ragged.generic dims [T, 8] iterators ["reduction", "parallel"] path [B, S]
// CHECK: %[[FLAT:.*]] = ragged.unnest %[[EACH]]
// CHECK: ragged.generic dims [S, 8] iterators ["reduction", "parallel"] path [B]
// CHECK-SAME: ins(%[[FLAT]]
func.func @path(%x: !ragged.tensor<[T, 8], f64, path = [B, S]>) -> !ragged.tensor<[8], f64> {
  %y = ragged.reduce sum %x dims [0] batch : !ragged.tensor<[T, 8], f64, path = [B, S]> -> !ragged.tensor<[8], f64>
  return %y : !ragged.tensor<[8], f64>
}

// -----

// Dims that all members share are kept: without others, the members are a dim at once.
// CHECK-LABEL: func.func @path_kept(
// CHECK-SAME: %{{.*}}: !ragged.tensor<[N, 8], f32>, %[[Y:.*]]: !ragged.tensor
// CHECK: %[[FLAT:.*]] = ragged.unnest %[[Y]] : !ragged.tensor<[N, 8], f32, path = [B, S]> -> !ragged.tensor<[S, N, 8], f32>
// CHECK: ragged.generic dims [S, N, 8] iterators ["reduction", "parallel", "parallel"] path [B]
// CHECK-SAME: ins(%[[FLAT]]
func.func @path_kept(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[N, 8], f32, path = [B, S]>) -> !ragged.tensor<[N, 8], f32> {
  %s = ragged.reduce sum %y dims [] batch : !ragged.tensor<[N, 8], f32, path = [B, S]> -> !ragged.tensor<[N, 8], f32>
  return %s : !ragged.tensor<[N, 8], f32>
}

// -----

// Products are summed within the members first.
// CHECK-LABEL: func.func @path_contract(
// CHECK: %[[EACH:.*]] = ragged.generic dims [8, 8, T] iterators ["parallel", "parallel", "reduction"] path [B, S]
// CHECK: %[[FLAT:.*]] = ragged.unnest %[[EACH]]
// CHECK: ragged.generic dims [S, 8, 8] iterators ["reduction", "parallel", "parallel"] path [B]
// CHECK-SAME: ins(%[[FLAT]]
func.func @path_contract(%x: !ragged.tensor<[T, 8], f32, path = [B, S]>) -> !ragged.tensor<[8, 8], f32> {
  %y = ragged.contract "tc,td->cd" %x, %x batch : !ragged.tensor<[T, 8], f32, path = [B, S]>, !ragged.tensor<[T, 8], f32, path = [B, S]> -> !ragged.tensor<[8, 8], f32>
  return %y : !ragged.tensor<[8, 8], f32>
}
