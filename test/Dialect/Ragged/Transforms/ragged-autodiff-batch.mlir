// RUN: nested-opt %s --ragged-autodiff | nested-opt --ragged-verify-tensor | FileCheck %s

// The adjoint of a choice adds up the copies of each sample. Sources without a derivative stay out of it: labels, and what no variable reaches.
// CHECK-LABEL: func.func @select(
// CHECK-SAME: %[[X:[^:]*]]: !ragged.tensor<[N, 4], f32>, %{{[^:]*}}: {{.*}}, %{{[^:]*}}: {{.*}}, %[[KEEP:[^:]*]]: !ragged.tensor<[], i1>
// CHECK: %[[Y:.*]]:3 = ragged.select_batch %[[KEEP]] of %[[X]]
// CHECK-NOT: ragged.move_batch
// CHECK: %[[G:.*]] = ragged.broadcast
// CHECK: %[[DX:.*]] = ragged.move_batch sum %[[KEEP]] of %{{.*}} renames [N] to [K] : !ragged.tensor<[], i1>, !ragged.tensor<[K, 4], f32, path = [C]> -> !ragged.tensor<[N, 4], f32>
// CHECK-NOT: ragged.move_batch
// CHECK: return %[[DX]]
func.func @select(%x: !ragged.tensor<[N, 4], f32>, %label: !ragged.tensor<[], i64>, %z: !ragged.tensor<[N, 4], f32>, %keep: !ragged.tensor<[], i1>)
    -> !ragged.tensor<[N, 4], f32> {
  %y:3 = ragged.select_batch %keep of %x, %label, %z renames [N] to [K]
      : !ragged.tensor<[], i1>, !ragged.tensor<[N, 4], f32>, !ragged.tensor<[], i64>, !ragged.tensor<[N, 4], f32>
      -> !ragged.tensor<[K, 4], f32, path = [C]>, !ragged.tensor<[], i64, path = [C]>, !ragged.tensor<[K, 4], f32, path = [C]>
  %p = ragged.map ins(%y#0, %y#2 : !ragged.tensor<[K, 4], f32, path = [C]>, !ragged.tensor<[K, 4], f32, path = [C]>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    ragged.yield %0 : f32
  } -> !ragged.tensor<[K, 4], f32, path = [C]>
  %l = ragged.reduce sum %p dims [0, 1] batch : !ragged.tensor<[K, 4], f32, path = [C]> -> tensor<f32>
  %0 = ragged.gradient of(%l : tensor<f32>) wrt(%x : !ragged.tensor<[N, 4], f32>) -> !ragged.tensor<[N, 4], f32>
  return %0 : !ragged.tensor<[N, 4], f32>
}

// The adjoint of the adjoint copies: of a choice that is known, so nothing is bound again.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[X:[^:]*]]: !ragged.tensor<[N], f32>, %[[COUNTS:[^:]*]]: !ragged.tensor<[], i64>
// CHECK: ragged.repeat_batch %[[COUNTS]] at_most 3 of %[[X]]
// CHECK: ragged.move_batch sum %[[COUNTS]] of
// CHECK: ragged.move_batch %[[COUNTS]] of %{{.*}} renames [N] to [K] : !ragged.tensor<[], i64>, !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32, path = [C]>
// CHECK: ragged.move_batch sum %[[COUNTS]] of
func.func @twice(%x: !ragged.tensor<[N], f32>, %counts: !ragged.tensor<[], i64>) -> !ragged.tensor<[N], f32> {
  %y = ragged.repeat_batch %counts at_most 3 of %x renames [N] to [K]
      : !ragged.tensor<[], i64>, !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32, path = [C]>
  %p = ragged.map ins(%y : !ragged.tensor<[K], f32, path = [C]>) {
  ^bb0(%a: f32):
    %0 = math.sin %a : f32
    ragged.yield %0 : f32
  } -> !ragged.tensor<[K], f32, path = [C]>
  %l = ragged.reduce sum %p dims [0] batch : !ragged.tensor<[K], f32, path = [C]> -> tensor<f32>
  %g = ragged.gradient of(%l : tensor<f32>) wrt(%x : !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  %q = ragged.map ins(%g : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32):
    %0 = arith.mulf %a, %a : f32
    ragged.yield %0 : f32
  } -> !ragged.tensor<[N], f32>
  %m = ragged.reduce sum %q dims [0] batch : !ragged.tensor<[N], f32> -> tensor<f32>
  %h = ragged.gradient of(%m : tensor<f32>) wrt(%x : !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return %h : !ragged.tensor<[N], f32>
}
