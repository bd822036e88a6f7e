// The same results in every phase that is interpreted.
//
// RUN: nested-reference %s | FileCheck %s
// RUN: nested-compile %s --emit=generic | nested-reference | FileCheck %s
// RUN: nested-compile %s --emit=kernels | nested-reference | FileCheck %s
// RUN: nested-compile %s --emit=kernels --fuse=never | nested-reference | FileCheck %s

// Rows, a fold over one of two ragged dims, one over none, one over the batch;
// lengths 2 and 0 by 1 and 3.
// CHECK-LABEL: @f
func.func @f(
    %x: !ragged.tensor<[N, M], f32> {reference.values = dense<[1.0, 2.0]> : tensor<2xf32>,
        reference.lengths = [array<i64: 2, 0>, array<i64: 1, 3>]},
    %t: tensor<3x2xf32> {reference.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>},
    %i: !ragged.tensor<[N], i64> {reference.values = dense<[2, 0]> : tensor<2xi64>})
    -> (!ragged.tensor<[N], f32>, !ragged.tensor<[M], f32>, tensor<f32>, !ragged.tensor<[N, 2], f32>) {
  // CHECK-NEXT: 0 :
  // CHECK-NEXT: [0] [1, 2]
  // CHECK-NEXT: [1] []
  %a = ragged.reduce sum %x dims [1] : !ragged.tensor<[N, M], f32> -> !ragged.tensor<[N], f32>
  // CHECK-NEXT: 1 :
  // CHECK-NEXT: [0] [1.5]
  // CHECK-NEXT: [1] [0, 0, 0]
  %b = ragged.reduce mean %x dims [0] : !ragged.tensor<[N, M], f32> -> !ragged.tensor<[M], f32>
  // CHECK-NEXT: 2 : tensor<f32>
  // CHECK-NEXT: {{^ *}}2
  %c = ragged.reduce max %x dims [0, 1] batch : !ragged.tensor<[N, M], f32> -> tensor<f32>
  // CHECK-NEXT: 3 :
  // CHECK-NEXT: [0] {{\[}}[5, 6], [1, 2]]
  // CHECK-NEXT: [1] []
  %g = ragged.gather %t, %i : tensor<3x2xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 2], f32>
  return %a, %b, %c, %g : !ragged.tensor<[N], f32>, !ragged.tensor<[M], f32>, tensor<f32>, !ragged.tensor<[N, 2], f32>
}
