// RUN: nested-opt %s --split-input-file --bind-services | FileCheck %s

// The number of the service is its place in services.def; the module says how
// long the table must be.
// CHECK: module attributes {ragged.services = 1 : i64}
// CHECK: llvm.mlir.global external @nested_services_slot()
// CHECK-LABEL: func @scalar
// CHECK-SAME: (%[[X:.*]]: f64)
// CHECK: %[[SLOT:.*]] = llvm.mlir.addressof @nested_services_slot
// CHECK: %[[TABLE:.*]] = llvm.load %[[SLOT]]
// CHECK: %[[ENTRY:.*]] = llvm.getelementptr %[[TABLE]][0]
// CHECK: %[[EXP:.*]] = llvm.load %[[ENTRY]]
// CHECK: llvm.call %[[EXP]](%[[X]]) {{.*}} : !llvm.ptr, (f64) -> f64
func.func @scalar(%x: f64) -> f64 {
  %r = math.exp %x : f64
  return %r : f64
}

// -----

// The pointer is loaded once, outside of the loop.
// CHECK-LABEL: func @in_loop
// CHECK-COUNT-2: llvm.load
// CHECK: scf.for
// CHECK-NOT: llvm.load
// CHECK: llvm.call
func.func @in_loop(%m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %m[%i] : memref<?xf32>
    %y = math.atan %x : f32
    memref.store %y, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// CHECK-LABEL: func @short_vector
// CHECK-COUNT-2: llvm.call {{.*}} : !llvm.ptr, (f64, f64) -> f64
// CHECK-NOT: llvm.call
func.func @short_vector(%x: vector<2xf64>) -> vector<2xf64> {
  %r = math.powf %x, %x : vector<2xf64>
  return %r : vector<2xf64>
}

// -----

// CHECK-LABEL: func @long_vector
// CHECK: memref.alloca() {{.*}} : memref<32xf32>
// CHECK: scf.for
// CHECK: llvm.call {{.*}} : !llvm.ptr, (f32) -> f32
// CHECK: vector.load
// CHECK: vector.shape_cast {{.*}} : vector<32xf32> to vector<2x16xf32>
func.func @long_vector(%x: vector<2x16xf32>) -> vector<2x16xf32> {
  %r = math.tan %x : vector<2x16xf32>
  return %r : vector<2x16xf32>
}

// -----

// CHECK-LABEL: func @half
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: llvm.call {{.*}} : !llvm.ptr, (f32, f32) -> f32
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @half(%x: f16) -> f16 {
  %r = arith.remf %x, %x : f16
  return %r : f16
}

// -----

// Instructions of every target stay, and no table is needed for them.
// CHECK-NOT: ragged.services
// CHECK-LABEL: func @instructions
// CHECK: math.floor
// CHECK: math.sqrt
func.func @instructions(%x: f32) -> f32 {
  %a = math.floor %x : f32
  %b = math.sqrt %a : f32
  return %b : f32
}
