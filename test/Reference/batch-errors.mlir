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

// -----

// A choice that is not the one that was made: another number of samples, of other lengths, of other documents.
func.func @other_count(
    %x: !ragged.tensor<[], f32> {reference.values = dense<0.0> : tensor<3xf32>},
    %k: !ragged.tensor<[], i1> {reference.values = dense<[true, false, true]> : tensor<3xi1>},
    %l: !ragged.tensor<[], i1> {reference.values = dense<[true, false, false]> : tensor<3xi1>}) -> !ragged.tensor<[], f32> {
  %y = ragged.select_batch %k of %x renames [] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[], f32> -> !ragged.tensor<[], f32, path = [C]>
  // expected-error @below {{chooses 1 of 'B', expected the 2 of 'C'}}
  %z = ragged.move_batch sum %l of %y renames [] to []
      : !ragged.tensor<[], i1>, !ragged.tensor<[], f32, path = [C]> -> !ragged.tensor<[], f32>
  return %z : !ragged.tensor<[], f32>
}

// -----

func.func @other_lengths(
    %x: !ragged.tensor<[N], f32> {reference.values = dense<0.0> : tensor<4xf32>, reference.lengths = [array<i64: 2, 1, 1>]},
    %k: !ragged.tensor<[], i1> {reference.values = dense<[true, false, true]> : tensor<3xi1>},
    %l: !ragged.tensor<[], i1> {reference.values = dense<[false, true, true]> : tensor<3xi1>}) -> !ragged.tensor<[N], f32> {
  %y = ragged.select_batch %k of %x renames [N] to [K]
      : !ragged.tensor<[], i1>, !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32, path = [C]>
  // expected-error @below {{'K' is 2 in sample 0, expected 'N' of sample 1, 1}}
  %z = ragged.move_batch sum %l of %y renames [N] to [K]
      : !ragged.tensor<[], i1>, !ragged.tensor<[K], f32, path = [C]> -> !ragged.tensor<[N], f32>
  return %z : !ragged.tensor<[N], f32>
}
