// A kernel of the loops phase, compiled and called: memrefs, a scalar, scratch
// memory, a constant, a service, and a range of units that is cut in three.
// RUN: nested-compile %s -o %t.so
// RUN: %host_cc -O1 -I%source_dir/runtime/include %S/Inputs/run_kernel.c -o %t.exe -ldl -lm
// RUN: %t.exe %t.so | FileCheck %s
// CHECK: 9 rows, largest error {{[01](\.[0-9]+)?}} ulp
// CHECK-NEXT: row 9 untouched

module attributes {ragged.phase = "loops"} {
  memref.global "private" constant @bias : memref<16xf32> = dense<1.0>
  // y = silu(x) + n ** n, row by row
  func.func @silu(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %n: index, %begin: index, %end: index, %scratch: memref<?xi8>)
      attributes {ragged.kernel, ragged.scratch_bytes = 64 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %tmp = memref.view %scratch[%c0][] : memref<?xi8> to memref<16xf32>
    %ones = memref.get_global @bias : memref<16xf32>
    %one = vector.load %ones[%c0] : memref<16xf32>, vector<16xf32>
    %i64 = arith.index_cast %n : index to i64
    %f64 = arith.sitofp %i64 : i64 to f64
    %power = math.powf %f64, %f64 : f64
    %f32 = arith.truncf %power : f64 to f32
    %offset = vector.broadcast %f32 : f32 to vector<16xf32>
    scf.for %i = %begin to %end step %c1 {
      %v = vector.transfer_read %x[%i, %c0], %zero {in_bounds = [true]} : memref<?x16xf32>, vector<16xf32>
      %neg = arith.negf %v : vector<16xf32>
      %e = math.exp %neg : vector<16xf32>
      %d = arith.addf %e, %one : vector<16xf32>
      %s = arith.divf %v, %d : vector<16xf32>
      vector.store %s, %tmp[%c0] : memref<16xf32>, vector<16xf32>
      %t = vector.load %tmp[%c0] : memref<16xf32>, vector<16xf32>
      %r = arith.addf %t, %offset : vector<16xf32>
      vector.transfer_write %r, %y[%i, %c0] {in_bounds = [true]} : vector<16xf32>, memref<?x16xf32>
    }
    return
  }
}
