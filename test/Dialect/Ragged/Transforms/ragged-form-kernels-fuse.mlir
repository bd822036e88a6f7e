// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels | FileCheck %s --check-prefixes=CHECK,COST
// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels=fuse=never | FileCheck %s --check-prefixes=CHECK,NEVER
// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels=fuse=always | FileCheck %s --check-prefixes=CHECK,ALWAYS
// RUN: not nested-opt %s --ragged-form-kernels=fuse=maybe 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: maybe

// An exponential less its mean over the rows: the second kernel reads what the first one stored, or makes it again.

// CHECK-LABEL: func.func @centre(

// COST: ragged.kernel "centre_k0"
// COST: math.exp
// COST: -> !ragged.tensor<[N, 8], f32>, !ragged.tensor<[8], f32>
// COST: ragged.kernel "centre_k1"
// COST-NOT: math.exp
// COST: return

// NEVER: ragged.kernel "centre_k0"
// NEVER: math.exp
// NEVER: } -> !ragged.tensor<[N, 8], f32>
// NEVER: ragged.kernel "centre_k1"
// NEVER: tile_reduce
// NEVER: ragged.kernel "centre_k2"

// ALWAYS: ragged.kernel "centre_k0"
// ALWAYS: math.exp
// ALWAYS: } -> !ragged.tensor<[8], f32>
// ALWAYS: ragged.kernel "centre_k1"
// ALWAYS: math.exp
// ALWAYS: return
func.func @centre(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %e = ragged.map ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%a: f32):
    %c = math.exp %a : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[N, 8], f32>
  %m = ragged.reduce mean %e dims [0] keepdims : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[1, 8], f32>
  %y = ragged.map ins(%e, %m : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[1, 8], f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}
