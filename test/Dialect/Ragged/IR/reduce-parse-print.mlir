// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: func.func @kinds
func.func @kinds(%x: !ragged.tensor<[N, 8], f32>, %b: !ragged.tensor<[N, 8], i1>) {
  // CHECK: ragged.reduce logsumexp %{{.*}} dims [0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  %l = ragged.reduce logsumexp %x dims [0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  // CHECK: ragged.reduce any %{{.*}} dims [0] batch : !ragged.tensor<[N, 8], i1> -> tensor<8xi1>
  %a = ragged.reduce any %b dims [0] batch : !ragged.tensor<[N, 8], i1> -> tensor<8xi1>
  // CHECK: ragged.reduce all %{{.*}} dims [1] keepdims : !ragged.tensor<[N, 8], i1> -> !ragged.tensor<[N, 1], i1>
  %e = ragged.reduce all %b dims [1] keepdims : !ragged.tensor<[N, 8], i1> -> !ragged.tensor<[N, 1], i1>
  // CHECK: ragged.reduce argmax %{{.*}} dims [0, 1] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[], i64>
  %i = ragged.reduce argmax %x dims [0, 1] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[], i64>
  // CHECK: ragged.reduce argmin %{{.*}} dims [0] : !ragged.tensor<[N, 8], i1> -> !ragged.tensor<[8], i64>
  %j = ragged.reduce argmin %b dims [0] : !ragged.tensor<[N, 8], i1> -> !ragged.tensor<[8], i64>
  return
}

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: !ragged.tensor<[N, M, 8], f32>) {
  // CHECK: ragged.softmax %{{.*}} dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %p = ragged.softmax %x dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  // CHECK: ragged.softmax %{{.*}} dims [0, 2] log : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %l = ragged.softmax %x dims [0, 2] log : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  return
}

// CHECK-LABEL: func.func @normalize
func.func @normalize(%x: !ragged.tensor<[N, 8], f32>, %g: tensor<8xf32>) {
  // CHECK: ragged.normalize rms %{{.*}} scale %{{.*}} : !ragged.tensor<[N, 8], f32>, scale tensor<8xf32> -> !ragged.tensor<[N, 8], f32>
  %r = ragged.normalize rms %x scale %g : !ragged.tensor<[N, 8], f32>, scale tensor<8xf32> -> !ragged.tensor<[N, 8], f32>
  // CHECK: ragged.normalize group %{{.*}} {groups = 4 : i64} : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %s = ragged.normalize group %x {groups = 4 : i64} : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  // CHECK: ragged.normalize instance %{{.*}} offset %{{.*}} : !ragged.tensor<[N, 8], f32>, offset tensor<8xf32> -> !ragged.tensor<[N, 8], f32>
  %t = ragged.normalize instance %x offset %g : !ragged.tensor<[N, 8], f32>, offset tensor<8xf32> -> !ragged.tensor<[N, 8], f32>
  return
}
