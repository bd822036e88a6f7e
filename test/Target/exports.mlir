// Kernels and the slot of the services are exported, nothing else.
// RUN: nested-compile %s -o %t.so
// RUN: llvm-readobj --dyn-symbols %t.so | FileCheck %s --implicit-check-not=helper --implicit-check-not=body
// CHECK-DAG: Name: nested_services_slot
// CHECK-DAG: Name: k{{[^a-z]}}

module attributes {ragged.phase = "loops"} {
  func.func @helper(%x: f64) -> f64 {
    %r = math.exp %x : f64
    return %r : f64
  }
  func.func @k(%x: memref<?xf64>, %begin: index, %end: index) attributes {ragged.kernel} {
    %v = memref.load %x[%begin] : memref<?xf64>
    %r = func.call @helper(%v) : (f64) -> f64
    memref.store %r, %x[%begin] : memref<?xf64>
    return
  }
}
