// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: func.func @requests(
// CHECK: %[[V:.*]] = ragged.variable %{{.*}} : tensor<8x4xf32>
// CHECK: %[[C:.*]] = ragged.stop_gradient %{{.*}} : !ragged.tensor<[N, 8], f32>
// CHECK: ragged.gradient of(%[[L:[^:]*]] : tensor<f32>) wrt(%[[V]] : tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK: ragged.gradient of(%[[L]], %[[Y:[^:]*]] : tensor<f32>, !ragged.tensor<[N, 4], f32>)
// CHECK-SAME: seeds(%{{.*}}, %[[Y]] : tensor<f32>, !ragged.tensor<[N, 4], f32>)
// CHECK-SAME: wrt(%[[V]], %{{.*}} : tensor<8x4xf32>, !ragged.tensor<[N, 8], f32>)
// CHECK-SAME: -> tensor<8x4xf32>, !ragged.tensor<[N, 8], f32>
func.func @requests(%x: !ragged.tensor<[N, 8], f32>, %w: tensor<8x4xf32>, %s: tensor<f32>)
    -> (tensor<8x4xf32>, !ragged.tensor<[N, 8], f32>) {
  %v = ragged.variable %w : tensor<8x4xf32>
  %c = ragged.stop_gradient %x : !ragged.tensor<[N, 8], f32>
  %y = ragged.linear %c, %v : !ragged.tensor<[N, 8], f32>, tensor<8x4xf32> -> !ragged.tensor<[N, 4], f32>
  %l = ragged.reduce sum %y dims [0, 1] batch : !ragged.tensor<[N, 4], f32> -> tensor<f32>
  %0 = ragged.gradient of(%l : tensor<f32>) wrt(%v : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1:2 = ragged.gradient of(%l, %y : tensor<f32>, !ragged.tensor<[N, 4], f32>)
      seeds(%s, %y : tensor<f32>, !ragged.tensor<[N, 4], f32>)
      wrt(%v, %x : tensor<8x4xf32>, !ragged.tensor<[N, 8], f32>) -> tensor<8x4xf32>, !ragged.tensor<[N, 8], f32>
  return %0, %1#1 : tensor<8x4xf32>, !ragged.tensor<[N, 8], f32>
}

// CHECK-LABEL: func.func @custom(
// CHECK: ragged.custom_gradient values(%{{.*}} : tensor<8xf32>) inputs(%{{.*}} : tensor<8xf32>) {
// CHECK: ^bb0(%[[G:.*]]: tensor<8xf32>):
// CHECK: ragged.yield %[[G]] : tensor<8xf32>
// CHECK: } -> tensor<8xf32>
func.func @custom(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %z = ragged.custom_gradient values(%y : tensor<8xf32>) inputs(%x : tensor<8xf32>) {
  ^bb0(%g: tensor<8xf32>):
    ragged.yield %g : tensor<8xf32>
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// CHECK-LABEL: func.func @again(
// CHECK: %[[Y:.*]] = ragged.checkpoint {
// CHECK: %[[B:.*]] = ragged.barrier %{{.*}} : !ragged.tensor<[N], f32>
// CHECK: ragged.yield %[[B]] : !ragged.tensor<[N], f32>
// CHECK: } -> !ragged.tensor<[N], f32>
// CHECK: ragged.barrier %[[Y]] after(%{{.*}} : tensor<8xf32>) : !ragged.tensor<[N], f32>
func.func @again(%x: !ragged.tensor<[N], f32>, %s: tensor<8xf32>) -> !ragged.tensor<[N], f32> {
  %y = ragged.checkpoint {
    %b = ragged.barrier %x : !ragged.tensor<[N], f32>
    ragged.yield %b : !ragged.tensor<[N], f32>
  } -> !ragged.tensor<[N], f32>
  %z = ragged.barrier %y after(%s : tensor<8xf32>) : !ragged.tensor<[N], f32>
  return %z : !ragged.tensor<[N], f32>
}
