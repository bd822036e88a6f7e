// RUN: nested-opt %s --ragged-unify-symbols --split-input-file | FileCheck %s

// A cast becomes one check at the entry; the body speaks of one symbol; the caller's
// declaration is kept.
// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, 8], f32>,
// CHECK-SAME: %[[Y:.*]]: !ragged.tensor<[N, 8], f32> {ragged.declared_type = !ragged.tensor<[M, 8], f32>}
// CHECK-SAME: ragged.checks = [{lhs = #ragged.extent<M>, op = "==", path = ["B"], rhs = #ragged.extent<N>, what = "x + y"
// CHECK-NOT: ragged.cast
// CHECK: ragged.map ins(%[[X]], %[[Y]] : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], f32>)
func.func @add(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[M, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %c = ragged.cast %y {reason = "x + y"} : !ragged.tensor<[M, 8], f32> to !ragged.tensor<[N, 8], f32>
  %z = ragged.map ins(%x, %c : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], f32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 8], f32>
  return %z : !ragged.tensor<[N, 8], f32>
}

// -----

// Bounds that the extents' form does not prove are checked; those that it proves are not.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME: ragged.checks = [{lhs = #ragged.extent<0>, op = "<=", path = ["B"], rhs = #ragged.extent<N - 1>
// CHECK-NOT: lhs = #ragged.extent<N>
func.func @slices(%x: !ragged.tensor<[N, 8], f32>) -> (!ragged.tensor<[8], f32>, !ragged.tensor<[N, 3], f32>) {
  %l = ragged.slice %x dim 0 start <N - 1> size <1> drop : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  %s = ragged.slice %x dim 1 start <2> size <3> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 3], f32>
  return %l, %s : !ragged.tensor<[8], f32>, !ragged.tensor<[N, 3], f32>
}

// -----

// Amounts of padding and numbers of elements: what the form does not prove.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: ragged.checks = [{lhs = #ragged.extent<0>, op = "<=", path = ["B"], rhs = #ragged.extent<N - 1>, what = "pad"
// CHECK-SAME: {lhs = #ragged.extent<{{.*}}>, op = "==", path = ["B"], rhs = #ragged.extent<8 * N>, what = "reshape"
func.func @sizes(%x: !ragged.tensor<[N, 8], f32>) -> (!ragged.tensor<[2 * N - 1, 8], f32>, !ragged.tensor<[N floordiv 4, 32], f32>) {
  %a = ragged.pad %x low [N - 1, 0] high [0, 0] value 0.0 : f32 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[2 * N - 1, 8], f32>
  %b = ragged.reshape %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N floordiv 4, 32], f32>
  return %a, %b : !ragged.tensor<[2 * N - 1, 8], f32>, !ragged.tensor<[N floordiv 4, 32], f32>
}
