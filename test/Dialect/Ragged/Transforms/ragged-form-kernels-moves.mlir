// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels | FileCheck %s

// The rows of the second bias are repeated where they are needed: the first kernel stores nothing for the second but its mean.
// CHECK-LABEL: func.func @bias(
// CHECK: ragged.kernel "bias_k0" space [N]
// CHECK: } -> !ragged.tensor<[4], f32>{{$}}
// CHECK: ragged.kernel "bias_k1" space [N] {{.*}} ins({{.*}}tensor<8xf32>
// CHECK: } -> !ragged.tensor<[N, 8], f32>{{$}}
func.func @bias(%x: !ragged.tensor<[N, 4], f32>, %w: tensor<4x4xf32>, %b: tensor<4xf32>, %v: tensor<4x8xf32>, %c: tensor<8xf32>)
    -> !ragged.tensor<[N, 8], f32> {
  %y = ragged.linear %x, %w bias %b : !ragged.tensor<[N, 4], f32>, tensor<4x4xf32>, tensor<4xf32> -> !ragged.tensor<[N, 4], f32>
  %e = ragged.map ins(%y : !ragged.tensor<[N, 4], f32>) {
  ^bb0(%u: f32):
    %s = math.exp %u : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 4], f32>
  %m = ragged.reduce mean %e dims [0] : !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[4], f32>
  %r = ragged.broadcast %m dims [1] : !ragged.tensor<[4], f32> -> !ragged.tensor<[N, 4], f32>
  %p = ragged.map ins(%x, %r : !ragged.tensor<[N, 4], f32>, !ragged.tensor<[N, 4], f32>) {
  ^bb0(%u: f32, %t: f32):
    %s = arith.mulf %u, %t : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 4], f32>
  %z = ragged.linear %p, %v bias %c : !ragged.tensor<[N, 4], f32>, tensor<4x8xf32>, tensor<8xf32> -> !ragged.tensor<[N, 8], f32>
  return %z : !ragged.tensor<[N, 8], f32>
}

// Attention reads rows that have other dims as they are.
// CHECK-LABEL: func.func @heads(
// CHECK-NOT: ragged.kernel
// CHECK: ragged.attention
func.func @heads(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 2, 4], f32> {
  %h = ragged.reshape %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 2, 4], f32>
  %y = ragged.attention %h, %h, %h : !ragged.tensor<[N, 2, 4], f32>, !ragged.tensor<[N, 2, 4], f32>, !ragged.tensor<[N, 2, 4], f32> -> !ragged.tensor<[N, 2, 4], f32>
  return %y : !ragged.tensor<[N, 2, 4], f32>
}

// So it does where they are rows of members of their own.
// CHECK-LABEL: func.func @heads_of_rows(
// CHECK-NOT: ragged.kernel
// CHECK: ragged.attention
// CHECK-NOT: ragged.kernel
// CHECK: return
func.func @heads_of_rows(%x: !ragged.tensor<[N, N, 8], f32>) -> !ragged.tensor<[N, N, 2, 4], f32> {
  %h = ragged.reshape %x : !ragged.tensor<[N, N, 8], f32> -> !ragged.tensor<[N, N, 2, 4], f32>
  %r = ragged.renest %h : !ragged.tensor<[N, N, 2, 4], f32> -> !ragged.tensor<[N, 2, 4], f32, path = [B, N]>
  %y = ragged.attention %r, %r, %r : !ragged.tensor<[N, 2, 4], f32, path = [B, N]>, !ragged.tensor<[N, 2, 4], f32, path = [B, N]>, !ragged.tensor<[N, 2, 4], f32, path = [B, N]> -> !ragged.tensor<[N, 2, 4], f32, path = [B, N]>
  %u = ragged.unnest %y : !ragged.tensor<[N, 2, 4], f32, path = [B, N]> -> !ragged.tensor<[N, N, 2, 4], f32>
  return %u : !ragged.tensor<[N, N, 2, 4], f32>
}

// Others have to have them as their own: what is returned, or sorted, is moved, members or not.
// CHECK-LABEL: func.func @reshaped_members(
// CHECK: %[[R:.*]] = ragged.renest
// CHECK: %[[K:.*]] = ragged.kernel "reshaped_members_k0" {{.*}} ins(%[[R]]
// CHECK: return %[[K]]
func.func @reshaped_members(%x: !ragged.tensor<[N, N, 8], f32>) -> !ragged.tensor<[N, 2, 4], f32, path = [B, N]> {
  %h = ragged.reshape %x : !ragged.tensor<[N, N, 8], f32> -> !ragged.tensor<[N, N, 2, 4], f32>
  %r = ragged.renest %h : !ragged.tensor<[N, N, 2, 4], f32> -> !ragged.tensor<[N, 2, 4], f32, path = [B, N]>
  return %r : !ragged.tensor<[N, 2, 4], f32, path = [B, N]>
}
