// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-contract, canonicalize))' | FileCheck %s
// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-contract{vector-bits=256}, canonicalize))' \
// RUN:   | FileCheck %s --check-prefix=AVX2

// 64 columns are one panel of 4 vectors, which is copied row by row; 6 rows of it are 24 accumulators.

// CHECK-LABEL: func.func @rows
// AVX2-LABEL: func.func @rows
func.func @rows(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %rows: index) attributes {ragged.kernel} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %false = arith.constant false
  // CHECK: %[[PANEL:.*]] = memref.alloc() : memref<4096xf32>
  // CHECK: vector.load %{{.*}} : memref<?xf32>, vector<16xf32>
  // CHECK: vector.store %{{.*}}, %[[PANEL]]
  // CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
  // CHECK-COUNT-24: vector.fma
  // AVX2: vector.load {{.*}} vector<8xf32>
  // AVX2: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
  // Two steps over the depth in each iteration.
  // AVX2-COUNT-24: vector.fma
  // AVX2: scf.yield
  ragged.tile_contract lhs %a[%0, %64, %1] rhs %b[%0, %64, %1] into %c[%0, %64, %1] size [%rows, %64, %64]
      accumulate %false : memref<?xf32>, memref<?xf32>, memref<?xf32>
  // CHECK-NOT: ragged.tile_contract
  return
}

// Depth that is stored side by side is transposed in registers: 4 steps of 16 shuffles.

// CHECK-LABEL: func.func @transposed
// CHECK-COUNT-64: vector.shuffle
func.func @transposed(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %rows: index) attributes {ragged.kernel} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  %false = arith.constant false
  ragged.tile_contract lhs %a[%0, %64, %1] rhs %b[%0, %1, %64] into %c[%0, %64, %1] size [%rows, %64, %64]
      accumulate %false : memref<?xf32>, memref<?xf32>, memref<?xf32>
  return
}

// Lanes: both operands are copied, a line of the cache at a time: 24 rows and 144 columns of 256 steps. Sums of 24 rows and
// 12 columns wait beside them; a block is 4 rows and 6 columns.

// CHECK-LABEL: func.func @lanes
// CHECK-DAG: memref.alloc() : memref<98304xf32>
// CHECK-DAG: memref.alloc() : memref<589824xf32>
// CHECK-DAG: memref.alloc() : memref<4608xf32>
// CHECK-COUNT-24: vector.fma
// AVX2-LABEL: func.func @lanes
// Two vectors are a line.
// AVX2: vector.load %{{.*}} : memref<?xf32>, vector<8xf32>
// AVX2: vector.load %{{.*}} : memref<?xf32>, vector<8xf32>
// Two steps at a time, then one that is left; 2 rows and 6 columns.
// AVX2: scf.for
// AVX2-COUNT-24: vector.fma
// AVX2: scf.for
// AVX2-COUNT-12: vector.fma
func.func @lanes(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %n: index) attributes {ragged.kernel} {
  %0 = arith.constant 0 : index
  %32 = arith.constant 32 : index
  %s = arith.muli %n, %32 : index
  %false = arith.constant false
  ragged.tile_contract lhs %a[%0, %s, %32] rhs %b[%0, %32, %s] into %c[%0, %s, %32] size [%n, %n, %n] lanes %32
      accumulate %false : memref<?xf32>, memref<?xf32>, memref<?xf32>
  return
}

// Narrow floats are widened where they are read; integers have no fused multiply-add.

// CHECK-LABEL: func.func @types
// CHECK: arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.muli %{{.*}} : vector<16xi32>
// CHECK: arith.ori %{{.*}} : vector<64xi8>
func.func @types(%a: memref<?xbf16>, %c: memref<?xf32>, %i: memref<?xi32>, %b: memref<?xi8>, %n: index) attributes {ragged.kernel} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %true = arith.constant true
  ragged.tile_contract lhs %a[%0, %n, %1] rhs %a[%0, %n, %1] into %c[%0, %n, %1] size [%n, %n, %n]
      accumulate %true : memref<?xbf16>, memref<?xbf16>, memref<?xf32>
  ragged.tile_contract lhs %i[%0, %n, %1] rhs %i[%0, %n, %1] into %i[%0, %n, %1] size [%n, %n, %n]
      accumulate %true : memref<?xi32>, memref<?xi32>, memref<?xi32>
  ragged.tile_contract lhs %b[%0, %n, %1] rhs %b[%0, %n, %1] into %b[%0, %n, %1] size [%n, %n, %n]
      accumulate %true {boolean} : memref<?xi8>, memref<?xi8>, memref<?xi8>
  return
}
