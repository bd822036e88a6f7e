// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @load(%x: memref<?x128xf32>, %i: index) {
  // expected-error @below {{expected memory with the rows of tile 'tensor<48x64xf32>', but got 'memref<?x128xf32>'}}
  %a = ragged.tile_load %x[%i] live %i : memref<?x128xf32> -> tensor<48x64xf32>
  return
}

// -----

func.func @gather(%x: memref<?x128xf32>, %rows: tensor<24xindex>, %i: index) {
  // expected-error @below {{expected a row number for each of the 48 rows, but got 'tensor<24xindex>'}}
  %a = ragged.tile_gather %x[%rows] live %i : memref<?x128xf32>, tensor<24xindex> -> tensor<48x128xf32>
  return
}

// -----

func.func @store(%x: memref<?x128xf64>, %a: tensor<48x128xf32>, %i: index) {
  // expected-error @below {{expected memory with the rows of tile 'tensor<48x128xf32>', but got 'memref<?x128xf64>'}}
  ragged.tile_store %a, %x[%i] live %i : tensor<48x128xf32>, memref<?x128xf64>
  return
}

// -----

func.func @fold_acc(%q: tensor<48x8xf32>, %acc: tensor<4xf32>, %f: tensor<48xindex>, %s: memref<?x8xf32>, %i: index) {
  // expected-error @below {{expected accumulator of type 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  %0 = ragged.tile_fold ins(%q : tensor<48x8xf32>) acc(%acc : tensor<4xf32>) init(%acc : tensor<4xf32>)
      flush %f : tensor<48xindex> into(%s : memref<?x8xf32>) live %i combine {
  ^bb0(%x: f32, %a: f32):
    ragged.yield %x : f32
  } finalize {
  ^bb0(%a: f32):
    ragged.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @fold_dest(%q: tensor<48x8xf32>, %acc: tensor<8xf32>, %f: tensor<48xindex>, %s: memref<?x4xf32>, %i: index) {
  // expected-error @below {{expected a destination with the rows of 'tensor<8xf32>', but got 'memref<?x4xf32>'}}
  %0 = ragged.tile_fold ins(%q : tensor<48x8xf32>) acc(%acc : tensor<8xf32>) init(%acc : tensor<8xf32>)
      flush %f : tensor<48xindex> into(%s : memref<?x4xf32>) live %i combine {
  ^bb0(%x: f32, %a: f32):
    ragged.yield %x : f32
  } finalize {
  ^bb0(%a: f32):
    ragged.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @fold_flush(%q: tensor<48x8xf32>, %acc: tensor<8xf32>, %f: tensor<4xindex>, %s: memref<?x8xf32>, %i: index) {
  // expected-error @below {{expected a number to flush to for each of the 48 rows, but got 'tensor<4xindex>'}}
  %0 = ragged.tile_fold ins(%q : tensor<48x8xf32>) acc(%acc : tensor<8xf32>) init(%acc : tensor<8xf32>)
      flush %f : tensor<4xindex> into(%s : memref<?x8xf32>) live %i combine {
  ^bb0(%x: f32, %a: f32):
    ragged.yield %x : f32
  } finalize {
  ^bb0(%a: f32):
    ragged.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @fold_aux(%q: tensor<48x8xf32>, %acc: tensor<8xf32>, %f: tensor<48xindex>, %m: tensor<4xi64>, %s: memref<?x8xf32>, %i: index) {
  // expected-error @below {{expected an auxiliary number for each of the 48 rows, but got 'tensor<4xi64>'}}
  %0 = ragged.tile_fold ins(%q : tensor<48x8xf32>) acc(%acc : tensor<8xf32>) init(%acc : tensor<8xf32>)
      flush %f : tensor<48xindex> into(%s : memref<?x8xf32>) aux(%m : tensor<4xi64>) live %i combine {
  ^bb0(%x: f32, %a: f32):
    ragged.yield %x : f32
  } finalize {
  ^bb0(%a: f32, %k: i64):
    ragged.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @fold_regions(%q: tensor<48x8xf32>, %acc: tensor<8xf32>, %f: tensor<48xindex>, %s: memref<?x8xf32>, %i: index) {
  // expected-error @below {{expected a combine region with arguments (f32, f32), but got (f32)}}
  %0 = ragged.tile_fold ins(%q : tensor<48x8xf32>) acc(%acc : tensor<8xf32>) init(%acc : tensor<8xf32>)
      flush %f : tensor<48xindex> into(%s : memref<?x8xf32>) live %i combine {
  ^bb0(%x: f32):
    ragged.yield %x : f32
  } finalize {
  ^bb0(%a: f32):
    ragged.yield %a : f32
  } -> tensor<8xf32>
  return
}

// -----

// Folded in f32, stored in bf16.
func.func @fold_finalize(%q: tensor<48x8xf32>, %acc: tensor<8xf32>, %f: tensor<48xindex>, %s: memref<?x8xbf16>, %i: index) {
  // expected-error @below {{expected the finalize region to yield (bf16), but got (f32)}}
  %0 = ragged.tile_fold ins(%q : tensor<48x8xf32>) acc(%acc : tensor<8xf32>) init(%acc : tensor<8xf32>)
      flush %f : tensor<48xindex> into(%s : memref<?x8xbf16>) live %i combine {
  ^bb0(%x: f32, %a: f32):
    ragged.yield %x : f32
  } finalize {
  ^bb0(%a: f32):
    ragged.yield %a : f32
  } -> tensor<8xf32>
  return
}
