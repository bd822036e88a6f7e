// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-columns{max-elements=256 chunk=64}))' | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// An elementwise op and a sum share a loop, the op that needs the sum has another.

// CHECK-LABEL: func.func @norm
func.func @norm(%x: tensor<400xf32>, %zero: tensor<f32>, %Y: memref<400xf32>) attributes {ragged.kernel} {
  %e = tensor.empty() : tensor<400xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<400xf32>) outs(%e : tensor<400xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = math.exp %p : f32
    linalg.yield %0 : f32
  } -> tensor<400xf32>
  %s = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%a : tensor<400xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.addf %p, %o : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel"]}
      ins(%a, %s : tensor<400xf32>, tensor<f32>) outs(%e : tensor<400xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.divf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<400xf32>
  bufferization.materialize_in_destination %y in restrict writable %Y : (tensor<400xf32>, memref<400xf32>) -> ()
  return
}
// CHECK:         %[[END:.*]] = arith.constant 384 : index
// CHECK:         %[[FIRST:.*]]:2 = scf.for %[[C:.*]] = %{{.*}} to %[[END]] {{.*}} -> (tensor<400xf32>, tensor<f32>)
// CHECK:           %[[PART:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64xf32>)
// CHECK:             math.exp
// CHECK:           linalg.generic {{.*}} ins(%[[PART]] : tensor<64xf32>) outs(%{{.*}} : tensor<f32>)
// The last 16 of 400 columns.
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<16xf32>)
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} outs(%[[FIRST]]#1 : tensor<f32>)
// CHECK:         scf.for
// CHECK:           %[[OUT:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[SUM]] : tensor<64xf32>, tensor<f32>)
// CHECK:           %[[VIEW:.*]] = memref.subview %{{.*}}[%{{.*}}] [64] [1]
// CHECK:           bufferization.materialize_in_destination %[[OUT]] in restrict writable %[[VIEW]]

// No loop is needed, but 100 is not a power of two.

// CHECK-LABEL: func.func @odd
func.func @odd(%x: tensor<100xf32>) -> tensor<100xf32> attributes {ragged.kernel} {
  %e = tensor.empty() : tensor<100xf32>
  // CHECK-NOT: scf.for
  // CHECK: tensor<64xf32>
  // CHECK: tensor<32xf32>
  // CHECK: tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<100xf32>) outs(%e : tensor<100xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = math.exp %p : f32
    linalg.yield %0 : f32
  } -> tensor<100xf32>
  return %a : tensor<100xf32>
}

// CHECK-LABEL: func.func @fits
func.func @fits(%x: tensor<128xf32>) -> tensor<128xf32> attributes {ragged.kernel} {
  %e = tensor.empty() : tensor<128xf32>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<128xf32>)
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = math.exp %p : f32
    linalg.yield %0 : f32
  } -> tensor<128xf32>
  return %a : tensor<128xf32>
}
