// RUN: nested-compile %s --emit=structure | FileCheck %s

// The samples that are kept: how many, which, how long, and their rows; both are bound before what they are
// the size of. Rows of the result are at most those of the source.
// CHECK-LABEL: ragged.schedule @select
// CHECK-SAME: {name = "C", path = [], upper = "B"}, {name = "K", path = ["C"], upper = "N"}
// CHECK: ragged.launch @select_select_batch0_count
// CHECK: ragged.bind "C" path [] upper <B>
// CHECK: ragged.launch @select_select_batch0_which
// CHECK: ragged.launch @select_select_batch0_lengths
// CHECK: ragged.bind "K" path [C] upper <N>
// CHECK: ragged.table offsets <N> path [B]
// CHECK: ragged.table offsets <K> path [C] {ragged.bound = {{[0-9]+}} : i64}
// CHECK: ragged.launch @select_select_batch0_copy0
func.func @select(%x: !ragged.tensor<[N, 4], f32>, %keep: !ragged.tensor<[], i1>) -> !ragged.tensor<[K, 4], f32, path = [C]> {
  %y = ragged.select_batch %keep of %x renames [N] to [K]
      : !ragged.tensor<[], i1>, !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[K, 4], f32, path = [C]>
  return %y : !ragged.tensor<[K, 4], f32, path = [C]>
}

// Samples in another order: a length is bounded by the longest, not by that of the sample in the same place.
// CHECK-LABEL: ragged.schedule @reorder
// CHECK-NOT: _count
// CHECK: ragged.launch @reorder_select_batch0_which
// CHECK: ragged.bind "K_longest" path [] upper <N>
// CHECK: ragged.bind "K" path [B] upper <K_longest>
func.func @reorder(%x: !ragged.tensor<[N], f32>, %i: !ragged.tensor<[], i64>) -> !ragged.tensor<[K], f32> {
  %y = ragged.select_batch %i of %x renames [N] to [K]
      : !ragged.tensor<[], i64>, !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32>
  return %y : !ragged.tensor<[K], f32>
}

// A check of a size from data is done when the size is known; the others at entry.
// CHECK-LABEL: ragged.schedule @checks
// CHECK-SAME: checks = [{lhs = "2", op = "<=", path = ["B"], rhs = "N", what = "x[:2]"
// CHECK: ragged.bind "K" path [B] upper <N>
// CHECK-NEXT: ragged.check le <K> <N> path [B] what "x[:n]"
func.func @checks(%x: !ragged.tensor<[N], f32>, %n: !ragged.tensor<[], i64>) -> (!ragged.tensor<[K], f32>, !ragged.tensor<[2], f32>) {
  %p = ragged.bind_size %n at_most <N> : !ragged.tensor<[], i64> -> !ragged.partition<[K]>
  %y = ragged.slice %x dim 0 start <0> size <K> {reason = "x[:n]"} : !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32>
  %z = ragged.slice %x dim 0 start <0> size <2> {reason = "x[:2]"} : !ragged.tensor<[N], f32> -> !ragged.tensor<[2], f32>
  return %y, %z : !ragged.tensor<[K], f32>, !ragged.tensor<[2], f32>
}

// Back to where they came from: nothing is bound again. The copies of each sample are a list, along which they are added.
// CHECK-LABEL: ragged.schedule @back
// CHECK: ragged.bind "K" path [C] upper <N>
// CHECK: ragged.launch @back_move_batch1_which
// CHECK-NEXT: ragged.launch @back_move_batch1_lengths {{.*}}errors = ["move_batch: K is {value} in sample {sample}, expected N of the sample that it is a copy of
// CHECK-NOT: ragged.bind
// CHECK: ragged.launch @back_move_batch1_link
// CHECK: ragged.launch @back_move_batch1_sum0 {{.*}}
// CHECK-NOT: per_sample
func.func @back(%x: !ragged.tensor<[N, 4], f32>, %keep: !ragged.tensor<[], i1>) -> !ragged.tensor<[N, 4], f32> {
  %y = ragged.select_batch %keep of %x renames [N] to [K]
      : !ragged.tensor<[], i1>, !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[K, 4], f32, path = [C]>
  %z = ragged.move_batch sum %keep of %y renames [N] to [K]
      : !ragged.tensor<[], i1>, !ragged.tensor<[K, 4], f32, path = [C]> -> !ragged.tensor<[N, 4], f32>
  return %z : !ragged.tensor<[N, 4], f32>
}

// A list is as long as the batch that it made.
// CHECK-LABEL: ragged.schedule @list
// CHECK: ragged.check eq <C> <2> path [] what "move_batch"
func.func @list(%x: !ragged.tensor<[4], f32>, %l: tensor<2xi64>) -> !ragged.tensor<[4], f32> {
  %y = ragged.select_batch %l of %x renames [] to [] : tensor<2xi64>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  %z = ragged.move_batch sum %l of %y renames [] to [] : tensor<2xi64>, !ragged.tensor<[4], f32, path = [C]> -> !ragged.tensor<[4], f32>
  return %z : !ragged.tensor<[4], f32>
}
