// RUN: nested-reference %s | FileCheck %s
// RUN: nested-opt --tensor-to-generic %s | nested-reference | FileCheck %s

// One test per op: what each gives is worked out by hand.

// CHECK-LABEL: @map
// CHECK: [0] {{\[}}[11, 22], [13, 24]]
// CHECK: [1] [] shape (0, 2)
// CHECK: [2] {{\[}}[15, 26]]
func.func @map(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>,
      reference.lengths = [array<i64: 2, 0, 1>]},
    %b: tensor<2xf32> {reference.values = dense<[10.0, 20.0]> : tensor<2xf32>})
    -> !ragged.tensor<[N, 2], f32> {
  %y = ragged.map ins(%x, %b : !ragged.tensor<[N, 2], f32>, tensor<2xf32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 2], f32>
  return %y : !ragged.tensor<[N, 2], f32>
}

// Compare, select, casts, a scalar from outside of the region; only a declared
// extent of 1 repeats.
// CHECK-LABEL: @map_select
// CHECK: [0] [7, 2]
// CHECK: [1] [7]
func.func @map_select(
    %x: !ragged.tensor<[N], i64> {
      reference.values = dense<[-5, 2, -1]> : tensor<3xi64>,
      reference.lengths = [array<i64: 2, 1>]},
    %one: tensor<1xi64> {reference.values = dense<0> : tensor<1xi64>})
    -> !ragged.tensor<[N], i64> {
  %seven = arith.constant 7 : i64
  %ones = ragged.broadcast %one dims [0] : tensor<1xi64> -> !ragged.tensor<[N], i64>
  %y = ragged.map ins(%x, %ones : !ragged.tensor<[N], i64>, !ragged.tensor<[N], i64>) {
  ^bb0(%i: i64, %z: i64):
    %c = arith.cmpi slt, %i, %z : i64
    %s = arith.select %c, %seven, %i : i64
    ragged.yield %s : i64
  } -> !ragged.tensor<[N], i64>
  return %y : !ragged.tensor<[N], i64>
}

// Values of one sample repeat over its groups.
// CHECK-LABEL: @map_path
// CHECK: path 1 = [2, 0, 1]
// CHECK: [0] [11, 12]
// CHECK: [1] []
// CHECK: [2] [33]
func.func @map_path(
    %x: !ragged.tensor<[T], f32, path = [B, S]> {
      reference.values = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>,
      reference.path_lengths = [array<i64: 2, 0, 1>],
      reference.lengths = [array<i64: 2, 0, 1>]},
    %b: !ragged.tensor<[], f32> {reference.values = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>})
    -> !ragged.tensor<[T], f32, path = [B, S]> {
  %e = ragged.broadcast %b dims [] : !ragged.tensor<[], f32> -> !ragged.tensor<[T], f32, path = [B, S]>
  %y = ragged.map ins(%x, %e : !ragged.tensor<[T], f32, path = [B, S]>, !ragged.tensor<[T], f32, path = [B, S]>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[T], f32, path = [B, S]>
  return %y : !ragged.tensor<[T], f32, path = [B, S]>
}

// CHECK-LABEL: @broadcast
// CHECK: 0 : !ragged.tensor<[N, M], f32>
// CHECK-NEXT: [0] {{\[}}[1, 1, 1], [2, 2, 2]]
// CHECK-NEXT: [1] {{\[}}[3]]
// CHECK: 1 : !ragged.tensor<[M, N], f32>
// CHECK-NEXT: [0] {{\[}}[1, 2], [1, 2], [1, 2]]
func.func @broadcast(
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>,
      reference.lengths = [array<i64: 2, 1>]},
    %y: !ragged.tensor<[M], f32> {
      reference.values = dense<0.0> : tensor<4xf32>,
      reference.lengths = [array<i64: 3, 1>]})
    -> (!ragged.tensor<[N, M], f32>, !ragged.tensor<[M, N], f32>) {
  %0 = ragged.broadcast %x dims [0] : !ragged.tensor<[N], f32> -> !ragged.tensor<[N, M], f32>
  %1 = ragged.broadcast %x dims [1] : !ragged.tensor<[N], f32> -> !ragged.tensor<[M, N], f32>
  return %0, %1 : !ragged.tensor<[N, M], f32>, !ragged.tensor<[M, N], f32>
}

// CHECK-LABEL: @linear
// CHECK: 0 : !ragged.tensor<[N, 3], f32>
// CHECK-NEXT: [0] {{\[}}[9, 12, 15], [19, 26, 33]]
// CHECK-NEXT: [1] [] shape (0, 3)
// CHECK: 1 : !ragged.tensor<[N, 3], f32>
// CHECK-NEXT: [0] {{\[}}[109, 212, 315], [119, 226, 333]]
func.func @linear(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>,
      reference.lengths = [array<i64: 2, 0>]},
    %w: tensor<2x3xf32> {reference.values = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>},
    %b: tensor<3xf32> {reference.values = dense<[100.0, 200.0, 300.0]> : tensor<3xf32>})
    -> (!ragged.tensor<[N, 3], f32>, !ragged.tensor<[N, 3], f32>) {
  %0 = ragged.linear %x, %w : !ragged.tensor<[N, 2], f32>, tensor<2x3xf32> -> !ragged.tensor<[N, 3], f32>
  %1 = ragged.linear %x, %w bias %b : !ragged.tensor<[N, 2], f32>, tensor<2x3xf32>, tensor<3xf32>
      -> !ragged.tensor<[N, 3], f32>
  return %0, %1 : !ragged.tensor<[N, 3], f32>, !ragged.tensor<[N, 3], f32>
}

// R5, R10.
// CHECK-LABEL: @reduce
// CHECK: 0 :
// CHECK-NEXT: [0] 3
// CHECK-NEXT: [1] 0
// CHECK-NEXT: [2] nan
// CHECK: 1 :
// CHECK-NEXT: [0] 1.5
// CHECK-NEXT: [1] 0
// CHECK-NEXT: [2] nan
// CHECK: 2 :
// CHECK-NEXT: [0] 2
// CHECK-NEXT: [1] 0
// CHECK-NEXT: [2] nan
// CHECK: 3 :
// CHECK-NEXT: [0] 1
// CHECK-NEXT: [1] inf
// CHECK-NEXT: [2] nan
// CHECK: 4 :
// CHECK-NEXT: [0] [2]
// CHECK-NEXT: [1] [1]
// CHECK-NEXT: [2] [nan]
func.func @reduce(
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<[1.0, 2.0, 5.0, 0x7fc00000]> : tensor<4xf32>,
      reference.lengths = [array<i64: 2, 0, 2>]})
    -> (!ragged.tensor<[], f32>, !ragged.tensor<[], f32>, !ragged.tensor<[], f32>, !ragged.tensor<[], f32>,
        !ragged.tensor<[1], f32>) {
  %0 = ragged.reduce sum %x dims [0] : !ragged.tensor<[N], f32> -> !ragged.tensor<[], f32>
  %1 = ragged.reduce mean %x dims [0] : !ragged.tensor<[N], f32> -> !ragged.tensor<[], f32>
  %2 = ragged.reduce max %x dims [0] : !ragged.tensor<[N], f32> -> !ragged.tensor<[], f32>
  %3 = ragged.reduce min %x dims [0] empty identity : !ragged.tensor<[N], f32> -> !ragged.tensor<[], f32>
  %4 = ragged.reduce prod %x dims [0] keepdims : !ragged.tensor<[N], f32> -> !ragged.tensor<[1], f32>
  return %0, %1, %2, %3, %4 : !ragged.tensor<[], f32>, !ragged.tensor<[], f32>, !ragged.tensor<[], f32>,
      !ragged.tensor<[], f32>, !ragged.tensor<[1], f32>
}

// Over the batch, over groups of a sample, over one of two ragged dims.
// CHECK-LABEL: @reduce_axes
// CHECK: 0 : tensor<2xf32>
// CHECK-NEXT: [9, 12]
// CHECK: 1 : tensor<f32>
// CHECK-NEXT: 3.5
// CHECK: 2 :
// CHECK-NEXT: [0] {{\[}}[4, 6]]
// CHECK-NEXT: [1] {{\[}}[5, 6]]
func.func @reduce_axes(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>,
      reference.lengths = [array<i64: 2, 1>]})
    -> (tensor<2xf32>, tensor<f32>, !ragged.tensor<[1, 2], f32>) {
  %0 = ragged.reduce sum %x dims [0] batch : !ragged.tensor<[N, 2], f32> -> tensor<2xf32>
  %1 = ragged.reduce mean %x dims [0, 1] batch : !ragged.tensor<[N, 2], f32> -> tensor<f32>
  %2 = ragged.reduce sum %x dims [0] keepdims : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[1, 2], f32>
  return %0, %1, %2 : tensor<2xf32>, tensor<f32>, !ragged.tensor<[1, 2], f32>
}

// CHECK-LABEL: @normalize
// CHECK: [0] {{\[}}[-1, 1], [-1, 1]]
// CHECK-NEXT: [1] {{\[}}[0, 0]]
func.func @normalize(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1.0, 3.0], [-4.0, 8.0], [5.0, 5.0]]> : tensor<3x2xf32>,
      reference.lengths = [array<i64: 2, 1>]}) -> !ragged.tensor<[N, 2], f32> {
  %y = ragged.normalize layer %x {eps = 1.0e-9 : f64} : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[N, 2], f32>
  return %y : !ragged.tensor<[N, 2], f32>
}

// CHECK-LABEL: @normalize_affine
// CHECK: [0] [90, 220]
func.func @normalize_affine(
    %x: !ragged.tensor<[2], f32> {reference.values = dense<[[1.0, 3.0]]> : tensor<1x2xf32>},
    %g: tensor<2xf32> {reference.values = dense<[10.0, 20.0]> : tensor<2xf32>},
    %b: tensor<2xf32> {reference.values = dense<[100.0, 200.0]> : tensor<2xf32>}) -> !ragged.tensor<[2], f32> {
  %y = ragged.normalize layer %x scale %g offset %b {eps = 1.0e-9 : f64}
      : !ragged.tensor<[2], f32>, scale tensor<2xf32>, offset tensor<2xf32> -> !ragged.tensor<[2], f32>
  return %y : !ragged.tensor<[2], f32>
}

// CHECK-LABEL: @make
// CHECK: 0 :
// CHECK-NEXT: [0] {{\[}}[2.5, 2.5], [2.5, 2.5]]
// CHECK-NEXT: [1] {{\[}}[2.5]]
// CHECK: 1 :
// CHECK-NEXT: [0] {{\[}}[0, 1], [0, 1]]
// CHECK-NEXT: [1] {{\[}}[0]]
// CHECK: 2 : tensor<2x2xi8>
// CHECK-NEXT: {{\[}}[1, -1], [127, -128]]
// CHECK: 3 : tensor<2xi1>
// CHECK-NEXT: [1, 0]
func.func @make(%x: !ragged.tensor<[N], i1> {
      reference.values = dense<true> : tensor<3xi1>,
      reference.lengths = [array<i64: 2, 1>]})
    -> (!ragged.tensor<[N, N], f32>, !ragged.tensor<[N, N], i64>, tensor<2x2xi8>, tensor<2xi1>) {
  %0 = ragged.fill 2.5 : f32 -> !ragged.tensor<[N, N], f32>
  %1 = ragged.iota dim 1 : !ragged.tensor<[N, N], i64>
  %2 = arith.constant dense<[[1, -1], [127, -128]]> : tensor<2x2xi8>
  %3 = arith.constant dense<[true, false]> : tensor<2xi1>
  return %0, %1, %2, %3 : !ragged.tensor<[N, N], f32>, !ragged.tensor<[N, N], i64>, tensor<2x2xi8>, tensor<2xi1>
}

// A program without ragged arguments runs on a batch of one.
// CHECK-LABEL: @dense
// CHECK: 0 : tensor<2x2xf32>
// CHECK-NEXT: {{\[}}[9, 12], [19, 26]]
// CHECK: 1 : tensor<2xf32>
// CHECK-NEXT: [1, 2]
func.func @dense(
    %x: tensor<2x2xf32> {reference.values = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>},
    %w: tensor<2x2xf32> {reference.values = dense<[[1.0, 2.0], [4.0, 5.0]]> : tensor<2x2xf32>})
    -> (tensor<2x2xf32>, tensor<2xf32>) {
  %0 = ragged.linear %x, %w : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %1 = ragged.reduce min %w dims [0] : tensor<2x2xf32> -> tensor<2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2xf32>
}
