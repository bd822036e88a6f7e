// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-body{vector-bits=256},cse,canonicalize))' | FileCheck %s

// Rows with a static dim in front of the features: the accumulator is added to index by index of it, and what is summed over
// that dim too is read from the same buffer of products, where the sum of a row is made nowhere.

#x = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#sum = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func.func @sums
// CHECK-NOT:  tensor<12x3x64xf64>
// CHECK-NOT:  tensor<12x64xf64>
// CHECK:      linalg.generic {{.*}} tensor<{{.*}}xf32>
// CHECK:      scf.for %[[S:.*]] = %c0 to %c3 step %c1 iter_args(%{{.*}}) -> (tensor<3x64xf64>)
// CHECK:        scf.for %[[R:.*]] = %{{.*}} iter_args(%{{.*}}) -> (tensor<32xf64>)
// CHECK:          tensor.extract_slice %[[G:.*]][%[[R]], %[[S]], %{{.*}}] [1, 1, 32] [1, 1, 1] : tensor<12x3x64xf32>
// CHECK:          arith.extf
// CHECK:          arith.addf
// CHECK:      scf.for %[[R:.*]] = %{{.*}} iter_args(%{{.*}}) -> (tensor<32xf64>)
// CHECK-NEXT:   scf.for %[[S:.*]] = %c0 to %c3 step %c1 iter_args(%{{.*}}) -> (tensor<32xf64>)
// CHECK:          tensor.extract_slice %[[G]][%[[R]], %[[S]], %{{.*}}] [1, 1, 32] [1, 1, 1] : tensor<12x3x64xf32>
// CHECK:          arith.extf
// CHECK:          arith.addf
func.func @sums(%X: memref<?x3x16xf32>, %W: memref<16x64xf32>, %F: memref<12xindex>, %A: memref<?x3x64xf32>, %B: memref<?x64xf32>,
    %begin: index, %end: index) attributes {ragged.kernel} {
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f64
  %e0 = tensor.empty() : tensor<3x64xf64>
  %init0 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<3x64xf64>) -> tensor<3x64xf64>
  %e1 = tensor.empty() : tensor<64xf64>
  %init1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<64xf64>) -> tensor<64xf64>
  %w = bufferization.to_tensor %W restrict : memref<16x64xf32> to tensor<16x64xf32>
  %r:2 = scf.for %t = %begin to %end step %c12 iter_args(%acc0 = %init0, %acc1 = %init1) -> (tensor<3x64xf64>, tensor<64xf64>) {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c12 : index
    %flush = bufferization.to_tensor %F restrict : memref<12xindex> to tensor<12xindex>
    %x = ragged.tile_load %X[%t] live %live : memref<?x3x16xf32> -> tensor<12x3x16xf32>
    %e = tensor.empty() : tensor<12x3x64xf32>
    %z = arith.constant 0.0 : f32
    %start = linalg.fill ins(%z : f32) outs(%e : tensor<12x3x64xf32>) -> tensor<12x3x64xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<12x3x16xf32>, tensor<16x64xf32>) outs(%start : tensor<12x3x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<12x3x64xf32>
    %d64 = tensor.empty() : tensor<12x3x64xf64>
    %wide0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%y : tensor<12x3x64xf32>) outs(%d64 : tensor<12x3x64xf64>) {
    ^bb0(%a: f32, %o: f64):
      %0 = arith.extf %a : f32 to f64
      linalg.yield %0 : f64
    } -> tensor<12x3x64xf64>
    %wide1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%y : tensor<12x3x64xf32>) outs(%d64 : tensor<12x3x64xf64>) {
    ^bb0(%a: f32, %o: f64):
      %0 = arith.extf %a : f32 to f64
      linalg.yield %0 : f64
    } -> tensor<12x3x64xf64>
    %es = tensor.empty() : tensor<12x64xf64>
    %zs = linalg.fill ins(%zero : f64) outs(%es : tensor<12x64xf64>) -> tensor<12x64xf64>
    %s = linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%wide1 : tensor<12x3x64xf64>) outs(%zs : tensor<12x64xf64>) {
    ^bb0(%a: f64, %o: f64):
      %0 = arith.addf %o, %a : f64
      linalg.yield %0 : f64
    } -> tensor<12x64xf64>
    %next0 = ragged.tile_fold ins(%wide0 : tensor<12x3x64xf64>) acc(%acc0 : tensor<3x64xf64>) init(%init0 : tensor<3x64xf64>)
        flush %flush : tensor<12xindex> into(%A : memref<?x3x64xf32>) live %live combine {
    ^bb0(%a: f64, %b: f64):
      %0 = arith.addf %b, %a : f64
      ragged.yield %0 : f64
    } finalize {
    ^bb0(%a: f64):
      %0 = arith.truncf %a : f64 to f32
      ragged.yield %0 : f32
    } -> tensor<3x64xf64>
    %next1 = ragged.tile_fold ins(%s : tensor<12x64xf64>) acc(%acc1 : tensor<64xf64>) init(%init1 : tensor<64xf64>)
        flush %flush : tensor<12xindex> into(%B : memref<?x64xf32>) live %live combine {
    ^bb0(%a: f64, %b: f64):
      %0 = arith.addf %b, %a : f64
      ragged.yield %0 : f64
    } finalize {
    ^bb0(%a: f64):
      %0 = arith.truncf %a : f64 to f32
      ragged.yield %0 : f32
    } -> tensor<64xf64>
    scf.yield %next0, %next1 : tensor<3x64xf64>, tensor<64xf64>
  } {ragged.tile_loop}
  return
}
