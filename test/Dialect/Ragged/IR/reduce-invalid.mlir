// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @logsumexp_type(%x: !ragged.tensor<[N, 8], i64>) {
  // expected-error @below {{expected a float element type for 'logsumexp', but got 'i64'}}
  %y = ragged.reduce logsumexp %x dims [0] : !ragged.tensor<[N, 8], i64> -> !ragged.tensor<[8], i64>
  return
}

// -----

// Truth is i1: what other numbers mean, the program says.
func.func @any_type(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected element type 'i1' for 'any', but got 'f32'}}
  %y = ragged.reduce any %x dims [0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  return
}

// -----

func.func @argmax_type(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[8], i64>', but got '!ragged.tensor<[8], f32>'}}
  %y = ragged.reduce argmax %x dims [0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  return
}

// -----

// The index of an element of another sample would need the sizes of those before.
func.func @argmax_batch(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected 'argmax' within each sample, but got a reduction of the batch}}
  %y = ragged.reduce argmax %x dims [0] batch : !ragged.tensor<[N, 8], f32> -> tensor<8xi64>
  return
}

// -----

// R5: only max and min have a choice.
func.func @r5_empty(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected 'empty' with 'max' or 'min' only, but got it with 'argmin'}}
  %y = ragged.reduce argmin %x dims [0] empty identity : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], i64>
  return
}

// -----

func.func @softmax_type(%x: !ragged.tensor<[N, 8], i64>) {
  // expected-error @below {{expected a float element type, but got 'i64'}}
  %y = ragged.softmax %x dims [0] : !ragged.tensor<[N, 8], i64> -> !ragged.tensor<[N, 8], i64>
  return
}

// -----

func.func @softmax_none(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected at least one dim, but got none}}
  %y = ragged.softmax %x dims [] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @softmax_dims(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected dims below rank 2, but got 2}}
  %y = ragged.softmax %x dims [2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
func.func @softmax_result(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N, 8], f32>', but got '!ragged.tensor<[8], f32>'}}
  %y = ragged.softmax %x dims [0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  return
}

// -----

func.func @normalize_groups(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a number of groups that divides the 8 channels, but got 3}}
  %y = ragged.normalize group %x {groups = 3 : i64} : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @normalize_groups_of_layer(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected 'groups' with 'group' only, but got it with 'layer'}}
  %y = ragged.normalize layer %x {groups = 2 : i64} : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @normalize_channels(%x: !ragged.tensor<[N, 2, 8], f32>) {
  // expected-error @below {{expected one dim of channels for 'instance', but got 2}}
  %y = ragged.normalize instance %x {dims = 2 : i64} : !ragged.tensor<[N, 2, 8], f32> -> !ragged.tensor<[N, 2, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_reduce(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[M], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N], f32>', but got '!ragged.tensor<[M], f32>'}}
  %z = ragged.reduce sum %x dims [1] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[M], f32>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_normalize(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[M, 8], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N, 8], f32>', but got '!ragged.tensor<[M, 8], f32>'}}
  %z = ragged.normalize layer %x {dims = 1 : i64, eps = 1.0e-5 : f64} : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[M, 8], f32>
  return
}
