// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-body{vector-bits=512}))' | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-body{vector-bits=256}))' | FileCheck %s --check-prefixes=CHECK,NARROW

// 48 kB of weights. With AVX-512 a register block takes 256 bytes of each row of them, and they are read where they lie. With AVX2 it takes 64:
// a panel would be one line of each row, 512 bytes apart, in an eighth of the sets of the cache. They are copied.

// CHECK-LABEL: func.func @linear
// CHECK:         %[[W:.*]] = bufferization.to_tensor %{{.*}} : memref<96x128xf32> to tensor<96x128xf32>
// NARROW:        %[[ROWS:.*]] = tensor.expand_shape %[[W]] {{.*}} : tensor<96x128xf32> into tensor<96x8x16xf32>
// NARROW:        %[[PANELS:.*]] = linalg.generic {{.*}} ins(%[[ROWS]] : tensor<96x8x16xf32>) outs(%{{.*}} : tensor<8x96x16xf32>)
// WIDE-NOT:      tensor.expand_shape
// CHECK:         scf.for
// NARROW:          tensor.extract_slice %[[PANELS]]
// WIDE:            tensor.extract_slice %[[W]]

// 20 kB fit into the first level whole.
// CHECK-LABEL: func.func @small
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return

module attributes {ragged.phase = "structure"} {
  func.func @linear(%X: memref<?x96xf32>, %W: memref<96x128xf32>, %Y: memref<?x128xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c48 = arith.constant 48 : index
    %zero = arith.constant 0.0 : f32
    %w = bufferization.to_tensor %W restrict : memref<96x128xf32> to tensor<96x128xf32>
    scf.for %t = %begin to %end step %c48 {
      %left = arith.subi %end, %t : index
      %live = arith.minsi %left, %c48 : index
      %x = ragged.tile_load %X[%t] live %live : memref<?x96xf32> -> tensor<48x96xf32>
      %e = tensor.empty() : tensor<48x128xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<48x128xf32>) -> tensor<48x128xf32>
      %h = linalg.matmul ins(%x, %w : tensor<48x96xf32>, tensor<96x128xf32>) outs(%z : tensor<48x128xf32>) -> tensor<48x128xf32>
      ragged.tile_store %h, %Y[%t] live %live : tensor<48x128xf32>, memref<?x128xf32>
    } {ragged.tile_loop}
    return
  }
  func.func @small(%X: memref<?x40xf32>, %W: memref<40x128xf32>, %Y: memref<?x128xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c48 = arith.constant 48 : index
    %zero = arith.constant 0.0 : f32
    %w = bufferization.to_tensor %W restrict : memref<40x128xf32> to tensor<40x128xf32>
    scf.for %t = %begin to %end step %c48 {
      %left = arith.subi %end, %t : index
      %live = arith.minsi %left, %c48 : index
      %x = ragged.tile_load %X[%t] live %live : memref<?x40xf32> -> tensor<48x40xf32>
      %e = tensor.empty() : tensor<48x128xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<48x128xf32>) -> tensor<48x128xf32>
      %h = linalg.matmul ins(%x, %w : tensor<48x40xf32>, tensor<40x128xf32>) outs(%z : tensor<48x128xf32>) -> tensor<48x128xf32>
      ragged.tile_store %h, %Y[%t] live %live : tensor<48x128xf32>, memref<?x128xf32>
    } {ragged.tile_loop}
    return
  }
}
