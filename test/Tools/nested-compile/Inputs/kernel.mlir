module attributes {ragged.phase = "loops"} {
  func.func @k(%x: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %v = vector.load %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
      %e = math.exp %v : vector<16xf32>
      vector.store %e, %x[%i, %c0] : memref<?x16xf32>, vector<16xf32>
    }
    return
  }
}
