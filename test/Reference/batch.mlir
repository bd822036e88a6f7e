// RUN: nested-reference %s | FileCheck %s
// RUN: nested-opt --tensor-to-generic %s | nested-reference | FileCheck %s

// The samples where a boolean holds, with all that belongs to them.
// CHECK-LABEL: @mask
// CHECK: 0 :
// CHECK-NEXT: [0] [1, 2]
// CHECK-NEXT: [1] [3]
// CHECK: 1 :
// CHECK-NEXT: [0] 10
// CHECK-NEXT: [1] 30
// CHECK: 2 : tensor<f32>
// CHECK-NEXT: 6
func.func @mask(
    %x: !ragged.tensor<[N], f32> {reference.values = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>, reference.lengths = [array<i64: 2, 0, 1>]},
    %v: !ragged.tensor<[], f32> {reference.values = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>},
    %keep: !ragged.tensor<[], i1> {reference.values = dense<[true, false, true]> : tensor<3xi1>})
    -> (!ragged.tensor<[K], f32, path = [C]>, !ragged.tensor<[], f32, path = [C]>, tensor<f32>) {
  %y, %w = ragged.select_batch %keep of %x, %v renames [N] to [K]
      : !ragged.tensor<[], i1>, !ragged.tensor<[N], f32>, !ragged.tensor<[], f32>
      -> !ragged.tensor<[K], f32, path = [C]>, !ragged.tensor<[], f32, path = [C]>
  %s = ragged.reduce sum %y dims [0] batch : !ragged.tensor<[K], f32, path = [C]> -> tensor<f32>
  return %y, %w, %s : !ragged.tensor<[K], f32, path = [C]>, !ragged.tensor<[], f32, path = [C]>, tensor<f32>
}

// Each sample says from which one it comes; a list makes a batch as long as it is.
// CHECK-LABEL: @indices
// CHECK: 0 :
// CHECK-NEXT: [0] {{\[}}[5]]
// CHECK-NEXT: [1] {{\[}}[1, 2], [3, 4]]
// CHECK: 1 :
// CHECK-NEXT: [0] {{\[}}[5]]
// CHECK-NEXT: [1] {{\[}}[5]]
// CHECK-NEXT: [2] {{\[}}[1, 2], [3, 4]]
func.func @indices(
    %x: !ragged.tensor<[N, N], f32> {
      reference.values = dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>,
      reference.lengths = [array<i64: 2, 1>, array<i64: 2, 1>]},
    %i: !ragged.tensor<[], i64> {reference.values = dense<[1, 0]> : tensor<2xi64>})
    -> (!ragged.tensor<[K, K], f32>, !ragged.tensor<[L, L], f32, path = [C]>) {
  %y = ragged.select_batch %i of %x renames [N] to [K]
      : !ragged.tensor<[], i64>, !ragged.tensor<[N, N], f32> -> !ragged.tensor<[K, K], f32>
  %l = arith.constant dense<[1, 1, 0]> : tensor<3xi64>
  %z = ragged.select_batch %l of %x renames [N] to [L]
      : tensor<3xi64>, !ragged.tensor<[N, N], f32> -> !ragged.tensor<[L, L], f32, path = [C]>
  return %y, %z : !ragged.tensor<[K, K], f32>, !ragged.tensor<[L, L], f32, path = [C]>
}

// CHECK-LABEL: @repeat
// CHECK: 0 :
// CHECK-NEXT: [0] [1, 2]
// CHECK-NEXT: [1] [1, 2]
// CHECK-NEXT: [2] [3]
func.func @repeat(
    %x: !ragged.tensor<[N], f32> {reference.values = dense<[1.0, 2.0, 9.0, 3.0]> : tensor<4xf32>, reference.lengths = [array<i64: 2, 1, 1>]},
    %n: !ragged.tensor<[], i64> {reference.values = dense<[2, 0, 1]> : tensor<3xi64>})
    -> !ragged.tensor<[K], f32, path = [C]> {
  %y = ragged.repeat_batch %n at_most 2 of %x renames [N] to [K]
      : !ragged.tensor<[], i64>, !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32, path = [C]>
  return %y : !ragged.tensor<[K], f32, path = [C]>
}

// A size that was computed, per sample, and one for all of them: the longest.
// CHECK-LABEL: @bind_size
// CHECK: 0 :
// CHECK-NEXT: [0] [1]
// CHECK-NEXT: [1] []
// CHECK: 1 :
// CHECK-NEXT: [0] [1, 2, 3]
// CHECK-NEXT: [1] [4, 0, 0]
func.func @bind_size(
    %x: !ragged.tensor<[N], f32> {reference.values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>, reference.lengths = [array<i64: 3, 1>]},
    %n: !ragged.tensor<[], i64> {reference.values = dense<[1, 0]> : tensor<2xi64>})
    -> (!ragged.tensor<[K], f32>, !ragged.tensor<[P], f32>) {
  %p = ragged.bind_size %n at_most <N> : !ragged.tensor<[], i64> -> !ragged.partition<[K]>
  %y = ragged.slice %x dim 0 start <0> size <K> : !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32>
  %e = ragged.extent <N> : !ragged.tensor<[], i64>
  %m = ragged.reduce max %e dims [] batch : !ragged.tensor<[], i64> -> tensor<i64>
  %q = ragged.bind_size %m at_most <N> : tensor<i64> -> !ragged.partition<[P]>
  %z = ragged.pad %x low [0] high [P - N] value 0.0 : f32 : !ragged.tensor<[N], f32> -> !ragged.tensor<[P], f32>
  return %y, %z : !ragged.tensor<[K], f32>, !ragged.tensor<[P], f32>
}

// The sum of the copies of each sample, 0 where there are none; and copies of what is summed.
// CHECK-LABEL: @move
// CHECK: 0 :
// CHECK-NEXT: [0] [2, 4]
// CHECK-NEXT: [1] [0]
// CHECK-NEXT: [2] [3]
// CHECK: 1 :
// CHECK-NEXT: [0] [2, 4]
// CHECK-NEXT: [1] [2, 4]
// CHECK-NEXT: [2] [3]
func.func @move(
    %x: !ragged.tensor<[N], f32> {reference.values = dense<[1.0, 2.0, 9.0, 3.0]> : tensor<4xf32>, reference.lengths = [array<i64: 2, 1, 1>]},
    %n: !ragged.tensor<[], i64> {reference.values = dense<[2, 0, 1]> : tensor<3xi64>})
    -> (!ragged.tensor<[N], f32>, !ragged.tensor<[K], f32, path = [C]>) {
  %y = ragged.repeat_batch %n at_most 2 of %x renames [N] to [K]
      : !ragged.tensor<[], i64>, !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32, path = [C]>
  %s = ragged.move_batch sum %n of %y renames [N] to [K]
      : !ragged.tensor<[], i64>, !ragged.tensor<[K], f32, path = [C]> -> !ragged.tensor<[N], f32>
  %c = ragged.move_batch %n of %s renames [N] to [K]
      : !ragged.tensor<[], i64>, !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32, path = [C]>
  return %s, %c : !ragged.tensor<[N], f32>, !ragged.tensor<[K], f32, path = [C]>
}
