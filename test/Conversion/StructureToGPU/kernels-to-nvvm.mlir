// RUN: nested-opt %s --pass-pipeline='builtin.module(gpu.module(kernels-to-nvvm))' | FileCheck %s

// Square roots and the like are instructions, not calls into a library; memory is shared or global.

// CHECK-NOT:   __nv_
// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME:    nvvm.kernel
// CHECK:         nvvm.read.ptx.sreg.tid.x
// CHECK:         llvm.intr.sqrt
// CHECK:         llvm.intr.fma
// CHECK:         llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr<3>
// CHECK:         nvvm.barrier
// CHECK-NOT:   __nv_
gpu.module @kernels {
  llvm.mlir.global external @workgroup_memory() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  gpu.func @kernel(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %m = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %v = memref.view %m[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<128xf32, #gpu.address_space<workgroup>>
    %s = math.sqrt %x : f32
    %f = math.fma %s, %s, %x : f32
    memref.store %f, %v[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    gpu.return
  }
}
