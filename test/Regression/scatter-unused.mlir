// RUN: nested-opt %s --ragged-kernels-to-structure | FileCheck %s

// A scatter checks its indices, so that it runs even if nothing reads its result: the result has memory all the same.
// CHECK: ragged.launch @unused_scatter0
func.func @unused(%z: !ragged.tensor<[K], f64>, %i: !ragged.tensor<[N], i64>, %x: !ragged.tensor<[N], f64>)
    -> !ragged.tensor<[N], f64> {
  %y = ragged.scatter add %z, %i, %x : !ragged.tensor<[K], f64>, !ragged.tensor<[N], i64>, !ragged.tensor<[N], f64> -> !ragged.tensor<[K], f64>
  return %x : !ragged.tensor<[N], f64>
}
