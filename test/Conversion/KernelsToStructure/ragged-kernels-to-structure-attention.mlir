// RUN: nested-opt %s --ragged-kernels-to-structure --split-input-file | FileCheck %s

// A unit of the gradients of queries is a block of queries of one head, one of those of keys and values a block of keys of one of
// their heads, with the two heads of queries that share it: the second one adds to what the first one has written.
// CHECK-LABEL: func.func @grouped_attention_gradient{{[0-9]+}}_queries(
// CHECK: ragged.tile_attention_gradient {{.*}} into query
// CHECK-LABEL: func.func @grouped_attention_gradient{{[0-9]+}}_keys(
// CHECK: scf.for %[[MEMBER:.*]] = %{{.*}} to %c2
// CHECK: %[[MORE:.*]] = arith.cmpi ne, %[[MEMBER]]
// CHECK: ragged.tile_attention_gradient {{.*}} accumulate %[[MORE]] into key {{.*}} value
// CHECK: ragged.launch @grouped_attention_gradient{{[0-9]+}}_queries units groups row_table %{{.*}} unit_table %[[QUERIES:[0-9]+]]
// CHECK: ragged.launch @grouped_attention_gradient{{[0-9]+}}_keys units groups row_table %{{.*}} unit_table %[[KEYS:[0-9]+]]
func.func @grouped(%q: !ragged.tensor<[N, 4, 8], f32>, %k: !ragged.tensor<[M, 2, 8], f32>, %s: !ragged.tensor<[N, 4, 8], f32>,
    %o: !ragged.tensor<[N, 4, 8], f32>, %n: !ragged.tensor<[N, 4, 2], f32>)
    -> (!ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32>) {
  %0:3 = ragged.attention_gradient %q, %k, %k seed %s result %o, %n
      : !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32> seed !ragged.tensor<[N, 4, 8], f32>
        result !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[N, 4, 2], f32>
      -> !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32>
  return %0#0, %0#1, %0#2 : !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32>
}

// -----

// One gradient of a bias for all heads: a unit goes through them. What nobody uses is not computed.
// CHECK-LABEL: func.func @bias_attention_gradient{{[0-9]+}}_queries(
// CHECK: scf.for %[[HEAD:.*]] = %{{.*}} to %c4
// CHECK: %[[MORE:.*]] = arith.cmpi ne, %[[HEAD]]
// CHECK: ragged.tile_attention_gradient {{.*}} accumulate %[[MORE]] bias {{.*}} into query {{.*}} bias_gradient
// CHECK-NOT: _keys(
func.func @bias(%q: !ragged.tensor<[N, 4, 8], f32>, %k: !ragged.tensor<[M, 2, 8], f32>, %s: !ragged.tensor<[N, 4, 8], f32>,
    %o: !ragged.tensor<[N, 4, 8], f32>, %n: !ragged.tensor<[N, 4, 2], f32>, %b: !ragged.tensor<[N, M], f32>)
    -> !ragged.tensor<[N, M], f32> {
  %0:4 = ragged.attention_gradient %q, %k, %k bias %b seed %s result %o, %n
      : !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32> bias !ragged.tensor<[N, M], f32>
        seed !ragged.tensor<[N, 4, 8], f32> result !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[N, 4, 2], f32>
      -> !ragged.tensor<[N, 4, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[M, 2, 8], f32>, !ragged.tensor<[N, M], f32>
  return %0#3 : !ragged.tensor<[N, M], f32>
}

// -----

// All rows of a sample share the bias: a unit is a block of queries of one head of all rows. Its gradient is 0 where there are no
// rows, and each row adds to it; the gradients of queries are each row's own.
// CHECK-LABEL: func.func @members_attention_gradient{{[0-9]+}}_queries(
// CHECK: %[[BLOCK:.*]] = arith.minsi %{{.*}}, %c96
// CHECK: scf.for %{{.*}} to %[[BLOCK]]
// CHECK: scf.for
// CHECK: memref.store %{{.*}} : memref<?xf64>
// CHECK: %[[FIRST:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: %[[LAST:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK: ragged.tile_attention_gradient {{.*}} accumulate %true{{[_0-9]*}} bias {{.*}} into query {{.*}} bias_gradient memref<?xf64>
// CHECK-NOT: _keys(
// CHECK: ragged.launch @members_attention_gradient{{[0-9]+}}_queries units groups
func.func @members(%q: !ragged.tensor<[N, 4, 8], f32, path = [B, I]>, %o: !ragged.tensor<[N, 4, 8], f32, path = [B, I]>,
    %n: !ragged.tensor<[N, 4, 2], f32, path = [B, I]>, %b: !ragged.tensor<[N, N, 4], f32>) -> !ragged.tensor<[N, N, 4], f64> {
  %0:4 = ragged.attention_gradient %q, %q, %q bias %b seed %o result %o, %n
      : !ragged.tensor<[N, 4, 8], f32, path = [B, I]>, !ragged.tensor<[N, 4, 8], f32, path = [B, I]>, !ragged.tensor<[N, 4, 8], f32, path = [B, I]>
        bias !ragged.tensor<[N, N, 4], f32> seed !ragged.tensor<[N, 4, 8], f32, path = [B, I]>
        result !ragged.tensor<[N, 4, 8], f32, path = [B, I]>, !ragged.tensor<[N, 4, 2], f32, path = [B, I]>
      -> !ragged.tensor<[N, 4, 8], f32, path = [B, I]>, !ragged.tensor<[N, 4, 8], f32, path = [B, I]>, !ragged.tensor<[N, 4, 8], f32, path = [B, I]>,
         !ragged.tensor<[N, N, 4], f64>
  return %0#3 : !ragged.tensor<[N, N, 4], f64>
}
