// Every 4999th float, NaN, infinities, zeros and the numbers next to them, against
// the C library in f64. The limits are those that approximate-math promises.
// RUN: nested-compile %s -o %t.so
// RUN: %host_cc -O1 -I%source_dir/runtime/include %S/Inputs/math_accuracy.c -o %t.exe -ldl -lm
// RUN: %t.exe %t.so

module attributes {ragged.phase = "loops"} {
  func.func @exp_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.exp %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  // exp(-|x|), and 0 where that is no normal number.
  func.func @decay_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %normal = arith.constant dense<1.17549435e-38> : vector<16xf32>
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %size = math.absf %v : vector<16xf32>
      %below = arith.negf %size : vector<16xf32>
      %e = math.exp %below {nested.not_positive} : vector<16xf32>
      %small = arith.cmpf olt, %e, %normal : vector<16xf32>
      %r = arith.select %small, %zero, %e : vector<16xi1>, vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  func.func @exp2_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.exp2 %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  func.func @expm1_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.expm1 %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  func.func @log_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.log %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  func.func @log2_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.log2 %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  func.func @log1p_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.log1p %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  func.func @tanh_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.tanh %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  func.func @erf_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.erf %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  func.func @erfc_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.erfc %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  func.func @sin_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.sin %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
  func.func @cos_kernel(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %r = math.cos %v : vector<16xf32>
      vector.store %r, %y[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
}
