// Row ops that registers and shuffles alone do not cover: sums over part of a row, transposed reads, wide rows,
// integers, a value per row.

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row2 = affine_map<(d0, d1) -> (d0)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#outer = affine_map<(d0, d1, d2) -> (d0, d1)>
#swap = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#swap_outer = affine_map<(d0, d1, d2) -> (d0, d2)>

module attributes {ragged.phase = "structure"} {
  func.func @rows(%X: memref<?x4x10xf32>, %W: memref<?x2000xf32>, %I: memref<?x40xi64>, %Y: memref<?x4xf32>,
      %Z: memref<?x10x4xf32>, %V: memref<?x2000xf32>, %J: memref<?xi64>, %begin: index, %end: index)
      attributes {ragged.kernel} {
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %least = arith.constant 0xFF800000 : f32
    %small = arith.constant -9223372036854775808 : i64
    %two = arith.constant 2.0 : f32
    %ex = tensor.empty() : tensor<8x4x10xf32>
    %ey = tensor.empty() : tensor<8x4xf32>
    %ez = tensor.empty() : tensor<8x10x4xf32>
    %ew = tensor.empty() : tensor<8x2000xf32>
    %e1 = tensor.empty() : tensor<8xf32>
    %ej = tensor.empty() : tensor<8xi64>
    scf.for %t = %begin to %end step %c8 {
      %left = arith.subi %end, %t : index
      %live = arith.minsi %left, %c8 : index
      %x0 = ragged.tile_load %X[%t] live %live : memref<?x4x10xf32> -> tensor<8x4x10xf32>
      %x = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%x0 : tensor<8x4x10xf32>) outs(%ex : tensor<8x4x10xf32>) {
      ^bb0(%p: f32, %o: f32):
        %0 = arith.mulf %p, %two : f32
        linalg.yield %0 : f32
      } -> tensor<8x4x10xf32>
      %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<8x4xf32>) -> tensor<8x4xf32>
      %y = linalg.generic {indexing_maps = [#id3, #outer], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x : tensor<8x4x10xf32>) outs(%fy : tensor<8x4xf32>) {
      ^bb0(%p: f32, %o: f32):
        %0 = arith.mulf %p, %p : f32
        %1 = arith.addf %o, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<8x4xf32>
      ragged.tile_store %y, %Y[%t] live %live : tensor<8x4xf32>, memref<?x4xf32>
      %z = linalg.generic {indexing_maps = [#swap, #swap_outer, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%x, %y : tensor<8x4x10xf32>, tensor<8x4xf32>) outs(%ez : tensor<8x10x4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %0 = arith.addf %p, %q : f32
        linalg.yield %0 : f32
      } -> tensor<8x10x4xf32>
      ragged.tile_store %z, %Z[%t] live %live : tensor<8x10x4xf32>, memref<?x10x4xf32>

      %w = ragged.tile_load %W[%t] live %live : memref<?x2000xf32> -> tensor<8x2000xf32>
      %fm = linalg.fill ins(%least : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
      %m = linalg.generic {indexing_maps = [#id2, #row2], iterator_types = ["parallel", "reduction"]}
          ins(%w : tensor<8x2000xf32>) outs(%fm : tensor<8xf32>) {
      ^bb0(%p: f32, %o: f32):
        %0 = arith.maximumf %o, %p : f32
        linalg.yield %0 : f32
      } -> tensor<8xf32>
      %v = linalg.generic {indexing_maps = [#id2, #row2, #id2], iterator_types = ["parallel", "parallel"]}
          ins(%w, %m : tensor<8x2000xf32>, tensor<8xf32>) outs(%ew : tensor<8x2000xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %0 = arith.subf %p, %q : f32
        linalg.yield %0 : f32
      } -> tensor<8x2000xf32>
      ragged.tile_store %v, %V[%t] live %live : tensor<8x2000xf32>, memref<?x2000xf32>

      %i = ragged.tile_load %I[%t] live %live : memref<?x40xi64> -> tensor<8x40xi64>
      %fj = linalg.fill ins(%small : i64) outs(%ej : tensor<8xi64>) -> tensor<8xi64>
      %j = linalg.generic {indexing_maps = [#id2, #row2], iterator_types = ["parallel", "reduction"]}
          ins(%i : tensor<8x40xi64>) outs(%fj : tensor<8xi64>) {
      ^bb0(%p: i64, %o: i64):
        %0 = arith.maxsi %o, %p : i64
        linalg.yield %0 : i64
      } -> tensor<8xi64>
      ragged.tile_store %j, %J[%t] live %live : tensor<8xi64>, memref<?xi64>
    } {ragged.tile_loop}
    return
  }
}
