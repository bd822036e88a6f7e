// RUN: nested-opt %s --define-arithmetic | FileCheck %s

// By zero: 0. By -1: the negative, which wraps for the least number.
// CHECK-LABEL: func.func @divide
// CHECK-SAME: %[[X:.*]]: vector<4xi32>, %[[Y:.*]]: vector<4xi32>
// CHECK-DAG: %[[ZERO:.*]] = arith.cmpi eq, %[[Y]], %{{.*}}
// CHECK-DAG: %[[MINUS:.*]] = arith.cmpi eq, %[[Y]], %{{.*}}
// CHECK: %[[SPECIAL:.*]] = arith.ori
// CHECK: %[[SAFE:.*]] = arith.select %[[SPECIAL]], %{{.*}}, %[[Y]]
// CHECK: %[[Q:.*]] = arith.divsi %[[X]], %[[SAFE]]
// CHECK: arith.subi %{{.*}}, %[[X]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[Q]]
// CHECK: %[[R:.*]] = arith.select
// CHECK: return %[[R]]
func.func @divide(%x: vector<4xi32>, %y: vector<4xi32>) -> vector<4xi32> {
  %q = arith.divsi %x, %y : vector<4xi32>
  return %q : vector<4xi32>
}

// The remainder by 1, which stands for 0 and -1, is 0.
// CHECK-LABEL: func.func @remainder
// CHECK: %[[SAFE:.*]] = arith.select
// CHECK: %[[R:.*]] = arith.remsi %{{.*}}, %[[SAFE]]
// CHECK-NEXT: return %[[R]]
func.func @remainder(%x: i8, %y: i8) -> i8 {
  %r = arith.remsi %x, %y : i8
  return %r : i8
}

// CHECK-LABEL: func.func @divide_unsigned
// CHECK: arith.divui
// CHECK: arith.select
// CHECK: return
func.func @divide_unsigned(%x: i8, %y: i8) -> i8 {
  %q = arith.divui %x, %y : i8
  return %q : i8
}

// Constants are known to be in range, coordinates have type index.
// CHECK-LABEL: func.func @known
// CHECK-NOT: arith.select
// CHECK: return
func.func @known(%x: i32, %i: index) -> (i32, i32, index) {
  %c = arith.constant 3 : i32
  %q = arith.floordivsi %x, %c : i32
  %s = arith.shli %q, %c : i32
  %j = arith.divui %i, %i : index
  return %q, %s, %j : i32, i32, index
}

// CHECK-LABEL: func.func @shift
// CHECK: arith.cmpi ule
// CHECK: arith.shli
// CHECK: %[[L:.*]] = arith.select
// CHECK: %[[R:.*]] = arith.shrsi
// CHECK: return %[[L]], %[[R]]
func.func @shift(%x: i16, %n: i16) -> (i16, i16) {
  %l = arith.shli %x, %n : i16
  %r = arith.shrsi %x, %n : i16
  return %l, %r : i16, i16
}

// Limits of wide integers are no numbers of half precision.
// CHECK-LABEL: func.func @convert
// CHECK-SAME: %[[X:.*]]: vector<2xf16>
// CHECK: %[[W:.*]] = arith.extf %[[X]] : vector<2xf16> to vector<2xf32>
// CHECK: arith.cmpf oge, %[[W]]
// CHECK: arith.cmpf olt, %[[W]]
// CHECK: arith.cmpf uno, %[[W]], %[[W]]
// CHECK: arith.fptosi %{{.*}} : vector<2xf32> to vector<2xi32>
// CHECK-COUNT-2: arith.select
// CHECK: return
func.func @convert(%x: vector<2xf16>) -> vector<2xi32> {
  %i = arith.fptosi %x : vector<2xf16> to vector<2xi32>
  return %i : vector<2xi32>
}

// CHECK-LABEL: func.func @convert_unsigned
// CHECK: arith.cmpf ole
// CHECK: arith.fptoui
// CHECK-COUNT-1: arith.select
// CHECK: return
func.func @convert_unsigned(%x: f32) -> i8 {
  %i = arith.fptoui %x : f32 to i8
  return %i : i8
}

// By squaring, until no element has bits of its exponent left.
// CHECK-LABEL: func.func @power
// CHECK: scf.while
// CHECK: vector.reduction <or>
// CHECK: scf.condition
// CHECK: arith.muli
// CHECK: arith.shrui
// CHECK-NOT: math.ipowi
// CHECK: return
func.func @power(%x: vector<2x4xi64>, %n: vector<2x4xi64>) -> vector<2x4xi64> {
  %p = math.ipowi %x, %n : vector<2x4xi64>
  return %p : vector<2x4xi64>
}
