// A product and a sum are fused only where the program allows it.
// RUN: nested-compile %s --emit=object -o %t.o --target=cpu:x86-64-v3
// RUN: llvm-objdump -d --no-show-raw-insn %t.o | FileCheck %s

module attributes {ragged.phase = "loops"} {
  // CHECK-LABEL: <fused.body>:
  // CHECK: vfmadd
  func.func @fused(%x: memref<?xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %v = memref.load %x[%begin] : memref<?xf32>
    %p = arith.mulf %v, %v fastmath<contract> : f32
    %s = arith.addf %p, %v fastmath<contract> : f32
    memref.store %s, %x[%begin] : memref<?xf32>
    return
  }
  // CHECK-LABEL: <plain.body>:
  // CHECK-NOT: vfmadd
  // CHECK: vmulss
  // CHECK: vaddss
  func.func @plain(%x: memref<?xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %v = memref.load %x[%begin] : memref<?xf32>
    %p = arith.mulf %v, %v : f32
    %s = arith.addf %p, %v : f32
    memref.store %s, %x[%begin] : memref<?xf32>
    return
  }
}
