// A product that reads outside of an input is no product of matrices: the
// kernel of those would read what lies there.
// RUN: nested-opt %s --ragged-form-contractions | FileCheck %s

// CHECK-LABEL: @padded
// CHECK-NOT: contract_kernel
// CHECK: ragged.generic
// CHECK-NOT: contract_kernel
func.func @padded(%x: !ragged.tensor<[N, 4], f32>, %y: !ragged.tensor<[N + 1, 4], f32>) -> tensor<4x4xf32> {
  %z = ragged.fill 0.0 : f32 -> tensor<4x4xf32>
  %0 = ragged.generic dims [N + 1, 4, 4] iterators ["reduction", "parallel", "parallel"] path [B]
      maps [affine_map<(n, a, b) -> (n, a)>, affine_map<(n, a, b) -> (n, b)>, affine_map<(n, a, b) -> (a, b)>]
      offsets [[#ragged.extent<-1>, #ragged.extent<0>], []] outside [0.0 : f32, unit] batch_reduced
      ins(%x, %y : !ragged.tensor<[N, 4], f32>, !ragged.tensor<[N + 1, 4], f32>)
      outs(%z : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
