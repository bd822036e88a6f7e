// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: func.func @partitions
func.func @partitions(%x: !ragged.tensor<[N, N, 128], f32>, %n: tensor<?xi64>,
                      %m: tensor<?xi64>) {
  // CHECK: ragged.partition %{{.*}} : !ragged.tensor<[N, N, 128], f32> -> !ragged.partition<[N, N]>
  %p = ragged.partition %x : !ragged.tensor<[N, N, 128], f32> -> !ragged.partition<[N, N]>
  // CHECK: ragged.partition %{{.*}}, %{{.*}} : tensor<?xi64>, tensor<?xi64> -> !ragged.partition<[K, K * L]>
  %q = ragged.partition %n, %m : tensor<?xi64>, tensor<?xi64> -> !ragged.partition<[K, K * L]>
  // CHECK: ragged.lengths %{{.*}} dim 1 : !ragged.partition<[N, N]> -> tensor<?xi64>
  %0 = ragged.lengths %p dim 1 : !ragged.partition<[N, N]> -> tensor<?xi64>
  // CHECK: ragged.offsets %{{.*}} : !ragged.partition<[N, N]> -> tensor<?xi64>
  %1 = ragged.offsets %p : !ragged.partition<[N, N]> -> tensor<?xi64>
  // CHECK: ragged.row_splits %{{.*}} level 1 : !ragged.partition<[N, N]> -> tensor<?xi64>
  %2 = ragged.row_splits %p level 1 : !ragged.partition<[N, N]> -> tensor<?xi64>
  // CHECK: ragged.total %{{.*}} : !ragged.partition<[N, N]> -> tensor<i64>
  %3 = ragged.total %p : !ragged.partition<[N, N]> -> tensor<i64>
  // CHECK: ragged.extent <N * N> : !ragged.tensor<[], i64>
  %4 = ragged.extent <N * N> : !ragged.tensor<[], i64>
  return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%rows: tensor<?xi64>, %p: !ragged.partition<[N, N]>) {
  // CHECK: %[[C:.*]]:3 = ragged.locate %{{.*}} in %{{.*}} : tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
  %i, %a, %b = ragged.locate %rows in %p
      : tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
  // CHECK: ragged.linearize %[[C]]#0, %[[C]]#1, %[[C]]#2 in %{{.*}} : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>
  %r = ragged.linearize %i, %a, %b in %p
      : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>
  return
}

// CHECK-LABEL: func.func @values
func.func @values(%x: !ragged.tensor<[3, N, 8], f32>, %n: tensor<?xi64>, %p: !ragged.partition<[N]>) {
  // CHECK: ragged.values %{{.*}} : !ragged.tensor<[3, N, 8], f32> -> tensor<?x3x8xf32>
  %v = ragged.values %x : !ragged.tensor<[3, N, 8], f32> -> tensor<?x3x8xf32>
  // CHECK: ragged.pack %{{.*}}, %{{.*}} : tensor<?x3x8xf32>, !ragged.partition<[N]> -> !ragged.tensor<[3, N, 8], f32>
  %y = ragged.pack %v, %p : tensor<?x3x8xf32>, !ragged.partition<[N]> -> !ragged.tensor<[3, N, 8], f32>
  // CHECK: ragged.with_lengths %{{.*}}, %{{.*}} : !ragged.tensor<[3, N, 8], f32>, tensor<?xi64> -> !ragged.tensor<[3, M, 8], f32>
  %z = ragged.with_lengths %y, %n : !ragged.tensor<[3, N, 8], f32>, tensor<?xi64> -> !ragged.tensor<[3, M, 8], f32>
  return
}

// CHECK-LABEL: func.func @cast
func.func @cast(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[M, 8], f32>) {
  // CHECK: ragged.cast %{{.*}} {reason = "x + y"} : !ragged.tensor<[M, 8], f32> to !ragged.tensor<[N, 8], f32>
  %0 = ragged.cast %y {reason = "x + y"} : !ragged.tensor<[M, 8], f32> to !ragged.tensor<[N, 8], f32>
  return
}

func.func private @norm(%x: !ragged.tensor<[K, 8], f32>) -> !ragged.tensor<[K, 8], f32> {
  return %x : !ragged.tensor<[K, 8], f32>
}

// CHECK-LABEL: func.func @call
func.func @call(%x: !ragged.tensor<[N * N, 8], f32>, %n: !ragged.tensor<[N], i64>) {
  // CHECK: ragged.call @norm(%{{.*}}) with {K = #ragged.extent<N * N>} : (!ragged.tensor<[N * N, 8], f32>) -> !ragged.tensor<[N * N, 8], f32>
  %0 = ragged.call @norm(%x) with {K = #ragged.extent<N * N>}
      : (!ragged.tensor<[N * N, 8], f32>) -> !ragged.tensor<[N * N, 8], f32>
  return
}

// CHECK-LABEL: func.func @instance
func.func @instance(%x: !ragged.tensor<[T], f32, path = [B, S]>) {
  // CHECK: ragged.instance : !ragged.tensor<[], i64>
  %i = ragged.instance : !ragged.tensor<[], i64>
  // CHECK: ragged.instance : !ragged.tensor<[], i64, path = [B, S]>
  %j = ragged.instance : !ragged.tensor<[], i64, path = [B, S]>
  return
}
