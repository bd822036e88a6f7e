// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @rank(%q: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a query with a dim of rows and static dims of heads and of their elements, stored last, but got '!ragged.tensor<[N, 8], f32>'}}
  %o = ragged.attention %q, %q, %q : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @integers(%q: !ragged.tensor<[N, 2, 8], i32>) {
  // expected-error @below {{expected floats of one type as query, key and value, but got 'i32'}}
  %o = ragged.attention %q, %q, %q : !ragged.tensor<[N, 2, 8], i32>, !ragged.tensor<[N, 2, 8], i32>, !ragged.tensor<[N, 2, 8], i32> -> !ragged.tensor<[N, 2, 8], i32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @keys(%q: !ragged.tensor<[N, 2, 8], f32>, %v: !ragged.tensor<[M, 2, 8], f32>) {
  // expected-error @below {{expected values for keys N, as in the key, but got M}}
  %o = ragged.attention %q, %q, %v : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32> -> !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

func.func @sizes(%q: !ragged.tensor<[N, 2, 8], f32>, %k: !ragged.tensor<[N, 2, 4], f32>) {
  // expected-error @below {{expected elements of a head 8, as in the query, but got 4}}
  %o = ragged.attention %q, %k, %q : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 4], f32>, !ragged.tensor<[N, 2, 8], f32> -> !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

func.func @groups(%q: !ragged.tensor<[N, 3, 8], f32>, %k: !ragged.tensor<[N, 2, 8], f32>) {
  // expected-error @below {{expected a multiple of the 2 heads of keys as heads of queries, but got 3}}
  %o = ragged.attention %q, %k, %k : !ragged.tensor<[N, 3, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32> -> !ragged.tensor<[N, 3, 8], f32>
  return
}

// -----

func.func @mask(%q: !ragged.tensor<[N, 2, 8], f32>, %m: !ragged.tensor<[N, N], f32>) {
  // expected-error @below {{expected a mask of element type 'i1', but got 'f32'}}
  %o = ragged.attention %q, %q, %q mask %m : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32> mask !ragged.tensor<[N, N], f32> -> !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @bias(%q: !ragged.tensor<[N, 2, 8], f32>, %k: !ragged.tensor<[M, 2, 8], f32>, %b: !ragged.tensor<[M, N, 2], f32>) {
  // expected-error @below {{expected a bias for queries N, as in the query, but got M}}
  %o = ragged.attention %q, %k, %k bias %b : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32> bias !ragged.tensor<[M, N, 2], f32> -> !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

func.func @cap(%q: !ragged.tensor<[N, 2, 8], f32>) {
  // expected-error @below {{expected a soft_cap above 0, but got another number}}
  %o = ragged.attention %q, %q, %q {soft_cap = 0.0 : f64} : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32> -> !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

func.func @window(%q: !ragged.tensor<[N, 2, 8], f32>) {
  // expected-error @below {{expected window bounds of at least 0, but got -1}}
  %o = ragged.attention %q, %q, %q {left = -1 : i64} : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32> -> !ragged.tensor<[N, 2, 8], f32>
  return
}
