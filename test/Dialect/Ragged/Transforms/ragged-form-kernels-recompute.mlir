// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels | FileCheck %s
// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels=flops-per-byte=0 | FileCheck %s --check-prefix=STORE
// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels --remark-format=emitRemark \
// RUN:   --remarks-filter=ragged-recompute 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// A pair transition and its derivatives: broadcast, normalisation, gate and activation of pairs are made again
// by the kernels that need them, also by the one that sums over the leading axis. Nothing of pair size is left.
// CHECK-LABEL: func.func @transition(
// CHECK-NOT: } -> {{.*}}[N, N
// CHECK: } -> tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK-NOT: } -> {{.*}}[N, N
// CHECK: return

// Without recomputation there are the normalised value, the gate, the value that it multiplies, and more.
// STORE-LABEL: func.func @transition(
// STORE: } -> !ragged.tensor<[N, N, 4], f32>, !ragged.tensor<[N, N, 8], f32>, !ragged.tensor<[N, N, 8], f32>

// REMARK: [Passed] Recompute | Category:ragged-recompute
// REMARK-SAME: Remark="computed again where it is read"
// REMARK-SAME: bytes of a row=16, bytes of a sample="16 * N * N", operations of a row=4, space="[N, N]"
func.func @transition(%x: !ragged.tensor<[N, 4], f32>, %gate: tensor<4x8xf32>, %up: tensor<4x8xf32>, %down: tensor<8x4xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x4xf32>, !ragged.tensor<[N, 4], f32>) {
  %a = ragged.broadcast %x dims [0, 2] : !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[N, N, 4], f32>
  %b = ragged.broadcast %x dims [1, 2] : !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[N, N, 4], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, N, 4], f32>, !ragged.tensor<[N, N, 4], f32>) {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %v : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 4], f32>
  %n = ragged.normalize layer %p : !ragged.tensor<[N, N, 4], f32> -> !ragged.tensor<[N, N, 4], f32>
  %g = ragged.linear %n, %gate : !ragged.tensor<[N, N, 4], f32>, tensor<4x8xf32> -> !ragged.tensor<[N, N, 8], f32>
  %h = ragged.linear %n, %up : !ragged.tensor<[N, N, 4], f32>, tensor<4x8xf32> -> !ragged.tensor<[N, N, 8], f32>
  %t = ragged.map ins(%g, %h : !ragged.tensor<[N, N, 8], f32>, !ragged.tensor<[N, N, 8], f32>) {
  ^bb0(%u: f32, %v: f32):
    %e = math.tanh %u : f32
    %s = arith.mulf %e, %v : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 8], f32>
  %y = ragged.linear %t, %down : !ragged.tensor<[N, N, 8], f32>, tensor<8x4xf32> -> !ragged.tensor<[N, N, 4], f32>
  %m = ragged.reduce mean %y dims [1] : !ragged.tensor<[N, N, 4], f32> -> !ragged.tensor<[N, 4], f32>
  %q = ragged.map ins(%m : !ragged.tensor<[N, 4], f32>) {
  ^bb0(%u: f32):
    %s = arith.mulf %u, %u : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 4], f32>
  %l = ragged.reduce sum %q dims [0, 1] batch : !ragged.tensor<[N, 4], f32> -> tensor<f32>
  %0:4 = ragged.gradient of(%l : tensor<f32>)
      wrt(%gate, %up, %down, %x : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x4xf32>, !ragged.tensor<[N, 4], f32>)
      -> tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x4xf32>, !ragged.tensor<[N, 4], f32>
  return %0#0, %0#1, %0#2, %0#3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x4xf32>, !ragged.tensor<[N, 4], f32>
}
