// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: func.func @transpose
func.func @transpose(%p: !ragged.tensor<[N, M, 8], f32>) {
  // CHECK: ragged.transpose %{{.*}} permutation [1, 0, 2] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M, N, 8], f32>
  %t = ragged.transpose %p permutation [1, 0, 2] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M, N, 8], f32>
  return
}

// CHECK-LABEL: func.func @slice
func.func @slice(%x: !ragged.tensor<[N, 8], f32>) {
  // CHECK: ragged.slice %{{.*}} dim 0 start <1> size <N - 1> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N - 1, 8], f32>
  %y = ragged.slice %x dim 0 start <1> size <N - 1> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N - 1, 8], f32>
  // CHECK: ragged.slice %{{.*}} dim 0 start <N - 1> size <1> drop {reason = "x[-1]"} : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  %z = ragged.slice %x dim 0 start <N - 1> size <1> drop {reason = "x[-1]"} : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  return
}

// CHECK-LABEL: func.func @gather
func.func @gather(%table: tensor<21x384xf32>, %i: !ragged.tensor<[N], i64>) {
  // CHECK: ragged.gather %{{.*}}, %{{.*}} : tensor<21x384xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 384], f32>
  %x = ragged.gather %table, %i : tensor<21x384xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 384], f32>
  return
}

// CHECK-LABEL: func.func @masked_select
func.func @masked_select(%x: !ragged.tensor<[N, 8], f32>, %m: !ragged.tensor<[N], i1>) {
  // CHECK: ragged.masked_select %{{.*}}, %{{.*}} : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K, 8], f32>
  %y = ragged.masked_select %x, %m : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K, 8], f32>
  return
}

// CHECK-LABEL: func.func @nest
func.func @nest(%x: !ragged.tensor<[N, 8], f32>, %n: !ragged.tensor<[S], i64>) {
  // CHECK: ragged.nest %{{.*}}, %{{.*}} : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T, 8], f32, path = [B, S]>
  %y = ragged.nest %x, %n : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[S], i64>
      -> !ragged.tensor<[T, 8], f32, path = [B, S]>
  %z = ragged.reduce sum %y dims [0] : !ragged.tensor<[T, 8], f32, path = [B, S]> -> !ragged.tensor<[8], f32, path = [B, S]>
  // CHECK: ragged.unnest %{{.*}} : !ragged.tensor<[T, 8], f32, path = [B, S]> -> !ragged.tensor<[N, 8], f32>
  %w = ragged.unnest %y : !ragged.tensor<[T, 8], f32, path = [B, S]> -> !ragged.tensor<[N, 8], f32>
  // CHECK: ragged.unnest %{{.*}} : !ragged.tensor<[8], f32, path = [B, S]> -> !ragged.tensor<[S, 8], f32>
  %s = ragged.unnest %z : !ragged.tensor<[8], f32, path = [B, S]> -> !ragged.tensor<[S, 8], f32>
  // CHECK: ragged.unnest %{{.*}} : !ragged.tensor<[3, N, 8], f32, path = [B, S]> -> !ragged.tensor<[S, 3, N, 8], f32>
  %e = ragged.broadcast %z dims [2] : !ragged.tensor<[8], f32, path = [B, S]> -> !ragged.tensor<[3, N, 8], f32, path = [B, S]>
  %r = ragged.unnest %e : !ragged.tensor<[3, N, 8], f32, path = [B, S]> -> !ragged.tensor<[S, 3, N, 8], f32>
  // CHECK: ragged.renest %{{.*}} : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[T, 8], f32, path = [B, S]>
  %v = ragged.renest %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[T, 8], f32, path = [B, S]>
  // CHECK: ragged.renest %{{.*}} : !ragged.tensor<[S, 3, N, 8], f32> -> !ragged.tensor<[3, N, 8], f32, path = [B, S]>
  %q = ragged.renest %r : !ragged.tensor<[S, 3, N, 8], f32> -> !ragged.tensor<[3, N, 8], f32, path = [B, S]>
  return
}

// Rows of a row, a static dim that is stored behind them, a longer path.
// CHECK-LABEL: func.func @rows
func.func @rows(%x: !ragged.tensor<[N, M, 8], f32>, %l: !ragged.tensor<[T, 3, M], f32, path = [B, S]>) {
  // CHECK: ragged.renest %{{.*}} : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M, 8], f32, path = [B, N]>
  %y = ragged.renest %x : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M, 8], f32, path = [B, N]>
  // CHECK: ragged.unnest %{{.*}} : !ragged.tensor<[M, 8], f32, path = [B, N]> -> !ragged.tensor<[N, M, 8], f32>
  %z = ragged.unnest %y : !ragged.tensor<[M, 8], f32, path = [B, N]> -> !ragged.tensor<[N, M, 8], f32>
  // CHECK: ragged.renest %{{.*}} : !ragged.tensor<[T, 3, M], f32, path = [B, S]> -> !ragged.tensor<[3, M], f32, path = [B, S, T]>
  %m = ragged.renest %l : !ragged.tensor<[T, 3, M], f32, path = [B, S]> -> !ragged.tensor<[3, M], f32, path = [B, S, T]>
  return
}

// CHECK-LABEL: func.func @slice_step
func.func @slice_step(%x: !ragged.tensor<[N, 8], f32>) {
  // CHECK: ragged.slice %{{.*}} dim 0 start <N - 1> size <N> step -1 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %y = ragged.slice %x dim 0 start <N - 1> size <N> step -1 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// CHECK-LABEL: func.func @pad
func.func @pad(%x: !ragged.tensor<[N, 8], f32>) {
  // CHECK: ragged.pad %{{.*}} low [1, 0] high [N, 2] value 5.000000e-01 : f32 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[2 * N + 1, 10], f32>
  %y = ragged.pad %x low [1, 0] high [N, 2] value 0.5 : f32 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[2 * N + 1, 10], f32>
  return
}

// CHECK-LABEL: func.func @concat
func.func @concat(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[M, 8], f32>, %d: tensor<2x8xf32>) {
  // CHECK: ragged.concat %{{.*}}, %{{.*}}, %{{.*}} dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], f32>, tensor<2x8xf32> -> !ragged.tensor<[M + N + 2, 8], f32>
  %z = ragged.concat %x, %y, %d dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], f32>, tensor<2x8xf32> -> !ragged.tensor<[N + M + 2, 8], f32>
  return
}

// CHECK-LABEL: func.func @take
func.func @take(%x: !ragged.tensor<[N, 8], f32>, %i: !ragged.tensor<[M], i64>, %j: !ragged.tensor<[M, 8], i32>) {
  // CHECK: ragged.take %{{.*}}, %{{.*}} dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M], i64> -> !ragged.tensor<[M, 8], f32>
  %y = ragged.take %x, %i dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M], i64> -> !ragged.tensor<[M, 8], f32>
  // CHECK: ragged.take_along %{{.*}}, %{{.*}} dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], i32> -> !ragged.tensor<[M, 8], f32>
  %z = ragged.take_along %x, %j dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], i32> -> !ragged.tensor<[M, 8], f32>
  return
}

// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: !ragged.tensor<[N, M, 8], f32>) {
  // CHECK: ragged.reshape %{{.*}} {reason = "x.reshape"} : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M * N, 8], f32>
  %y = ragged.reshape %x {reason = "x.reshape"} : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N * M, 8], f32>
  return
}
