// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels --split-input-file | FileCheck %s
// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels=share=false --split-input-file | FileCheck %s --check-prefix=OFF

// What is made of arguments alone and read by one kernel over samples is made in front of the tiles of that.
// CHECK-LABEL: func.func @folded(
// CHECK-SAME:    %[[X:.*]]: !ragged.tensor<[N, 16], f32>, %[[W:.*]]: tensor<64x16xf32>, %[[O:.*]]: tensor<64xf32>
// CHECK:         ragged.kernel "folded_k0" space [N] {{.*}} ins(%[[O]], %[[W]], %[[X]] :
// CHECK-NEXT:    ^bb0(%{{.*}}: !ragged.tile, %[[OV:.*]]: tensor<64xf32>, %[[WV:.*]]: tensor<64x16xf32>,
// CHECK:           %[[C:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[OV]], %[[WV]] : {{.*}}) outs(%{{.*}} : tensor<16xf32>)
// CHECK:           ragged.tile_read
// CHECK:           linalg.generic {{.*}}ins(%{{.*}}, %[[C]] : tensor<48x16xf32>, tensor<16xf32>)
// CHECK-NOT:     ragged.kernel

// OFF-LABEL: func.func @folded(
// OFF:         ragged.kernel "folded_k0" space [64] path []
// OFF:         ragged.kernel "folded_k1" space [N]
func.func @folded(%x: !ragged.tensor<[N, 16], f32>, %w: tensor<64x16xf32>, %o: tensor<64xf32>) -> !ragged.tensor<[N, 16], f32> {
  %c = ragged.linear %o, %w : tensor<64xf32>, tensor<64x16xf32> -> tensor<16xf32>
  %y = ragged.map ins(%x, %c : !ragged.tensor<[N, 16], f32>, tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 16], f32>
  return %y : !ragged.tensor<[N, 16], f32>
}

// -----

// Two kernels read it: it would be made twice.
// CHECK-LABEL: func.func @two_readers(
// CHECK:         ragged.kernel "two_readers_k0" space [64] path []
// CHECK:         ragged.kernel "two_readers_k1" space [N]
// CHECK:         ragged.kernel "two_readers_k2" space [M]
func.func @two_readers(%x: !ragged.tensor<[N, 16], f32>, %z: !ragged.tensor<[M, 16], f32>, %w: tensor<64x16xf32>, %o: tensor<64xf32>)
    -> (!ragged.tensor<[N, 16], f32>, !ragged.tensor<[M, 16], f32>) {
  %c = ragged.linear %o, %w : tensor<64xf32>, tensor<64x16xf32> -> tensor<16xf32>
  %y = ragged.map ins(%x, %c : !ragged.tensor<[N, 16], f32>, tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 16], f32>
  %v = ragged.map ins(%z, %c : !ragged.tensor<[M, 16], f32>, tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[M, 16], f32>
  return %y, %v : !ragged.tensor<[N, 16], f32>, !ragged.tensor<[M, 16], f32>
}

// -----

// It is a result, too.
// CHECK-LABEL: func.func @result(
// CHECK:         %[[C:.*]] = ragged.kernel "result_k0" space [64] path []
// CHECK:         ragged.kernel "result_k1" space [N] {{.*}}%[[C]]
func.func @result(%x: !ragged.tensor<[N, 16], f32>, %w: tensor<64x16xf32>, %o: tensor<64xf32>) -> (!ragged.tensor<[N, 16], f32>, tensor<16xf32>) {
  %c = ragged.linear %o, %w : tensor<64xf32>, tensor<64x16xf32> -> tensor<16xf32>
  %y = ragged.map ins(%x, %c : !ragged.tensor<[N, 16], f32>, tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 16], f32>
  return %y, %c : !ragged.tensor<[N, 16], f32>, tensor<16xf32>
}

// -----

// Rows choose among its elements, which must be in memory.
// CHECK-LABEL: func.func @looked_up(
// CHECK:         ragged.kernel "looked_up_k0" {{.*}} path []
// CHECK:         ragged.kernel "looked_up_k1" space [N]
func.func @looked_up(%i: !ragged.tensor<[N], i64>, %w: tensor<640xf32>) -> !ragged.tensor<[N], f32> {
  %t = ragged.map ins(%w : tensor<640xf32>) {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    ragged.yield %s : f32
  } -> tensor<640xf32>
  %y = ragged.gather %t, %i : tensor<640xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N], f32>
  return %y : !ragged.tensor<[N], f32>
}

// -----

// A matrix is packed by its reader, once for all grains: what is packed must be in memory.
// CHECK-LABEL: func.func @matrix(
// CHECK:         ragged.kernel "matrix_k0" {{.*}} path []
// CHECK:         ragged.kernel "matrix_k1" space [N]
func.func @matrix(%x: !ragged.tensor<[N, 64], f32>, %w: tensor<64x16xf32>) -> !ragged.tensor<[N, 16], f32> {
  %t = ragged.map ins(%w : tensor<64x16xf32>) {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    ragged.yield %s : f32
  } -> tensor<64x16xf32>
  %y = ragged.linear %x, %t : !ragged.tensor<[N, 64], f32>, tensor<64x16xf32> -> !ragged.tensor<[N, 16], f32>
  return %y : !ragged.tensor<[N, 16], f32>
}

// -----

// Two steps: the second would be made of the first for every grain.
// CHECK-LABEL: func.func @two_steps(
// CHECK:         ragged.kernel "two_steps_k0" {{.*}} path []
// CHECK:         ragged.kernel "two_steps_k{{[12]}}" space [N]
func.func @two_steps(%x: !ragged.tensor<[N, 16], f32>, %w: tensor<64x16xf32>, %o: tensor<64xf32>) -> !ragged.tensor<[N, 16], f32> {
  %q = ragged.map ins(%o : tensor<64xf32>) {
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    ragged.yield %s : f32
  } -> tensor<64xf32>
  %c = ragged.linear %q, %w : tensor<64xf32>, tensor<64x16xf32> -> tensor<16xf32>
  %y = ragged.map ins(%x, %c : !ragged.tensor<[N, 16], f32>, tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 16], f32>
  return %y : !ragged.tensor<[N, 16], f32>
}
