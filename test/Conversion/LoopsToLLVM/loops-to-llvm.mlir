// RUN: nested-opt %s --loops-to-llvm | FileCheck %s

// CHECK: module attributes {ragged.phase = "llvm"}
module attributes {ragged.phase = "loops"} {
  // CHECK: llvm.mlir.global private constant @ones
  memref.global "private" constant @ones : memref<16xf32> = dense<1.0>

  // No stack memory, no calls.
  // CHECK: llvm.func internal @add_one.body
  // CHECK-NOT: llvm.alloca
  // CHECK-NOT: llvm.call
  // CHECK: llvm.fadd {{.*}} : vector<16xf32>
  // CHECK: llvm.func @add_one(
  func.func @add_one(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : f32
    %ones = memref.get_global @ones : memref<16xf32>
    %one = vector.load %ones[%c0] : memref<16xf32>, vector<16xf32>
    scf.for %i = %begin to %end step %c1 {
      %v = vector.transfer_read %x[%i, %c0], %pad {in_bounds = [true]} : memref<?x16xf32>, vector<16xf32>
      %r = arith.addf %v, %one : vector<16xf32>
      vector.transfer_write %r, %y[%i, %c0] {in_bounds = [true]} : vector<16xf32>, memref<?x16xf32>
    }
    return
  }
}
