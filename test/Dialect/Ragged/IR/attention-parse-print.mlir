// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: func.func @attention
func.func @attention(%q: !ragged.tensor<[N, 4, 8], f32>, %k: !ragged.tensor<[M, 2, 8], f32>, %b: !ragged.tensor<[N, M, 4], f32>,
    %m: !ragged.tensor<[N, M], i1>) {
  // CHECK: ragged.attention %{{.*}}, %{{.*}}, %{{.*}} : !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32> -> !ragged.tensor<[N, 4, 8], f32>
  %o = ragged.attention %q, %k, %k : !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32>
      -> !ragged.tensor<[N, 4, 8], f32>
  // CHECK: ragged.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} mask %{{.*}} {left = 5 : i64, right = 0 : i64, scale = 5.000000e-01 : f64, soft_cap = 3.000000e+01 : f64}
  // CHECK-SAME: bias !ragged.tensor<[N, M, 4], f32> mask !ragged.tensor<[N, M], i1> -> !ragged.tensor<[N, 4, 8], f32>
  %p = ragged.attention %q, %k, %k bias %b mask %m {left = 5 : i64, right = 0 : i64, scale = 0.5 : f64, soft_cap = 30.0 : f64}
      : !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32>
        bias !ragged.tensor<[N, M, 4], f32> mask !ragged.tensor<[N, M], i1> -> !ragged.tensor<[N, 4, 8], f32>
  return
}

// CHECK-LABEL: func.func @tile_attention
func.func @tile_attention(%a: memref<?xf32>, %m: memref<?xi8>, %i: index) {
  // CHECK: ragged.tile_attention query %{{.*}}[%{{.*}}, %{{.*}}] key %{{.*}} value %{{.*}} into %{{.*}} size[%{{.*}}, %{{.*}}] position %{{.*}} bias %{{.*}} mask %{{.*}}
  ragged.tile_attention query %a[%i, %i] key %a[%i, %i] value %a[%i, %i] into %a[%i, %i] size [%i, %i] position %i
      bias %a[%i, %i, %i] mask %m[%i, %i, %i] {head_size = 8 : i64, value_size = 8 : i64, scale = 1.0 : f64}
      : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32> bias memref<?xf32> mask memref<?xi8>
  return
}

// The second result: a shift and a factor for each query and head.

// CHECK-LABEL: func.func @normalizer
func.func @normalizer(%q: !ragged.tensor<[N, 2, 8], bf16>) -> !ragged.tensor<[N, 2, 2], f32> {
  // CHECK: ragged.attention {{.*}} -> !ragged.tensor<[N, 2, 8], bf16>, !ragged.tensor<[N, 2, 2], f32>
  %o, %n = ragged.attention %q, %q, %q : !ragged.tensor<[N, 2, 8], bf16>, !ragged.tensor<[N, 2, 8], bf16>, !ragged.tensor<[N, 2, 8], bf16>
      -> !ragged.tensor<[N, 2, 8], bf16>, !ragged.tensor<[N, 2, 2], f32>
  return %n : !ragged.tensor<[N, 2, 2], f32>
}

// Gradients are wide, and of each sample where operands are shared.

// CHECK-LABEL: func.func @gradient
func.func @gradient(%q: !ragged.tensor<[N, 4, 8], bf16>, %k: tensor<9x2x8xbf16>, %b: !ragged.tensor<[N, 9], bf16>, %m: !ragged.tensor<[N, 9, 4], i1>,
    %n: !ragged.tensor<[N, 4, 2], f32>) {
  // CHECK: ragged.attention_gradient %{{.*}}, %{{.*}}, %{{.*}} seed %{{.*}} result %{{.*}}, %{{.*}} :
  // CHECK-SAME: seed !ragged.tensor<[N, 4, 8], bf16> result !ragged.tensor<[N, 4, 8], bf16>, !ragged.tensor<[N, 4, 2], f32>
  // CHECK-SAME: -> !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[9, 2, 8], f32>, !ragged.tensor<[9, 2, 8], f32>{{$}}
  %0:3 = ragged.attention_gradient %q, %k, %k seed %q result %q, %n
      : !ragged.tensor<[N, 4, 8], bf16>, tensor<9x2x8xbf16>, tensor<9x2x8xbf16> seed !ragged.tensor<[N, 4, 8], bf16>
        result !ragged.tensor<[N, 4, 8], bf16>, !ragged.tensor<[N, 4, 2], f32>
      -> !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[9, 2, 8], f32>, !ragged.tensor<[9, 2, 8], f32>
  // CHECK: ragged.attention_gradient %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} mask %{{.*}} seed %{{.*}} result %{{.*}}, %{{.*}} {left = 5 : i64}
  // CHECK-SAME: bias !ragged.tensor<[N, 9], bf16> mask !ragged.tensor<[N, 9, 4], i1> seed
  // CHECK-SAME: , !ragged.tensor<[N, 9], f32>{{$}}
  %1:4 = ragged.attention_gradient %q, %k, %k bias %b mask %m seed %q result %q, %n {left = 5 : i64}
      : !ragged.tensor<[N, 4, 8], bf16>, tensor<9x2x8xbf16>, tensor<9x2x8xbf16>
        bias !ragged.tensor<[N, 9], bf16> mask !ragged.tensor<[N, 9, 4], i1> seed !ragged.tensor<[N, 4, 8], bf16>
        result !ragged.tensor<[N, 4, 8], bf16>, !ragged.tensor<[N, 4, 2], f32>
      -> !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[9, 2, 8], f32>, !ragged.tensor<[9, 2, 8], f32>, !ragged.tensor<[N, 9], f32>
  return
}

// That of a bias of all members of a sample is one for them, in f64; of a batch, one for each sample.

// CHECK-LABEL: func.func @gradient_of_members
func.func @gradient_of_members(%q: !ragged.tensor<[N, 2, 8], bf16, path = [B, I]>, %b: !ragged.tensor<[N, N, 2], bf16>,
    %r: !ragged.tensor<[5, 2, 8], bf16, path = [B, I]>, %d: tensor<5x5xbf16>, %n: !ragged.tensor<[N, 2, 2], f32, path = [B, I]>,
    %m: !ragged.tensor<[5, 2, 2], f32, path = [B, I]>) {
  // CHECK: ragged.attention_gradient %{{.*}}, %{{.*}}, %{{.*}} bias
  // CHECK-SAME: , !ragged.tensor<[N, N, 2], f64>{{$}}
  %0:4 = ragged.attention_gradient %q, %q, %q bias %b seed %q result %q, %n
      : !ragged.tensor<[N, 2, 8], bf16, path = [B, I]>, !ragged.tensor<[N, 2, 8], bf16, path = [B, I]>, !ragged.tensor<[N, 2, 8], bf16, path = [B, I]>
        bias !ragged.tensor<[N, N, 2], bf16> seed !ragged.tensor<[N, 2, 8], bf16, path = [B, I]>
        result !ragged.tensor<[N, 2, 8], bf16, path = [B, I]>, !ragged.tensor<[N, 2, 2], f32, path = [B, I]>
      -> !ragged.tensor<[N, 2, 8], f32, path = [B, I]>, !ragged.tensor<[N, 2, 8], f32, path = [B, I]>, !ragged.tensor<[N, 2, 8], f32, path = [B, I]>,
         !ragged.tensor<[N, N, 2], f64>
  // CHECK: ragged.attention_gradient %{{.*}}, %{{.*}}, %{{.*}} bias
  // CHECK-SAME: , !ragged.tensor<[5, 5], f64>{{$}}
  %1:4 = ragged.attention_gradient %r, %r, %r bias %d seed %r result %r, %m
      : !ragged.tensor<[5, 2, 8], bf16, path = [B, I]>, !ragged.tensor<[5, 2, 8], bf16, path = [B, I]>, !ragged.tensor<[5, 2, 8], bf16, path = [B, I]>
        bias tensor<5x5xbf16> seed !ragged.tensor<[5, 2, 8], bf16, path = [B, I]>
        result !ragged.tensor<[5, 2, 8], bf16, path = [B, I]>, !ragged.tensor<[5, 2, 2], f32, path = [B, I]>
      -> !ragged.tensor<[5, 2, 8], f32, path = [B, I]>, !ragged.tensor<[5, 2, 8], f32, path = [B, I]>, !ragged.tensor<[5, 2, 8], f32, path = [B, I]>,
         !ragged.tensor<[5, 5], f64>
  return
}

// CHECK-LABEL: func.func @tile_attention_gradient
func.func @tile_attention_gradient(%a: memref<?xf32>, %m: memref<?xi8>, %i: index, %c: i1) {
  // CHECK: ragged.tile_attention query {{.*}} normalizer %{{.*}}[%{{.*}}, %{{.*}}] {head_size
  ragged.tile_attention query %a[%i, %i] key %a[%i, %i] value %a[%i, %i] into %a[%i, %i] size [%i, %i] position %i
      normalizer %a[%i, %i] {head_size = 8 : i64, value_size = 8 : i64, scale = 1.0 : f64}
      : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32> normalizer memref<?xf32>
  // CHECK: ragged.tile_attention_gradient query {{.*}} seed {{.*}} result {{.*}} normalizer {{.*}} accumulate %{{.*}} bias {{.*}} mask {{.*}} into query %{{.*}}[%{{.*}}, %{{.*}}] bias_gradient %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] {head_size
  ragged.tile_attention_gradient query %a[%i, %i] key %a[%i, %i] value %a[%i, %i] seed %a[%i, %i] result %a[%i, %i]
      normalizer %a[%i, %i] size [%i, %i] position %i accumulate %c bias %a[%i, %i, %i] mask %m[%i, %i, %i]
      into query %a[%i, %i] bias_gradient %a[%i, %i, %i] {head_size = 8 : i64, value_size = 8 : i64, scale = 1.0 : f64}
      : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>
        bias memref<?xf32> mask memref<?xi8> into query memref<?xf32> bias_gradient memref<?xf32>
  // CHECK: ragged.tile_attention_gradient {{.*}} into key %{{.*}}[%{{.*}}, %{{.*}}] value %{{.*}}[%{{.*}}, %{{.*}}] {head_size
  ragged.tile_attention_gradient query %a[%i, %i] key %a[%i, %i] value %a[%i, %i] seed %a[%i, %i] result %a[%i, %i]
      normalizer %a[%i, %i] size [%i, %i] position %i accumulate %c
      into key %a[%i, %i] value %a[%i, %i] {head_size = 8 : i64, value_size = 8 : i64, scale = 1.0 : f64}
      : memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>
        into key memref<?xf32> value memref<?xf32>
  return
}
