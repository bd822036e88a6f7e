// RUN: nested-opt %s --ragged-inline-calls --split-input-file | FileCheck %s

// The callee's symbol K is what the call says it is here.
// CHECK-LABEL: func.func @caller(
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, M, 8], f32>
// CHECK-NOT: ragged.call
// CHECK: ragged.map ins(%[[X]] : !ragged.tensor<[N, M, 8], f32>)
// CHECK: -> !ragged.tensor<[N, M, 8], f32>
// CHECK-NOT: @double
func.func @caller(%x: !ragged.tensor<[N, M, 8], f32>) -> !ragged.tensor<[N, M, 8], f32> {
  %y = ragged.call @double(%x) with {K = #ragged.extent<N>, L = #ragged.extent<M>}
      : (!ragged.tensor<[N, M, 8], f32>) -> !ragged.tensor<[N, M, 8], f32>
  return %y : !ragged.tensor<[N, M, 8], f32>
}
func.func private @double(%x: !ragged.tensor<[K, L, 8], f32>) -> !ragged.tensor<[K, L, 8], f32> {
  %y = ragged.map ins(%x : !ragged.tensor<[K, L, 8], f32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    ragged.yield %b : f32
  } -> !ragged.tensor<[K, L, 8], f32>
  return %y : !ragged.tensor<[K, L, 8], f32>
}

// -----

// A symbol that the callee binds from data gets a name that is free in the caller.
// CHECK-LABEL: func.func @fresh(
// CHECK: ragged.masked_select
// CHECK-SAME: -> !ragged.tensor<[K, 8], f32>
// CHECK: ragged.masked_select
// CHECK-SAME: -> !ragged.tensor<[K_1, 8], f32>
func.func @fresh(%x: !ragged.tensor<[N, 8], f32>, %m: !ragged.tensor<[N], i1>)
    -> (!ragged.tensor<[8], f32>, !ragged.tensor<[8], f32>) {
  %a = ragged.call @kept(%x, %m) with {N = #ragged.extent<N>}
      : (!ragged.tensor<[N, 8], f32>, !ragged.tensor<[N], i1>) -> !ragged.tensor<[8], f32>
  %b = ragged.call @kept(%x, %m) with {N = #ragged.extent<N>}
      : (!ragged.tensor<[N, 8], f32>, !ragged.tensor<[N], i1>) -> !ragged.tensor<[8], f32>
  return %a, %b : !ragged.tensor<[8], f32>, !ragged.tensor<[8], f32>
}
func.func private @kept(%x: !ragged.tensor<[N, 8], f32>, %m: !ragged.tensor<[N], i1>)
    -> !ragged.tensor<[8], f32> {
  %y = ragged.masked_select %x, %m
      : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K, 8], f32>
  %s = ragged.reduce sum %y dims [0] : !ragged.tensor<[K, 8], f32> -> !ragged.tensor<[8], f32>
  return %s : !ragged.tensor<[8], f32>
}
