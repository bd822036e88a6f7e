// RUN: nested-opt %s --kernels-to-gpu=threads=128 | FileCheck %s

// Pointers, leading dims, scalars, first and last unit, units of a block. The block's own part of the units; nothing
// behind the end. The error record is the block's own; what is only read says so.

// CHECK:       gpu.module @kernels
// CHECK:         llvm.mlir.global external @workgroup_memory() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// CHECK:         gpu.func @copy(%[[X:.*]]: !llvm.ptr {llvm.noalias, llvm.readonly}, %[[Y:.*]]: !llvm.ptr {llvm.noalias}, %[[E:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %[[FIRST:.*]]: i64, %[[LAST:.*]]: i64, %[[COUNT:.*]]: i64) kernel attributes {known_block_size = array<i32: 128, 1, 1>, ragged.workgroup_bytes = 512 : i64}
// CHECK:           %[[BLOCK:.*]] = gpu.block_id x
// CHECK:           llvm.getelementptr %[[E]][%{{.*}}]
// CHECK:           %[[BEGIN:.*]] = arith.addi
// CHECK:           %[[STOP:.*]] = arith.addi %[[BEGIN]],
// CHECK:           %[[END:.*]] = arith.minsi %[[STOP]],
// CHECK:           %[[SOME:.*]] = arith.cmpi slt, %[[BEGIN]], %[[END]] : index
// CHECK:           scf.if %[[SOME]] {
// CHECK:             scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK:           gpu.return
// CHECK-NOT:   func.func
func.func @copy(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %errors: memref<?xi64>, %begin: index, %end: index)
    attributes {ragged.kernel, ragged.workgroup_bytes = 512 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1_i64 = arith.constant 1 : i64
  %m = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  scf.for %i = %begin to %end step %c1 {
    %v = memref.load %x[%i, %c0] : memref<?x8xf32>
    memref.store %v, %y[%i, %c0] : memref<?x8xf32>
    memref.store %c1_i64, %errors[%c0] : memref<?xi64>
  }
  return
}

ragged.schedule @entry signature {args = [], checks = [], results = [], symbols = []} {
  %0 = ragged.buffer arg 0 : !ragged.buffer<8xf32>
  %1 = ragged.buffer result 0 : !ragged.buffer<8xf32>
  %2 = ragged.table offsets <N> path [B]
  ragged.launch @copy units groups row_table %2 unit_table %2 memrefs(%0, %1 : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {bytes_per_row = 8 : i64, errors = ["no"], flops_per_row = 1 : i64, tile_rows = 1 : i64}
}
