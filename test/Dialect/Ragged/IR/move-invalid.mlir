// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @transpose_count(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a permutation of 2 dims, but got 1}}
  %y = ragged.transpose %x permutation [0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @transpose_twice(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected distinct dims of the permutation, but got 0 twice}}
  %y = ragged.transpose %x permutation [0, 0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @transpose_result(%x: !ragged.tensor<[N, M], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[M, N], f32>', but got '!ragged.tensor<[N, M], f32>'}}
  %y = ragged.transpose %x permutation [1, 0] : !ragged.tensor<[N, M], f32> -> !ragged.tensor<[N, M], f32>
  return
}

// -----

func.func @slice_dim(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected dim below rank 2, but got 2}}
  %y = ragged.slice %x dim 2 start <0> size <1> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 1], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
func.func @slice_start(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a start of at least 0, but got -1}}
  %y = ragged.slice %x dim 0 start <-1> size <1> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[1, 8], f32>
  return
}

// -----

func.func @slice_size(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a size of at least 0, but got -2}}
  %y = ragged.slice %x dim 1 start <3> size <-2> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

// A start that may be too large for some lengths is checked when the program is
// entered; this one is for all of them.
// expected-note @below {{symbol 'N' is bound here}}
func.func @slice_end(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected an end of at most N, but got N + 1}}
  %y = ragged.slice %x dim 0 start <1> size <N> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @slice_drop(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected size 1 of a dim that is dropped, but got 2}}
  %y = ragged.slice %x dim 1 start <0> size <2> drop : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @slice_result(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N, 4], f32>', but got '!ragged.tensor<[N, 5], f32>'}}
  %y = ragged.slice %x dim 1 start <0> size <4> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 5], f32>
  return
}

// -----

func.func @gather_table(%t: tensor<f32>, %i: !ragged.tensor<[N], i64>) {
  // expected-error @below {{expected a table of at least one dim, but got none}}
  %x = ragged.gather %t, %i : tensor<f32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @gather_indices(%t: tensor<3x8xf32>, %i: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected integer indices, but got 'f32'}}
  %x = ragged.gather %t, %i : tensor<3x8xf32>, !ragged.tensor<[N], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @gather_result(%t: tensor<3x8xf32>, %i: !ragged.tensor<[N], i64>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N, 8], f32>', but got '!ragged.tensor<[N, 3, 8], f32>'}}
  %x = ragged.gather %t, %i : tensor<3x8xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 3, 8], f32>
  return
}

// -----

func.func @masked_select_source(%x: !ragged.tensor<[N, N], f32>, %m: !ragged.tensor<[N], i1>) {
  // expected-error @below {{expected a source whose dim 0 is its one ragged dim, but got [N, N]}}
  %y = ragged.masked_select %x, %m : !ragged.tensor<[N, N], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K, N], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @r1_masked_select(%x: !ragged.tensor<[N, 8], f32>, %m: !ragged.tensor<[M], i1>) {
  // expected-error @below {{expected mask of type '!ragged.tensor<[N], i1>', but got '!ragged.tensor<[M], i1>'}}
  %y = ragged.masked_select %x, %m : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M], i1> -> !ragged.tensor<[K, 8], f32>
  return
}

// -----

func.func @masked_select_symbol(%x: !ragged.tensor<[N, 8], f32>, %m: !ragged.tensor<[N], i1>) {
  // expected-error @below {{expected a fresh symbol at dim 0 of the result, but got [K + 1, 8]}}
  %y = ragged.masked_select %x, %m : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K + 1, 8], f32>
  return
}

// -----

func.func @masked_select_fresh(%x: !ragged.tensor<[N, 8], f32>, %m: !ragged.tensor<[N], i1>) {
  // expected-error @below {{expected a fresh symbol at dim 0 of the result, but got 'N', a symbol of the source}}
  %y = ragged.masked_select %x, %m : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @nest_source(%x: !ragged.tensor<[3, N], f32>, %n: !ragged.tensor<[S], i64>) {
  // expected-error @below {{expected a source whose dim 0 is ragged and stored first, but got '!ragged.tensor<[3, N], f32>'}}
  %y = ragged.nest %x, %n : !ragged.tensor<[3, N], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[3, T], f32, path = [B, S]>
  return
}

// -----

func.func @nest_lengths(%x: !ragged.tensor<[N, 8], f32>, %n: !ragged.tensor<[2 * S], i64>) {
  // expected-error @below {{expected lengths of one dim, a symbol, of element type i64 over path [B], but got '!ragged.tensor<[2 * S], i64>'}}
  %y = ragged.nest %x, %n : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[2 * S], i64> -> !ragged.tensor<[T, 8], f32, path = [B, S]>
  return
}

// -----

// expected-note @below {{symbol 'S' is bound here}}
func.func @nest_result(%x: !ragged.tensor<[N, 8], f32>, %n: !ragged.tensor<[S], i64>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[T, 8], f32, path = [B, S]>', but got '!ragged.tensor<[T, 8], f32>'}}
  %y = ragged.nest %x, %n : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T, 8], f32>
  return
}

// -----

func.func @unnest_path(%x: !ragged.tensor<[8], f32>) {
  // expected-error @below {{expected a path of at least two components, but got [B]}}
  %y = ragged.unnest %x : !ragged.tensor<[8], f32> -> !ragged.tensor<[S, 8], f32>
  return
}

// -----

func.func @unnest_ragged(%x: !ragged.tensor<[T], f32, path = [B, S]>) {
  // expected-error @below {{expected a source without ragged dims, but got [T]}}
  %y = ragged.unnest %x : !ragged.tensor<[T], f32, path = [B, S]> -> !ragged.tensor<[S, T], f32>
  return
}

// -----

// expected-note @below {{symbol 'S' is bound here}}
func.func @unnest_result(%x: !ragged.tensor<[8], f32, path = [B, S]>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[S, 8], f32>', but got '!ragged.tensor<[Q, 8], f32>'}}
  %y = ragged.unnest %x : !ragged.tensor<[8], f32, path = [B, S]> -> !ragged.tensor<[Q, 8], f32>
  return
}
