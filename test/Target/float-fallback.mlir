// On the oldest x86-64 there are no instructions for rounding, fused
// multiply-adds, f16 and bf16; the expansions give the same numbers.
// REQUIRES: x86
// RUN: nested-compile %s -o %t.so --target=cpu:x86-64
// RUN: %host_cc -O1 -I%source_dir/runtime/include %S/Inputs/float_fallback.c -o %t.exe -ldl -lm
// RUN: %t.exe %t.so
// RUN: nested-compile %s -o %t3.so --target=cpu:x86-64-v3

module attributes {ragged.phase = "loops"} {
  func.func @rounding(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %v = vector.load %x[%c0, %c0] : memref<?x8xf32>, vector<8xf32>
    %a = math.floor %v : vector<8xf32>
    %b = math.ceil %v : vector<8xf32>
    %c = math.trunc %v : vector<8xf32>
    %d = math.roundeven %v : vector<8xf32>
    %e = math.round %v : vector<8xf32>
    vector.store %a, %y[%c0, %c0] : memref<?x8xf32>, vector<8xf32>
    vector.store %b, %y[%c1, %c0] : memref<?x8xf32>, vector<8xf32>
    vector.store %c, %y[%c2, %c0] : memref<?x8xf32>, vector<8xf32>
    vector.store %d, %y[%c3, %c0] : memref<?x8xf32>, vector<8xf32>
    vector.store %e, %y[%c4, %c0] : memref<?x8xf32>, vector<8xf32>
    return
  }
  func.func @fma(%x: memref<?xf64>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<?xf64>
    %r = math.fma %v, %v, %v : f64
    memref.store %r, %x[%c0] : memref<?xf64>
    return
  }
  func.func @from_half(%x: memref<?xf16>, %y: memref<?xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = memref.load %x[%i] : memref<?xf16>
      %r = arith.extf %v : f16 to f32
      memref.store %r, %y[%i] : memref<?xf32>
    }
    return
  }
  func.func @to_half(%x: memref<?xf32>, %y: memref<?xf16>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c8 = arith.constant 8 : index
    scf.for %i = %begin to %end step %c8 {
      %v = vector.load %x[%i] : memref<?xf32>, vector<8xf32>
      %r = arith.truncf %v : vector<8xf32> to vector<8xf16>
      vector.store %r, %y[%i] : memref<?xf16>, vector<8xf16>
    }
    return
  }
  func.func @double_to_half(%x: memref<?xf64>, %y: memref<?xf16>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = memref.load %x[%i] : memref<?xf64>
      %r = arith.truncf %v : f64 to f16
      memref.store %r, %y[%i] : memref<?xf16>
    }
    return
  }
  func.func @brain_roundeven(%x: memref<?xbf16>, %y: memref<?xbf16>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c8 = arith.constant 8 : index
    scf.for %i = %begin to %end step %c8 {
      %v = vector.load %x[%i] : memref<?xbf16>, vector<8xbf16>
      %r = math.roundeven %v : vector<8xbf16>
      vector.store %r, %y[%i] : memref<?xbf16>, vector<8xbf16>
    }
    return
  }
  func.func @half_floor(%x: memref<?xf16>, %y: memref<?xf16>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = memref.load %x[%i] : memref<?xf16>
      %r = math.floor %v : f16
      memref.store %r, %y[%i] : memref<?xf16>
    }
    return
  }
  func.func @brain_max(%x: memref<?xbf16>, %y: memref<?xbf16>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c8 = arith.constant 8 : index
    scf.for %i = %begin to %end step %c8 {
      %v = vector.load %x[%i] : memref<?xbf16>, vector<8xbf16>
      %r = vector.reduction <maximumf>, %v : vector<8xbf16> into bf16
      memref.store %r, %y[%i] : memref<?xbf16>
    }
    return
  }
}
