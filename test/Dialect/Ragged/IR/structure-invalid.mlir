// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @partition_sources(%x: !ragged.tensor<[N], f32>, %n: tensor<?xi64>) {
  // expected-error @below {{expected one ragged tensor, or lengths only, but got 2 sources}}
  %p = ragged.partition %x, %n : !ragged.tensor<[N], f32>, tensor<?xi64> -> !ragged.partition<[N]>
  return
}

// -----

func.func @partition_result(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result of type '!ragged.partition<[N]>', but got '!ragged.partition<[N, N]>'}}
  %p = ragged.partition %x : !ragged.tensor<[N, 8], f32> -> !ragged.partition<[N, N]>
  return
}

// -----

func.func @partition_lengths(%n: tensor<?xi64>) {
  // expected-error @below {{expected lengths for each of the 2 symbols of the result, but got 1}}
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[K, L]>
  return
}

// -----

func.func @partition_path(%n: tensor<?xi64>) {
  // expected-error @below {{expected a path of one component with lengths, but got [B, S]}}
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[K], path = [B, S]>
  return
}

// -----

func.func @lengths_dim(%p: !ragged.partition<[N]>) {
  // expected-error @below {{expected dim below rank 1, but got 1}}
  %n = ragged.lengths %p dim 1 : !ragged.partition<[N]> -> tensor<?xi64>
  return
}

// -----

func.func @row_splits_level(%p: !ragged.partition<[N]>) {
  // expected-error @below {{expected level below rank 1, but got 2}}
  %n = ragged.row_splits %p level 2 : !ragged.partition<[N]> -> tensor<?xi64>
  return
}

// -----

func.func @extent_result(%n: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[], i64>', but got '!ragged.tensor<[], i32>'}}
  %e = ragged.extent <N> : !ragged.tensor<[], i32>
  return
}

// -----

func.func @instance_result(%n: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[], i64>', but got '!ragged.tensor<[], i32>'}}
  %i = ragged.instance : !ragged.tensor<[], i32>
  return
}

// -----

func.func @locate_results(%rows: tensor<?xi64>, %p: !ragged.partition<[N, N]>) {
  // expected-error @below {{expected 3 results (the sample and one per extent), but got 1}}
  %i = ragged.locate %rows in %p : tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>
  return
}

// -----

func.func @linearize_operands(%rows: tensor<?xi64>, %p: !ragged.partition<[N, N]>) {
  // expected-error @below {{expected 3 operands (the sample and one per extent), but got 1}}
  %i = ragged.linearize %rows in %p : tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>
  return
}

// -----

func.func @values_result(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result of type 'tensor<?x8xf32>', but got 'tensor<?x9xf32>'}}
  %v = ragged.values %x : !ragged.tensor<[N, 8], f32> -> tensor<?x9xf32>
  return
}

// -----

func.func @pack_values(%v: tensor<?x9xf32>, %p: !ragged.partition<[N]>) {
  // expected-error @below {{expected values of type 'tensor<?x8xf32>', but got 'tensor<?x9xf32>'}}
  %x = ragged.pack %v, %p : tensor<?x9xf32>, !ragged.partition<[N]> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @pack_partition(%v: tensor<?x8xf32>, %p: !ragged.partition<[N, N]>) {
  // expected-error @below {{expected partition of type '!ragged.partition<[N]>', but got '!ragged.partition<[N, N]>'}}
  %x = ragged.pack %v, %p : tensor<?x8xf32>, !ragged.partition<[N, N]> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @with_lengths_source(%x: !ragged.tensor<[N, N], f32>, %n: tensor<?xi64>) {
  // expected-error @below {{expected a source with one ragged dim, but got 2}}
  %y = ragged.with_lengths %x, %n : !ragged.tensor<[N, N], f32>, tensor<?xi64> -> !ragged.tensor<[M], f32>
  return
}

// -----

func.func @with_lengths_symbol(%x: !ragged.tensor<[N], f32>, %n: tensor<?xi64>) {
  // expected-error @below {{expected a result whose one ragged extent is a symbol, but got [2 * M]}}
  %y = ragged.with_lengths %x, %n : !ragged.tensor<[N], f32>, tensor<?xi64> -> !ragged.tensor<[2 * M], f32>
  return
}

// -----

func.func @with_lengths_fresh(%x: !ragged.tensor<[N], f32>, %n: tensor<?xi64>) {
  // expected-error @below {{expected a fresh symbol in the result, but got 'N', a symbol of the source}}
  %y = ragged.with_lengths %x, %n : !ragged.tensor<[N], f32>, tensor<?xi64> -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @with_lengths_path(%x: !ragged.tensor<[N], f32>, %n: tensor<?xi64>) {
  // expected-error @below {{expected a path of one component, but got [B, S]}}
  %y = ragged.with_lengths %x, %n : !ragged.tensor<[N], f32>, tensor<?xi64> -> !ragged.tensor<[M], f32, path = [B, S]>
  return
}

// -----

func.func @with_lengths_result(%x: !ragged.tensor<[N, 8], f32>, %n: tensor<?xi64>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[M, 8], f32>', but got '!ragged.tensor<[M, 9], f32>'}}
  %y = ragged.with_lengths %x, %n : !ragged.tensor<[N, 8], f32>, tensor<?xi64> -> !ragged.tensor<[M, 9], f32>
  return
}

// -----

func.func @cast_types(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected types that differ in extents only, but got '!ragged.tensor<[N, 8], f32>' and '!ragged.tensor<[N, 8], f64>'}}
  %y = ragged.cast %x : !ragged.tensor<[N, 8], f32> to !ragged.tensor<[N, 8], f64>
  return
}

// -----

func.func @cast_to_static(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected ragged dims to stay ragged and static ones static, but got N to 3 at dim 0}}
  %y = ragged.cast %x : !ragged.tensor<[N, 8], f32> to !ragged.tensor<[3, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
func.func @cast_different(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected extents that can be equal, but got N and N + 1 at dim 0}}
  %y = ragged.cast %x : !ragged.tensor<[N, 8], f32> to !ragged.tensor<[N + 1, 8], f32>
  return
}

// -----

func.func @call_callee(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected a function named 'g', but got none}}
  %y = ragged.call @g(%x) with {} : (!ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func private @g(!ragged.tensor<[K], f32>)
func.func @call_substitution(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected an extent for symbol 'K', but got another attribute}}
  ragged.call @g(%x) with {K = 1 : i64} : (!ragged.tensor<[N], f32>) -> ()
  return
}

// -----

// expected-note @below {{the callee is defined here}}
func.func private @g(!ragged.tensor<[K], f32>)
func.func @call_operand(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected operand 0 of type '!ragged.tensor<[2 * N], f32>' after substitution, but got '!ragged.tensor<[N], f32>'}}
  ragged.call @g(%x) with {K = #ragged.extent<2 * N>} : (!ragged.tensor<[N], f32>) -> ()
  return
}

// -----

func.func private @g(!ragged.tensor<[K], f32>) -> !ragged.tensor<[K], f32>
func.func @call_results(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected 1 results, but got 0}}
  ragged.call @g(%x) with {K = #ragged.extent<N>} : (!ragged.tensor<[N], f32>) -> ()
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r9_partition(%x: !ragged.tensor<[N, M], f32>) {
  // expected-error @below {{expected result of type '!ragged.partition<[N, M]>', but got '!ragged.partition<[M, N]>'}}
  %p = ragged.partition %x : !ragged.tensor<[N, M], f32> -> !ragged.partition<[M, N]>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r9_pack(%v: tensor<?x8xf32>, %p: !ragged.partition<[N]>, %y: !ragged.tensor<[M], f32>) {
  // expected-error @below {{expected partition of type '!ragged.partition<[M]>', but got '!ragged.partition<[N]>'}}
  %x = ragged.pack %v, %p : tensor<?x8xf32>, !ragged.partition<[N]> -> !ragged.tensor<[M, 8], f32>
  return
}

// -----

// R7: rows are counted in 64 bits.
func.func @r7_offsets(%p: !ragged.partition<[N]>) {
  // expected-error @below {{'ragged.offsets' op result #0 must be}}
  %0 = ragged.offsets %p : !ragged.partition<[N]> -> tensor<?xi32>
  return
}

// -----

func.func @r7_total(%p: !ragged.partition<[N]>) {
  // expected-error @below {{'ragged.total' op result #0 must be}}
  %0 = ragged.total %p : !ragged.partition<[N]> -> tensor<i32>
  return
}
