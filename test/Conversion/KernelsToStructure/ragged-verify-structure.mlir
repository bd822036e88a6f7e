// RUN: nested-opt %s --ragged-verify-structure --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a kernel: a function with the attribute 'ragged.kernel'}}
func.func @entry(%x: !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32> {
  return %x : !ragged.tensor<[N], f32>
}

// -----

// expected-error @+1 {{expected a kernel on memrefs, index scalars, begin and end}}
func.func @k(%x: memref<?xf32>, %begin: index) attributes {ragged.kernel} {
  return
}

// -----

func.func @k(%x: memref<?xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  return
}
ragged.schedule @f signature {} {
  %r = ragged.table offsets <N> path [B]
  // expected-error @+1 {{gives 0 memrefs and 0 scalars, but the kernel takes 1 and 0}}
  ragged.launch @k units groups row_table %r memrefs() {bytes_per_row = 0 : i64, flops_per_row = 0 : i64, tile_rows = 1 : i64}
}
