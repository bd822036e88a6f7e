// RUN: nested-reference %s | FileCheck %s
// RUN: nested-opt --tensor-to-generic %s | nested-reference | FileCheck %s

// R10: the first of equal elements; a NaN is the extremum. R5: -1 of nothing.
// CHECK-LABEL: @argmax
// CHECK: [0] [1, 0]
// CHECK: [1] [-1, -1]
// CHECK: [2] [0, 0]
func.func @argmax(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1.0, 0x7fc00000], [3.0, 4.0], [3.0, 0x7fc00000], [-1.0, -1.0]]> : tensor<4x2xf32>,
      reference.lengths = [array<i64: 3, 0, 1>]}) -> !ragged.tensor<[2], i64> {
  %y = ragged.reduce argmax %x dims [0] : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[2], i64>
  return %y : !ragged.tensor<[2], i64>
}

// Over two dims: the index in row-major order.
// CHECK-LABEL: @argmin
// CHECK: [0] 3
// CHECK: [1] -1
// CHECK: [2] 1
func.func @argmin(
    %x: !ragged.tensor<[N, 2], i64> {
      reference.values = dense<[[1, 0], [3, -4], [7, 5]]> : tensor<3x2xi64>,
      reference.lengths = [array<i64: 2, 0, 1>]}) -> !ragged.tensor<[], i64> {
  %y = ragged.reduce argmin %x dims [1, 0] : !ragged.tensor<[N, 2], i64> -> !ragged.tensor<[], i64>
  return %y : !ragged.tensor<[], i64>
}

// Shifted, so that nothing overflows; R5: -inf of nothing, and where all elements are.
// CHECK-LABEL: @logsumexp
// CHECK: [0] [1000.{{69[0-9]*}}, inf]
// CHECK: [1] [-inf, -inf]
// CHECK: [2] [nan, -inf]
func.func @logsumexp(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1000.0, 0x7f800000], [1000.0, 0xff800000], [0x7fc00000, 0xff800000]]> : tensor<3x2xf32>,
      reference.lengths = [array<i64: 2, 0, 1>]}) -> !ragged.tensor<[2], f32> {
  %y = ragged.reduce logsumexp %x dims [0] : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[2], f32>
  return %y : !ragged.tensor<[2], f32>
}

// R5: false and true of nothing.
// CHECK-LABEL: @any
// CHECK: [0] 1
// CHECK: [1] 0
// CHECK: [2] 0
func.func @any(
    %x: !ragged.tensor<[N], i1> {
      reference.values = dense<[false, true, false]> : tensor<3xi1>,
      reference.lengths = [array<i64: 2, 0, 1>]}) -> !ragged.tensor<[], i1> {
  %y = ragged.reduce any %x dims [0] : !ragged.tensor<[N], i1> -> !ragged.tensor<[], i1>
  return %y : !ragged.tensor<[], i1>
}

// CHECK-LABEL: @all
// CHECK: [0] 0
// CHECK: [1] 1
// CHECK: [2] 0
func.func @all(
    %x: !ragged.tensor<[N], i1> {
      reference.values = dense<[false, true, false]> : tensor<3xi1>,
      reference.lengths = [array<i64: 2, 0, 1>]}) -> !ragged.tensor<[], i1> {
  %y = ragged.reduce all %x dims [0] : !ragged.tensor<[N], i1> -> !ragged.tensor<[], i1>
  return %y : !ragged.tensor<[], i1>
}

// R5: 0 where everything is masked out. R4: a NaN stays in its group.
// CHECK-LABEL: @softmax
// CHECK: [0] {{\[\[}}0.5, 0], [0.5, 0]]
// CHECK: [1] []
// CHECK: [2] {{\[\[}}nan, 1]]
func.func @softmax(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1000.0, 0xff800000], [1000.0, 0xff800000], [0x7fc00000, 3.0]]> : tensor<3x2xf32>,
      reference.lengths = [array<i64: 2, 0, 1>]}) -> !ragged.tensor<[N, 2], f32> {
  %y = ragged.softmax %x dims [0] : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[N, 2], f32>
  return %y : !ragged.tensor<[N, 2], f32>
}

// CHECK-LABEL: @log_softmax
// CHECK: [0] {{\[\[}}0, -1000], [-inf, -inf]]
func.func @log_softmax(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1000.0, 0.0], [0xff800000, 0xff800000]]> : tensor<2x2xf32>,
      reference.lengths = [array<i64: 2>]}) -> !ragged.tensor<[N, 2], f32> {
  %y = ragged.softmax %x dims [1] log : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[N, 2], f32>
  return %y : !ragged.tensor<[N, 2], f32>
}
