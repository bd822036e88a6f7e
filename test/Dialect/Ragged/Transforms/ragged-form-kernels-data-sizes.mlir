// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels | FileCheck %s

// What mentions a size from data is in no kernel that runs before the size is bound, though it reads nothing of
// what comes after and its rows are those of an earlier kernel.
// CHECK-LABEL: func.func @extent
// CHECK: %[[SIZE:.*]] = ragged.kernel
// CHECK-NOT: tile_extent %{{.*}} <K>
// CHECK: ragged.bind_size %[[SIZE]] at_most <N>
// CHECK: ragged.kernel
// CHECK: tile_extent %{{.*}} <K>
func.func @extent(%x: !ragged.tensor<[N], f32>, %c: !ragged.tensor<[], i64>) -> (!ragged.tensor<[K], f32>, !ragged.tensor<[], i64>) {
  %e = ragged.extent <N> : !ragged.tensor<[], i64>
  %n = ragged.map ins(%c, %e : !ragged.tensor<[], i64>, !ragged.tensor<[], i64>) {
  ^bb0(%a: i64, %b: i64):
    %m = arith.minsi %a, %b : i64
    ragged.yield %m : i64 } -> !ragged.tensor<[], i64>
  %p = ragged.bind_size %n at_most <N> : !ragged.tensor<[], i64> -> !ragged.partition<[K]>
  %y = ragged.slice %x dim 0 start <0> size <K> : !ragged.tensor<[N], f32> -> !ragged.tensor<[K], f32>
  %k = ragged.extent <K> : !ragged.tensor<[], i64>
  return %y, %k : !ragged.tensor<[K], f32>, !ragged.tensor<[], i64>
}
