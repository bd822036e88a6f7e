// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels --remarks-filter=ragged-fusion \
// RUN:   --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// Every decision says what was fused, and why not.
// CHECK: [Missed] NewKernel
// CHECK-SAME: nothing before it
// CHECK: [Passed] Finalize
// CHECK-SAME: done where the fold ends
// CHECK: [Missed] NewKernel
// CHECK-SAME: reads what the kernel folds
func.func @centre(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %m = ragged.reduce mean %x dims [0] keepdims : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[1, 8], f32>
  %y = ragged.map ins(%x, %m : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[1, 8], f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}
