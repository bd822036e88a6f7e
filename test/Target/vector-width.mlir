// Vectors are as wide as the target's registers, fused where it can.
// RUN: nested-compile %s --emit=object -o %t.v4.o --target=cpu:x86-64-v4 && llvm-objdump -d %t.v4.o | FileCheck %s --check-prefix=V4
// RUN: nested-compile %s --emit=object -o %t.v3.o --target=cpu:x86-64-v3 && llvm-objdump -d %t.v3.o | FileCheck %s --check-prefix=V3
// RUN: nested-compile %s --emit=object -o %t.v1.o --target=cpu:x86-64 && llvm-objdump -d %t.v1.o | FileCheck %s --check-prefix=V1
// RUN: nested-compile %s --emit=object -o %t.arm.o --target=cpu:aarch64 && llvm-objdump -d %t.arm.o | FileCheck %s --check-prefix=ARM

// V4: vfmadd{{.*}}%zmm
// V3: vfmadd{{.*}}%ymm
// V3-NOT: %zmm
// V1: mulps
// V1: addps
// ARM: fmla

module attributes {ragged.phase = "loops"} {
  func.func @k(%x: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%begin, %c0] : memref<?x16xf32>, vector<16xf32>
    %r = vector.fma %v, %v, %v : vector<16xf32>
    vector.store %r, %x[%begin, %c0] : memref<?x16xf32>, vector<16xf32>
    return
  }
}
