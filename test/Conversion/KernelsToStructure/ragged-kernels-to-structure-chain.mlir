// RUN: nested-opt %s --ragged-kernels-to-structure=vector-bits=256 --canonicalize --cse --split-input-file | FileCheck %s

// A softmax over rows: one function goes along the rows of a sample for the maximum, for the sum and for the quotient. What is
// folded stays in memory of the thread. Exponentials are computed once: stored where the result will be, before the sum
// reads them, eight rows at a time. The result may be in the memory of the argument.
// CHECK-LABEL: func.func @max_k(
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf32> {ragged.own_units}, %[[Y:[^:]*]]: memref<?xf32> {ragged.own_units}, %{{[^:]*}}: memref<?xi64>
// CHECK: %[[MAXIMA:.*]] = memref.alloc() : memref<128xf32>
// CHECK: %[[FOLDED:.*]] = memref.alloc() : memref<128xf32>
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<128xf64>
// CHECK: %[[SCALES:.*]] = memref.alloc() : memref<128xf32>
// CHECK: scf.for
// CHECK: arith.maximumf
// CHECK: vector.store %{{.*}}, %[[MAXIMA]]
// CHECK: vector.store %{{.*}}, %[[FOLDED]]
// CHECK: scf.for %{{.*}} step %c8
// CHECK: memref.prefetch %[[X]]
// CHECK: %[[ROW:.*]] = vector.load %[[X]]
// CHECK: %[[SHIFT:.*]] = vector.load %[[FOLDED]]
// CHECK: %[[SHIFTED:.*]] = arith.subf %[[ROW]], %[[SHIFT]]
// CHECK: %[[EXP:.*]] = math.exp %[[SHIFTED]]
// CHECK: vector.store %[[EXP]], %[[Y]]
// CHECK-NOT: vector.load %[[X]]
// CHECK: %[[KEPT:.*]] = vector.load %[[Y]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[KEPT]]
// CHECK: arith.addf %{{.*}}, %[[WIDE]]
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK: arith.divf
// CHECK: vector.store %{{.*}}, %[[SCALES]]
// CHECK-NOT: math.exp
// CHECK: %[[LAST:.*]] = vector.load %[[Y]]
// CHECK: %[[SCALE:.*]] = vector.load %[[SCALES]]
// CHECK: %[[RESULT:.*]] = arith.mulf %[[LAST]], %[[SCALE]]
// CHECK: vector.store %[[RESULT]], %[[Y]]
// CHECK: return
// CHECK-NOT: func.func
// CHECK: ragged.schedule @softmax
// CHECK: ragged.buffer result 0
// CHECK-NOT: ragged.buffer temp
// CHECK: ragged.launch @max_k units groups
// CHECK-SAME: per_sample
// CHECK-NOT: ragged.launch
func.func @softmax(%x: !ragged.tensor<[N, 128], f32>) -> !ragged.tensor<[N, 128], f32> {
  %m = ragged.kernel "max_k" space [N] path [B] groups 0 units groups tile 48 ins(%x : !ragged.tensor<[N, 128], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 128], f32>):
    %0 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 128], f32> -> tensor<48x128xf32>
    %1 = ragged.tile_reduce %0 init [0xFF800000 : f32] extents [] combine {
    ^bb0(%r: f32, %acc: f32):
      %2 = arith.maximumf %acc, %r : f32
      ragged.yield %2 : f32
    } finalize {
    ^bb0(%acc: f32):
      ragged.yield %acc : f32
    } : tensor<48x128xf32> -> tensor<128xf32>
    ragged.tile_yield %1 : tensor<128xf32>
  } -> !ragged.tensor<[128], f32>
  %s = ragged.kernel "sum_k" space [N] path [B] groups 0 units groups tile 48 ins(%x, %m : !ragged.tensor<[N, 128], f32>, !ragged.tensor<[128], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 128], f32>, %b: !ragged.tensor<[128], f32>):
    %e = tensor.empty() : tensor<48x128xf64>
    %0 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 128], f32> -> tensor<48x128xf32>
    %1 = ragged.tile_read %b at %t map affine_map<(d0) -> ()> : !ragged.tensor<[128], f32> -> tensor<48x128xf32>
    %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<48x128xf32>, tensor<48x128xf32>) outs(%e : tensor<48x128xf64>) {
    ^bb0(%r: f32, %shift: f32, %o: f64):
      %3 = arith.subf %r, %shift : f32
      %4 = math.exp %3 : f32
      %5 = arith.extf %4 : f32 to f64
      linalg.yield %5 : f64
    } -> tensor<48x128xf64>
    %6 = ragged.tile_reduce %2 init [0.0 : f64] extents [] combine {
    ^bb0(%r: f64, %acc: f64):
      %7 = arith.addf %acc, %r : f64
      ragged.yield %7 : f64
    } finalize {
    ^bb0(%acc: f64):
      %one = arith.constant 1.0 : f32
      %7 = arith.truncf %acc : f64 to f32
      %8 = arith.divf %one, %7 : f32
      ragged.yield %8 : f32
    } : tensor<48x128xf64> -> tensor<128xf32>
    ragged.tile_yield %6 : tensor<128xf32>
  } -> !ragged.tensor<[128], f32>
  %y = ragged.kernel "map_k" space [N] path [B] groups 1 units groups tile 48 ins(%x, %m, %s : !ragged.tensor<[N, 128], f32>, !ragged.tensor<[128], f32>, !ragged.tensor<[128], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 128], f32>, %b: !ragged.tensor<[128], f32>, %c: !ragged.tensor<[128], f32>):
    %e = tensor.empty() : tensor<48x128xf32>
    %0 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 128], f32> -> tensor<48x128xf32>
    %1 = ragged.tile_read %b at %t map affine_map<(d0) -> ()> : !ragged.tensor<[128], f32> -> tensor<48x128xf32>
    %2 = ragged.tile_read %c at %t map affine_map<(d0) -> ()> : !ragged.tensor<[128], f32> -> tensor<48x128xf32>
    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]} ins(%0, %1, %2 : tensor<48x128xf32>, tensor<48x128xf32>, tensor<48x128xf32>) outs(%e : tensor<48x128xf32>) {
    ^bb0(%r: f32, %shift: f32, %scale: f32, %o: f32):
      %4 = arith.subf %r, %shift : f32
      %5 = math.exp %4 : f32
      %6 = arith.mulf %5, %scale : f32
      linalg.yield %6 : f32
    } -> tensor<48x128xf32>
    ragged.tile_yield %3 : tensor<48x128xf32>
  } -> !ragged.tensor<[N, 128], f32>
  return %y : !ragged.tensor<[N, 128], f32>
}

// -----

// Rows of one element: what is folded is one number in a register, and a result of the program too.
// CHECK-LABEL: func.func @sum_narrow(
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf32> {ragged.own_units}, %[[SUMS:[^:]*]]: memref<?xf32>, %[[Y:[^:]*]]: memref<?xf32> {ragged.own_units}
// CHECK-NOT: memref.alloc
// CHECK: scf.if
// CHECK: %[[SUM:.*]] = vector.extract %{{.*}}[0] : f32 from vector<1xf32>
// CHECK: memref.store %[[SUM]], %[[SUMS]]
// CHECK: vector.broadcast %[[SUM]]
// CHECK: arith.subf
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK: ragged.launch @sum_narrow
// CHECK-NOT: ragged.launch
func.func @narrow(%x: !ragged.tensor<[N], f32>) -> (!ragged.tensor<[], f32>, !ragged.tensor<[N], f32>) {
  %s = ragged.kernel "sum_narrow" space [N] path [B] groups 0 units groups tile 48 ins(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N], f32>):
    %0 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N], f32> -> tensor<48xf32>
    %1 = ragged.tile_reduce %0 init [0.0 : f32] extents [] combine {
    ^bb0(%r: f32, %acc: f32):
      %2 = arith.addf %acc, %r : f32
      ragged.yield %2 : f32
    } finalize {
    ^bb0(%acc: f32):
      ragged.yield %acc : f32
    } : tensor<48xf32> -> tensor<f32>
    ragged.tile_yield %1 : tensor<f32>
  } -> !ragged.tensor<[], f32>
  %y = ragged.kernel "map_narrow" space [N] path [B] groups 1 units groups tile 48 ins(%x, %s : !ragged.tensor<[N], f32>, !ragged.tensor<[], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N], f32>, %b: !ragged.tensor<[], f32>):
    %0 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N], f32> -> tensor<48xf32>
    %1 = ragged.tile_read %b at %t map affine_map<(d0) -> ()> : !ragged.tensor<[], f32> -> tensor<48xf32>
    %2 = arith.subf %0, %1 : tensor<48xf32>
    ragged.tile_yield %2 : tensor<48xf32>
  } -> !ragged.tensor<[N], f32>
  return %s, %y : !ragged.tensor<[], f32>, !ragged.tensor<[N], f32>
}

// -----

// What the second kernel reads is that of another unit: of the row whose number is the column of its own one.
// CHECK-LABEL: ragged.schedule @other_units
// CHECK: ragged.launch @sum_rows
// CHECK: ragged.launch @map_columns
func.func @other_units(%x: !ragged.tensor<[N, N, 8], f32>) -> !ragged.tensor<[N, N, 8], f32> {
  %s = ragged.kernel "sum_rows" space [N, N] path [B] groups 1 units groups tile 48 ins(%x : !ragged.tensor<[N, N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, N, 8], f32>):
    %0 = ragged.tile_read %a at %t map affine_map<(d0, d1) -> (d0, d1)> : !ragged.tensor<[N, N, 8], f32> -> tensor<48x8xf32>
    %1 = ragged.tile_reduce %0 init [0.0 : f32] extents [] combine {
    ^bb0(%r: f32, %acc: f32):
      %2 = arith.addf %acc, %r : f32
      ragged.yield %2 : f32
    } finalize {
    ^bb0(%acc: f32):
      ragged.yield %acc : f32
    } : tensor<48x8xf32> -> tensor<8xf32>
    ragged.tile_yield %1 : tensor<8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  %y = ragged.kernel "map_columns" space [N, N] path [B] groups 2 units groups tile 48 ins(%x, %s : !ragged.tensor<[N, N, 8], f32>, !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, N, 8], f32>, %b: !ragged.tensor<[N, 8], f32>):
    %0 = ragged.tile_read %a at %t map affine_map<(d0, d1) -> (d0, d1)> : !ragged.tensor<[N, N, 8], f32> -> tensor<48x8xf32>
    %1 = ragged.tile_read %b at %t map affine_map<(d0, d1) -> (d1)> : !ragged.tensor<[N, 8], f32> -> tensor<48x8xf32>
    %2 = arith.subf %0, %1 : tensor<48x8xf32>
    ragged.tile_yield %2 : tensor<48x8xf32>
  } -> !ragged.tensor<[N, N, 8], f32>
  return %y : !ragged.tensor<[N, N, 8], f32>
}
