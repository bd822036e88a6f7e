// RUN: nested-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-scratch))' | FileCheck %s

// a and b are live together; c takes the place of a.

// CHECK-LABEL: func.func @reuse
// CHECK-SAME:      %[[S:[a-z0-9]*]]: memref<?xi8>) attributes {ragged.kernel, ragged.scratch_bytes = 640 : i64}
// CHECK-DAG:     %[[AT:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[BT:.*]] = arith.constant 512 : index
// CHECK-DAG:     memref.view %[[S]][%[[AT]]][] : memref<?xi8> to memref<128xf32>
// CHECK-DAG:     memref.view %[[S]][%[[BT]]][] : memref<?xi8> to memref<20xf32>
// CHECK-NOT:     memref.alloc
func.func @reuse(%x: memref<20xf32>) attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %a = memref.alloc() : memref<128xf32>
    %b = memref.alloc() : memref<20xf32>
    %v = memref.load %x[%i] : memref<20xf32>
    memref.store %v, %a[%i] : memref<128xf32>
    %w = memref.load %a[%i] : memref<128xf32>
    %view = memref.subview %b[0] [10] [1] : memref<20xf32> to memref<10xf32, strided<[1]>>
    memref.store %w, %view[%i] : memref<10xf32, strided<[1]>>
    %c = memref.alloc() : memref<100xf32>
    scf.for %j = %c0 to %c9 step %c1 {
      %y = memref.load %b[%j] : memref<20xf32>
      memref.store %y, %c[%j] : memref<100xf32>
    }
    %z = memref.load %c[%i] : memref<100xf32>
    memref.store %z, %x[%i] : memref<20xf32>
  }
  return
}

// -----

// What is made in front of a loop is live in all of it.

// CHECK-LABEL: func.func @across
// CHECK-SAME:      ragged.scratch_bytes = 128 : i64
func.func @across(%x: memref<16xf32>) attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %a = memref.alloc() : memref<16xf32>
  scf.for %i = %c0 to %c9 step %c1 {
    %v = memref.load %a[%i] : memref<16xf32>
    memref.store %v, %x[%i] : memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    memref.store %v, %b[%i] : memref<16xf32>
    %w = memref.load %b[%i] : memref<16xf32>
    memref.store %w, %x[%i] : memref<16xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @none(%{{.*}}: memref<16xf32>) attributes {ragged.kernel}
func.func @none(%x: memref<16xf32>) attributes {ragged.kernel} {
  return
}

// -----

func.func @dynamic(%n: index) attributes {ragged.kernel} {
  // expected-error @below {{has no static size; kernels have scratch memory of fixed size}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}
