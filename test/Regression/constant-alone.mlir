// RUN: nested-compile %s -o %t.so
// RUN: nested-run %t.so --describe | FileCheck %s

// A program without one op of the ragged dialect: the passes bring it along.
// CHECK: f
func.func @f() -> tensor<4xf32> {
  %0 = arith.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
