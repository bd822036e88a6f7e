// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(ragged-generalize, ragged-form-contractions))' | FileCheck %s

// Two values of a sample.
// CHECK-LABEL: func.func @scores
// CHECK: ragged.contract_kernel dims [N, M, 64]
func.func @scores(%q: !ragged.tensor<[N, 64], f32>, %k: !ragged.tensor<[M, 64], f32>) -> !ragged.tensor<[N, M], f32> {
  %s = ragged.contract "nc,mc->nm" %q, %k : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[M, 64], f32> -> !ragged.tensor<[N, M], f32>
  return %s : !ragged.tensor<[N, M], f32>
}

// Rows times weights stay a generic.
// CHECK-LABEL: func.func @weights
// CHECK-NOT: contract_kernel
func.func @weights(%q: !ragged.tensor<[N, 64], f32>, %w: tensor<64x32xf32>) -> !ragged.tensor<[N, 32], f32> {
  %s = ragged.contract "nc,cd->nd" %q, %w : !ragged.tensor<[N, 64], f32>, tensor<64x32xf32> -> !ragged.tensor<[N, 32], f32>
  return %s : !ragged.tensor<[N, 32], f32>
}

// A weight gradient that is written as a generic.
// CHECK-LABEL: func.func @gradient
// CHECK: ragged.contract_kernel dims [64, 32, N] {{.*}} batch_reduced
func.func @gradient(%x: !ragged.tensor<[N, 64], f32>, %y: !ragged.tensor<[N, 32], f32>) -> tensor<64x32xf32> {
  %z = ragged.fill 0.0 : f32 -> tensor<64x32xf32>
  %w = ragged.generic dims [64, 32, N] iterators ["parallel", "parallel", "reduction"] path [B]
      maps [affine_map<(i, j, n) -> (n, i)>, affine_map<(i, j, n) -> (n, j)>, affine_map<(i, j, n) -> (i, j)>] batch_reduced
      ins(%x, %y : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 32], f32>) outs(%z : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32
  } -> tensor<64x32xf32>
  return %w : tensor<64x32xf32>
}

// Rows that a kernel makes are added up by it: nothing is stored for the sum.
// CHECK-LABEL: func.func @made
// CHECK-NOT: contract_kernel
func.func @made(%x: !ragged.tensor<[N, 64], f32>, %y: !ragged.tensor<[N, 32], f32>) -> tensor<64x32xf32> {
  %e = ragged.empty : !ragged.tensor<[N, 32], f32>
  %t = ragged.generic dims [N, 32] iterators ["parallel", "parallel"] path [B]
      maps [affine_map<(n, j) -> (n, j)>, affine_map<(n, j) -> (n, j)>]
      ins(%y : !ragged.tensor<[N, 32], f32>) outs(%e : !ragged.tensor<[N, 32], f32>) {
  ^bb0(%a: f32, %o: f32):
    %p = math.tanh %a : f32
    ragged.yield %p : f32
  } -> !ragged.tensor<[N, 32], f32>
  %z = ragged.fill 0.0 : f32 -> tensor<64x32xf32>
  %w = ragged.generic dims [64, 32, N] iterators ["parallel", "parallel", "reduction"] path [B]
      maps [affine_map<(i, j, n) -> (n, i)>, affine_map<(i, j, n) -> (n, j)>, affine_map<(i, j, n) -> (i, j)>] batch_reduced
      ins(%x, %t : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 32], f32>) outs(%z : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32
  } -> tensor<64x32xf32>
  return %w : tensor<64x32xf32>
}

// Without columns there is no product of matrices.
// CHECK-LABEL: func.func @vector
// CHECK-NOT: contract_kernel
func.func @vector(%p: !ragged.tensor<[N, M], f32>, %v: !ragged.tensor<[M], f32>) -> !ragged.tensor<[N], f32> {
  %s = ragged.contract "nm,m->n" %p, %v : !ragged.tensor<[N, M], f32>, !ragged.tensor<[M], f32> -> !ragged.tensor<[N], f32>
  return %s : !ragged.tensor<[N], f32>
}
