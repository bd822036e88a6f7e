// The program of docs/generated/Walkthrough.md: one op of each kind, through all phases.
// RUN: nested-compile %s --emit=generic | FileCheck %s --check-prefix=GENERIC
// RUN: nested-compile %s --emit=kernels | FileCheck %s --check-prefix=KERNELS
// RUN: nested-compile %s --emit=structure | FileCheck %s --check-prefix=STRUCTURE
// RUN: nested-compile %s --emit=loops | FileCheck %s --check-prefix=LOOPS

// GENERIC: ragged.generic dims [N, M, 16]
// KERNELS: ragged.kernel "pair_mean_k0" space [N, M] path [B] groups 1
// STRUCTURE: func.func @pair_mean_k0(
// STRUCTURE: ragged.schedule @pair_mean
// LOOPS: vector.store
func.func @pair_mean(%u: !ragged.tensor<[N, 16], f32>, %v: !ragged.tensor<[M, 16], f32>) -> !ragged.tensor<[N, 16], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 16], f32> -> !ragged.tensor<[N, M, 16], f32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 16], f32> -> !ragged.tensor<[N, M, 16], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 16], f32>, !ragged.tensor<[N, M, 16], f32>) {
  ^bb0(%x: f32, %y: f32):
    %m = arith.mulf %x, %y : f32
    ragged.yield %m : f32
  } -> !ragged.tensor<[N, M, 16], f32>
  %s = ragged.reduce mean %p dims [1] : !ragged.tensor<[N, M, 16], f32> -> !ragged.tensor<[N, 16], f32>
  return %s : !ragged.tensor<[N, 16], f32>
}
