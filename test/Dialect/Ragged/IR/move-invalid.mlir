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
  // expected-error @below {{expected a source whose dim 0 is stored first and the only one that may be ragged, but got [N, N]}}
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
  // expected-error @below {{expected a source over a path of at least two components, but got [B]}}
  %y = ragged.unnest %x : !ragged.tensor<[8], f32> -> !ragged.tensor<[S, 8], f32>
  return
}

// -----

func.func @unnest_ragged(%x: !ragged.tensor<[T], f32, path = [B, S]>) {
  // expected-error @below {{expected a source whose extents are the same for every S, or one whose dim 0 is the symbol of a nest, but got [T]}}
  %y = ragged.unnest %x : !ragged.tensor<[T], f32, path = [B, S]> -> !ragged.tensor<[S, T], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'S' is bound here}}
func.func @unnest_of_nest(%x: !ragged.tensor<[N], f32>, %n: !ragged.tensor<[S], i64>) {
  %y = ragged.nest %x, %n : !ragged.tensor<[N], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T], f32, path = [B, S]>
  // expected-error @below {{expected result of type '!ragged.tensor<[N], f32>', but got '!ragged.tensor<[S], f32>'}}
  %z = ragged.unnest %y : !ragged.tensor<[T], f32, path = [B, S]> -> !ragged.tensor<[S], f32>
  return
}

// -----

// expected-note @below {{symbol 'S' is bound here}}
func.func @unnest_result(%x: !ragged.tensor<[8], f32, path = [B, S]>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[S, 8], f32>', but got '!ragged.tensor<[Q, 8], f32>'}}
  %y = ragged.unnest %x : !ragged.tensor<[8], f32, path = [B, S]> -> !ragged.tensor<[Q, 8], f32>
  return
}

// -----

// In memory, these groups are not one after the other in what was nested.
func.func @unnest_order(%x: !ragged.tensor<[N], f32>, %n: !ragged.tensor<[S], i64>, %m: !ragged.tensor<[M, 8], f32>) {
  %y = ragged.nest %x, %n : !ragged.tensor<[N], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T], f32, path = [B, S]>
  %e = ragged.empty : !ragged.tensor<[T, M], f32, path = [B, S], order = [1, 0]>
  // expected-error @below {{expected a source whose dim 0, of groups, is stored first, but got '!ragged.tensor<[T, M], f32, path = [B, S], order = [1, 0]>'}}
  %z = ragged.unnest %e : !ragged.tensor<[T, M], f32, path = [B, S], order = [1, 0]> -> !ragged.tensor<[N, M], f32, order = [1, 0]>
  return
}

// -----

func.func @renest_path(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a result over a path of at least two components, but got [B]}}
  %y = ragged.renest %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

// Of groups whose sizes nothing has bound.
func.func @renest_fresh(%x: !ragged.tensor<[N], f32>, %n: !ragged.tensor<[S], i64>) {
  // expected-error @below {{expected a result whose extents are the same for every S, or one whose dim 0 is the symbol of a nest, but got [T]}}
  %y = ragged.renest %x : !ragged.tensor<[N], f32> -> !ragged.tensor<[T], f32, path = [B, S]>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @renest_of_nest(%x: !ragged.tensor<[N], f32>, %n: !ragged.tensor<[S], i64>, %z: !ragged.tensor<[M], f32>) {
  %y = ragged.nest %x, %n : !ragged.tensor<[N], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T], f32, path = [B, S]>
  // expected-error @below {{expected source of type '!ragged.tensor<[N], f32>', but got '!ragged.tensor<[M], f32>'}}
  %w = ragged.renest %z : !ragged.tensor<[M], f32> -> !ragged.tensor<[T], f32, path = [B, S]>
  return
}

// -----

// Rows become members of a path by their symbol; 3 is none.
// expected-note @below {{symbol 'N' is bound here}}
func.func @renest_static(%x: !ragged.tensor<[3, 8], f32>, %y: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected source of type '!ragged.tensor<[N, 8], f32>', but got '!ragged.tensor<[3, 8], f32>'}}
  %z = ragged.renest %x : !ragged.tensor<[3, 8], f32> -> !ragged.tensor<[8], f32, path = [B, N]>
  return
}

// -----

// R1: members have the other dims of their sample.
// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @renest_rows(%x: !ragged.tensor<[N, M, 8], f32>) {
  // expected-error @below {{expected source of type '!ragged.tensor<[M, N, 8], f32>', but got '!ragged.tensor<[N, M, 8], f32>'}}
  %y = ragged.renest %x : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32, path = [B, M]>
  return
}

// -----

// The rows of a member would not be one after the other.
func.func @renest_order(%x: !ragged.tensor<[N, M, 8], f32, order = [1, 0, 2]>) {
  // expected-error @below {{expected source of type '!ragged.tensor<[N, M, 8], f32>', but got '!ragged.tensor<[N, M, 8], f32, order = [1, 0, 2]>'}}
  %y = ragged.renest %x : !ragged.tensor<[N, M, 8], f32, order = [1, 0, 2]> -> !ragged.tensor<[M, 8], f32, path = [B, N]>
  return
}

// -----

func.func @slice_step(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a step that is not 0, but got 0}}
  %y = ragged.slice %x dim 0 start <0> size <N> step 0 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @slice_step_end(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected an end of at most 8, but got 9}}
  %y = ragged.slice %x dim 1 start <0> size <5> step 2 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 5], f32>
  return
}

// -----

func.func @slice_step_begin(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a least index of at least 0, but got -1}}
  %y = ragged.slice %x dim 1 start <7> size <5> step -2 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 5], f32>
  return
}

// -----

func.func @pad_amounts(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected low and high amounts for each of the 2 dims, but got 1 and 2}}
  %y = ragged.pad %x low [1] high [0, 0] value 0.0 : f32 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N + 1, 8], f32>
  return
}

// -----

func.func @pad_negative(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected amounts of at least 0 at dim 1, but got -2}}
  %y = ragged.pad %x low [1, 0] high [0, -2] value 0.0 : f32 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N + 1, 6], f32>
  return
}

// -----

func.func @pad_value(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a value of type 'f32', but got 'i32'}}
  %y = ragged.pad %x low [1, 0] high [0, 0] value 0 : i32 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N + 1, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
func.func @pad_result(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N + 1, 8], f32>', but got '!ragged.tensor<[N, 8], f32>'}}
  %y = ragged.pad %x low [1, 0] high [0, 0] value 0.0 : f32 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @concat_dim(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected dim below rank 2, but got 2}}
  %y = ragged.concat %x, %x dim 2 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[2 * N, 8], f32>
  return
}

// -----

// R1: but along the dim, the extents are those of the result.
// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @concat_other(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[M, 8], f32>) {
  // expected-error @below {{expected input 1 of type '!ragged.tensor<[N, 8], f32>', but got '!ragged.tensor<[M, 8], f32>'}}
  %z = ragged.concat %x, %y dim 1 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[N, 16], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
func.func @concat_sum(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[2 * N, 8], f32>', but got '!ragged.tensor<[N, 8], f32>'}}
  %z = ragged.concat %x, %x dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'S' is bound here}}
func.func @concat_path(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[T, 8], f32, path = [B, S]>) {
  // expected-error @below {{expected input 1 over a prefix of path [B], but got '!ragged.tensor<[T, 8], f32, path = [B, S]>'}}
  %z = ragged.concat %x, %y dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[T, 8], f32, path = [B, S]> -> !ragged.tensor<[N + T, 8], f32>
  return
}

// -----

func.func @take_type(%x: !ragged.tensor<[N, 8], f32>, %i: !ragged.tensor<[M], f32>) {
  // expected-error @below {{expected integer indices, but got 'f32'}}
  %y = ragged.take %x, %i dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M], f32> -> !ragged.tensor<[M, 8], f32>
  return
}

// -----

func.func @take_path(%x: !ragged.tensor<[N, 8], f32, path = [A]>, %i: !ragged.tensor<[M], i64>) {
  // expected-error @below {{expected indices over path [A], a prefix of it or a longer one, but got [B]}}
  %y = ragged.take %x, %i dim 0 : !ragged.tensor<[N, 8], f32, path = [A]>, !ragged.tensor<[M], i64> -> !ragged.tensor<[M, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @take_result(%x: !ragged.tensor<[N, 8], f32>, %i: !ragged.tensor<[M, 2], i32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N, M, 2], f32>', but got '!ragged.tensor<[M, 2], f32>'}}
  %y = ragged.take %x, %i dim 1 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 2], i32> -> !ragged.tensor<[M, 2], f32>
  return
}

// -----

func.func @take_along_dims(%x: !ragged.tensor<[N, 8], f32>, %i: !ragged.tensor<[M, 7], i64>) {
  // expected-error @below {{expected indices of type '!ragged.tensor<[M, 8], i64>', but got '!ragged.tensor<[M, 7], i64>'}}
  %y = ragged.take_along %x, %i dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 7], i64> -> !ragged.tensor<[M, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
func.func @reshape_count(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a result of 8 * N elements, but got 8 * N + 8 in '!ragged.tensor<[N + 1, 8], f32>'}}
  %y = ragged.reshape %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N + 1, 8], f32>
  return
}

// -----

func.func @reshape_order(%x: !ragged.tensor<[3, N], f32>) {
  // expected-error @below {{expected a source that is stored in the order of its dims, but got '!ragged.tensor<[3, N], f32>'}}
  %y = ragged.reshape %x : !ragged.tensor<[3, N], f32> -> !ragged.tensor<[3 * N], f32>
  return
}

// -----

func.func @reshape_type(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[8 * N], f32>', but got '!ragged.tensor<[8 * N], f64>'}}
  %y = ragged.reshape %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8 * N], f64>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_gather(%t: tensor<3x8xf32>, %i: !ragged.tensor<[N], i64>, %j: !ragged.tensor<[M], i64>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N, 8], f32>', but got '!ragged.tensor<[M, 8], f32>'}}
  %x = ragged.gather %t, %i : tensor<3x8xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[M, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_take_along(%x: !ragged.tensor<[K, N], f32>, %i: !ragged.tensor<[K, M], i64>) {
  // expected-error @below {{expected indices of type '!ragged.tensor<[K, N], i64>', but got '!ragged.tensor<[K, M], i64>'}}
  %y = ragged.take_along %x, %i dim 0 : !ragged.tensor<[K, N], f32>, !ragged.tensor<[K, M], i64> -> !ragged.tensor<[K, N], f32>
  return
}
