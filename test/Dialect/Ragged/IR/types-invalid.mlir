// RUN: nested-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected element type i1, i8, i16, i32, i64, f16, bf16, f32 or f64, but got 'index'}}
func.func private @element_type(!ragged.tensor<[N], index>)

// -----

// expected-error @below {{expected extents of at least 0, but got -1 at dim 1}}
func.func private @negative_extent(!ragged.tensor<[N, 1 - 2], f32>)

// -----

// expected-error @below {{expected at least one name in the path, but got none; a value that is not batched has a builtin tensor type}}
func.func private @empty_path(!ragged.tensor<[8], f32, path = []>)

// -----

// expected-error @below {{expected distinct names in the path, but got 'B' twice}}
func.func private @repeated_path(!ragged.tensor<[8], f32, path = [B, B]>)

// -----

// expected-error @below {{expected an order of 2 dims, but got 1}}
func.func private @order_size(!ragged.tensor<[N, 8], f32, order = [0]>)

// -----

// expected-error @below {{expected the order to be a permutation of the dims, but got dim 0 twice}}
func.func private @order_repeats(!ragged.tensor<[N, 8], f32, order = [0, 0]>)

// -----

// expected-error @below {{expected the order to be a permutation of the dims, but got dim 2, which does not exist}}
func.func private @order_range(!ragged.tensor<[N, 8], f32, order = [0, 2]>)

// -----

// expected-error @below {{expected ragged dims to be stored before static ones, but got static dim 0 before ragged dim 1}}
func.func private @order_static_first(!ragged.tensor<[3, N], f32, order = [0, 1]>)

// -----

// expected-error @below {{expected 'path' or 'order', each at most once}}
func.func private @clause(!ragged.tensor<[N], f32, paths = [B]>)

// -----

// expected-error @below {{expected ragged extents, but got 3 at dim 0}}
func.func private @partition_static(!ragged.partition<[3, N]>)

// -----

// expected-error @below {{expected distinct names in the path, but got 'B' twice}}
func.func private @partition_path(!ragged.partition<[N], path = [B, B]>)

// -----

// expected-error @below {{expected an extent: a symbol, an integer, '(', 'min' or 'max'}}
func.func private @extent_missing(!ragged.tensor<[N +], f32>)

// -----

// expected-error @below {{expected a positive constant after 'floordiv'}}
func.func private @extent_divisor(!ragged.tensor<[N floordiv M], f32>)

// -----

// expected-error @below {{expected a positive constant after 'mod'}}
func.func private @extent_modulus(!ragged.tensor<[N mod 0], f32>)

// -----

// expected-error @below {{extent overflows 64 bits or has too many terms}}
func.func private @extent_overflow(!ragged.tensor<[9223372036854775807 * N + N], f32>)

// -----

// expected-error @below {{expected '(' after 'min'}}
func.func private @extent_min(!ragged.tensor<[min + 1], f32>)

// -----

// expected-error @below {{expected ',' or ')' in 'max'}}
func.func private @extent_max() attributes {e = #ragged.extent<max(N 1)>}

// -----

// expected-error @below {{expected ')' in extent}}
func.func private @extent_parenthesis() attributes {e = #ragged.extent<(N + 1 M)>}

// -----

// expected-error @below {{'mod' cannot be a symbol}}
func.func private @extent_word(!ragged.tensor<[mod], f32>)

// -----

// expected-error @below {{'max' cannot be a symbol}}
func.func private @path_word(!ragged.tensor<[N], f32, path = [max]>)

// -----

// expected-error @below {{expected the name of a batch}}
func.func private @path_number(!ragged.tensor<[N], f32, path = [1]>)
