// RUN: nested-compile %s --emit=kernels | FileCheck %s
// RUN: nested-compile %s -o %t.so

// Contents that do not matter were no operand of the kernel that stores them. They
// are zero where something reads them; where an op overwrites them, nothing is filled.
// CHECK-LABEL: func.func @f(
// CHECK-NOT: arith.constant
// CHECK: } -> tensor<48x3xf32>
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: linalg.yield %[[ZERO]]
// CHECK-NOT: arith.constant
// CHECK: ragged.tile_yield
func.func @f(%x: !ragged.tensor<[N, 3], f32>) -> (!ragged.tensor<[N], f32>, !ragged.tensor<[N, 3], f32>) {
  %e = ragged.empty : !ragged.tensor<[N], f32>
  %i = ragged.empty : !ragged.tensor<[N, 3], f32>
  %y = ragged.generic dims [N, 3] iterators ["parallel", "parallel"] path [B]
      maps [affine_map<(a, c) -> (a, c)>, affine_map<(a, c) -> (a, c)>]
      ins(%x : !ragged.tensor<[N, 3], f32>) outs(%i : !ragged.tensor<[N, 3], f32>) {
  ^bb0(%u: f32, %o: f32):
    %p = arith.addf %u, %u : f32
    ragged.yield %p : f32
  } -> !ragged.tensor<[N, 3], f32>
  return %e, %y : !ragged.tensor<[N], f32>, !ragged.tensor<[N, 3], f32>
}
