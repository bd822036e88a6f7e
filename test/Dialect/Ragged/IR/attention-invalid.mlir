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

// -----

func.func @normalizer(%q: !ragged.tensor<[N, 2, 8], bf16>) {
  // expected-error @below {{expected normalizer of type '!ragged.tensor<[N, 2, 2], f32>', but got '!ragged.tensor<[N, 2, 2], bf16>'}}
  %o, %n = ragged.attention %q, %q, %q : !ragged.tensor<[N, 2, 8], bf16>, !ragged.tensor<[N, 2, 8], bf16>, !ragged.tensor<[N, 2, 8], bf16> -> !ragged.tensor<[N, 2, 8], bf16>, !ragged.tensor<[N, 2, 2], bf16>
  return
}

// -----

func.func @seed(%q: !ragged.tensor<[N, 2, 8], f32>, %s: !ragged.tensor<[N, 2, 4], f32>, %n: !ragged.tensor<[N, 2, 2], f32>) {
  // expected-error @below {{expected seed of type '!ragged.tensor<[N, 2, 8], f32>', but got '!ragged.tensor<[N, 2, 4], f32>'}}
  %g:3 = ragged.attention_gradient %q, %q, %q seed %s result %q, %n : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
      seed !ragged.tensor<[N, 2, 4], f32> result !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 2], f32> -> !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

func.func @forward(%q: !ragged.tensor<[N, 2, 8], f32>, %s: !ragged.tensor<[N, 2, 8], f64>, %n: !ragged.tensor<[N, 2, 2], f32>) {
  // expected-error @below {{expected result of attention of type '!ragged.tensor<[N, 2, 8], f32>', but got '!ragged.tensor<[N, 2, 8], f64>'}}
  %g:3 = ragged.attention_gradient %q, %q, %q seed %q result %s, %n : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
      seed !ragged.tensor<[N, 2, 8], f32> result !ragged.tensor<[N, 2, 8], f64>, !ragged.tensor<[N, 2, 2], f32> -> !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

func.func @numbers(%q: !ragged.tensor<[N, 2, 8], f32>) {
  // expected-error @below {{expected normalizer of type '!ragged.tensor<[N, 2, 2], f32>', but got '!ragged.tensor<[N, 2, 8], f32>'}}
  %g:3 = ragged.attention_gradient %q, %q, %q seed %q result %q, %q : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
      seed !ragged.tensor<[N, 2, 8], f32> result !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32> -> !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

func.func @narrow(%q: !ragged.tensor<[N, 2, 8], f32>, %n: !ragged.tensor<[N, 2, 2], f32>) {
  // expected-error @below {{expected gradient of the key of type '!ragged.tensor<[N, 2, 8], f32>', but got '!ragged.tensor<[N, 2, 8], bf16>'}}
  %g:3 = ragged.attention_gradient %q, %q, %q seed %q result %q, %n : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
      seed !ragged.tensor<[N, 2, 8], f32> result !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 2], f32> -> !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], bf16>, !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

func.func @no_bias(%q: !ragged.tensor<[N, 2, 8], f32>, %n: !ragged.tensor<[N, 2, 2], f32>) {
  // expected-error @below {{expected a gradient of a bias where there is a bias, but got none}}
  %g:4 = ragged.attention_gradient %q, %q, %q seed %q result %q, %n : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
      seed !ragged.tensor<[N, 2, 8], f32> result !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 2], f32> -> !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

// All members of a sample share the bias, and so its gradient.
// expected-note @+1 {{symbol 'I' is bound here}}
func.func @bias_gradient_of_members(%q: !ragged.tensor<[N, 2, 8], f32, path = [B, I]>, %b: !ragged.tensor<[N, N], f32>,
    %n: !ragged.tensor<[N, 2, 2], f32, path = [B, I]>) {
  // expected-error @below {{expected gradient of the bias of type '!ragged.tensor<[N, N], f64>', but got '!ragged.tensor<[N, N], f32, path = [B, I]>'}}
  %g:4 = ragged.attention_gradient %q, %q, %q bias %b seed %q result %q, %n
      : !ragged.tensor<[N, 2, 8], f32, path = [B, I]>, !ragged.tensor<[N, 2, 8], f32, path = [B, I]>, !ragged.tensor<[N, 2, 8], f32, path = [B, I]>
        bias !ragged.tensor<[N, N], f32> seed !ragged.tensor<[N, 2, 8], f32, path = [B, I]>
        result !ragged.tensor<[N, 2, 8], f32, path = [B, I]>, !ragged.tensor<[N, 2, 2], f32, path = [B, I]>
      -> !ragged.tensor<[N, 2, 8], f32, path = [B, I]>, !ragged.tensor<[N, 2, 8], f32, path = [B, I]>, !ragged.tensor<[N, 2, 8], f32, path = [B, I]>,
         !ragged.tensor<[N, N], f32, path = [B, I]>
  return
}

// -----

func.func @no_heads(%q: !ragged.tensor<[N, 0, 8], f32>, %n: !ragged.tensor<[N, 0, 2], f32>) {
  // expected-error @below {{expected heads of queries, but got 0}}
  %g:3 = ragged.attention_gradient %q, %q, %q seed %q result %q, %n
      : !ragged.tensor<[N, 0, 8], f32>, !ragged.tensor<[N, 0, 8], f32>, !ragged.tensor<[N, 0, 8], f32> seed !ragged.tensor<[N, 0, 8], f32>
        result !ragged.tensor<[N, 0, 8], f32>, !ragged.tensor<[N, 0, 2], f32>
      -> !ragged.tensor<[N, 0, 8], f32>, !ragged.tensor<[N, 0, 8], f32>, !ragged.tensor<[N, 0, 8], f32>
  return
}

// -----

func.func @access(%a: memref<?xf32>, %i: index) {
  // expected-error @below {{expected an offset and a stride by query or key, two for a bias or a mask, but got 2 numbers}}
  ragged.tile_attention query %a[%i, %i] key %a[%i, %i] value %a[%i, %i] into %a[%i, %i] size [%i, %i] position %i
      bias %a[%i, %i] {head_size = 8 : i64, value_size = 8 : i64, scale = 1.0 : f64}
      : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32> bias memref<?xf32>
  return
}

// -----

func.func @rank(%a: memref<?xf32>, %b: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expected memory of one dim, but got 'memref<?x?xf32>'}}
  ragged.tile_attention query %b[%i, %i] key %a[%i, %i] value %a[%i, %i] into %a[%i, %i] size [%i, %i] position %i
      {head_size = 8 : i64, value_size = 8 : i64, scale = 1.0 : f64}
      : memref<?x?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>
  return
}

// -----

func.func @both(%a: memref<?xf32>, %i: index, %c: i1) {
  // expected-error @below {{expected memory for gradients of queries, or for those of keys and values, but got other memory}}
  ragged.tile_attention_gradient query %a[%i, %i] key %a[%i, %i] value %a[%i, %i] seed %a[%i, %i] result %a[%i, %i]
      normalizer %a[%i, %i] size [%i, %i] position %i accumulate %c into key %a[%i, %i]
      {head_size = 8 : i64, value_size = 8 : i64, scale = 1.0 : f64}
      : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32> into key memref<?xf32>
  return
}

// -----

func.func @order(%q: !ragged.tensor<[N, 2, 8], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N, 2, 8], f32>', but got '!ragged.tensor<[N, 2, 8], f32, order = [0, 2, 1]>'}}
  %o = ragged.attention %q, %q, %q : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32> -> !ragged.tensor<[N, 2, 8], f32, order = [0, 2, 1]>
  return
}
