// RUN: nested-compile %s -o %t.so
// RUN: nested-run %t.so --lengths N=3,0,2 | FileCheck %s

// Sums of half types are in f32: nothing converts from f64 to bf16.
// CHECK: result 0: [8] bf16, 3 instances
func.func @f(%x: !ragged.tensor<[N, 8], bf16>) -> !ragged.tensor<[8], bf16> {
  %y = ragged.reduce mean %x dims [0] : !ragged.tensor<[N, 8], bf16> -> !ragged.tensor<[8], bf16>
  return %y : !ragged.tensor<[8], bf16>
}
