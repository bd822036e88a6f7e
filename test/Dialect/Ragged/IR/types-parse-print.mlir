// RUN: nested-opt %s | nested-opt | FileCheck %s

// Extents print in canonical form: expanded, sorted, merged.
// CHECK-LABEL: func.func @extents
// CHECK-SAME: !ragged.tensor<[N, 3, M + N], f32>
// CHECK-SAME: !ragged.tensor<[N * N, 2 * N, 0], f32>
// CHECK-SAME: !ragged.tensor<[(H + 1) floordiv 2, H mod 3], f32>
// CHECK-SAME: !ragged.tensor<[max(H - 1, 0), min(H, 5)], f32>
func.func @extents(
    %sum: !ragged.tensor<[N, 3, N + M], f32>,
    %product: !ragged.tensor<[N * N, N + N, N - N], f32>,
    %division: !ragged.tensor<[(H - 1) floordiv 2 + 1, H mod 3], f32>,
    %bounds: !ragged.tensor<[max(0, H - 1), min(H, 5, H + 1)], f32>) {
  return
}

// The default path and the default order are left out.
// CHECK-LABEL: func.func @tensors
// CHECK-SAME: !ragged.tensor<[N, 384], f32>,
// CHECK-SAME: !ragged.tensor<[3, N, 384], bf16>,
// CHECK-SAME: !ragged.tensor<[N, M], f32, order = [1, 0]>,
// CHECK-SAME: !ragged.tensor<[], i64>,
// CHECK-SAME: !ragged.tensor<[T, 64], i1, path = [B, S]>,
// CHECK-SAME: !ragged.tensor<[T, M], f64, path = [B, S], order = [1, 0]>
func.func @tensors(
    %single: !ragged.tensor<[N, 384], f32, path = [B], order = [0, 1]>,
    %middle: !ragged.tensor<[3, N, 384], bf16, order = [1, 0, 2]>,
    %columns: !ragged.tensor<[N, M], f32, order = [1, 0]>,
    %scalar: !ragged.tensor<[], i64>,
    %nested: !ragged.tensor<[T, 64], i1, path = [B, S]>,
    %both: !ragged.tensor<[T, M], f64, order = [1, 0], path = [B, S]>) {
  return
}

// CHECK-LABEL: func.func @others
// CHECK-SAME: !ragged.partition<[N, N]>,
// CHECK-SAME: !ragged.partition<[T], path = [B, S]>,
// CHECK-SAME: !ragged.buffer<4x128xf32>,
// CHECK-SAME: !ragged.buffer<i64>,
// CHECK-SAME: !ragged.tile,
// CHECK-SAME: !ragged.table
func.func @others(
    %pairs: !ragged.partition<[N, N]>,
    %tokens: !ragged.partition<[T], path = [B, S]>,
    %rows: !ragged.buffer<4x128xf32>,
    %numbers: !ragged.buffer<i64>,
    %tile: !ragged.tile,
    %table: !ragged.table) {
  return
}

// CHECK-LABEL: func.func @attributes
// CHECK-SAME: #ragged.extent<N * N>
func.func @attributes() attributes {extent = #ragged.extent<N * N>} {
  return
}
