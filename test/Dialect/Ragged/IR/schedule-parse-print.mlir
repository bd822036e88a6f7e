// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: ragged.schedule @f signature {results = []} {
ragged.schedule @f signature {results = []} {
  // CHECK: ragged.table extent <N> path [B]
  %n = ragged.table extent <N> path [B]
  // CHECK: ragged.table offsets <N * N> path [B]
  %o = ragged.table offsets <N * N> path [B]
  // CHECK: ragged.table base arg 0 path [B]
  %b = ragged.table base arg 0 path [B]
  // CHECK: ragged.table parent path [B, S]
  %q = ragged.table parent path [B, S]
  // CHECK: ragged.table row_splits path [B] extents [N, N] level 1
  %s = ragged.table row_splits path [B] extents [N, N] level 1

  // CHECK: ragged.buffer arg 0 : !ragged.buffer<128xf32>
  %x = ragged.buffer arg 0 : !ragged.buffer<128xf32>
  // CHECK: ragged.buffer result 1 : !ragged.buffer<128xf32>
  %y = ragged.buffer result 1 : !ragged.buffer<128xf32>
  // CHECK: ragged.buffer temp total %{{.*}} : !ragged.buffer<128xf32>
  %u = ragged.buffer temp total %o : !ragged.buffer<128xf32>
  // CHECK: ragged.buffer temp total %{{.*}} chunk 4096 : !ragged.buffer<128xf32>
  %p = ragged.buffer temp total %o chunk 4096 : !ragged.buffer<128xf32>
  // CHECK: ragged.buffer temp rows 1 : !ragged.buffer<i64>
  %c = ragged.buffer temp rows 1 : !ragged.buffer<i64>
  // CHECK: ragged.alias %{{.*}} : !ragged.buffer<128xf32>
  %a = ragged.alias %x : !ragged.buffer<128xf32>

  // CHECK: ragged.launch @k units groups row_table %{{.*}} unit_table %{{.*}} memrefs(%{{.*}}, %{{.*}} : !ragged.buffer<128xf32>, !ragged.table) scalars(%{{.*}})
  ragged.launch @k units groups row_table %o unit_table %n memrefs(%x, %o : !ragged.buffer<128xf32>, !ragged.table)
      scalars(%o) {tile_rows = 48 : i64, flops_per_row = 2 : i64, bytes_per_row = 512 : i64}
  // CHECK: ragged.launch @k units chunks chunk 4096 row_table %{{.*}} memrefs()
  ragged.launch @k units chunks chunk 4096 row_table %o memrefs()
      {tile_rows = 48 : i64, flops_per_row = 2 : i64, bytes_per_row = 512 : i64, errors = ["index {value}"]}
  // CHECK: ragged.bind "K" path [B] upper <N> from %{{.*}} : !ragged.buffer<i64>
  ragged.bind "K" path [B] upper <N> from %c : !ragged.buffer<i64>
  // CHECK: ragged.check eq <N> <M> path [B] what "x + y" where "f.py:3"
  ragged.check eq <N> <M> path [B] what "x + y" where "f.py:3"
  // CHECK: ragged.check le <T> <N> path [B] what "nest" where "f.py:4" sum_over [B, S]
  ragged.check le <T> <N> path [B] what "nest" where "f.py:4" sum_over [B, S]
  // CHECK: ragged.copy %{{.*}} to %{{.*}} rows <N> path [B] : !ragged.buffer<128xf32>
  ragged.copy %x to %y rows <N> path [B] : !ragged.buffer<128xf32>
  // CHECK: ragged.store_table %{{.*}} to %{{.*}} : !ragged.buffer<i64>
  ragged.store_table %o to %c : !ragged.buffer<i64>
  // CHECK: ragged.store_table %{{.*}} total to %{{.*}} : !ragged.buffer<i64>
  ragged.store_table %o total to %c : !ragged.buffer<i64>
  // CHECK: ragged.host_call "locate" extents [N, N] path [B] ins(%{{.*}} : !ragged.buffer<i64>) outs(%{{.*}}, %{{.*}} : !ragged.buffer<i64>, !ragged.buffer<i64>)
  ragged.host_call "locate" extents [N, N] path [B] ins(%c : !ragged.buffer<i64>)
      outs(%c, %c : !ragged.buffer<i64>, !ragged.buffer<i64>)
}
