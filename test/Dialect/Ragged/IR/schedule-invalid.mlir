// RUN: nested-opt %s --split-input-file --verify-diagnostics

ragged.schedule @buffer_kind signature {} {
  // expected-error @below {{expected 'arg', 'result' or 'temp'}}
  %x = ragged.buffer weird 0 : !ragged.buffer<f32>
}

// -----

ragged.schedule @buffer_kind_generic signature {} {
  // expected-error @below {{expected kind 'arg', 'result' or 'temp', but got 'weird'}}
  %x = "ragged.buffer"() {kind = "weird"} : () -> !ragged.buffer<f32>
}

// -----

ragged.schedule @buffer_index signature {} {
  // expected-error @below {{expected an index for an argument or a result only, but got none}}
  %x = "ragged.buffer"() {kind = "arg"} : () -> !ragged.buffer<f32>
}

// -----

ragged.schedule @buffer_argument_rows signature {} {
  // expected-error @below {{expected rows for a temporary only, but got them for 'arg'}}
  %x = ragged.buffer arg 0 rows 3 : !ragged.buffer<f32>
}

// -----

ragged.schedule @buffer_rows signature {} {
  // expected-error @below {{expected either a total or a number of rows, but got neither}}
  %x = ragged.buffer temp : !ragged.buffer<f32>
}

// -----

ragged.schedule @buffer_chunk signature {} {
  // expected-error @below {{expected a total to cut into chunks, but got none}}
  %x = ragged.buffer temp chunk 4 rows 3 : !ragged.buffer<f32>
}

// -----

ragged.schedule @buffer_chunk_size signature {} {
  %o = ragged.table offsets <N> path [B]
  // expected-error @below {{expected chunks of at least 1 row, but got 0}}
  %x = ragged.buffer temp total %o chunk 0 : !ragged.buffer<f32>
}

// -----

ragged.schedule @buffer_negative signature {} {
  // expected-error @below {{expected at least 0 rows, but got -1}}
  %x = ragged.buffer temp rows -1 : !ragged.buffer<f32>
}

// -----

ragged.schedule @launch_chunk signature {} {
  %o = ragged.table offsets <N> path [B]
  // expected-error @below {{expected a chunk size for units of kind 'chunks' only, but got none for kind 'chunks'}}
  ragged.launch @k units chunks row_table %o memrefs() {tile_rows = 48 : i64, flops_per_row = 2 : i64, bytes_per_row = 4 : i64}
}

// -----

ragged.schedule @launch_unit_table signature {} {
  %o = ragged.table offsets <N> path [B]
  // expected-error @below {{expected a unit table for units of kind 'groups' only, but got one for kind 'chunks'}}
  ragged.launch @k units chunks chunk 8 row_table %o unit_table %o memrefs() {tile_rows = 48 : i64, flops_per_row = 2 : i64, bytes_per_row = 4 : i64}
}

// -----

ragged.schedule @launch_tile signature {} {
  %o = ragged.table offsets <N> path [B]
  // expected-error @below {{expected tiles of at least 1 row, but got 0}}
  ragged.launch @k units groups row_table %o memrefs() {tile_rows = 0 : i64, flops_per_row = 2 : i64, bytes_per_row = 4 : i64}
}

// -----

func.func @step_outside() {
  // expected-error @below {{expects parent op 'ragged.schedule'}}
  %o = ragged.table offsets <N> path [B]
  return
}
