// RUN: nested-opt %s --ragged-absorb-structure --ragged-kernels-to-structure | FileCheck %s

// Row numbers are a list of their own; the runtime answers.
// CHECK-LABEL: ragged.schedule @locate
// CHECK-SAME: extents = ["rows0"]
// CHECK-SAME: path = ["lists0"]
// CHECK: ragged.host_call "locate" extents [N, N] path [B] ins(%[[ROWS:.*]] : !ragged.buffer<i64>)
// CHECK: ragged.host_call "linearize" extents [N, N] path [B]
func.func @locate(%p: !ragged.partition<[N, N]>, %r: tensor<?xi64>) -> (tensor<?xi64>, tensor<?xi64>) {
  %i, %a, %b = ragged.locate %r in %p
      : tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
  %l = ragged.linearize %i, %a, %b in %p
      : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>
  return %i, %l : tensor<?xi64>, tensor<?xi64>
}
