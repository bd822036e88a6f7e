// RUN: nested-reference %s > %t.tensor
// RUN: FileCheck %s < %t.tensor
// RUN: nested-opt --tensor-to-generic %s | nested-reference > %t.generic
// RUN: diff %t.tensor %t.generic

// The pair block, small: both phases give the same numbers, those of NumPy in f64.

// CHECK: [0] {{\[\[}}-0.436671, -1.37766, 1.20088, 0.257381, 1.77034, -1.4642]
// CHECK: [1] [] shape (0, 6)
// CHECK: [2] {{\[\[}}-0.122565, -0.49009, -0.324069, 1.07156, 1.30311, -0.0179493]
// CHECK: 1 : !ragged.tensor<[N, N, 4], f32>
// CHECK-NEXT: [0] {{\[\[\[}}2.35845, 1.03118, -1.08018, -0.334069]
// CHECK-NEXT: [1] [] shape (0, 0, 4)
// CHECK-NEXT: [2] {{\[\[\[}}0.999723, 1.00089, 0.118902, 1.30787]
func.func @block(
    %t: !ragged.tensor<[N], i64> {ragged.name = "t", reference.values = dense<[1, 0, 6, 3, 2]> : tensor<5xi64>,
      reference.lengths = [array<i64: 3, 0, 2>]},
    %table: tensor<7x6xf32> {
      reference.values = dense<[[0.689, 0.516, -0.159, -0.482, 0.023, -0.19],
        [0.568, -0.393, -0.047, 0.167, 0.816, 0.009],
        [-0.436, 0.512, 0.237, -0.499, 0.819, 0.966],
        [0.62, 0.804, -0.38, 0.46, 0.798, 0.368],
        [-0.056, -0.799, -0.132, 0.222, 0.826, 0.933],
        [-0.046, 0.731, -0.479, 0.61, 0.097, -0.972],
        [0.439, -0.202, 0.65, 0.336, -0.998, -0.013]]> : tensor<7x6xf32>},
    %wu: tensor<6x4xf32> {
      reference.values = dense<[[0.735, -0.512, -0.35, 0.741],
        [-0.618, 0.135, -0.523, 0.935],
        [0.606, -0.104, -0.839, -0.36],
        [0.016, 0.866, -0.782, 0.103],
        [0.413, 0.095, 0.629, 0.081],
        [0.928, 0.206, 0.175, -0.11]]> : tensor<6x4xf32>},
    %wv: tensor<6x4xf32> {
      reference.values = dense<[[0.193, -0.23, 0.151, -0.419],
        [-0.621, -0.627, 0.226, 0.313],
        [-0.047, -0.82, 0.515, 0.754],
        [0.847, 0.685, 0.796, 0.846],
        [0.081, -0.217, 0.411, -0.449],
        [0.623, 0.699, 0.79, 0.18]]> : tensor<6x4xf32>},
    %g: tensor<4xf32> {
      reference.values = dense<[0.9, 0.159, -0.099, 0.32]> : tensor<4xf32>},
    %b: tensor<4xf32> {
      reference.values = dense<[0.993, 0.834, 0.587, -0.835]> : tensor<4xf32>},
    %w1: tensor<4x5xf32> {
      reference.values = dense<[[0.226, -0.027, 0.26, 0.69, -0.514],
        [0.463, -0.766, -0.559, 0.589, -0.335],
        [0.632, -0.799, -0.707, 0.395, -0.91],
        [0.148, 0.82, 0.068, 0.361, -0.947]]> : tensor<4x5xf32>},
    %w2: tensor<4x5xf32> {
      reference.values = dense<[[0.27, 0.213, 0.152, -0.218, -0.26],
        [0.961, -0.927, -0.957, 0.922, -0.63],
        [-0.752, -0.579, 0.601, 0.874, -0.954],
        [-0.149, -0.797, -0.48, -0.558, 0.294]]> : tensor<4x5xf32>},
    %w3: tensor<5x4xf32> {
      reference.values = dense<[[-0.299, -0.639, 0.007, -0.921],
        [-0.798, 0.976, -0.601, -0.283],
        [0.463, 0.677, 0.837, -0.661],
        [0.345, 0.933, -0.884, 0.352],
        [0.691, -0.315, -0.499, 0.194]]> : tensor<5x4xf32>},
    %wg: tensor<4x6xf32> {
      reference.values = dense<[[-0.115, -0.65, -0.057, -0.18, 0.138, 0.017],
        [-0.377, -0.286, 0.675, -0.498, 0.121, -0.975],
        [0.483, -0.328, -0.909, -0.438, -0.52, 0.906],
        [-0.296, -0.424, -0.282, 0.894, 0.267, 0.242]]> : tensor<4x6xf32>})
   -> (!ragged.tensor<[N, 6], f32>, !ragged.tensor<[N, N, 4], f32>) {
  %x = ragged.gather %table, %t : tensor<7x6xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 6], f32>
  %u = ragged.linear %x, %wu : !ragged.tensor<[N, 6], f32>, tensor<6x4xf32> -> !ragged.tensor<[N, 4], f32>
  %v = ragged.linear %x, %wv : !ragged.tensor<[N, 6], f32>, tensor<6x4xf32> -> !ragged.tensor<[N, 4], f32>
  %ub = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[N, N, 4], f32>
  %vb = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[N, 4], f32> -> !ragged.tensor<[N, N, 4], f32>
  %p = ragged.map ins(%ub, %vb : !ragged.tensor<[N, N, 4], f32>, !ragged.tensor<[N, N, 4], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 4], f32>
  %y = ragged.normalize layer %p scale %g offset %b : !ragged.tensor<[N, N, 4], f32>, scale tensor<4xf32>, offset tensor<4xf32> -> !ragged.tensor<[N, N, 4], f32>
  %h1 = ragged.linear %y, %w1 : !ragged.tensor<[N, N, 4], f32>, tensor<4x5xf32> -> !ragged.tensor<[N, N, 5], f32>
  %h2 = ragged.linear %y, %w2 : !ragged.tensor<[N, N, 4], f32>, tensor<4x5xf32> -> !ragged.tensor<[N, N, 5], f32>
  %z = ragged.map ins(%h1, %h2 : !ragged.tensor<[N, N, 5], f32>, !ragged.tensor<[N, N, 5], f32>) {
  ^bb0(%i: f32, %j: f32):
    %one = arith.constant 1.0 : f32
    %m = arith.negf %i : f32
    %e = math.exp %m : f32
    %d = arith.addf %e, %one : f32
    %q = arith.divf %i, %d : f32
    %s = arith.mulf %q, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 5], f32>
  %o = ragged.linear %z, %w3 : !ragged.tensor<[N, N, 5], f32>, tensor<5x4xf32> -> !ragged.tensor<[N, N, 4], f32>
  %pp = ragged.map ins(%p, %o : !ragged.tensor<[N, N, 4], f32>, !ragged.tensor<[N, N, 4], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, N, 4], f32>
  %s = ragged.reduce mean %pp dims [1] : !ragged.tensor<[N, N, 4], f32> -> !ragged.tensor<[N, 4], f32>
  %gg = ragged.linear %s, %wg : !ragged.tensor<[N, 4], f32>, tensor<4x6xf32> -> !ragged.tensor<[N, 6], f32>
  %xx = ragged.map ins(%x, %gg : !ragged.tensor<[N, 6], f32>, !ragged.tensor<[N, 6], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s1 = arith.addf %i, %j : f32
    ragged.yield %s1 : f32
  } -> !ragged.tensor<[N, 6], f32>
  return %xx, %pp : !ragged.tensor<[N, 6], f32>, !ragged.tensor<[N, N, 4], f32>
}
