// RUN: nested-opt %s -split-input-file -verify-diagnostics --ragged-verify-tensor

func.func @no_sources(%keep: !ragged.tensor<[], i1>) {
  // expected-error @below {{expected sources, and a result for each, but got 0 and 0}}
  "ragged.select_batch"(%keep) {from = [], to = []} : (!ragged.tensor<[], i1>) -> ()
  return
}

// -----

// expected-note @below {{symbol 'S' is bound here}}
func.func @r1_paths(%keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[4], f32>, %y: !ragged.tensor<[4], f32, path = [B, S]>) {
  // expected-error @below {{expected sources over one path, but got [B] and [B, S]}}
  %z, %w = ragged.select_batch %keep of %x, %y renames [] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[4], f32>, !ragged.tensor<[4], f32, path = [B, S]>
      -> !ragged.tensor<[4], f32, path = [C]>, !ragged.tensor<[4], f32, path = [C]>
  return
}

// -----

func.func @r1_mask(%keep: !ragged.tensor<[], i1, path = [D]>, %x: !ragged.tensor<[4], f32>) {
  // expected-error @below {{expected selector of type '!ragged.tensor<[], i1>', but got '!ragged.tensor<[], i1, path = [D]>'}}
  %z = ragged.select_batch %keep of %x renames [] to []
      : !ragged.tensor<[], i1, path = [D]>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  return
}

// -----

func.func @selector(%keep: !ragged.tensor<[], f32>, %x: !ragged.tensor<[4], f32>) {
  // expected-error @below {{expected selector of type '!ragged.tensor<[], i64>', but got '!ragged.tensor<[], f32>'}}
  %z = ragged.select_batch %keep of %x renames [] to []
      : !ragged.tensor<[], f32>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32>
  return
}

// -----

func.func @list(%i: tensor<2x3xi64>, %x: !ragged.tensor<[4], f32>) {
  // expected-error @below {{expected a list of indices, but got 'tensor<2x3xi64>'}}
  %z = ragged.select_batch %i of %x renames [] to []
      : tensor<2x3xi64>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  return
}

// -----

func.func @list_path(%i: tensor<3xi64>, %x: !ragged.tensor<[4], f32, path = [B, S]>) {
  // expected-error @below {{expected sources over a path of one component with a list of indices, but got [B, S]}}
  %z = ragged.select_batch %i of %x renames [] to []
      : tensor<3xi64>, !ragged.tensor<[4], f32, path = [B, S]> -> !ragged.tensor<[4], f32, path = [B, C]>
  return
}

// -----

func.func @indices_path(%i: !ragged.tensor<[], i64, path = [D, S]>, %x: !ragged.tensor<[4], f32, path = [B, R]>) {
  // expected-error @below {{expected indices over a path like [B, R] in all but the last component, but got [D, S]}}
  %z = ragged.select_batch %i of %x renames [] to []
      : !ragged.tensor<[], i64, path = [D, S]>, !ragged.tensor<[4], f32, path = [B, R]> -> !ragged.tensor<[4], f32, path = [D, S]>
  return
}

// -----

func.func @result_path(%i: !ragged.tensor<[], i64>, %x: !ragged.tensor<[4], f32>) {
  // expected-error @below {{expected results over the path of the indices, [B], but got [C]}}
  %z = ragged.select_batch %i of %x renames [] to []
      : !ragged.tensor<[], i64>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  return
}

// -----

func.func @fresh_batch(%keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[4], f32>) {
  // expected-error @below {{expected results over the path [B] with a fresh symbol as its last component, but got [B]}}
  %z = ragged.select_batch %keep of %x renames [] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32>
  return
}

// -----

func.func @batch_taken(
    %keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[4], f32>,
    // expected-note @below {{symbol 'C' is bound here}}
    %y: !ragged.tensor<[4], f32, path = [C]>) {
  // expected-error @below {{expected a fresh symbol, but got 'C', which is bound already}}
  %z = ragged.select_batch %keep of %x renames [] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  return
}

// -----

func.func @batch_bound_twice(%keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[4], f32>) {
  // expected-note @below {{symbol 'C' is bound here}}
  %z = ragged.select_batch %keep of %x renames [] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  // expected-error @below {{expected a fresh symbol, but got 'C', which is bound already}}
  %y = ragged.select_batch %keep of %x renames [] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  return
}

// -----

func.func @batch_before_its_binding(%keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[4], f32>) {
  // expected-error @below {{expected symbol 'C' to be bound before its use, but got a later binding}}
  %f = ragged.fill 0.0 : f32 -> !ragged.tensor<[4], f32, path = [C]>
  // expected-note @below {{symbol 'C' is bound here}}
  %z = ragged.select_batch %keep of %x renames [] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  return
}

// -----

func.func @renames(%keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected as many symbols behind 'to' as before it, but got [N] and []}}
  %z = ragged.select_batch %keep of %x renames [N] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[N], f32> -> !ragged.tensor<[N], f32, path = [C]>
  return
}

// -----

func.func @renames_symbols(%keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected distinct symbols, but got [K + 1]}}
  %z = ragged.select_batch %keep of %x renames [N] to [K + 1]
      : !ragged.tensor<[], i1>, !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32, path = [C]>
  return
}

// -----

func.func @renames_fresh(%keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[N, M], f32>) {
  // expected-error @below {{expected a fresh symbol, but got 'M', a symbol of the sources}}
  %z = ragged.select_batch %keep of %x renames [N] to [M]
      : !ragged.tensor<[], i1>, !ragged.tensor<[N, M], f32> -> !ragged.tensor<[M, M], f32, path = [C]>
  return
}

// -----

// Members of members have to be counted for each of those.
// expected-note @below {{symbol 'N' is bound here}}
func.func @component(%x: !ragged.tensor<[N], f32>, %t: !ragged.tensor<[N, 8], f32, path = [B, S]>) {
  // expected-error @below {{expected path component 'N' over path [B, S], but got path [B]}}
  %y = ragged.renest %t : !ragged.tensor<[N, 8], f32, path = [B, S]> -> !ragged.tensor<[8], f32, path = [B, S, N]>
  return
}

// -----

// Lengths of samples that are no longer there.
// expected-note @below {{symbol 'N' is bound here}}
func.func @not_renamed(%keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected symbol 'N' over a prefix of path [C], but got path [B]}}
  %z = ragged.select_batch %keep of %x renames [] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[N], f32> -> !ragged.tensor<[N], f32, path = [C]>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
func.func @result(%keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[N, N], f32>) {
  // expected-note @below {{symbol 'K' is bound here}}
  // expected-error @below {{expected result 0 of type '!ragged.tensor<[K, K], f32, path = [C]>', but got '!ragged.tensor<[K, N], f32, path = [C]>'}}
  %z = ragged.select_batch %keep of %x renames [N] to [K]
      : !ragged.tensor<[], i1>, !ragged.tensor<[N, N], f32> -> !ragged.tensor<[K, N], f32, path = [C]>
  return
}

// -----

func.func @repeat_counts(%n: !ragged.tensor<[], i32>, %x: !ragged.tensor<[4], f32>) {
  // expected-error @below {{expected counts of type '!ragged.tensor<[], i64>', but got '!ragged.tensor<[], i32>'}}
  %z = ragged.repeat_batch %n at_most 2 of %x renames [] to []
      : !ragged.tensor<[], i32>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  return
}

// -----

func.func @repeat_bound(%n: !ragged.tensor<[], i64>, %x: !ragged.tensor<[4], f32>) {
  // expected-error @below {{expected a bound that is not negative, but got -1}}
  %z = ragged.repeat_batch %n at_most -1 of %x renames [] to []
      : !ragged.tensor<[], i64>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  return
}

// -----

func.func @move_path(%keep: !ragged.tensor<[], i1>, %x: !ragged.tensor<[4], f32>) {
  // expected-error @below {{expected results over the path [B] with another symbol as its last component, but got [B]}}
  %z = ragged.move_batch %keep of %x renames [] to [] : !ragged.tensor<[], i1>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32>
  return
}

// -----

func.func @move_back_path(%i: tensor<2xi64>, %x: !ragged.tensor<[4], f32>) {
  // expected-error @below {{expected sources over the path [B] with another symbol as its last component, but got [B]}}
  %z = ragged.move_batch sum %i of %x renames [] to [] : tensor<2xi64>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'K' is bound here}}
func.func @move_result(%i: !ragged.tensor<[], i64>, %x: !ragged.tensor<[N], f32>, %y: !ragged.tensor<[K], f32>) {
  // expected-error @below {{expected result 0 of type '!ragged.tensor<[N], f32>', but got '!ragged.tensor<[K], f32>'}}
  %z = ragged.move_batch sum %i of %y renames [N] to [K] : !ragged.tensor<[], i64>, !ragged.tensor<[K], f32> -> !ragged.tensor<[K], f32>
  return
}

// -----

func.func @move_counts(%n: !ragged.tensor<[], i32>, %x: !ragged.tensor<[4], f32>, %y: !ragged.tensor<[4], f32, path = [C]>) {
  // expected-error @below {{expected counts of type '!ragged.tensor<[], i64>', but got '!ragged.tensor<[], i32>'}}
  %z = ragged.move_batch %n of %x renames [] to []
      : !ragged.tensor<[], i32>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  return
}

// -----

func.func @sums(%keep: !ragged.tensor<[], i1>, %y: !ragged.tensor<[4], i32, path = [C]>) {
  // expected-error @below {{expected sources of floats, but got '!ragged.tensor<[4], i32, path = [C]>'}}
  %z = ragged.move_batch sum %keep of %y renames [] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[4], i32, path = [C]> -> !ragged.tensor<[4], i32>
  return
}

// -----

func.func @bind_size_type(%n: !ragged.tensor<[], f32>) {
  // expected-error @below {{expected size of type '!ragged.tensor<[], i64>', but got '!ragged.tensor<[], f32>'}}
  %p = ragged.bind_size %n at_most <8> : !ragged.tensor<[], f32> -> !ragged.partition<[K]>
  return
}

// -----

func.func @bind_size_symbol(%n: !ragged.tensor<[], i64>) {
  // expected-error @below {{expected one extent, a fresh symbol, but got [2 * K]}}
  %p = ragged.bind_size %n at_most <8> : !ragged.tensor<[], i64> -> !ragged.partition<[2 * K]>
  return
}

// -----

func.func @bind_size_path(%n: !ragged.tensor<[], i64>, %x: !ragged.tensor<[], f32, path = [B, S]>) {
  // expected-error @below {{expected a result over path [B], but got [B, S]}}
  %p = ragged.bind_size %n at_most <8> : !ragged.tensor<[], i64> -> !ragged.partition<[K], path = [B, S]>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_repeat(%n: !ragged.tensor<[], i64>, %x: !ragged.tensor<[N], f32>) {
  // expected-note @below {{symbol 'K' is bound here}}
  // expected-error @below {{expected result 0 of type '!ragged.tensor<[K], f32, path = [C]>', but got '!ragged.tensor<[N], f32, path = [C]>'}}
  %z = ragged.repeat_batch %n at_most 2 of %x renames [N] to [K]
      : !ragged.tensor<[], i64>, !ragged.tensor<[N], f32> -> !ragged.tensor<[N], f32, path = [C]>
  return
}
