// RUN: nested-opt %s --ragged-kernels-to-structure --split-input-file --verify-diagnostics

// The region runs on vectors of columns.
func.func @region(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  // expected-error @below {{does not support 'scf.if' in its region; expected elementwise ops on values of the region}}
  %y = ragged.scan ins(%x : !ragged.tensor<[N, 8], f32>) dim 0 init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.cmpf ogt, %a, %sum : f32
    %1 = scf.if %0 -> (f32) {
      scf.yield %a : f32
    } else {
      scf.yield %sum : f32
    }
    ragged.yield %1, %1 : f32, f32
  } -> !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}
