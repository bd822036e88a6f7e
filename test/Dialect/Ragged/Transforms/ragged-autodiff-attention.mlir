// RUN: nested-opt %s --ragged-autodiff --split-input-file | FileCheck %s

// The forward gives its normalizer, too, and its gradients are one op: no scores.
// CHECK-LABEL: func.func @itself(
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, 2, 8], f32>, %[[S:.*]]: !ragged.tensor
// CHECK-NEXT: %[[O:.*]], %[[N:.*]] = ragged.attention %[[X]], %[[X]], %[[X]] {right = 0 : i64}
// CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = ragged.attention_gradient %[[X]], %[[X]], %[[X]] seed %[[S]] result %[[O]], %[[N]] {right = 0 : i64}
// CHECK-NOT: ragged.contract
// CHECK-COUNT-2: ragged.map
// CHECK: return %[[O]], %
func.func @itself(%x: !ragged.tensor<[N, 2, 8], f32>, %s: !ragged.tensor<[N, 2, 8], f32>)
    -> (!ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>) {
  %o = ragged.attention %x, %x, %x {right = 0 : i64} : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
      -> !ragged.tensor<[N, 2, 8], f32>
  %0 = ragged.gradient of(%o : !ragged.tensor<[N, 2, 8], f32>) seeds(%s : !ragged.tensor<[N, 2, 8], f32>)
      wrt(%x : !ragged.tensor<[N, 2, 8], f32>) -> !ragged.tensor<[N, 2, 8], f32>
  return %o, %0 : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
}

// -----

// What samples share gets a sum over the batch, in f32; a bias whose gradient nobody asks for has none.
// CHECK-LABEL: func.func @shared(
// CHECK: %{{.*}}, %{{.*}}, %[[DV:.*]] = ragged.attention_gradient %{{.*}}, %{{.*}}, %{{.*}} bias
// CHECK-SAME: -> !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[5, 2, 8], f32>, !ragged.tensor<[5, 2, 4], f32>{{$}}
// CHECK: %[[SUM:.*]] = ragged.reduce sum %[[DV]] dims [] batch : !ragged.tensor<[5, 2, 4], f32> -> tensor<5x2x4xf32>
// CHECK: %[[NARROW:.*]] = ragged.map ins(%[[SUM]]
// CHECK: arith.truncf
// CHECK: return %[[NARROW]]
func.func @shared(%q: !ragged.tensor<[N, 2, 8], bf16>, %b: !ragged.tensor<[N, 5], bf16>, %k: tensor<5x2x8xbf16>, %v: tensor<5x2x4xbf16>,
    %s: !ragged.tensor<[N, 2, 4], bf16>) -> tensor<5x2x4xbf16> {
  %o = ragged.attention %q, %k, %v bias %b : !ragged.tensor<[N, 2, 8], bf16>, tensor<5x2x8xbf16>, tensor<5x2x4xbf16> bias !ragged.tensor<[N, 5], bf16>
      -> !ragged.tensor<[N, 2, 4], bf16>
  %0 = ragged.gradient of(%o : !ragged.tensor<[N, 2, 4], bf16>) seeds(%s : !ragged.tensor<[N, 2, 4], bf16>)
      wrt(%v : tensor<5x2x4xbf16>) -> tensor<5x2x4xbf16>
  return %0 : tensor<5x2x4xbf16>
}

// -----

// A bias that all rows of a sample share: its gradient is added up by the op, not in memory.
// CHECK-LABEL: func.func @bias_of_rows(
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[DB:.*]] = ragged.attention_gradient
// CHECK-SAME: , !ragged.tensor<[N, N, 2], f64>{{$}}
// CHECK-NOT: ragged.reduce
// CHECK: %[[NARROW:.*]] = ragged.map ins(%[[DB]]
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: return %[[NARROW]]
func.func @bias_of_rows(%x: !ragged.tensor<[N, N, 2, 8], f32>, %b: !ragged.tensor<[N, N, 2], f32>, %s: !ragged.tensor<[N, N, 2, 8], f32>)
    -> !ragged.tensor<[N, N, 2], f32> {
  %r = ragged.renest %x : !ragged.tensor<[N, N, 2, 8], f32> -> !ragged.tensor<[N, 2, 8], f32, path = [B, N]>
  %o = ragged.attention %r, %r, %r bias %b : !ragged.tensor<[N, 2, 8], f32, path = [B, N]>, !ragged.tensor<[N, 2, 8], f32, path = [B, N]>,
      !ragged.tensor<[N, 2, 8], f32, path = [B, N]> bias !ragged.tensor<[N, N, 2], f32> -> !ragged.tensor<[N, 2, 8], f32, path = [B, N]>
  %u = ragged.unnest %o : !ragged.tensor<[N, 2, 8], f32, path = [B, N]> -> !ragged.tensor<[N, N, 2, 8], f32>
  %0 = ragged.gradient of(%u : !ragged.tensor<[N, N, 2, 8], f32>) seeds(%s : !ragged.tensor<[N, N, 2, 8], f32>)
      wrt(%b : !ragged.tensor<[N, N, 2], f32>) -> !ragged.tensor<[N, N, 2], f32>
  return %0 : !ragged.tensor<[N, N, 2], f32>
}

// -----

// One that samples share as well: the op adds up over the rows, a reduction over the batch.
// CHECK-LABEL: func.func @bias_of_all(
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[DB:.*]] = ragged.attention_gradient
// CHECK-SAME: , !ragged.tensor<[5, 5], f64>{{$}}
// CHECK: %[[SUM:.*]] = ragged.reduce sum %[[DB]] dims [] batch : !ragged.tensor<[5, 5], f64> -> tensor<5x5xf64>
// CHECK: ragged.map ins(%[[SUM]]
func.func @bias_of_all(%x: !ragged.tensor<[N, 5, 2, 8], f32>, %b: tensor<5x5xf32>, %s: !ragged.tensor<[N, 5, 2, 8], f32>) -> tensor<5x5xf32> {
  %r = ragged.renest %x : !ragged.tensor<[N, 5, 2, 8], f32> -> !ragged.tensor<[5, 2, 8], f32, path = [B, N]>
  %o = ragged.attention %r, %r, %r bias %b : !ragged.tensor<[5, 2, 8], f32, path = [B, N]>, !ragged.tensor<[5, 2, 8], f32, path = [B, N]>,
      !ragged.tensor<[5, 2, 8], f32, path = [B, N]> bias tensor<5x5xf32> -> !ragged.tensor<[5, 2, 8], f32, path = [B, N]>
  %u = ragged.unnest %o : !ragged.tensor<[5, 2, 8], f32, path = [B, N]> -> !ragged.tensor<[N, 5, 2, 8], f32>
  %0 = ragged.gradient of(%u : !ragged.tensor<[N, 5, 2, 8], f32>) seeds(%s : !ragged.tensor<[N, 5, 2, 8], f32>)
      wrt(%b : tensor<5x5xf32>) -> tensor<5x5xf32>
  return %0 : tensor<5x5xf32>
}

// -----

// Second derivatives are those of products and a softmax.
// CHECK-LABEL: func.func @twice(
// CHECK: ragged.contract "ngrd,mgd->nmgr"
// CHECK: ragged.softmax
// CHECK: return
func.func @twice(%q: !ragged.tensor<[N, 1, 2], f32>, %k: !ragged.tensor<[M, 1, 2], f32>) -> !ragged.tensor<[N, 1, 2], f32> {
  %o = ragged.attention %q, %k, %k : !ragged.tensor<[N, 1, 2], f32>, !ragged.tensor<[M, 1, 2], f32>, !ragged.tensor<[M, 1, 2], f32>
      -> !ragged.tensor<[N, 1, 2], f32>
  %0 = ragged.gradient of(%o : !ragged.tensor<[N, 1, 2], f32>) seeds(%q : !ragged.tensor<[N, 1, 2], f32>)
      wrt(%q : !ragged.tensor<[N, 1, 2], f32>) -> !ragged.tensor<[N, 1, 2], f32>
  %1 = ragged.gradient of(%0 : !ragged.tensor<[N, 1, 2], f32>) seeds(%q : !ragged.tensor<[N, 1, 2], f32>)
      wrt(%q : !ragged.tensor<[N, 1, 2], f32>) -> !ragged.tensor<[N, 1, 2], f32>
  return %1 : !ragged.tensor<[N, 1, 2], f32>
}

// -----

// Without heads there is nothing to differentiate.
// CHECK-LABEL: func.func @no_heads(
// CHECK-NOT: ragged.attention
// CHECK: ragged.fill 0.0
func.func @no_heads(%q: !ragged.tensor<[N, 0, 2], f32>, %b: !ragged.tensor<[N, N], f32>) -> !ragged.tensor<[N, N], f32> {
  %o = ragged.attention %q, %q, %q bias %b : !ragged.tensor<[N, 0, 2], f32>, !ragged.tensor<[N, 0, 2], f32>, !ragged.tensor<[N, 0, 2], f32>
      bias !ragged.tensor<[N, N], f32> -> !ragged.tensor<[N, 0, 2], f32>
  %0 = ragged.gradient of(%o : !ragged.tensor<[N, 0, 2], f32>) seeds(%q : !ragged.tensor<[N, 0, 2], f32>)
      wrt(%b : !ragged.tensor<[N, N], f32>) -> !ragged.tensor<[N, N], f32>
  return %0 : !ragged.tensor<[N, N], f32>
}
