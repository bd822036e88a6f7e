// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-body{vector-bits=256},cse,canonicalize))' | FileCheck %s

// Sums over rows of what a contraction makes: the products lie in scratch as f32, in one buffer for both sums. They are scaled,
// widened and added up in panels of 32 columns, of which the accumulators stay in registers up to the end of a group.
// What only the epilogue needs, and is made of what it reads, is computed there, not buffered.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @sums
func.func @sums(%X: memref<?x16xf32>, %U: memref<?x64xf32>, %S: memref<?xf32>, %W: memref<16x64xf32>, %F: memref<12xindex>,
    %A: memref<?x64xf32>, %B: memref<?x64xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<64xf64>
  %init = linalg.fill ins(%zero : f64) outs(%e : tensor<64xf64>) -> tensor<64xf64>
  %w = bufferization.to_tensor %W restrict : memref<16x64xf32> to tensor<16x64xf32>
  %r:2 = scf.for %t = %begin to %end step %c12 iter_args(%acc0 = %init, %acc1 = %init) -> (tensor<64xf64>, tensor<64xf64>) {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c12 : index
    %flush = bufferization.to_tensor %F restrict : memref<12xindex> to tensor<12xindex>
    %x = ragged.tile_load %X[%t] live %live : memref<?x16xf32> -> tensor<12x16xf32>
    %u = ragged.tile_load %U[%t] live %live : memref<?x64xf32> -> tensor<12x64xf32>
    %s = ragged.tile_load %S[%t] live %live : memref<?xf32> -> tensor<12xf32>
    %e64 = tensor.empty() : tensor<12x64xf32>
    %v = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%u : tensor<12x64xf32>) outs(%e64 : tensor<12x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.absf %a : f32
      linalg.yield %0 : f32
    } -> tensor<12x64xf32>
    %tanh = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%v : tensor<12x64xf32>) outs(%e64 : tensor<12x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.tanh %a : f32
      linalg.yield %0 : f32
    } -> tensor<12x64xf32>
    %z = arith.constant 0.0 : f32
    %start = linalg.fill ins(%z : f32) outs(%e64 : tensor<12x64xf32>) -> tensor<12x64xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<12x16xf32>, tensor<16x64xf32>) outs(%start : tensor<12x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<12x64xf32>
    %g = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y, %tanh, %v : tensor<12x64xf32>, tensor<12x64xf32>, tensor<12x64xf32>) outs(%e64 : tensor<12x64xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %0, %c : f32
      linalg.yield %1 : f32
    } -> tensor<12x64xf32>
    %scaled = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%g, %s : tensor<12x64xf32>, tensor<12xf32>) outs(%e64 : tensor<12x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<12x64xf32>
    %d64 = tensor.empty() : tensor<12x64xf64>
    %wide0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%g : tensor<12x64xf32>) outs(%d64 : tensor<12x64xf64>) {
    ^bb0(%a: f32, %o: f64):
      %0 = arith.extf %a : f32 to f64
      linalg.yield %0 : f64
    } -> tensor<12x64xf64>
    %wide1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%scaled : tensor<12x64xf32>) outs(%d64 : tensor<12x64xf64>) {
    ^bb0(%a: f32, %o: f64):
      %0 = arith.extf %a : f32 to f64
      linalg.yield %0 : f64
    } -> tensor<12x64xf64>
    %next0 = ragged.tile_fold ins(%wide0 : tensor<12x64xf64>) acc(%acc0 : tensor<64xf64>) init(%init : tensor<64xf64>)
        flush %flush : tensor<12xindex> into(%A : memref<?x64xf32>) live %live combine {
    ^bb0(%a: f64, %b: f64):
      %0 = arith.addf %b, %a : f64
      ragged.yield %0 : f64
    } finalize {
    ^bb0(%a: f64):
      %0 = arith.truncf %a : f64 to f32
      ragged.yield %0 : f32
    } -> tensor<64xf64>
    %next1 = ragged.tile_fold ins(%wide1 : tensor<12x64xf64>) acc(%acc1 : tensor<64xf64>) init(%init : tensor<64xf64>)
        flush %flush : tensor<12xindex> into(%B : memref<?x64xf32>) live %live combine {
    ^bb0(%a: f64, %b: f64):
      %0 = arith.addf %b, %a : f64
      ragged.yield %0 : f64
    } finalize {
    ^bb0(%a: f64):
      %0 = arith.truncf %a : f64 to f32
      ragged.yield %0 : f32
    } -> tensor<64xf64>
    scf.yield %next0, %next1 : tensor<64xf64>, tensor<64xf64>
  } {ragged.tile_loop}
  return
}
// CHECK-NOT:  tensor<12x64xf64>
// One buffer for the absolute values: tanh is in the block behind the products.
// CHECK:      scf.for %{{.*}} iter_args({{.*}}) -> (tensor<12x64xf32>)
// CHECK:      math.absf
// CHECK-NOT:  math.tanh
// CHECK:      scf.for %{{.*}} -> (tensor<6x16xf32>)
// CHECK:      math.tanh {{.*}} : f32
// CHECK-NOT:  tensor<12x64xf64>
// CHECK:      scf.for %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<32xf64>)
// CHECK:        tensor.extract_slice %[[G:.*]][%{{.*}}, %{{.*}}] [1, 32] [1, 1] : tensor<12x64xf32>
// CHECK:        arith.extf
// CHECK:        arith.addf
// CHECK:      scf.for %{{.*}} -> (tensor<32xf64>)
// CHECK:        tensor.extract_slice %[[G]]
// CHECK:        arith.mulf
// CHECK:        arith.extf
