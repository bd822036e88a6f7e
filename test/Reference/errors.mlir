// RUN: nested-reference %s -split-input-file -verify-diagnostics
// RUN: not nested-reference %s -split-input-file 2>&1 | FileCheck %s

// The text with its places, once.
// CHECK: errors.mlir{{.*}}:17:8: error: lengths disagree in sample 1: M is 3, N is 1 (dim 0); 'x + y' needs them equal
// CHECK: note: 'M' is 3 there, bound by argument 'y'
// CHECK: note: 'N' is 1 there, bound by argument 'x'
func.func @cast(
    // expected-note @below {{'N' is 1 there, bound by argument 'x'}}
    %x: !ragged.tensor<[N], f32> {ragged.name = "x",
      reference.values = dense<0.0> : tensor<3xf32>, reference.lengths = [array<i64: 2, 1>]},
    // expected-note @below {{'M' is 3 there, bound by argument 'y'}}
    %y: !ragged.tensor<[M], f32> {ragged.name = "y",
      reference.values = dense<0.0> : tensor<5xf32>, reference.lengths = [array<i64: 2, 3>]})
    -> !ragged.tensor<[N], f32> {
  // expected-error @below {{lengths disagree in sample 1: M is 3, N is 1 (dim 0); 'x + y' needs them equal}}
  %z = ragged.cast %y {reason = "x + y"} : !ragged.tensor<[M], f32> to !ragged.tensor<[N], f32>
  return %z : !ragged.tensor<[N], f32>
}

// -----

func.func @argument_lengths(
    // expected-note @below {{'N' is 1 there, bound by argument '0'}}
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<3xf32>, reference.lengths = [array<i64: 2, 1>]},
    // expected-error @below {{argument '1' has length 3 for dim 0 in sample 1, but N is 1}}
    %y: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<5xf32>, reference.lengths = [array<i64: 2, 3>]}) {
  return
}

// -----

func.func @expression(
    // expected-error @below {{argument '0' has length 2 for dim 1 in sample 0, but 2 * N is 4}}
    // expected-note @below {{'N' is 2 there, bound by argument '0'}}
    %x: !ragged.tensor<[N, 2 * N], f32> {
      reference.values = dense<0.0> : tensor<4xf32>, reference.lengths = [array<i64: 2>, array<i64: 2>]}) {
  return
}

// -----

func.func @samples(
    // expected-note @below {{batch 'B' is 2 samples because of argument '0'}}
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<3xf32>, reference.lengths = [array<i64: 2, 1>]},
    // expected-error @below {{argument '1' has 3 samples, but argument '0' has 2}}
    %y: !ragged.tensor<[], f32> {reference.values = dense<0.0> : tensor<3xf32>}) {
  return
}

// -----

func.func @rows(
    // expected-error @below {{argument '0' needs rows 2 to 4 in sample 1, but has 3 rows}}
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<3xf32>, reference.lengths = [array<i64: 2, 2>]}) {
  return
}

// -----

func.func @negative(
    // expected-error @below {{argument '0' gives length -1 for 'N' in sample 1}}
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<3xf32>, reference.lengths = [array<i64: 2, -1>]}) {
  return
}

// -----

func.func @unknown(
    // expected-error @below {{no argument gives the lengths of 'N' in the type of argument '0'}}
    %x: !ragged.tensor<[N], f32> {reference.values = dense<0.0> : tensor<3xf32>, reference.samples = 2 : i64}) {
  return
}

// -----

func.func @dtype(
    // expected-error @below {{argument '0' has dtype f64, expected f32}}
    %x: tensor<2xf32> {reference.values = dense<0.0> : tensor<2xf64>}) {
  return
}

// -----

func.func @shape(
    // expected-error @below {{argument '0' has shape (3), expected 'tensor<2xf32>'}}
    %x: tensor<2xf32> {reference.values = dense<0.0> : tensor<3xf32>}) {
  return
}

// -----

func.func @gather(
    %i: !ragged.tensor<[N], i64> {
      reference.values = dense<[2, 0, 1, 25]> : tensor<4xi64>, reference.lengths = [array<i64: 2, 2>]},
    %table: tensor<3x2xf32> {reference.values = dense<0.0> : tensor<3x2xf32>}) -> !ragged.tensor<[N, 2], f32> {
  // expected-error @below {{index 25 is out of range for axis 0 of size 3 (sample 1, row 1 of it, row 3 of the batch)}}
  %0 = ragged.gather %table, %i : tensor<3x2xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 2], f32>
  return %0 : !ragged.tensor<[N, 2], f32>
}

// -----

func.func @slice(
    // expected-note @below {{'N' is 0 there, bound by argument '0'}}
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<0.0> : tensor<2x2xf32>, reference.lengths = [array<i64: 2, 0>]})
    -> !ragged.tensor<[2], f32> {
  // expected-error @below {{slice of 1 elements from -1 on is outside dim 0 of size 0 in sample 1}}
  %0 = ragged.slice %x dim 0 start <N - 1> size <1> drop : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[2], f32>
  return %0 : !ragged.tensor<[2], f32>
}

// -----

func.func @nest(
    // expected-note @below {{'N' is 3 there, bound by argument '0'}}
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<4xf32>, reference.lengths = [array<i64: 1, 3>]},
    %n: !ragged.tensor<[S], i64> {
      reference.values = dense<[1, 1, 1]> : tensor<3xi64>, reference.lengths = [array<i64: 1, 2>]})
    -> !ragged.tensor<[T], f32, path = [B, S]> {
  // expected-error @below {{the lengths of the groups add up to 2, but dim 0 has 3 elements in sample 1}}
  %0 = ragged.nest %x, %n : !ragged.tensor<[N], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T], f32, path = [B, S]>
  return %0 : !ragged.tensor<[T], f32, path = [B, S]>
}

// -----

func.func @pack(
    %v: tensor<?xf32> {reference.values = dense<0.0> : tensor<5xf32>},
    %n: tensor<?xi64> {reference.values = dense<[2, 4]> : tensor<2xi64>}) -> !ragged.tensor<[N], f32> {
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[N]>
  // expected-error @below {{has values of 5 rows for a structure of 6 rows}}
  %0 = ragged.pack %v, %p : tensor<?xf32>, !ragged.partition<[N]> -> !ragged.tensor<[N], f32>
  return %0 : !ragged.tensor<[N], f32>
}

// -----

func.func @locate(
    %n: tensor<?xi64> {reference.values = dense<[2, 4]> : tensor<2xi64>},
    %r: tensor<?xi64> {reference.values = dense<[0, 6]> : tensor<2xi64>}) {
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[N]>
  // expected-error @below {{row 6 is out of range for a partition of 6 rows}}
  %0, %1 = ragged.locate %r in %p : tensor<?xi64>, !ragged.partition<[N]> -> tensor<?xi64>, tensor<?xi64>
  return
}

// -----

func.func @negative_lengths(%n: tensor<?xi64> {reference.values = dense<[2, -4]> : tensor<2xi64>}) {
  // expected-error @below {{'ragged.partition' gives length -4 for 'N' in sample 1}}
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[N]>
  return
}

// -----

// Sizes are computed in checked arithmetic.
func.func @overflow(
    %n: tensor<?xi64> {reference.values = dense<[4294967296]> : tensor<1xi64>}) -> !ragged.tensor<[N, N], f32> {
  // expected-note @below {{'N' is 4294967296 there, bound by 'ragged.partition'}}
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[N]>
  // expected-error @below {{its size overflows 64 bits}}
  %0 = ragged.fill 0.0 : f32 -> !ragged.tensor<[N, N], f32>
  return %0 : !ragged.tensor<[N, N], f32>
}

// -----

func.func @too_large(
    %n: tensor<?xi64> {reference.values = dense<[100000000000]> : tensor<1xi64>}) -> !ragged.tensor<[N], f32> {
  // expected-note @below {{'N' is 100000000000 there, bound by 'ragged.partition'}}
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[N]>
  // expected-error @below {{has more elements than the reference interpreter takes (2147483648): 100000000000 and more}}
  %0 = ragged.fill 0.0 : f32 -> !ragged.tensor<[N], f32>
  return %0 : !ragged.tensor<[N], f32>
}

// -----

func.func @unsupported(%x: tensor<2xf32> {reference.values = dense<0.0> : tensor<2xf32>}) {
  // expected-error @below {{the reference interpreter does not support 'tensor.cast'}}
  %y = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
  return
}

// -----

// The checks that the generic phase has in place of casts.
// expected-error @below {{lengths disagree in sample 1: N is 1, M is 3; 'x + y' at model.py:3 needs N == M}}
func.func @checks(
    // expected-note @below {{'N' is 1 there, bound by argument '0'}}
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<3xf32>, reference.lengths = [array<i64: 2, 1>]},
    // expected-note @below {{'M' is 3 there, bound by argument '1'}}
    %y: !ragged.tensor<[N], f32> {ragged.declared_type = !ragged.tensor<[M], f32>,
      reference.values = dense<0.0> : tensor<5xf32>, reference.lengths = [array<i64: 2, 3>]})
    attributes {ragged.checks = [{lhs = #ragged.extent<N>, rhs = #ragged.extent<M>, op = "==", path = ["B"],
                                  what = "x + y", where = "model.py:3"}]} {
  return
}

// -----

func.func @slice_step(
    // expected-note @below {{'N' is 2 there, bound by argument '0'}}
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<5xf32>, reference.lengths = [array<i64: 3, 2>]})
    -> !ragged.tensor<[2], f32> {
  // expected-error @below {{slice of 2 elements from 0 on with step 2 is outside dim 0 of size 2 in sample 1}}
  %0 = ragged.slice %x dim 0 start <0> size <2> step 2 : !ragged.tensor<[N], f32> -> !ragged.tensor<[2], f32>
  return %0 : !ragged.tensor<[2], f32>
}

// -----

func.func @pad(
    // expected-note @below {{'N' is 0 there, bound by argument '0'}}
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<3xf32>, reference.lengths = [array<i64: 3, 0>]})
    -> !ragged.tensor<[2 * N - 1], f32> {
  // expected-error @below {{padding of -1 and 0 elements at dim 0 is negative in sample 1}}
  %0 = ragged.pad %x low [N - 1] high [0] value 0.0 : f32 : !ragged.tensor<[N], f32> -> !ragged.tensor<[2 * N - 1], f32>
  return %0 : !ragged.tensor<[2 * N - 1], f32>
}

// -----

func.func @take(
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<3xf32>, reference.lengths = [array<i64: 3, 0>]},
    %i: !ragged.tensor<[M], i32> {
      reference.values = dense<[2, 0]> : tensor<2xi32>, reference.lengths = [array<i64: 1, 1>]})
    -> !ragged.tensor<[M], f32> {
  // expected-error @below {{index 0 is out of range for dim 0 of size 0 (sample 1, row 1 of the batch)}}
  %0 = ragged.take %x, %i dim 0 : !ragged.tensor<[N], f32>, !ragged.tensor<[M], i32> -> !ragged.tensor<[M], f32>
  return %0 : !ragged.tensor<[M], f32>
}

// -----

func.func @reshape(
    // expected-note @below {{'N' is 6 there, bound by argument '0'}}
    %x: !ragged.tensor<[N], f32> {
      reference.values = dense<0.0> : tensor<10xf32>, reference.lengths = [array<i64: 4, 6>]})
    -> !ragged.tensor<[N floordiv 4, 4], f32> {
  // expected-error @below {{has 6 elements to put into 4 in sample 1}}
  %0 = ragged.reshape %x : !ragged.tensor<[N], f32> -> !ragged.tensor<[N floordiv 4, 4], f32>
  return %0 : !ragged.tensor<[N floordiv 4, 4], f32>
}

// -----

// Nothing is made for groups that no memory would hold.
func.func @groups(
    // expected-error @below {{path [B, S] has 4611686018427387906 instances, more than the reference interpreter takes (2147483648)}}
    %x: !ragged.tensor<[T], i64, path = [B, S]> {
      reference.values = dense<[1, 2]> : tensor<2xi64>, reference.path_lengths = [array<i64: 2, 4611686018427387904>],
      reference.lengths = [array<i64: 1, 1>]}) -> !ragged.tensor<[T], i64, path = [B, S]> {
  return %x : !ragged.tensor<[T], i64, path = [B, S]>
}
