// RUN: nested-opt %s --ragged-autodiff --split-input-file | FileCheck %s

// The weights get a sum over all rows of the batch, the input a product with the transposed weights.
// Nothing is left of the forward computation, which no derivative needs.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, 8], f32>, %[[W:.*]]: tensor<8x4xf32>
// CHECK-NOT: ragged.linear
// CHECK: %[[ONE:.*]] = ragged.fill 1.000000e+00 : f32 -> tensor<f32>
// CHECK: %[[G:.*]] = ragged.broadcast %[[ONE]] dims [] : tensor<f32> -> !ragged.tensor<[N, 4], f32>
// CHECK: %[[T:.*]] = ragged.transpose %[[W]] permutation [1, 0]
// CHECK: %[[DX:.*]] = ragged.linear %[[G]], %[[T]]
// CHECK: %[[DW:.*]] = ragged.generic dims [N, 8, 4] iterators ["reduction", "parallel", "parallel"] path [B]
// CHECK-SAME: batch_reduced
// CHECK-SAME: ins(%[[X]], %[[G]]
// CHECK: return %[[DX]], %[[DW]]
func.func @linear(%x: !ragged.tensor<[N, 8], f32>, %w: tensor<8x4xf32>)
    -> (!ragged.tensor<[N, 8], f32>, tensor<8x4xf32>) {
  %y = ragged.linear %x, %w : !ragged.tensor<[N, 8], f32>, tensor<8x4xf32> -> !ragged.tensor<[N, 4], f32>
  %l = ragged.reduce sum %y dims [0, 1] batch : !ragged.tensor<[N, 4], f32> -> tensor<f32>
  %0:2 = ragged.gradient of(%l : tensor<f32>) wrt(%x, %w : !ragged.tensor<[N, 8], f32>, tensor<8x4xf32>)
      -> !ragged.tensor<[N, 8], f32>, tensor<8x4xf32>
  return %0#0, %0#1 : !ragged.tensor<[N, 8], f32>, tensor<8x4xf32>
}

// -----

// Only the path from the variable to the output is differentiated: the other input of the product is
// not active, and the integers that it depends on too are constant.
// CHECK-LABEL: func.func @activity(
// CHECK-SAME: %[[X:[^:]*]]: !ragged.tensor<[N], f32>
// CHECK: %[[I:.*]] = ragged.map ins(%[[X]]
// CHECK: arith.fptosi
// CHECK: %[[F:.*]] = ragged.map ins(%[[I]]
// CHECK: arith.sitofp
// CHECK: %[[G:.*]] = ragged.broadcast
// CHECK: %[[D:.*]] = ragged.map ins(%[[F]], %[[G]]
// CHECK: arith.mulf
// CHECK-NOT: ragged.map
// CHECK: return %[[D]]
func.func @activity(%x: !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32> {
  %i = ragged.map ins(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32):
    %b = arith.fptosi %a : f32 to i64
    ragged.yield %b : i64
  } -> !ragged.tensor<[N], i64>
  %f = ragged.map ins(%i : !ragged.tensor<[N], i64>) {
  ^bb0(%a: i64):
    %b = arith.sitofp %a : i64 to f32
    ragged.yield %b : f32
  } -> !ragged.tensor<[N], f32>
  %p = ragged.map ins(%x, %f : !ragged.tensor<[N], f32>, !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[N], f32>
  %l = ragged.reduce sum %p dims [0] batch : !ragged.tensor<[N], f32> -> tensor<f32>
  %0 = ragged.gradient of(%l : tensor<f32>) wrt(%x : !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return %0 : !ragged.tensor<[N], f32>
}

// -----

// Uses of a value add up, once each. A use before the variable is another value.
// CHECK-LABEL: func.func @uses(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<4xf32>
// CHECK-NOT: ragged.variable
// CHECK: %[[SUM:.*]] = ragged.map ins(%[[S]], %[[S]]
// CHECK: arith.addf
// CHECK: return %[[SUM]]
func.func @uses(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %v = ragged.variable %x : tensor<4xf32>
  %y = ragged.map ins(%v, %v, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.addf %a, %b : f32
    %e = arith.addf %d, %c : f32
    ragged.yield %e : f32
  } -> tensor<4xf32>
  %0 = ragged.gradient of(%y : tensor<4xf32>) seeds(%s : tensor<4xf32>) wrt(%v : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A variable that no output depends on, or that a stop_gradient hides, has derivative 0.
// CHECK-LABEL: func.func @nothing(
// CHECK: %[[A:.*]] = ragged.fill 0.000000e+00 : f32 -> tensor<4xf32>
// CHECK: %[[B:.*]] = ragged.fill 0.000000e+00 : f32 -> tensor<4xf32>
// CHECK: return %[[A]], %[[B]]
func.func @nothing(%x: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = ragged.stop_gradient %x : tensor<4xf32>
  %0:2 = ragged.gradient of(%c : tensor<4xf32>) seeds(%s : tensor<4xf32>)
      wrt(%x, %s : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The rule of the user, which is wrong on purpose, and not that of the sine.
// CHECK-LABEL: func.func @custom(
// CHECK-SAME: %[[S:[^:]*]]: tensor<4xf32>)
// CHECK-NOT: math.cos
// CHECK-NOT: ragged.custom_gradient
// CHECK: %[[D:.*]] = ragged.map ins(%[[S]], %[[S]]
// CHECK: return %[[D]]
func.func @custom(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %y = ragged.map ins(%x : tensor<4xf32>) {
  ^bb0(%a: f32):
    %b = math.sin %a : f32
    ragged.yield %b : f32
  } -> tensor<4xf32>
  %z = ragged.custom_gradient values(%y : tensor<4xf32>) inputs(%x : tensor<4xf32>) {
  ^bb0(%g: tensor<4xf32>):
    %d = ragged.map ins(%g, %g : tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.mulf %a, %b : f32
      ragged.yield %c : f32
    } -> tensor<4xf32>
    ragged.yield %d : tensor<4xf32>
  } -> tensor<4xf32>
  %0 = ragged.gradient of(%z : tensor<4xf32>) seeds(%s : tensor<4xf32>) wrt(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A request for the derivative of what another one gives.
// CHECK-LABEL: func.func @second(
// CHECK-SAME: %[[X:.*]]: tensor<f32>
// CHECK-NOT: ragged.gradient
// CHECK: math.cos
// CHECK: math.sin
// CHECK: arith.negf
func.func @second(%x: tensor<f32>) -> tensor<f32> {
  %y = ragged.map ins(%x : tensor<f32>) {
  ^bb0(%a: f32):
    %b = math.sin %a : f32
    ragged.yield %b : f32
  } -> tensor<f32>
  %0 = ragged.gradient of(%y : tensor<f32>) wrt(%x : tensor<f32>) -> tensor<f32>
  %1 = ragged.gradient of(%0 : tensor<f32>) wrt(%x : tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// The rows of a table get what was read of them, one after the other, whatever the size of the table.
// CHECK-LABEL: func.func @table(
// CHECK-SAME: %[[I:[^:]*]]: !ragged.tensor<[N, M], i64>, %[[S:[^:]*]]: !ragged.tensor<[N, M, 8], f32>
// CHECK-DAG: %[[ROWS:.*]] = ragged.reshape %[[I]] : !ragged.tensor<[N, M], i64> -> !ragged.tensor<[M * N], i64>
// CHECK-DAG: %[[UPDATES:.*]] = ragged.reshape %[[S]] : {{.*}} -> !ragged.tensor<[M * N, 8], f32>
// CHECK-DAG: %[[ZERO:.*]] = ragged.fill 0.000000e+00 : f32 -> tensor<50000x8xf32>
// CHECK: %[[D:.*]] = ragged.scatter add %[[ZERO]], %[[ROWS]], %[[UPDATES]]
// CHECK: return %[[D]]
func.func @table(%t: tensor<50000x8xf32>, %i: !ragged.tensor<[N, M], i64>, %s: !ragged.tensor<[N, M, 8], f32>) -> tensor<50000x8xf32> {
  %y = ragged.gather %t, %i : tensor<50000x8xf32>, !ragged.tensor<[N, M], i64> -> !ragged.tensor<[N, M, 8], f32>
  %0 = ragged.gradient of(%y : !ragged.tensor<[N, M, 8], f32>) seeds(%s : !ragged.tensor<[N, M, 8], f32>)
      wrt(%t : tensor<50000x8xf32>) -> tensor<50000x8xf32>
  return %0 : tensor<50000x8xf32>
}

// -----

// Sorted indices say where each element went.
// CHECK-LABEL: func.func @sort(
// CHECK: %{{.*}}, %[[I:.*]] = ragged.sort %{{.*}} dim 0 descending
// CHECK: %{{.*}}, %[[P:.*]] = ragged.sort %[[I]] dim 0 :
// CHECK: %[[D:.*]] = ragged.take_along %{{.*}}, %[[P]] dim 0
// CHECK: return %[[D]]
func.func @sort(%x: !ragged.tensor<[N, 8], f32>, %s: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %y, %i = ragged.sort %x dim 0 descending : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], i64>
  %0 = ragged.gradient of(%y : !ragged.tensor<[N, 8], f32>) seeds(%s : !ragged.tensor<[N, 8], f32>)
      wrt(%x : !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32>
  return %0 : !ragged.tensor<[N, 8], f32>
}

// -----

// Steps in one direction, then in the other with what was carried before each of them.
// CHECK-LABEL: func.func @scan(
// CHECK-SAME: %[[X:[^:]*]]: !ragged.tensor<[N], f32>, %[[S:[^:]*]]: !ragged.tensor<[N], f32>
// CHECK: %[[C:.*]] = ragged.scan ins(%[[X]] : {{.*}}) dim 0 init [1.000000e+00]
// CHECK: ragged.yield %{{.*}}, %[[CARRIED:.*]] : f64, f64
// CHECK: } -> !ragged.tensor<[N], f64>
// CHECK: %[[D:.*]] = ragged.scan ins(%[[X]], %[[C]], %[[S]] : {{.*}}) dim 0 reverse init [0.000000e+00]
// CHECK: } -> !ragged.tensor<[N], f32>
// CHECK: return %[[D]]
func.func @scan(%x: !ragged.tensor<[N], f32>, %s: !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32> {
  %y = ragged.scan ins(%x : !ragged.tensor<[N], f32>) dim 0 init [1.0 : f64] {
  ^bb0(%a: f32, %c: f64):
    %b = arith.extf %a : f32 to f64
    %d = arith.mulf %b, %c : f64
    %e = arith.truncf %d : f64 to f32
    ragged.yield %d, %e : f64, f32
  } -> !ragged.tensor<[N], f32>
  %0 = ragged.gradient of(%y : !ragged.tensor<[N], f32>) seeds(%s : !ragged.tensor<[N], f32>)
      wrt(%x : !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return %0 : !ragged.tensor<[N], f32>
}

// -----

// The values of a checkpoint are computed again, once its gradient is there.
// CHECK-LABEL: func.func @checkpoint(
// CHECK-SAME: %[[X:[^:]*]]: !ragged.tensor<[N], f32>, %[[S:[^:]*]]: !ragged.tensor<[N], f32>
// CHECK: %[[E:.*]] = ragged.map ins(%[[X]]
// CHECK: math.exp
// CHECK: %[[Y:.*]] = ragged.map ins(%[[E]]
// CHECK: math.sin
// CHECK: %[[AGAIN:.*]] = ragged.barrier %[[X]] after(%[[S]]
// CHECK: %[[E2:.*]] = ragged.map ins(%[[AGAIN]]
// CHECK: math.exp
// CHECK: ragged.map ins(%[[E2]], %[[S]]
// CHECK: math.cos
// CHECK: return %[[Y]]
func.func @checkpoint(%x: !ragged.tensor<[N], f32>, %s: !ragged.tensor<[N], f32>)
    -> (!ragged.tensor<[N], f32>, !ragged.tensor<[N], f32>) {
  %y = ragged.checkpoint {
    %e = ragged.map ins(%x : !ragged.tensor<[N], f32>) {
    ^bb0(%a: f32):
      %b = math.exp %a : f32
      ragged.yield %b : f32
    } -> !ragged.tensor<[N], f32>
    %t = ragged.map ins(%e : !ragged.tensor<[N], f32>) {
    ^bb0(%a: f32):
      %b = math.sin %a : f32
      ragged.yield %b : f32
    } -> !ragged.tensor<[N], f32>
    ragged.yield %t : !ragged.tensor<[N], f32>
  } -> !ragged.tensor<[N], f32>
  %0 = ragged.gradient of(%y : !ragged.tensor<[N], f32>) seeds(%s : !ragged.tensor<[N], f32>)
      wrt(%x : !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return %y, %0 : !ragged.tensor<[N], f32>, !ragged.tensor<[N], f32>
}

// -----

// The gradient of what groups of an axis became is cut into the same groups, and that of one value a group into
// those; nothing is bound again, and nothing computed.
// CHECK-LABEL: func.func @groups(
// CHECK-SAME: %[[X:[^:]*]]: !ragged.tensor<[N], f32>, %[[N:[^:]*]]: !ragged.tensor<[S], i64>, %[[S:[^:]*]]: !ragged.tensor<[N], f32>, %[[R:[^:]*]]: !ragged.tensor<[S], f32>
// CHECK: ragged.nest %[[X]], %[[N]]
// CHECK: %[[ONE:.*]] = ragged.renest %[[R]] : !ragged.tensor<[S], f32> -> !ragged.tensor<[], f32, path = [B, S]>
// CHECK: %[[EACH:.*]] = ragged.broadcast %[[ONE]] dims [] : {{.*}} -> !ragged.tensor<[T], f32, path = [B, S]>
// CHECK: %[[ALL:.*]] = ragged.renest %[[S]] : !ragged.tensor<[N], f32> -> !ragged.tensor<[T], f32, path = [B, S]>
// CHECK: %[[G:.*]] = ragged.map ins(%{{.*}}, %{{.*}} : !ragged.tensor<[T], f32, path = [B, S]>, !ragged.tensor<[T], f32, path = [B, S]>)
// CHECK: ragged.unnest %{{.*}} : !ragged.tensor<[T], f32, path = [B, S]> -> !ragged.tensor<[N], f32>
// CHECK-NOT: ragged.nest
func.func @groups(%x: !ragged.tensor<[N], f32>, %n: !ragged.tensor<[S], i64>, %s: !ragged.tensor<[N], f32>, %r: !ragged.tensor<[S], f32>)
    -> !ragged.tensor<[N], f32> {
  %y = ragged.nest %x, %n : !ragged.tensor<[N], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T], f32, path = [B, S]>
  %z = ragged.unnest %y : !ragged.tensor<[T], f32, path = [B, S]> -> !ragged.tensor<[N], f32>
  %m = ragged.reduce sum %y dims [0] : !ragged.tensor<[T], f32, path = [B, S]> -> !ragged.tensor<[], f32, path = [B, S]>
  %u = ragged.unnest %m : !ragged.tensor<[], f32, path = [B, S]> -> !ragged.tensor<[S], f32>
  %0 = ragged.gradient of(%z, %u : !ragged.tensor<[N], f32>, !ragged.tensor<[S], f32>)
      seeds(%s, %r : !ragged.tensor<[N], f32>, !ragged.tensor<[S], f32>) wrt(%x : !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return %0 : !ragged.tensor<[N], f32>
}

// -----

// Rows that become members and members that become rows are each other's adjoints; what the members share gets the sum over them.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:[^:]*]]: !ragged.tensor<[N, M, 8], f32>, %[[C:[^:]*]]: !ragged.tensor<[M, 8], f32>, %[[G:[^:]*]]: !ragged.tensor<[N, M, 8], f32>
// CHECK-DAG: %[[CUT:.*]] = ragged.renest %[[X]]
// CHECK-DAG: %[[SEED:.*]] = ragged.renest %[[G]] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M, 8], f32, path = [B, N]>
// CHECK-DAG: %[[ROWS:.*]] = ragged.unnest %{{.*}} : !ragged.tensor<[M, 8], f32, path = [B, N]> -> !ragged.tensor<[N, M, 8], f32>
// CHECK-DAG: %[[SUM:.*]] = ragged.reduce sum %{{.*}} dims [] batch : !ragged.tensor<[M, 8], f32, path = [B, N]> -> !ragged.tensor<[M, 8], f32>
// CHECK: return %[[ROWS]], %[[SUM]]
func.func @rows(%x: !ragged.tensor<[N, M, 8], f32>, %c: !ragged.tensor<[M, 8], f32>, %g: !ragged.tensor<[N, M, 8], f32>)
    -> (!ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[M, 8], f32>) {
  %y = ragged.renest %x : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M, 8], f32, path = [B, N]>
  %e = ragged.broadcast %c dims [0, 1] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[M, 8], f32, path = [B, N]>
  %p = ragged.map ins(%y, %e : !ragged.tensor<[M, 8], f32, path = [B, N]>, !ragged.tensor<[M, 8], f32, path = [B, N]>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    ragged.yield %m : f32
  } -> !ragged.tensor<[M, 8], f32, path = [B, N]>
  %u = ragged.unnest %p : !ragged.tensor<[M, 8], f32, path = [B, N]> -> !ragged.tensor<[N, M, 8], f32>
  %0:2 = ragged.gradient of(%u : !ragged.tensor<[N, M, 8], f32>) seeds(%g : !ragged.tensor<[N, M, 8], f32>)
      wrt(%x, %c : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[M, 8], f32>) -> !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[M, 8], f32>
  return %0#0, %0#1 : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[M, 8], f32>
}
