// RUN: nested-opt %s --split-input-file --verify-diagnostics --kernels-to-gpu

func.func @exp(%x: memref<?xf64>, %begin: index, %end: index) attributes {ragged.kernel} {
  %0 = memref.load %x[%begin] : memref<?xf64>
  // expected-error @below {{'math.exp' op is not supported on GPUs yet}}
  %1 = math.exp %0 : f64
  memref.store %1, %x[%begin] : memref<?xf64>
  return
}

// -----

// expected-error @below {{argument #0 has type 'memref<?x?xf32>', but only the leading dimension of a kernel's memref may be dynamic, and its layout must be the identity}}
func.func @strides(%x: memref<?x?xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  return
}
