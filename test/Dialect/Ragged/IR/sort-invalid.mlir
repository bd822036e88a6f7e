// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @sort_dim(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected dim below rank 1, but got 1}}
  %v, %i = ragged.sort %x dim 1 : !ragged.tensor<[N], f32> -> !ragged.tensor<[N], f32>, !ragged.tensor<[N], i64>
  return
}

// -----

func.func @sort_indices(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected indices of type '!ragged.tensor<[N], i64>', but got '!ragged.tensor<[N], i32>'}}
  %v, %i = ragged.sort %x dim 0 : !ragged.tensor<[N], f32> -> !ragged.tensor<[N], f32>, !ragged.tensor<[N], i32>
  return
}

// -----

func.func @sort_elements(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected sorted elements of type '!ragged.tensor<[N], f32>', but got '!ragged.tensor<[N], f64>'}}
  %v, %i = ragged.sort %x dim 0 : !ragged.tensor<[N], f32> -> !ragged.tensor<[N], f64>, !ragged.tensor<[N], i64>
  return
}

// -----

func.func @search_rank(%s: !ragged.tensor<[K, 2], f32>, %x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected a sorted list of one dim, but got '!ragged.tensor<[K, 2], f32>'}}
  %0 = ragged.searchsorted %s, %x : !ragged.tensor<[K, 2], f32>, !ragged.tensor<[N], f32> -> !ragged.tensor<[N], i64>
  return
}

// -----

func.func @search_type(%s: !ragged.tensor<[K], f64>, %x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected values of type 'f64', as in the sorted list, but got 'f32'}}
  %0 = ragged.searchsorted %s, %x : !ragged.tensor<[K], f64>, !ragged.tensor<[N], f32> -> !ragged.tensor<[N], i64>
  return
}

// -----

// expected-note @below {{symbol 'S' is bound here}}
// expected-note @below {{symbol 'K' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_search_path(%s: !ragged.tensor<[K], f32, path = [B, S]>, %x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected a sorted list over a prefix of path [B], but got '!ragged.tensor<[K], f32, path = [B, S]>'}}
  %0 = ragged.searchsorted %s, %x : !ragged.tensor<[K], f32, path = [B, S]>, !ragged.tensor<[N], f32> -> !ragged.tensor<[N], i64>
  return
}

// -----

func.func @scatter_order(%z: !ragged.tensor<[4, M], f32>, %i: !ragged.tensor<[N], i64>, %x: !ragged.tensor<[N, M], f32>) {
  // expected-error @below {{expected an init whose dim 0 is stored first, but got '!ragged.tensor<[4, M], f32>'}}
  %y = ragged.scatter add %z, %i, %x : !ragged.tensor<[4, M], f32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N, M], f32> -> !ragged.tensor<[4, M], f32>
  return
}

// -----

func.func @scatter_updates_order(%z: !ragged.tensor<[N, M], f32>, %i: tensor<4xi64>, %x: !ragged.tensor<[4, M], f32>) {
  // expected-error @below {{expected updates whose dim 0 is stored first, but got '!ragged.tensor<[4, M], f32>'}}
  %y = ragged.scatter add %z, %i, %x : !ragged.tensor<[N, M], f32>, tensor<4xi64>, !ragged.tensor<[4, M], f32> -> !ragged.tensor<[N, M], f32>
  return
}

// -----

func.func @scatter_indices(%z: !ragged.tensor<[K], f32>, %i: !ragged.tensor<[N], i32>, %x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected indices of type 'i64', but got 'i32'}}
  %y = ragged.scatter add %z, %i, %x : !ragged.tensor<[K], f32>, !ragged.tensor<[N], i32>, !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @r1_scatter_indices(%z: !ragged.tensor<[K], f32>, %i: !ragged.tensor<[M], i64>, %x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected indices of type '!ragged.tensor<[N], i64>', but got '!ragged.tensor<[M], i64>'}}
  %y = ragged.scatter add %z, %i, %x : !ragged.tensor<[K], f32>, !ragged.tensor<[M], i64>, !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32>
  return
}

// -----

func.func @scatter_updates(%z: !ragged.tensor<[K, 8], f32>, %i: !ragged.tensor<[N], i64>, %x: !ragged.tensor<[N, 4], f32>) {
  // expected-error @below {{expected updates of type '!ragged.tensor<[N, 8], f32>', but got '!ragged.tensor<[N, 4], f32>'}}
  %y = ragged.scatter add %z, %i, %x : !ragged.tensor<[K, 8], f32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[K, 8], f32>
  return
}

// -----

func.func @scatter_bool(%z: !ragged.tensor<[K], i1>, %i: !ragged.tensor<[N], i64>, %x: !ragged.tensor<[N], i1>) {
  // expected-error @below {{expected numbers to add, but got 'i1'}}
  %y = ragged.scatter add %z, %i, %x : !ragged.tensor<[K], i1>, !ragged.tensor<[N], i64>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K], i1>
  return
}

// -----

// expected-note @below {{symbol 'K' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @scatter_result(%z: !ragged.tensor<[K], f32>, %i: !ragged.tensor<[N], i64>, %x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[K], f32>', but got '!ragged.tensor<[N], f32>'}}
  %y = ragged.scatter max %z, %i, %x : !ragged.tensor<[K], f32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N], f32> -> !ragged.tensor<[N], f32>
  return
}

// -----

// Whose maximum it is, over samples, has no order.
func.func @scatter_over_batch(%z: tensor<4xf32>, %i: !ragged.tensor<[N], i64>, %x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected kind 'add' where all samples go into one dense init, but got 'max'}}
  %y = ragged.scatter max %z, %i, %x : tensor<4xf32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N], f32> -> tensor<4xf32>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_sort(%x: !ragged.tensor<[N], f32>, %y: !ragged.tensor<[M], f32>) {
  // expected-error @below {{expected sorted elements of type '!ragged.tensor<[N], f32>', but got '!ragged.tensor<[M], f32>'}}
  %v, %i = ragged.sort %x dim 0 : !ragged.tensor<[N], f32> -> !ragged.tensor<[M], f32>, !ragged.tensor<[N], i64>
  return
}
