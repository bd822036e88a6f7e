// RUN: nested-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-body))'

#id = affine_map<(d0, d1) -> (d0, d1)>
#second = affine_map<(d0, d1) -> (d1)>

func.func @across(%X: memref<?x8xf32>, %Y: memref<?x8xf32>, %s: tensor<8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  %c16 = arith.constant 16 : index
  scf.for %t = %begin to %end step %c16 {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c16 : index
    %x = ragged.tile_load %X[%t] live %live : memref<?x8xf32> -> tensor<16x8xf32>
    // expected-error @below {{reduces over the rows of a tile; only 'ragged.tile_fold' may do that}}
    %y = linalg.generic {indexing_maps = [#id, #second], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<16x8xf32>) outs(%s : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    ragged.tile_store %x, %Y[%t] live %live : tensor<16x8xf32>, memref<?x8xf32>
  } {ragged.tile_loop}
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#swapped = affine_map<(d0, d1) -> (d1, d0)>

func.func @swapped(%X: memref<?x16xf32>, %Y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  %c16 = arith.constant 16 : index
  %e = tensor.empty() : tensor<16x16xf32>
  scf.for %t = %begin to %end step %c16 {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c16 : index
    %x = ragged.tile_load %X[%t] live %live : memref<?x16xf32> -> tensor<16x16xf32>
    // expected-error @below {{is not row-independent: the rows of the tile must be dim 0 of operand 0}}
    %y = linalg.generic {indexing_maps = [#swapped, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<16x16xf32>
    ragged.tile_store %y, %Y[%t] live %live : tensor<16x16xf32>, memref<?x16xf32>
  } {ragged.tile_loop}
  return
}

// -----

func.func @nothing(%begin: index, %end: index) attributes {ragged.kernel} {
  %c16 = arith.constant 16 : index
  // expected-error @below {{has the attribute 'ragged.tile_loop' but accesses no rows}}
  scf.for %t = %begin to %end step %c16 {
  } {ragged.tile_loop}
  return
}
