// RUN: nested-opt %s --ragged-generalize --ragged-fold-moves --split-input-file | FileCheck %s

// Pairs are never copied: the sum reads rows of its inputs.
// CHECK-LABEL: func.func @pairs(
// CHECK-SAME: %[[U:.*]]: !ragged.tensor<[N, 8], f32>, %[[V:.*]]: !ragged.tensor<[M, 8], f32>
// CHECK: ragged.generic dims [N, M, 8]
// CHECK-SAME: ins(%[[U]], %[[V]]
// CHECK-NOT: ragged.generic
func.func @pairs(%u: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[M, 8], f32>) -> !ragged.tensor<[N, M, 8], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  return %p : !ragged.tensor<[N, M, 8], f32>
}

// -----

// Two slices of one dim add up.
// CHECK-LABEL: func.func @slices(
// CHECK: ragged.generic dims [N - 3, 8]
// CHECK-SAME: offsets {{\[}}[#ragged.extent<3>, #ragged.extent<0>]]
// CHECK-NOT: ragged.generic
func.func @slices(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N - 3, 8], f32> {
  %a = ragged.slice %x dim 0 start <1> size <N - 1> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N - 1, 8], f32>
  %b = ragged.slice %a dim 0 start <2> size <N - 3> : !ragged.tensor<[N - 1, 8], f32> -> !ragged.tensor<[N - 3, 8], f32>
  return %b : !ragged.tensor<[N - 3, 8], f32>
}
