// RUN: nested-opt %s --ragged-form-kernels --split-input-file | FileCheck %s

// A unit without rows has no place to read a value from: the fold starts from the neutral element,
// and what it was to start from is combined with its result.
// CHECK-LABEL: func.func @from_value
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, 8], f32>, %[[Y:.*]]: !ragged.tensor<[8], f32>
// CHECK: %[[FOLD:.*]] = ragged.kernel
// CHECK: ragged.tile_reduce %{{.*}} init [0.000000e+00 : f32]
// CHECK: ragged.kernel
// CHECK-SAME: ins(%[[Y]], %[[FOLD]] :
// CHECK: arith.addf
func.func @from_value(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[8], f32>) -> !ragged.tensor<[8], f32> {
  %s = ragged.generic dims [N, 8] iterators ["reduction", "parallel"] path [B]
      maps [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>] ins(%x : !ragged.tensor<[N, 8], f32>) outs(%y : !ragged.tensor<[8], f32>) {
  ^bb0(%a: f32, %acc: f32):
    %r = arith.addf %acc, %a : f32
    ragged.yield %r : f32
  } -> !ragged.tensor<[8], f32>
  return %s : !ragged.tensor<[8], f32>
}

// -----

// A constant is combined where the fold ends.
// CHECK-LABEL: func.func @from_constant
// CHECK: ragged.tile_reduce %{{.*}} init [0xFF800000 : f32]
// CHECK: finalize
// CHECK: arith.maximumf
// CHECK-NOT: ragged.kernel
func.func @from_constant(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[8], f32> {
  %seven = ragged.fill 7.0 : f32 -> !ragged.tensor<[8], f32>
  %s = ragged.generic dims [N, 8] iterators ["reduction", "parallel"] path [B]
      maps [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>] ins(%x : !ragged.tensor<[N, 8], f32>) outs(%seven : !ragged.tensor<[8], f32>) {
  ^bb0(%a: f32, %acc: f32):
    %r = arith.maximumf %acc, %a : f32
    ragged.yield %r : f32
  } -> !ragged.tensor<[8], f32>
  return %s : !ragged.tensor<[8], f32>
}
