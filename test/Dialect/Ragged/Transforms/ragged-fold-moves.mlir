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

// -----

// A padded tensor that is reversed and transposed is never made: its consumer
// reads the constant outside of the input.
// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, M], f32>
// CHECK: ragged.generic dims [M, N + 3]
// CHECK-SAME: offsets {{\[}}[#ragged.extent<N + 1>, #ragged.extent<0>]]
// CHECK-SAME: outside [5.000000e-01 : f32]
// CHECK-SAME: ins(%[[X]]
// CHECK-NOT: ragged.generic
func.func @pad(%x: !ragged.tensor<[N, M], f32>) -> !ragged.tensor<[M, N + 3], f32> {
  %a = ragged.pad %x low [1, 0] high [2, 0] value 0.5 : f32 : !ragged.tensor<[N, M], f32> -> !ragged.tensor<[N + 3, M], f32>
  %b = ragged.slice %a dim 0 start <N + 2> size <N + 3> step -1 : !ragged.tensor<[N + 3, M], f32> -> !ragged.tensor<[N + 3, M], f32>
  %c = ragged.transpose %b permutation [1, 0] : !ragged.tensor<[N + 3, M], f32> -> !ragged.tensor<[M, N + 3], f32>
  return %c : !ragged.tensor<[M, N + 3], f32>
}

// -----

// What is outside of the slice is inside of %x: both stay.
// CHECK-LABEL: func.func @crop_then_pad(
// CHECK-COUNT-2: ragged.generic
func.func @crop_then_pad(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %a = ragged.slice %x dim 1 start <2> size <4> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 4], f32>
  %b = ragged.pad %a low [0, 2] high [0, 2] value 0.0 : f32 : !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[N, 8], f32>
  return %b : !ragged.tensor<[N, 8], f32>
}

// -----

// Turned twice it is where it was.
// CHECK-LABEL: func.func @flip_twice(
// CHECK: ragged.generic dims [N, 8]
// CHECK-NOT: offsets
// CHECK-NOT: ragged.generic
func.func @flip_twice(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %a = ragged.slice %x dim 0 start <N - 1> size <N> step -1 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %b = ragged.slice %a dim 0 start <N - 1> size <N> step -1 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return %b : !ragged.tensor<[N, 8], f32>
}
