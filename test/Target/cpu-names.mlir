// An artifact for a named processor says what it needs, by LLVM's names.
// RUN: nested-compile %s -o %t.so --target=cpu:x86-64 && %python %S/Inputs/manifest.py %t.so | FileCheck %s --check-prefix=V1
// RUN: nested-compile %s -o %t.so --target=cpu:x86-64-v3 && %python %S/Inputs/manifest.py %t.so | FileCheck %s --check-prefix=V3
// RUN: nested-compile %s -o %t.so --target=cpu:x86-64-v4 && %python %S/Inputs/manifest.py %t.so | FileCheck %s --check-prefix=V4
// RUN: nested-compile %s -o %t.so --target=cpu:znver4 && %python %S/Inputs/manifest.py %t.so | FileCheck %s --check-prefix=ZEN4
// RUN: nested-compile %s -o %t.so --target=cpu:aarch64 && %python %S/Inputs/manifest.py %t.so | FileCheck %s --check-prefix=ARM
// RUN: nested-compile %s -o %t.so --target=cpu:aarch64-neoverse-n1 && %python %S/Inputs/manifest.py %t.so | FileCheck %s --check-prefix=N1

// V1: "cpu": "x86-64"
// V1: "features": []
// V1: "triple": "x86_64-unknown-linux-gnu"
// V3: "features": [
// V3-NOT: avx512
// V3: "fma"
// V3-NOT: avx512
// V3: ]
// V4: "avx512f"
// ZEN4: "avx512bf16"
// ARM: "cpu": "generic"
// ARM: "neon"
// ARM: "triple": "aarch64-unknown-linux-gnu"
// N1: "cpu": "neoverse-n1"
// N1: "dotprod"

module attributes {ragged.phase = "loops"} {
  func.func @k(%x: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%begin, %c0] : memref<?x16xf32>, vector<16xf32>
    %e = math.exp %v : vector<16xf32>
    %f = math.floor %e : vector<16xf32>
    vector.store %f, %x[%begin, %c0] : memref<?x16xf32>, vector<16xf32>
    return
  }
}
