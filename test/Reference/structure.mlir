// RUN: nested-reference %s | FileCheck %s
// RUN: nested-opt --ragged-generalize --ragged-fold-moves %s | nested-reference | FileCheck %s

// The worked example of the types: lengths (2, 3).
// CHECK-LABEL: @partition
// CHECK: 0 : tensor<?xi64>
// CHECK-NEXT: [0, 4, 13]
// CHECK: 1 : tensor<?xi64>
// CHECK-NEXT: [0, 2, 5]
// CHECK: 2 : tensor<?xi64>
// CHECK-NEXT: [0, 2, 4, 7, 10, 13]
// CHECK: 3 : tensor<?xi64>
// CHECK-NEXT: [2, 3]
// CHECK: 4 : tensor<i64>
// CHECK-NEXT: 13
// CHECK: 5 : !ragged.partition<[N, N]>
// CHECK-NEXT: [0] (2, 2)
// CHECK-NEXT: [1] (3, 3)
func.func @partition(%x: !ragged.tensor<[N, N], i1> {
      reference.values = dense<true> : tensor<13xi1>,
      reference.lengths = [array<i64: 2, 3>, array<i64: 2, 3>]})
    -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<i64>, !ragged.partition<[N, N]>) {
  %p = ragged.partition %x : !ragged.tensor<[N, N], i1> -> !ragged.partition<[N, N]>
  %0 = ragged.offsets %p : !ragged.partition<[N, N]> -> tensor<?xi64>
  %1 = ragged.row_splits %p level 0 : !ragged.partition<[N, N]> -> tensor<?xi64>
  %2 = ragged.row_splits %p level 1 : !ragged.partition<[N, N]> -> tensor<?xi64>
  %3 = ragged.lengths %p dim 1 : !ragged.partition<[N, N]> -> tensor<?xi64>
  %4 = ragged.total %p : !ragged.partition<[N, N]> -> tensor<i64>
  return %0, %1, %2, %3, %4, %p
      : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<i64>, !ragged.partition<[N, N]>
}

// CHECK-LABEL: @locate
// CHECK: 0 :
// CHECK-NEXT: [0, 1, 1]
// CHECK: 1 :
// CHECK-NEXT: [1, 0, 2]
// CHECK: 2 :
// CHECK-NEXT: [1, 0, 1]
// CHECK: 3 :
// CHECK-NEXT: [3, 4, 11]
func.func @locate(
    %n: tensor<?xi64> {reference.values = dense<[2, 3]> : tensor<2xi64>},
    %rows: tensor<?xi64> {reference.values = dense<[3, 4, 11]> : tensor<3xi64>})
    -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) {
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[N, N]>
  %i, %a, %b = ragged.locate %rows in %p
      : tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
  %r = ragged.linearize %i, %a, %b in %p
      : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>
  return %i, %a, %b, %r : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
}

// CHECK-LABEL: @pack
// CHECK: 0 :
// CHECK-NEXT: [0] {{\[}}[1], [2]]
// CHECK-NEXT: [1] {{\[}}[3]]
// CHECK: 1 :
// CHECK-NEXT: [0] {{\[}}[1]]
// CHECK-NEXT: [1] {{\[}}[2], [3]]
// CHECK: 2 :
// CHECK-NEXT: [0] 5
// CHECK-NEXT: [1] 5
func.func @pack(
    %v: tensor<?x1xf32> {reference.values = dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>},
    %n: tensor<?xi64> {reference.values = dense<[2, 1]> : tensor<2xi64>},
    %m: tensor<?xi64> {reference.values = dense<[1, 2]> : tensor<2xi64>})
    -> (!ragged.tensor<[N, 1], f32>, !ragged.tensor<[M, 1], f32>, !ragged.tensor<[], i64>) {
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[N]>
  %0 = ragged.pack %v, %p : tensor<?x1xf32>, !ragged.partition<[N]> -> !ragged.tensor<[N, 1], f32>
  %1 = ragged.with_lengths %0, %m : !ragged.tensor<[N, 1], f32>, tensor<?xi64> -> !ragged.tensor<[M, 1], f32>
  %2 = ragged.extent <N * M + 3> : !ragged.tensor<[], i64>
  return %0, %1, %2 : !ragged.tensor<[N, 1], f32>, !ragged.tensor<[M, 1], f32>, !ragged.tensor<[], i64>
}

// CHECK-LABEL: @cast
// CHECK: [0] [11, 22]
// CHECK-NEXT: [1] [33]
func.func @cast(
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>, reference.lengths = [array<i64: 2, 1>]},
    %y: !ragged.tensor<[M], f32> {
      reference.values = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>, reference.lengths = [array<i64: 2, 1>]})
    -> !ragged.tensor<[N], f32> {
  %y1 = ragged.cast %y {reason = "x + y"} : !ragged.tensor<[M], f32> to !ragged.tensor<[N], f32>
  %s = ragged.map ins(%x, %y1 : !ragged.tensor<[N], f32>, !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[N], f32>
  return %s : !ragged.tensor<[N], f32>
}

// The callee's symbols are its own; one of them is no dim of an argument.
// CHECK-LABEL: @call
// CHECK: 0 :
// CHECK-NEXT: [0] 10
// CHECK-NEXT: [1] 5
// CHECK: 1 :
// CHECK-NEXT: [0] 4
// CHECK-NEXT: [1] 1
func.func @call(
    %x: !ragged.tensor<[N * N], f32> {
      reference.values = dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>, reference.lengths = [array<i64: 4, 1>]},
    %y: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<3xf32>, reference.lengths = [array<i64: 2, 1>]})
    -> (!ragged.tensor<[], f32>, !ragged.tensor<[], i64>) {
  %0:2 = ragged.call @sum(%x) with {N = #ragged.extent<N>}
      : (!ragged.tensor<[N * N], f32>) -> (!ragged.tensor<[], f32>, !ragged.tensor<[], i64>)
  return %0#0, %0#1 : !ragged.tensor<[], f32>, !ragged.tensor<[], i64>
}

func.func private @sum(%x: !ragged.tensor<[N * N], f32>) -> (!ragged.tensor<[], f32>, !ragged.tensor<[], i64>) {
  %0 = ragged.reduce sum %x dims [0] : !ragged.tensor<[N * N], f32> -> !ragged.tensor<[], f32>
  %1 = ragged.extent <N * N> : !ragged.tensor<[], i64>
  return %0, %1 : !ragged.tensor<[], f32>, !ragged.tensor<[], i64>
}
