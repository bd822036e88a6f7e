// RUN: nested-opt %s --split-input-file --emit-kernel-abi | FileCheck %s

// The source is only read; neither overlaps the other.
// CHECK-LABEL: func @copy.body(
// CHECK-SAME: !llvm.ptr {llvm.noalias, llvm.readonly}, %[[SIZE:[^:]*]]: i64,
// CHECK-SAME: !llvm.ptr {llvm.noalias}, %{{[^:]*}}: i64, %{{[^:]*}}: index, %{{[^:]*}}: index)
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
// Inner sizes and strides are constants.
// CHECK: %[[C8:.*]] = llvm.mlir.constant(8 : index)
// CHECK: llvm.insertvalue %[[C8]], {{.*}}[3, 1]
// CHECK: llvm.insertvalue %[[SIZE]], {{.*}}[3, 0]
// CHECK: memref.load
func.func @copy(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %i = %begin to %end step %c1 {
    %v = memref.load %x[%i, %c0] : memref<?x8xf32>
    memref.store %v, %y[%i, %c0] : memref<?x8xf32>
  }
  return
}
// CHECK-LABEL: llvm.func @copy(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr) attributes {ragged.kernel}
// CHECK: llvm.getelementptr %[[FRAME]][0]
// CHECK: llvm.getelementptr %[[FRAME]][1]
// CHECK: call @copy.body

// -----

// Scalars come from the third field, scratch from the last argument.
// CHECK-LABEL: func @scratch.body(
// CHECK-SAME: %{{[^:]*}}: index, %{{[^:]*}}: i64, %{{[^:]*}}: index, %{{[^:]*}}: index, %{{[^:]*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias})
func.func @scratch(%n: index, %m: i64, %begin: index, %end: index, %scratch: memref<?xi8>)
    attributes {ragged.kernel, ragged.scratch_bytes = 4096 : i64} {
  return
}
// CHECK-LABEL: llvm.func @scratch(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[SCRATCH:.*]]: !llvm.ptr)
// CHECK: llvm.getelementptr %[[FRAME]][2]
// CHECK-DAG: %[[B:.*]] = arith.index_cast %[[BEGIN]]
// CHECK-DAG: %[[E:.*]] = arith.index_cast %[[END]]
// CHECK: call @scratch.body(%{{.*}}, %{{.*}}, %[[B]], %[[E]], %[[SCRATCH]])

// -----

// A cache that is updated in place may be an input as well.
// CHECK-LABEL: func @in_place.body(
// CHECK-SAME: !llvm.ptr {llvm.readonly}, %{{[^:]*}}: i64, %{{[^:]*}}: !llvm.ptr, %
func.func @in_place(%x: memref<?xf32> {ragged.may_alias}, %y: memref<?xf32> {ragged.may_alias}, %begin: index, %end: index)
    attributes {ragged.kernel} {
  %v = memref.load %x[%begin] : memref<?xf32>
  memref.store %v, %y[%begin] : memref<?xf32>
  return
}

// -----

// A write through a view is a write.
// CHECK-LABEL: func @view.body(
// CHECK-SAME: !llvm.ptr {llvm.noalias}, %
func.func @view(%x: memref<?x8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %row = memref.subview %x[%begin, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
  memref.store %zero, %row[%c0, %c0] : memref<1x8xf32, strided<[8, 1], offset: ?>>
  return
}

// -----

// Other functions stay as they are.
// CHECK-LABEL: func.func private @helper(
// CHECK-SAME: memref<?xf32>
func.func private @helper(%x: memref<?xf32>) {
  return
}
