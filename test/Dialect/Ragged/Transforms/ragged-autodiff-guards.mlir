// RUN: nested-opt %s --ragged-autodiff --split-input-file | FileCheck %s

// A product with a derivative is 0 where the gradient is, whatever the derivative: one comparison, since nobody differentiates
// the product again. A product with a number needs none.
// CHECK-LABEL: func.func @guards(
// CHECK: ragged.map
// CHECK: ^bb0(%[[X:.*]]: f32, %[[G:.*]]: f32):
// CHECK-NOT: arith.cmpf uno
// CHECK: %[[SCALED:.*]] = arith.mulf %[[G]], %{{.*}} : f32
// CHECK-NOT: arith.cmpf uno
// CHECK: %[[P:.*]] = arith.mulf %[[SCALED]], %{{.*}} : f32
// CHECK: %[[ZERO:.*]] = arith.cmpf oeq, %[[SCALED]], %{{.*}} : f32
// CHECK: %[[GUARDED:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[P]] : f32
// CHECK-NOT: arith.cmpf uno
func.func @guards(%x: !ragged.tensor<[N], f32>, %g: !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32> {
  %p = ragged.map ins(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32):
    %half = arith.constant 0.5 : f32
    %b = math.log %a : f32
    %c = arith.mulf %b, %half : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[N], f32>
  %0 = ragged.gradient of(%p : !ragged.tensor<[N], f32>) seeds(%g : !ragged.tensor<[N], f32>) wrt(%x : !ragged.tensor<[N], f32>)
      -> !ragged.tensor<[N], f32>
  return %0 : !ragged.tensor<[N], f32>
}
