// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(place-workgroup-memory))' | FileCheck %s
// RUN: not nested-opt %s --pass-pipeline='builtin.module(func.func(place-workgroup-memory{max-bytes=256}))' 2>&1 | FileCheck %s --check-prefix=LIMIT

#space = #gpu.address_space<workgroup>

// %a is not needed behind the second barrier, so %c takes its place; %b is alive with both.

// CHECK:       func.func @kernel(%{{.*}}: index) attributes {ragged.kernel, ragged.workgroup_bytes = 768 : i64}
// CHECK:         %[[MEMORY:.*]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
// CHECK:         %[[C0:.*]] = arith.constant 0 : index
// CHECK:         memref.view %[[MEMORY]][%[[C0]]][] {{.*}} to memref<128xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[C512:.*]] = arith.constant 512 : index
// CHECK:         memref.view %[[MEMORY]][%[[C512]]][] {{.*}} to memref<64xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[AGAIN:.*]] = arith.constant 0 : index
// CHECK:         memref.view %[[MEMORY]][%[[AGAIN]]][] {{.*}} to memref<100xf32, #gpu.address_space<workgroup>>
// LIMIT: error: needs 768 bytes of workgroup memory, but a block has 256
func.func @kernel(%n: index) attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<128xf32, #space>
    %b = memref.alloc() : memref<64xf32, #space>
    %c = memref.alloc() : memref<100xf32, #space>
    %t = gpu.thread_id x
    %z = arith.constant 0.0 : f32
    memref.store %z, %a[%t] : memref<128xf32, #space>
    gpu.barrier
    %x = memref.load %a[%c0] : memref<128xf32, #space>
    memref.store %x, %b[%t] : memref<64xf32, #space>
    gpu.barrier
    %y = memref.load %b[%c1] : memref<64xf32, #space>
    memref.store %y, %c[%t] : memref<100xf32, #space>
    gpu.barrier
  }
  return
}
