// RUN: nested-compile %s -o %t.so
// RUN: %python -c "import numpy as n; n.savez('%t.npz', **{'r': n.array([3, 4, 11]), 'r.lengths': n.array([3])})"
// RUN: nested-run %t.so --lengths N=2,3 --input %t.npz --output %t.out.npz
// RUN: %python -c "import numpy as n; f = n.load('%t.out.npz'); print([f[str(k)].tolist() for k in range(4)])" | FileCheck %s

// The worked example of the types: lengths (2, 3), sample offsets 0, 4, 13.
// CHECK: {{\[}}[0, 1, 1], [1, 0, 2], [1, 0, 1], [3, 4, 11]]
func.func @locate(%p: !ragged.partition<[N, N]>, %r: tensor<?xi64> {ragged.name = "r"})
    -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) {
  %i, %a, %b = ragged.locate %r in %p
      : tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
  %l = ragged.linearize %i, %a, %b in %p
      : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>
  return %i, %a, %b, %l : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
}
