// RUN: nested-opt %s --ragged-generalize --split-input-file --verify-diagnostics | FileCheck %s

// Within each member from the neutral element, then over the members from the init.
// CHECK-LABEL: func.func @members(
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[T, 8], f32, path = [B, S]>, %[[INIT:.*]]: !ragged.tensor<[8], f32>
// CHECK: %[[NEUTRAL:.*]] = ragged.fill 0xFF800000 : f32 -> !ragged.tensor<[8], f32, path = [B, S]>
// CHECK: %[[EACH:.*]] = ragged.generic dims [T, 8] iterators ["reduction", "parallel"] path [B, S]
// CHECK-NOT: batch_reduced
// CHECK-SAME: ins(%[[X]] : {{.*}}) outs(%[[NEUTRAL]] : {{.*}}) {
// CHECK: math.absf
// CHECK: arith.maximumf
// CHECK: %[[FLAT:.*]] = ragged.unnest %[[EACH]]
// CHECK: ragged.generic dims [S, 8] iterators ["reduction", "parallel"] path [B]
// CHECK-SAME: ins(%[[FLAT]] : {{.*}}) outs(%[[INIT]] : {{.*}}) {
// CHECK-NOT: math.absf
// CHECK: arith.maximumf
func.func @members(%x: !ragged.tensor<[T, 8], f32, path = [B, S]>, %i: !ragged.tensor<[8], f32>) -> !ragged.tensor<[8], f32> {
  %y = ragged.generic dims [T, 8] iterators ["reduction", "parallel"] path [B, S]
      maps [affine_map<(a, c) -> (a, c)>, affine_map<(a, c) -> (c)>] batch_reduced
      ins(%x : !ragged.tensor<[T, 8], f32, path = [B, S]>) outs(%i : !ragged.tensor<[8], f32>) {
  ^bb0(%a: f32, %s: f32):
    %p = math.absf %a : f32
    %q = arith.maximumf %p, %s : f32
    ragged.yield %q : f32
  } -> !ragged.tensor<[8], f32>
  return %y : !ragged.tensor<[8], f32>
}

// -----

// Without dims to reduce, what is combined is computed for each member.
// CHECK-LABEL: func.func @no_dims(
// CHECK: %[[EACH:.*]] = ragged.generic dims [N] iterators ["parallel"] path [B, S]
// CHECK: %[[P:.*]] = arith.mulf
// CHECK-NEXT: ragged.yield %[[P]]
// CHECK: %[[FLAT:.*]] = ragged.unnest %[[EACH]]
// CHECK: ragged.generic dims [S, N] iterators ["reduction", "parallel"] path [B]
// CHECK-SAME: ins(%[[FLAT]]
// CHECK: arith.addf
func.func @no_dims(%n: !ragged.tensor<[N], f32>, %x: !ragged.tensor<[N], f32, path = [B, S]>) -> !ragged.tensor<[N], f32> {
  %z = ragged.fill 0.0 : f32 -> !ragged.tensor<[N], f32>
  %y = ragged.generic dims [N] iterators ["parallel"] path [B, S]
      maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>] batch_reduced
      ins(%n, %x : !ragged.tensor<[N], f32>, !ragged.tensor<[N], f32, path = [B, S]>) outs(%z : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32
  } -> !ragged.tensor<[N], f32>
  return %y : !ragged.tensor<[N], f32>
}

// -----

// Each output is a generic that reads what it needs.
// CHECK-LABEL: func.func @outputs(
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N], f32>, %[[Y:.*]]: !ragged.tensor<[N], i64>
// CHECK: %[[SUM:.*]] = ragged.generic
// CHECK-SAME: ins(%[[X]] : !ragged.tensor<[N], f32>)
// CHECK: arith.addf
// CHECK-NOT: arith.minsi
// CHECK: %[[LEAST:.*]] = ragged.generic
// CHECK-SAME: ins(%[[Y]] : !ragged.tensor<[N], i64>)
// CHECK-NOT: arith.addf
// CHECK: arith.minsi
// CHECK: return %[[SUM]], %[[LEAST]]
func.func @outputs(%x: !ragged.tensor<[N], f32>, %y: !ragged.tensor<[N], i64>) -> (!ragged.tensor<[], f32>, !ragged.tensor<[], i64>) {
  %z = ragged.fill 0.0 : f32 -> !ragged.tensor<[], f32>
  %m = ragged.fill 9 : i64 -> !ragged.tensor<[], i64>
  %s, %l = ragged.generic dims [N] iterators ["reduction"] path [B]
      maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> ()>, affine_map<(a) -> ()>]
      ins(%x, %y : !ragged.tensor<[N], f32>, !ragged.tensor<[N], i64>) outs(%z, %m : !ragged.tensor<[], f32>, !ragged.tensor<[], i64>) {
  ^bb0(%a: f32, %b: i64, %t: f32, %u: i64):
    %q = arith.addf %t, %a : f32
    %r = arith.minsi %u, %b : i64
    ragged.yield %q, %r : f32, i64
  } -> !ragged.tensor<[], f32>, !ragged.tensor<[], i64>
  return %s, %l : !ragged.tensor<[], f32>, !ragged.tensor<[], i64>
}
