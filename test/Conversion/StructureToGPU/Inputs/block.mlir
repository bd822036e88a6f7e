// Single to pair to single: a gather, broadcasts, a norm, a gated product, a mean, and two results.

func.func @block(%t: !ragged.tensor<[N], i64> {ragged.name = "t"}, %table: tensor<21x384xf32>, %wu: tensor<384x128xf32>, %wv: tensor<384x128xf32>,
   %g: tensor<128xf32>, %b: tensor<128xf32>, %w1: tensor<128x512xf32>, %w2: tensor<128x512xf32>, %w3: tensor<512x128xf32>, %wg: tensor<128x384xf32>)
   -> (!ragged.tensor<[N, 384], f32>, !ragged.tensor<[N, N, 128], f32>) {
  %x = ragged.gather %table, %t : tensor<21x384xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 384], f32>
  %u = ragged.linear %x, %wu : !ragged.tensor<[N, 384], f32>, tensor<384x128xf32> -> !ragged.tensor<[N, 128], f32>
  %v = ragged.linear %x, %wv : !ragged.tensor<[N, 384], f32>, tensor<384x128xf32> -> !ragged.tensor<[N, 128], f32>
  %ub = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %vb = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
  %p = ragged.map ins(%ub, %vb : !ragged.tensor<[N, N, 128], f32>, !ragged.tensor<[N, N, 128], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 128], f32>
  %y = ragged.normalize layer %p scale %g offset %b : !ragged.tensor<[N, N, 128], f32>, scale tensor<128xf32>, offset tensor<128xf32> -> !ragged.tensor<[N, N, 128], f32>
  %h1 = ragged.linear %y, %w1 : !ragged.tensor<[N, N, 128], f32>, tensor<128x512xf32> -> !ragged.tensor<[N, N, 512], f32>
  %h2 = ragged.linear %y, %w2 : !ragged.tensor<[N, N, 128], f32>, tensor<128x512xf32> -> !ragged.tensor<[N, N, 512], f32>
  %z = ragged.map ins(%h1, %h2 : !ragged.tensor<[N, N, 512], f32>, !ragged.tensor<[N, N, 512], f32>) {
  ^bb0(%i: f32, %j: f32):
    %one = arith.constant 1.0 : f32
    %m = arith.negf %i : f32
    %e = math.exp %m : f32
    %d = arith.addf %e, %one : f32
    %q = arith.divf %i, %d : f32
    %s = arith.mulf %q, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 512], f32>
  %o = ragged.linear %z, %w3 : !ragged.tensor<[N, N, 512], f32>, tensor<512x128xf32> -> !ragged.tensor<[N, N, 128], f32>
  %pp = ragged.map ins(%p, %o : !ragged.tensor<[N, N, 128], f32>, !ragged.tensor<[N, N, 128], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 128], f32>
  %s = ragged.reduce mean %pp dims [1] : !ragged.tensor<[N, N, 128], f32> -> !ragged.tensor<[N, 128], f32>
  %gg = ragged.linear %s, %wg : !ragged.tensor<[N, 128], f32>, tensor<128x384xf32> -> !ragged.tensor<[N, 384], f32>
  %xx = ragged.map ins(%x, %gg : !ragged.tensor<[N, 384], f32>, !ragged.tensor<[N, 384], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s1 = arith.addf %i, %j : f32
    ragged.yield %s1 : f32
  } -> !ragged.tensor<[N, 384], f32>
  return %xx, %pp : !ragged.tensor<[N, 384], f32>, !ragged.tensor<[N, N, 128], f32>
}
