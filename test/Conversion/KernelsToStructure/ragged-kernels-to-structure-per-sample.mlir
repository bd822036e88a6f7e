// RUN: nested-opt %s --ragged-kernels-to-structure --split-input-file | FileCheck %s

// Sums of sums: a unit of either launch touches its own sample, so the runtime may run both for some samples first.
// CHECK-LABEL: ragged.schedule @chain
// CHECK: ragged.launch @chain_scan0 {{.*}}, per_sample, tile_rows
// CHECK: ragged.launch @chain_scan1 {{.*}}, per_sample, tile_rows
func.func @chain(%x: !ragged.tensor<[N], i64>) -> !ragged.tensor<[N], i64> {
  %y = ragged.scan ins(%x : !ragged.tensor<[N], i64>) dim 0 init [0 : i64] {
  ^bb0(%a: i64, %sum: i64):
    %0 = arith.addi %sum, %a : i64
    ragged.yield %0, %0 : i64, i64
  } -> !ragged.tensor<[N], i64>
  %z = ragged.scan ins(%y : !ragged.tensor<[N], i64>) dim 0 init [0 : i64] {
  ^bb0(%a: i64, %sum: i64):
    %0 = arith.addi %sum, %a : i64
    ragged.yield %0, %0 : i64, i64
  } -> !ragged.tensor<[N], i64>
  return %z : !ragged.tensor<[N], i64>
}

// -----

// Instances of a path of two components are not samples.
// CHECK-LABEL: ragged.schedule @sentences
// CHECK: ragged.launch @sentences_scan0
// CHECK-NOT: per_sample
func.func @sentences(%x: !ragged.tensor<[T], i64, path = [B, S]>) -> !ragged.tensor<[T], i64, path = [B, S]> {
  %y = ragged.scan ins(%x : !ragged.tensor<[T], i64, path = [B, S]>) dim 0 init [0 : i64] {
  ^bb0(%a: i64, %sum: i64):
    %0 = arith.addi %sum, %a : i64
    ragged.yield %0, %0 : i64, i64
  } -> !ragged.tensor<[T], i64, path = [B, S]>
  return %y : !ragged.tensor<[T], i64, path = [B, S]>
}

// -----

// The same rows cut otherwise: a sample of the second scan may have rows of several of the first.
// CHECK-LABEL: ragged.schedule @cut
// CHECK: ragged.launch @cut_scan0 {{.*}}, per_sample, tile_rows
// CHECK: ragged.launch @cut_scan1
// CHECK-NOT: per_sample
func.func @cut(%x: !ragged.tensor<[N], i64>, %p: !ragged.partition<[M]>) -> !ragged.tensor<[M], i64> {
  %y = ragged.scan ins(%x : !ragged.tensor<[N], i64>) dim 0 init [0 : i64] {
  ^bb0(%a: i64, %sum: i64):
    %0 = arith.addi %sum, %a : i64
    ragged.yield %0, %0 : i64, i64
  } -> !ragged.tensor<[N], i64>
  %v = ragged.values %y : !ragged.tensor<[N], i64> -> tensor<?xi64>
  %q = ragged.pack %v, %p : tensor<?xi64>, !ragged.partition<[M]> -> !ragged.tensor<[M], i64>
  %z = ragged.scan ins(%q : !ragged.tensor<[M], i64>) dim 0 init [0 : i64] {
  ^bb0(%a: i64, %sum: i64):
    %0 = arith.addi %sum, %a : i64
    ragged.yield %0, %0 : i64, i64
  } -> !ragged.tensor<[M], i64>
  return %z : !ragged.tensor<[M], i64>
}

// -----

// A batch in another order is still over the same path: its samples read those of any window.
// CHECK-LABEL: ragged.schedule @places
// CHECK: ragged.launch @places_scan0 {{.*}}, per_sample, tile_rows
// CHECK: ragged.launch @places_select_batch1_which
// CHECK-NOT: per_sample
func.func @places(%x: !ragged.tensor<[N], i64>, %i: !ragged.tensor<[], i64>) -> !ragged.tensor<[M], i64> {
  %y = ragged.scan ins(%x : !ragged.tensor<[N], i64>) dim 0 init [0 : i64] {
  ^bb0(%a: i64, %sum: i64):
    %0 = arith.addi %sum, %a : i64
    ragged.yield %0, %0 : i64, i64
  } -> !ragged.tensor<[N], i64>
  %z = ragged.select_batch %i of %y renames [N] to [M] : !ragged.tensor<[], i64>, !ragged.tensor<[N], i64> -> !ragged.tensor<[M], i64>
  return %z : !ragged.tensor<[M], i64>
}
