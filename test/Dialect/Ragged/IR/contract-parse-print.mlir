// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: func.func @contract
func.func @contract(%q: !ragged.tensor<[N, 64], f32>, %k: !ragged.tensor<[M, 64], f32>, %h: !ragged.tensor<[N, 8], bf16>) {
  // CHECK: ragged.contract "nc,mc->nm" %{{.*}}, %{{.*}} : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[M, 64], f32> -> !ragged.tensor<[N, M], f32>
  %s = ragged.contract "nc,mc->nm" %q, %k : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[M, 64], f32> -> !ragged.tensor<[N, M], f32>
  // CHECK: ragged.contract "nc,nd->cd" %{{.*}}, %{{.*}} batch : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 64], f32> -> tensor<64x64xf32>
  %w = ragged.contract "nc,nd->cd" %q, %q batch : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 64], f32> -> tensor<64x64xf32>
  // R6: narrow floats may be kept in f32.
  // CHECK: ragged.contract "nc,mc->nm" %{{.*}}, %{{.*}} : !ragged.tensor<[N, 8], bf16>, !ragged.tensor<[N, 8], bf16> -> !ragged.tensor<[N, N], f32>
  %b = ragged.contract "nc,mc->nm" %h, %h : !ragged.tensor<[N, 8], bf16>, !ragged.tensor<[N, 8], bf16> -> !ragged.tensor<[N, N], f32>
  return
}

// CHECK-LABEL: func.func @contract_kernel
func.func @contract_kernel(%q: !ragged.tensor<[N, 64], f32>, %k: !ragged.tensor<[M, 64], f32>) {
  // CHECK: ragged.contract_kernel dims [N, M, 64] iterators ["parallel", "parallel", "reduction"] path [B] maps
  // CHECK-SAME: %{{.*}}, %{{.*}} : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[M, 64], f32> -> !ragged.tensor<[N, M], f32>
  %s = ragged.contract_kernel dims [N, M, 64] iterators ["parallel", "parallel", "reduction"] path [B]
      maps [affine_map<(n, m, c) -> (n, c)>, affine_map<(n, m, c) -> (m, c)>, affine_map<(n, m, c) -> (n, m)>]
      %q, %k : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[M, 64], f32> -> !ragged.tensor<[N, M], f32>
  return
}

// CHECK-LABEL: func.func @tile_contract
func.func @tile_contract(%a: memref<?xf32>, %b: memref<?xbf16>, %t: memref<256xindex>, %i: index, %more: i1) {
  // CHECK: ragged.tile_contract lhs %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] rhs %{{.*}} into %{{.*}} size[%{{.*}}, %{{.*}}, %{{.*}}] accumulate %{{.*}} : memref<?xf32>, memref<?xbf16>, memref<?xf32>
  ragged.tile_contract lhs %a[%i, %i, %i] rhs %b[%i, %i, %i] into %a[%i, %i, %i] size [%i, %i, %i]
      accumulate %more : memref<?xf32>, memref<?xbf16>, memref<?xf32>
  // CHECK: lanes %{{.*}} tables(%{{.*}}, %{{.*}} : memref<256xindex>, memref<256xindex>) accumulate
  ragged.tile_contract lhs %a[%i, %i, %i] rhs %a[%i, %i, %i] into %a[%i, %i, %i] size [%i, %i, %i] lanes %i
      tables(%t, %t : memref<256xindex>, memref<256xindex>) accumulate %more : memref<?xf32>, memref<?xf32>, memref<?xf32>
  return
}
