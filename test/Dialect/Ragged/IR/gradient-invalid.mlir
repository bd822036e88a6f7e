// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @integer_variable(%l: tensor<f32>, %i: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error @+1 {{expected variable 0 of a float element type, since derivatives of others do not exist, but got 'tensor<4xi64>'}}
  %0 = ragged.gradient of(%l : tensor<f32>) wrt(%i : tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @integer_output(%l: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected output 0 of a float element type, since derivatives of others do not exist, but got 'tensor<i64>'}}
  %0 = ragged.gradient of(%l : tensor<i64>) wrt(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @not_a_scalar(%l: !ragged.tensor<[], f32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected output 0 to be a dense scalar, or to have a seed, but got '!ragged.tensor<[], f32>'}}
  %0 = ragged.gradient of(%l : !ragged.tensor<[], f32>) wrt(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @seed(%l: tensor<4xf32>, %s: tensor<f32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a seed 0 of type 'tensor<4xf32>', but got 'tensor<f32>'}}
  %0 = ragged.gradient of(%l : tensor<4xf32>) seeds(%s : tensor<f32>) wrt(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @seeds(%l: tensor<f32>, %s: tensor<f32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a seed for each of the 1 outputs, but got 2}}
  %0 = ragged.gradient of(%l : tensor<f32>) seeds(%s, %s : tensor<f32>, tensor<f32>) wrt(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @result(%l: tensor<f32>, %x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @+1 {{expected a gradient 0 of type 'tensor<4xf32>', but got 'tensor<4xf64>'}}
  %0 = ragged.gradient of(%l : tensor<f32>) wrt(%x : tensor<4xf32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @custom_result(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a result 0 of type 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  %z = ragged.custom_gradient values(%y : tensor<8xf32>) inputs(%x : tensor<8xf32>) {
  ^bb0(%g: tensor<8xf32>):
    ragged.yield %g : tensor<8xf32>
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

func.func @custom_argument(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected a region with arguments (tensor<8xf32>), but got (tensor<4xf32>)}}
  %z = ragged.custom_gradient values(%y : tensor<8xf32>) inputs(%x : tensor<8xf32>) {
  ^bb0(%g: tensor<4xf32>):
    ragged.yield %x : tensor<8xf32>
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

func.func @custom_yield(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected the region to yield (tensor<4xf32>), but got (tensor<8xf32>)}}
  %z = ragged.custom_gradient values(%y : tensor<8xf32>) inputs(%x : tensor<4xf32>) {
  ^bb0(%g: tensor<8xf32>):
    ragged.yield %g : tensor<8xf32>
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

func.func @checkpoint_yield(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected the region to yield (tensor<8xf32>), but got (tensor<4xf32>)}}
  %z = ragged.checkpoint {
    ragged.yield %x : tensor<4xf32>
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

func.func @checkpoint_argument() -> tensor<4xf32> {
  // expected-error @+1 {{expected the region with arguments (), but got (tensor<4xf32>)}}
  %z = ragged.checkpoint {
  ^bb0(%x: tensor<4xf32>):
    ragged.yield %x : tensor<4xf32>
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_seed(%x: !ragged.tensor<[N], f32>, %s: !ragged.tensor<[M], f32>) {
  // expected-error @below {{expected a seed 0 of type '!ragged.tensor<[N], f32>', but got '!ragged.tensor<[M], f32>'}}
  %0 = ragged.gradient of(%x : !ragged.tensor<[N], f32>) seeds(%s : !ragged.tensor<[M], f32>)
      wrt(%x : !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_custom(%x: !ragged.tensor<[N], f32>, %y: !ragged.tensor<[M], f32>) {
  // expected-error @below {{expected a result 0 of type '!ragged.tensor<[N], f32>', but got '!ragged.tensor<[M], f32>'}}
  %z = ragged.custom_gradient values(%x : !ragged.tensor<[N], f32>) inputs(%y : !ragged.tensor<[M], f32>) {
  ^bb0(%g: !ragged.tensor<[N], f32>):
    ragged.yield %y : !ragged.tensor<[M], f32>
  } -> !ragged.tensor<[M], f32>
  return
}

// -----

func.func @variable(%x: i32) {
  // expected-error @below {{'ragged.variable' op operand #0 must be}}
  %0 = ragged.variable %x : i32
  return
}

// -----

func.func @stop_gradient(%x: !ragged.partition<[N]>) {
  // expected-error @below {{'ragged.stop_gradient' op operand #0 must be}}
  %0 = ragged.stop_gradient %x : !ragged.partition<[N]>
  return
}
