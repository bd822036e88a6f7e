// RUN: nested-opt %s --tensor-to-generic --ragged-form-contractions --remarks-filter=ragged-contraction \
// RUN:   --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// CHECK: [Passed] Kernel
// CHECK-SAME: a product of values of one sample
// CHECK: [Missed] Tile
// CHECK-SAME: rows times weights, part of a tile program
// CHECK: [Passed] Kernel
// CHECK-SAME: summed over chunks of the batch's rows
func.func @products(%q: !ragged.tensor<[N, 64], f32>, %k: !ragged.tensor<[M, 64], f32>, %w: tensor<64x32xf32>)
    -> (!ragged.tensor<[N, M], f32>, !ragged.tensor<[N, 32], f32>, tensor<64x64xf32>) {
  %s = ragged.contract "nc,mc->nm" %q, %k : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[M, 64], f32> -> !ragged.tensor<[N, M], f32>
  %t = ragged.contract "nc,cd->nd" %q, %w : !ragged.tensor<[N, 64], f32>, tensor<64x32xf32> -> !ragged.tensor<[N, 32], f32>
  %g = ragged.contract "nc,nd->cd" %q, %q batch : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 64], f32> -> tensor<64x64xf32>
  return %s, %t, %g : !ragged.tensor<[N, M], f32>, !ragged.tensor<[N, 32], f32>, tensor<64x64xf32>
}

// Members of a sample are summed by themselves first.
// CHECK: [Passed] Kernel
// CHECK-SAME: a product of values of one sample, ", dims="[4, 4, T]"
func.func @nested(%x: !ragged.tensor<[T, 4], f32, path = [B, S]>) -> !ragged.tensor<[4, 4], f32> {
  %z = ragged.fill 0.0 : f32 -> !ragged.tensor<[4, 4], f32>
  %w = ragged.generic dims [4, 4, T] iterators ["parallel", "parallel", "reduction"] path [B, S]
      maps [affine_map<(i, j, n) -> (n, i)>, affine_map<(i, j, n) -> (n, j)>, affine_map<(i, j, n) -> (i, j)>] batch_reduced
      ins(%x, %x : !ragged.tensor<[T, 4], f32, path = [B, S]>, !ragged.tensor<[T, 4], f32, path = [B, S]>)
      outs(%z : !ragged.tensor<[4, 4], f32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32
  } -> !ragged.tensor<[4, 4], f32>
  return %w : !ragged.tensor<[4, 4], f32>
}
