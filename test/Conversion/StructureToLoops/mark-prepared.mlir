// RUN: nested-opt %s --mark-prepared | FileCheck %s

// @pack makes panels of w, @product a matrix of two shared arguments, which @pack packs as well: none of them needs to know a batch.
// @rows does. @zeros depends on no argument: there is nothing that a block could stand for. @counts reads what a table says of the batch.
// @again writes to a temporary once more that @rows has read before: what it was must not be lost. @update writes an argument.

// CHECK-LABEL: ragged.schedule @f
// CHECK:         ragged.alias
// CHECK-NEXT:    ragged.launch @pack {{.*}}flops_per_row = 1 : i64, ragged.prepare, tile_rows
// CHECK-NEXT:    ragged.launch @product {{.*}}flops_per_row = 1 : i64, ragged.prepare, tile_rows
// CHECK-NEXT:    ragged.launch @pack {{.*}}flops_per_row = 1 : i64, ragged.prepare, tile_rows
// CHECK-NEXT:    ragged.launch @rows {{.*}}flops_per_row = 1 : i64, tile_rows
// CHECK-NEXT:    ragged.launch @zeros {{.*}}flops_per_row = 1 : i64, tile_rows
// CHECK-NEXT:    ragged.launch @counts {{.*}}flops_per_row = 1 : i64, tile_rows
// CHECK-NEXT:    ragged.launch @pack {{.*}}flops_per_row = 1 : i64, tile_rows
// CHECK-NEXT:    ragged.launch @rows {{.*}}flops_per_row = 1 : i64, tile_rows
// CHECK-NEXT:    ragged.launch @pack {{.*}}flops_per_row = 1 : i64, tile_rows
// CHECK-NEXT:    ragged.launch @update {{.*}}flops_per_row = 1 : i64, tile_rows

// What a copy takes is read only.
// CHECK-LABEL: ragged.schedule @copied
// CHECK:         ragged.launch @pack {{.*}}flops_per_row = 1 : i64, ragged.prepare, tile_rows
// CHECK-NEXT:    ragged.launch @pack {{.*}}flops_per_row = 1 : i64, tile_rows
// CHECK-NEXT:    ragged.copy

module attributes {ragged.phase = "loops"} {
  func.func @pack(%from: memref<8xf32>, %to: memref<8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c1 = arith.constant 1 : index
    %view = memref.reinterpret_cast %to to offset: [0], sizes: [8], strides: [1] : memref<8xf32> to memref<8xf32>
    scf.for %i = %begin to %end step %c1 {
      %x = memref.load %from[%i] : memref<8xf32>
      memref.store %x, %view[%i] : memref<8xf32>
    }
    return
  }
  func.func @product(%a: memref<8xf32>, %b: memref<8xf32>, %to: memref<8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %x = memref.load %a[%begin] : memref<8xf32>
    %y = memref.load %b[%begin] : memref<8xf32>
    %z = arith.mulf %x, %y : f32
    memref.store %z, %to[%begin] : memref<8xf32>
    return
  }
  func.func @rows(%x: memref<?x8xf32>, %w: memref<8xf32>, %v: memref<8xf32>, %y: memref<?x8xf32>, %begin: index, %end: index)
      attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %s = memref.load %x[%begin, %c0] : memref<?x8xf32>
    %t = memref.load %w[%c0] : memref<8xf32>
    %u = memref.load %v[%c0] : memref<8xf32>
    %p = arith.mulf %s, %t : f32
    %q = arith.mulf %p, %u : f32
    memref.store %q, %y[%begin, %c0] : memref<?x8xf32>
    return
  }
  func.func @zeros(%to: memref<8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %to[%begin] : memref<8xf32>
    return
  }
  func.func @counts(%w: memref<8xf32>, %n: memref<?xi64>, %to: memref<8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %x = memref.load %w[%begin] : memref<8xf32>
    memref.store %x, %to[%begin] : memref<8xf32>
    return
  }
  func.func @update(%w: memref<8xf32>, %to: memref<8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %x = memref.load %w[%begin] : memref<8xf32>
    memref.store %x, %w[%begin] : memref<8xf32>
    memref.store %x, %to[%begin] : memref<8xf32>
    return
  }

  ragged.schedule @f signature {args = [{kind = "ragged"}, {kind = "dense"}, {kind = "dense"}, {kind = "dense", mutable = true}], checks = [], results = [], symbols = []} {
    %x = ragged.buffer arg 0 : !ragged.buffer<8xf32>
    %w = ragged.buffer arg 1 : !ragged.buffer<8xf32>
    %v = ragged.buffer arg 2 : !ragged.buffer<8xf32>
    %m = ragged.buffer arg 3 : !ragged.buffer<8xf32>
    %y = ragged.buffer result 0 : !ragged.buffer<8xf32>
    %n = ragged.table offsets <N> path [B]
    %k = ragged.table offsets <8> path []
    %p = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    %q = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    %r = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    %z = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    %c = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    %t = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    %u = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    ragged.launch @pack units groups row_table %k unit_table %k memrefs(%w, %p : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @product units groups row_table %k unit_table %k memrefs(%p, %v, %q : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    %alias = ragged.alias %q : !ragged.buffer<8xf32>
    ragged.launch @pack units groups row_table %k unit_table %k memrefs(%alias, %r : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @rows units groups row_table %n unit_table %n memrefs(%x, %r, %w, %y : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @zeros units groups row_table %k unit_table %k memrefs(%z : !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @counts units groups row_table %k unit_table %k memrefs(%w, %n, %c : !ragged.buffer<8xf32>, !ragged.table, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @pack units groups row_table %k unit_table %k memrefs(%w, %t : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @rows units groups row_table %n unit_table %n memrefs(%x, %t, %w, %y : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @pack units groups row_table %k unit_table %k memrefs(%v, %t : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @update units groups row_table %k unit_table %k memrefs(%m, %u : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
  }

  ragged.schedule @copied signature {args = [{kind = "dense"}], checks = [], results = [], symbols = []} {
    %w = ragged.buffer arg 0 : !ragged.buffer<8xf32>
    %y = ragged.buffer result 0 : !ragged.buffer<8xf32>
    %z = ragged.buffer result 1 : !ragged.buffer<8xf32>
    %k = ragged.table offsets <8> path []
    %p = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    ragged.launch @pack units groups row_table %k unit_table %k memrefs(%w, %p : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @pack units groups row_table %k unit_table %k memrefs(%p, %y : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.copy %p to %z rows <1> path [] : !ragged.buffer<8xf32>
  }
}
