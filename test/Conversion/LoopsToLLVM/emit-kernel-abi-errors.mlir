// RUN: nested-opt %s --split-input-file --emit-kernel-abi --verify-diagnostics

// expected-error @below {{'func.func' op is a kernel, so it must take the first and last unit as index arguments}}
func.func @no_units(%x: memref<?xf32>) attributes {ragged.kernel} {
  return
}

// -----

// expected-error @below {{argument #0 has type 'memref<?x?xf32>', but only the leading dimension of a kernel's memref may be dynamic}}
func.func @dynamic(%x: memref<?x?xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  return
}

// -----

// expected-error @below {{argument #0 has type 'f32', but scalars of a kernel must be index or i64}}
func.func @float(%x: f32, %begin: index, %end: index) attributes {ragged.kernel} {
  return
}

// -----

// expected-error @below {{argument #1 is a memref behind a scalar; memrefs come first}}
func.func @order(%n: index, %x: memref<?xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  return
}

// -----

// expected-error @below {{has 'ragged.scratch_bytes', so its last argument must be a memref<?xi8>}}
func.func @scratch(%begin: index, %end: index) attributes {ragged.kernel, ragged.scratch_bytes = 8 : i64} {
  return
}

// -----

// expected-error @below {{must have a body and no results}}
func.func @result(%begin: index, %end: index) -> index attributes {ragged.kernel} {
  return %begin : index
}
