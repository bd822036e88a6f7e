// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @arrow(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected an equation with '->', but got "nc"}}
  %r = ragged.contract "nc" %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @letters(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected letters separated by ',' and one '->', but got "n1->n"}}
  %r = ragged.contract "n1->n" %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @terms(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected an operand for each of the 2 terms of "nc,nc->n", but got 1}}
  %r = ragged.contract "nc,nc->n" %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @rank(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected operand 0 with the 3 dims 'ncd', but got '!ragged.tensor<[N, 8], f32>'}}
  %r = ragged.contract "ncd->n" %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @types(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[N, 8], f64>) {
  // expected-error @below {{expected operand 1 of element type 'f32', that of operand 0, but got 'f64'}}
  %r = ragged.contract "nc,nc->n" %x, %y : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], f64> -> !ragged.tensor<[N], f32>
  return
}

// -----

// R1: one letter, one extent.
// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @r1_extent(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[M, 8], f32>) {
  // expected-error @below {{expected dim 'n' to have extent N, as in operand 0, but got M in operand 1}}
  %r = ragged.contract "nc,nd->cd" %x, %y : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[8, 8], f32>
  return
}

// -----

func.func @unknown(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected dims of the result to be dims of operands, but got 'z'}}
  %r = ragged.contract "nc->nz" %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @twice(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected different dims in the result, but got 'c' twice}}
  %r = ragged.contract "nc->cc" %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8, 8], f32>
  return
}

// -----

func.func @batch_dense(%x: tensor<4x8xf32>) {
  // expected-error @below {{expected an operand of a batch to sum over, but got none}}
  %r = ragged.contract "nc->c" %x batch : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @batch_ragged(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected every ragged dim summed over, when the batch is, but got dim 'n' of extent N kept}}
  %r = ragged.contract "nc->n" %x batch : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @result(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result}}
  %r = ragged.contract "nc->n" %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N], f64>
  return
}

// -----

func.func @kernel_sum(%q: !ragged.tensor<[N, 64], f32>) {
  // expected-error @below {{expected the result to have the parallel dims and no other, but got dim 1}}
  %s = ragged.contract_kernel dims [N, N, 64] iterators ["parallel", "reduction", "reduction"] path [B]
      maps [affine_map<(n, m, c) -> (n, c)>, affine_map<(n, m, c) -> (m, c)>, affine_map<(n, m, c) -> (n, m)>]
      %q, %q : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 64], f32> -> !ragged.tensor<[N, N], f32>
  return
}

// -----

func.func @tile_types(%a: memref<?xf32>, %b: memref<?xf64>, %i: index, %more: i1) {
  // expected-error @below {{expected elements of type 'f32' or narrower floats, but got 'f64'}}
  ragged.tile_contract lhs %a[%i, %i, %i] rhs %b[%i, %i, %i] into %a[%i, %i, %i] size [%i, %i, %i]
      accumulate %more : memref<?xf32>, memref<?xf64>, memref<?xf32>
  return
}

// -----

func.func @tile_tables(%a: memref<?xf32>, %t: memref<4xindex>, %i: index, %more: i1) {
  // expected-error @below {{expected a table for each operand or none, but got 1}}
  ragged.tile_contract lhs %a[%i, %i, %i] rhs %a[%i, %i, %i] into %a[%i, %i, %i] size [%i, %i, %i]
      tables(%t : memref<4xindex>) accumulate %more : memref<?xf32>, memref<?xf32>, memref<?xf32>
  return
}
