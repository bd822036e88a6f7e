// RUN: nested-reference %s -split-input-file -verify-diagnostics

func.func @index(
    %x: !ragged.tensor<[], f32> {reference.values = dense<0.0> : tensor<3xf32>}) -> !ragged.tensor<[], f32, path = [C]> {
  %l = arith.constant dense<[0, 3]> : tensor<2xi64>
  // expected-error @below {{index 3 is out of range for 3 of 'B'}}
  %z = ragged.select_batch %l of %x renames [] to []
      : tensor<2xi64>, !ragged.tensor<[], f32> -> !ragged.tensor<[], f32, path = [C]>
  return %z : !ragged.tensor<[], f32, path = [C]>
}

// -----

func.func @copies(
    %x: !ragged.tensor<[], f32> {reference.values = dense<0.0> : tensor<3xf32>},
    %n: !ragged.tensor<[], i64> {reference.values = dense<[0, 3, 1]> : tensor<3xi64>}) -> !ragged.tensor<[], f32, path = [C]> {
  // expected-error @below {{has 3 copies of sample 1, expected 0 to 2}}
  %z = ragged.repeat_batch %n at_most 2 of %x renames [] to []
      : !ragged.tensor<[], i64>, !ragged.tensor<[], f32> -> !ragged.tensor<[], f32, path = [C]>
  return %z : !ragged.tensor<[], f32, path = [C]>
}

// -----

func.func @size(
    // expected-note @below {{'N' is 1 there, bound by argument '0'}}
    %x: !ragged.tensor<[N], f32> {reference.values = dense<0.0> : tensor<3xf32>, reference.lengths = [array<i64: 2, 1>]},
    %n: !ragged.tensor<[], i64> {reference.values = dense<2> : tensor<2xi64>}) -> !ragged.tensor<[K], f32> {
  // expected-error @below {{'K' is 2 in sample 1, expected 0 to 1 (N)}}
  %p = ragged.bind_size %n at_most <N> : !ragged.tensor<[], i64> -> !ragged.partition<[K]>
  %y = ragged.slice %x dim 0 start <0> size <K> : !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32>
  return %y : !ragged.tensor<[K], f32>
}
