// A schedule becomes an entry of the manifest; docs/Artifact.md says what is what.
// RUN: nested-compile %s -o %t.so --target=cpu:x86-64
// RUN: %python %S/Inputs/manifest.py %t.so > %t.json && FileCheck %s --input-file=%t.json

module attributes {ragged.phase = "loops"} {
  func.func @k(%x: memref<?x16xf32>, %o: memref<?xi64>, %t: memref<?x16xf32>, %e: memref<?xi64>, %n: index,
               %begin: index, %end: index, %scratch: memref<?xi8>) attributes {ragged.kernel, ragged.scratch_bytes = 128 : i64} {
    return
  }
  ragged.schedule @f signature {
      symbols = [{name = "N", path = ["B"], arg = 0, dim = 0}],
      args = [{name = "x", kind = "ragged", dtype = "f32", extents = [#ragged.extent<N>, #ragged.extent<16>], path = ["B"]}],
      results = [{name = "0", kind = "ragged", dtype = "f32", extents = ["N", "16"], path = ["B"]}]} {
    %o = ragged.table offsets <N> path [B]
    %b = ragged.table base arg 0 path [B]
    %x = ragged.buffer arg 0 : !ragged.buffer<16xf32>
    %y = ragged.buffer result 0 : !ragged.buffer<16xf32>
    %t = ragged.buffer temp total %o : !ragged.buffer<16xf32>
    %u = ragged.alias %t : !ragged.buffer<16xf32>
    ragged.launch @k units chunks chunk 64 row_table %o memrefs(%x, %b, %t : !ragged.buffer<16xf32>, !ragged.table, !ragged.buffer<16xf32>)
        scalars(%o) {tile_rows = 48 : i64, flops_per_row = 2 : i64, bytes_per_row = 128 : i64, errors = ["bad {value}"]}
    ragged.copy %x to %y rows <N> path [B] : !ragged.buffer<16xf32>
    ragged.copy %u to %y rows <N> path [B] : !ragged.buffer<16xf32>
  }
}

// CHECK: "entries": [
// CHECK: "args": [
// CHECK: "extents": [
// CHECK-NEXT: "N",
// CHECK-NEXT: "16"
// CHECK: "buffers": [
// CHECK: "kind": "arg"
// CHECK: "kind": "result"
// The temporary is used by the last step, under its other name.
// CHECK: "first": 0,
// CHECK-NEXT: "kind": "temp",
// CHECK-NEXT: "last": 2,
// CHECK-NEXT: "row_bytes": 64,
// CHECK-NEXT: "rows": {
// CHECK-NEXT: "total": 0
// CHECK: "kind": "alias",
// CHECK-NEXT: "of": 2
// CHECK: "name": "f",
// CHECK: "steps": [
// CHECK: "bytes_per_row": 128,
// CHECK-NEXT: "errors": [
// CHECK-NEXT: "bad {value}"
// CHECK: "flops_per_row": 2,
// CHECK-NEXT: "kernel": "k",
// CHECK: "buffer": 0
// CHECK: "table": 1
// CHECK: "buffer": 2
// CHECK: "error": 0
// CHECK: "op": "launch",
// CHECK: "scratch_bytes": 128,
// CHECK: "tile_rows": 48,
// CHECK-NEXT: "units": {
// CHECK-NEXT: "kind": "chunks",
// CHECK-NEXT: "row_table": 0,
// CHECK-NEXT: "rows": 64
// CHECK: "from": 0,
// CHECK-NEXT: "op": "copy",
// CHECK-NEXT: "to": 1
// CHECK: "tables": [
// CHECK: "extent": "N",
// CHECK-NEXT: "kind": "offsets",
// CHECK: "arg": 0,
// CHECK-NEXT: "kind": "base"
// CHECK: "format": 1,
