// RUN: nested-opt %s --split-input-file --tensor-to-generic --ragged-form-kernels | FileCheck %s
// RUN: nested-opt %s --split-input-file --tensor-to-generic --ragged-form-kernels --remark-format=emitRemark \
// RUN:   --remarks-filter=ragged-recompute 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// What fits is stored where making it again takes longer than moving it: the gate (%g) and what it multiplies (%h) of a
// transition, and three numbers of a row of the normalisation. The broadcasts, their product, the normalised value (%n) and
// the activation (%t) are cheap, and made again.
// CHECK-LABEL: func.func @large(
// CHECK: } -> !ragged.tensor<[N, N], f32>, !ragged.tensor<[N, N], f32>, !ragged.tensor<[N, N], f32>, !ragged.tensor<[N, N, 256], f32>, !ragged.tensor<[N, N, 256], f32>, !ragged.tensor<[N, 256], f32>{{$}}
// CHECK-NOT: } -> {{.*}}[N, N,
// CHECK: return

// REMARK: [Passed] Recompute
// REMARK: [Missed] Store | Category:ragged-recompute
// REMARK-SAME: bytes at the given lengths=5120000, bytes of a row=1024, bytes of a sample="1024 * N * N", operations of a row=65536
func.func @large(%x: !ragged.tensor<[N, 128], f32>, %gate: tensor<128x256xf32>, %up: tensor<128x256xf32>, %down: tensor<256x128xf32>)
    -> (tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>)
    attributes {ragged.memory_budget = {bytes = 1000000000, lengths = {N = array<i64: 50, 0, 50>}}} {
  %a = ragged.broadcast %x dims [0, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %b = ragged.broadcast %x dims [1, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, N, 128], f32>, !ragged.tensor<[N, N, 128], f32>) {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %v : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 128], f32>
  %n = ragged.normalize layer %p : !ragged.tensor<[N, N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %g = ragged.linear %n, %gate : !ragged.tensor<[N, N, 128], f32>, tensor<128x256xf32> -> !ragged.tensor<[N, N, 256], f32>
  %h = ragged.linear %n, %up : !ragged.tensor<[N, N, 128], f32>, tensor<128x256xf32> -> !ragged.tensor<[N, N, 256], f32>
  %t = ragged.map ins(%g, %h : !ragged.tensor<[N, N, 256], f32>, !ragged.tensor<[N, N, 256], f32>) {
  ^bb0(%u: f32, %v: f32):
    %e = math.tanh %u : f32
    %s = arith.mulf %e, %v : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 256], f32>
  %y = ragged.linear %t, %down : !ragged.tensor<[N, N, 256], f32>, tensor<256x128xf32> -> !ragged.tensor<[N, N, 128], f32>
  %m = ragged.reduce mean %y dims [1] : !ragged.tensor<[N, N, 128], f32> -> !ragged.tensor<[N, 128], f32>
  %q = ragged.map ins(%m : !ragged.tensor<[N, 128], f32>) {
  ^bb0(%u: f32):
    %s = arith.mulf %u, %u : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 128], f32>
  %l = ragged.reduce sum %q dims [0, 1] batch : !ragged.tensor<[N, 128], f32> -> tensor<f32>
  %0:3 = ragged.gradient of(%l : tensor<f32>) wrt(%gate, %up, %down : tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>)
      -> tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>
  return %0#0, %0#1, %0#2 : tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>
}

// -----

// One of the two fits: the other is made again.
// CHECK-LABEL: func.func @one_of_two(
// CHECK: } -> {{.*}}[N, N, 256], f32>, !ragged.tensor<[N, 256], f32>{{$}}
// CHECK-NOT: } -> {{.*}}[N, N, {{.*}}[N, N,
// CHECK: return
func.func @one_of_two(%x: !ragged.tensor<[N, 128], f32>, %gate: tensor<128x256xf32>, %up: tensor<128x256xf32>, %down: tensor<256x128xf32>)
    -> (tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>)
    attributes {ragged.memory_budget = {bytes = 8000000, lengths = {N = array<i64: 50, 0, 50>}}} {
  %a = ragged.broadcast %x dims [0, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %b = ragged.broadcast %x dims [1, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, N, 128], f32>, !ragged.tensor<[N, N, 128], f32>) {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %v : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 128], f32>
  %n = ragged.normalize layer %p : !ragged.tensor<[N, N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %g = ragged.linear %n, %gate : !ragged.tensor<[N, N, 128], f32>, tensor<128x256xf32> -> !ragged.tensor<[N, N, 256], f32>
  %h = ragged.linear %n, %up : !ragged.tensor<[N, N, 128], f32>, tensor<128x256xf32> -> !ragged.tensor<[N, N, 256], f32>
  %t = ragged.map ins(%g, %h : !ragged.tensor<[N, N, 256], f32>, !ragged.tensor<[N, N, 256], f32>) {
  ^bb0(%u: f32, %v: f32):
    %e = math.tanh %u : f32
    %s = arith.mulf %e, %v : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 256], f32>
  %y = ragged.linear %t, %down : !ragged.tensor<[N, N, 256], f32>, tensor<256x128xf32> -> !ragged.tensor<[N, N, 128], f32>
  %m = ragged.reduce mean %y dims [1] : !ragged.tensor<[N, N, 128], f32> -> !ragged.tensor<[N, 128], f32>
  %q = ragged.map ins(%m : !ragged.tensor<[N, 128], f32>) {
  ^bb0(%u: f32):
    %s = arith.mulf %u, %u : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 128], f32>
  %l = ragged.reduce sum %q dims [0, 1] batch : !ragged.tensor<[N, 128], f32> -> tensor<f32>
  %0:3 = ragged.gradient of(%l : tensor<f32>) wrt(%gate, %up, %down : tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>)
      -> tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>
  return %0#0, %0#1, %0#2 : tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>
}

// -----

// Neither fits: nothing of pair size is stored.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: } -> {{.*}}[N, N,
// CHECK: return
func.func @small(%x: !ragged.tensor<[N, 128], f32>, %gate: tensor<128x256xf32>, %up: tensor<128x256xf32>, %down: tensor<256x128xf32>)
    -> (tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>)
    attributes {ragged.memory_budget = {bytes = 400000, lengths = {N = array<i64: 50, 0, 50>}}} {
  %a = ragged.broadcast %x dims [0, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %b = ragged.broadcast %x dims [1, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, N, 128], f32>, !ragged.tensor<[N, N, 128], f32>) {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %v : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 128], f32>
  %n = ragged.normalize layer %p : !ragged.tensor<[N, N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %g = ragged.linear %n, %gate : !ragged.tensor<[N, N, 128], f32>, tensor<128x256xf32> -> !ragged.tensor<[N, N, 256], f32>
  %h = ragged.linear %n, %up : !ragged.tensor<[N, N, 128], f32>, tensor<128x256xf32> -> !ragged.tensor<[N, N, 256], f32>
  %t = ragged.map ins(%g, %h : !ragged.tensor<[N, N, 256], f32>, !ragged.tensor<[N, N, 256], f32>) {
  ^bb0(%u: f32, %v: f32):
    %e = math.tanh %u : f32
    %s = arith.mulf %e, %v : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 256], f32>
  %y = ragged.linear %t, %down : !ragged.tensor<[N, N, 256], f32>, tensor<256x128xf32> -> !ragged.tensor<[N, N, 128], f32>
  %m = ragged.reduce mean %y dims [1] : !ragged.tensor<[N, N, 128], f32> -> !ragged.tensor<[N, 128], f32>
  %q = ragged.map ins(%m : !ragged.tensor<[N, 128], f32>) {
  ^bb0(%u: f32):
    %s = arith.mulf %u, %u : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 128], f32>
  %l = ragged.reduce sum %q dims [0, 1] batch : !ragged.tensor<[N, 128], f32> -> tensor<f32>
  %0:3 = ragged.gradient of(%l : tensor<f32>) wrt(%gate, %up, %down : tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>)
      -> tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>
  return %0#0, %0#1, %0#2 : tensor<128x256xf32>, tensor<128x256xf32>, tensor<256x128xf32>
}
