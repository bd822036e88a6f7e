// RUN: nested-opt %s | nested-opt | FileCheck %s

// CHECK-LABEL: func.func @access
func.func @access(%x: memref<?x128xf32>, %y: memref<?x128xf32>, %rows: tensor<48xindex>, %row: index, %live: index) {
  // CHECK: ragged.tile_load %{{.*}}[%{{.*}}] live %{{.*}} : memref<?x128xf32> -> tensor<48x128xf32>
  %a = ragged.tile_load %x[%row] live %live : memref<?x128xf32> -> tensor<48x128xf32>
  // CHECK: ragged.tile_gather %{{.*}}[%{{.*}}] live %{{.*}} : memref<?x128xf32>, tensor<48xindex> -> tensor<48x128xf32>
  %b = ragged.tile_gather %x[%rows] live %live : memref<?x128xf32>, tensor<48xindex> -> tensor<48x128xf32>
  // CHECK: ragged.tile_store %{{.*}}, %{{.*}}[%{{.*}}] live %{{.*}} : tensor<48x128xf32>, memref<?x128xf32>
  ragged.tile_store %b, %y[%row] live %live : tensor<48x128xf32>, memref<?x128xf32>
  return
}

// CHECK-LABEL: func.func @fold
func.func @fold(%q: tensor<48x128xf32>, %acc: tensor<128xf32>, %zero: tensor<128xf32>, %f: tensor<48xindex>,
                %s: memref<?x128xf32>, %m: tensor<48xi64>, %live: index) -> tensor<128xf32> {
  // CHECK: ragged.tile_fold ins(%{{.*}} : tensor<48x128xf32>) acc(%{{.*}} : tensor<128xf32>) init(%{{.*}} : tensor<128xf32>)
  // CHECK-SAME: flush %{{.*}} : tensor<48xindex> into(%{{.*}} : memref<?x128xf32>) aux(%{{.*}} : tensor<48xi64>) live %{{.*}} combine {
  // CHECK: } finalize {
  // CHECK: } -> tensor<128xf32>
  %0 = ragged.tile_fold ins(%q : tensor<48x128xf32>) acc(%acc : tensor<128xf32>) init(%zero : tensor<128xf32>)
      flush %f : tensor<48xindex> into(%s : memref<?x128xf32>) aux(%m : tensor<48xi64>) live %live combine {
  ^bb0(%x: f32, %a: f32):
    %1 = arith.addf %a, %x : f32
    ragged.yield %1 : f32
  } finalize {
  ^bb0(%a: f32, %k: i64):
    %1 = arith.sitofp %k : i64 to f32
    %2 = arith.divf %a, %1 : f32
    ragged.yield %2 : f32
  } -> tensor<128xf32>
  return %0 : tensor<128xf32>
}
