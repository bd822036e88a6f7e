// RUN: nested-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(lower-vector-ops,canonicalize))' | FileCheck %s

// A step of a register block: each row is one fused multiply-add.
// CHECK-LABEL: func @contract
// CHECK-NOT: vector.contract
// CHECK-COUNT-4: vector.fma {{.*}} : vector<16xf32>
func.func @contract(%a: vector<4x1xf32>, %b: vector<1x16xf32>, %acc: vector<4x16xf32>) -> vector<4x16xf32> {
  %r = vector.contract {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
    %a, %b, %acc : vector<4x1xf32>, vector<1x16xf32> into vector<4x16xf32>
  return %r : vector<4x16xf32>
}

// -----

// Over the last dimension: a reduction of each row.
// CHECK-LABEL: func @reduce_columns
// CHECK-COUNT-2: vector.reduction <add>
// CHECK-NOT: vector.multi_reduction
func.func @reduce_columns(%x: vector<2x128xf32>, %acc: vector<2xf32>) -> vector<2xf32> {
  %r = vector.multi_reduction <add>, %x, %acc [1] : vector<2x128xf32> to vector<2xf32>
  return %r : vector<2xf32>
}

// -----

// Over rows: elementwise on rows, in the order of the rows.
// CHECK-LABEL: func @reduce_rows
// CHECK-NOT: vector.reduction
// CHECK-COUNT-3: arith.addf {{.*}} : vector<16xf32>
func.func @reduce_rows(%x: vector<3x16xf32>, %acc: vector<16xf32>) -> vector<16xf32> {
  %r = vector.multi_reduction <add>, %x, %acc [0] : vector<3x16xf32> to vector<16xf32>
  return %r : vector<16xf32>
}

// -----

// CHECK-LABEL: func @permuted_read
// CHECK: vector.transfer_read
// CHECK-NOT: permutation_map
func.func @permuted_read(%m: memref<8x4xf32>) -> vector<4x8xf32> {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %r = vector.transfer_read %m[%c0, %c0], %pad
    {in_bounds = [true, true], permutation_map = affine_map<(i, j) -> (j, i)>} : memref<8x4xf32>, vector<4x8xf32>
  return %r : vector<4x8xf32>
}
