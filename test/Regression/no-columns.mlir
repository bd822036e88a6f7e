// RUN: nested-compile %s --emit=structure | FileCheck %s
// RUN: nested-compile %s -o %t.so

// Rows of no columns are ordinary (R5): nothing is stored or folded, instead of
// tiles that no later phase can cut.
// CHECK-LABEL: func.func @f_k0(
// CHECK-NOT: ragged.tile_
// CHECK-LABEL: ragged.schedule @f
func.func @f(%x: !ragged.tensor<[N, 0], f32>) -> (!ragged.tensor<[N, 0], f32>, !ragged.tensor<[0], f32>) {
  %y = ragged.map ins(%x : !ragged.tensor<[N, 0], f32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    ragged.yield %b : f32
  } -> !ragged.tensor<[N, 0], f32>
  %s = ragged.reduce sum %y dims [0] : !ragged.tensor<[N, 0], f32> -> !ragged.tensor<[0], f32>
  return %y, %s : !ragged.tensor<[N, 0], f32>, !ragged.tensor<[0], f32>
}
