// RUN: nested-opt %s --ragged-to-cpu --split-input-file | FileCheck %s

// A program that packs its own values, from lengths to machine code's dialect.
// CHECK-LABEL: llvm.func internal @double_k0.body(
// CHECK: llvm.fadd %{{.*}} : vector<16xf32>
// CHECK-LABEL: llvm.func @double_k0(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr)
// CHECK-LABEL: ragged.schedule @double
// CHECK: ragged.launch @double_k0
func.func @double(%p: !ragged.partition<[N, N]>, %v: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %x = ragged.pack %v, %p : tensor<?x16xf32>, !ragged.partition<[N, N]> -> !ragged.tensor<[N, N, 16], f32>
  %y = ragged.map ins(%x : !ragged.tensor<[N, N, 16], f32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    ragged.yield %b : f32
  } -> !ragged.tensor<[N, N, 16], f32>
  %r = ragged.values %y : !ragged.tensor<[N, N, 16], f32> -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}
