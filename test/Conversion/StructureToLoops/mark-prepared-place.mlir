// RUN: nested-opt %s --mark-prepared | FileCheck %s

// Behind launches per sample, what is prepared stands in front of the launch that reads it: what the first one does not need takes no memory yet.
// Not behind the third launch of @rows, which is for the whole batch and takes no turns with the others.

// CHECK-LABEL: ragged.schedule @f
// CHECK:         ragged.launch @pack {{.*}}memrefs(%[[W:[0-9]+]], %[[P:[0-9]+]] :
// CHECK-NEXT:    ragged.launch @rows {{.*}}memrefs(%{{[0-9]+}}, %[[P]],
// CHECK-NEXT:    ragged.launch @pack {{.*}}memrefs(%[[W]], %[[Q:[0-9]+]] :
// CHECK-NEXT:    ragged.launch @rows {{.*}}memrefs(%{{[0-9]+}}, %[[Q]],
// CHECK-NEXT:    ragged.launch @pack {{.*}}memrefs(%[[W]], %[[R:[0-9]+]] :
// CHECK-NEXT:    ragged.launch @rows {{.*}}memrefs(%{{[0-9]+}}, %[[Q]],
// CHECK-NEXT:    ragged.launch @rows {{.*}}memrefs(%{{[0-9]+}}, %[[R]],
// CHECK-NOT:     ragged.launch

module attributes {ragged.phase = "loops"} {
  func.func @pack(%from: memref<8xf32>, %to: memref<8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %x = memref.load %from[%begin] : memref<8xf32>
    memref.store %x, %to[%begin] : memref<8xf32>
    return
  }
  func.func @rows(%x: memref<?x8xf32>, %w: memref<8xf32>, %y: memref<?x8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %s = memref.load %x[%begin, %c0] : memref<?x8xf32>
    %t = memref.load %w[%c0] : memref<8xf32>
    %p = arith.mulf %s, %t : f32
    memref.store %p, %y[%begin, %c0] : memref<?x8xf32>
    return
  }

  ragged.schedule @f signature {args = [{kind = "ragged"}, {kind = "dense"}], checks = [], results = [], symbols = []} {
    %x = ragged.buffer arg 0 : !ragged.buffer<8xf32>
    %w = ragged.buffer arg 1 : !ragged.buffer<8xf32>
    %y = ragged.buffer result 0 : !ragged.buffer<8xf32>
    %n = ragged.table offsets <N> path [B]
    %k = ragged.table offsets <8> path []
    %p = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    %q = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    %r = ragged.buffer temp rows 1 : !ragged.buffer<8xf32>
    ragged.launch @pack units groups row_table %k unit_table %k memrefs(%w, %p : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @pack units groups row_table %k unit_table %k memrefs(%w, %q : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @rows units groups row_table %n unit_table %n memrefs(%x, %p, %y : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64, per_sample}
    ragged.launch @rows units groups row_table %n unit_table %n memrefs(%x, %q, %y : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64, per_sample}
    ragged.launch @pack units groups row_table %k unit_table %k memrefs(%w, %r : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @rows units groups row_table %n unit_table %n memrefs(%x, %q, %y : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @rows units groups row_table %n unit_table %n memrefs(%x, %r, %y : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.buffer<8xf32>) {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64, per_sample}
  }
}
