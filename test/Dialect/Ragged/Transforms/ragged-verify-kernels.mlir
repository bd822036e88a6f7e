// RUN: nested-opt %s --ragged-verify-kernels --verify-diagnostics

func.func @loose(%t: tensor<21x8xf32>, %i: !ragged.tensor<[N], i64>) -> !ragged.tensor<[N, 8], f32> {
  // expected-error @+1 {{should be part of a `ragged.kernel`}}
  %y = ragged.gather %t, %i : tensor<21x8xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}
