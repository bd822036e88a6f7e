// RUN: nested-opt %s --mark-in-place | FileCheck %s

// A step of an optimiser: w is read once more before its update, and each of its elements where it is written. In a flat
// vector, in rows of a matrix, in the rest of a loop under the same mask.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %{{.*}}: memref<8x4xf32> {ragged.may_alias}, %{{[^:]*}}: memref<8x4xf32>, %{{.*}}: memref<?x8x4xf32> {ragged.may_alias}
// CHECK-LABEL: func.func @flat(
// CHECK-SAME: memref<?xf32> {ragged.may_alias}, %{{[^:]*}}: memref<?xf32> {ragged.may_alias}, %{{[^:]*}}: memref<?xi64>
// CHECK-LABEL: ragged.schedule @step
// CHECK-SAME: results = [{dtype = "f32", in_place_of = [0], kind = "dense", shape = [8, 4]}
// CHECK-SAME: {dtype = "f32", extents = ["N"], in_place_of = [2], kind = "ragged"

// The next reader would see what was written.
// CHECK-LABEL: ragged.schedule @read_again
// CHECK-NOT: in_place_of

// All has been read when the result is written.
// CHECK-LABEL: ragged.schedule @read_before
// CHECK-SAME: results = [{dtype = "f32", in_place_of = [0], kind = "dense", shape = [8, 4]}]

// An element is read in another place, or after it was written, or by another iteration. What earlier kernels read is free.
// CHECK-LABEL: ragged.schedule @not_there
// CHECK-SAME: results = [{dtype = "f32", kind = "dense", shape = [8]}, {dtype = "f32", in_place_of = [0], kind = "dense", shape = [8]}, {dtype = "f32", in_place_of = [0, 1], kind = "dense", shape = [8]}]

// One number, which is read before a loop writes; not if there are more units than one.
// CHECK-LABEL: ragged.schedule @number
// CHECK-SAME: results = [{dtype = "f32", in_place_of = [0], kind = "dense", shape = []}]
// CHECK-LABEL: ragged.schedule @numbers
// CHECK-NOT: in_place_of

// What goes through memory of the thread is written after all has been read, in the one row that there is; not if blocks of it are.
// CHECK-LABEL: ragged.schedule @scratch
// CHECK-SAME: results = [{dtype = "f32", in_place_of = [0], kind = "dense", shape = [8]}, {dtype = "f32", in_place_of = [0], kind = "dense", shape = [8]}]

// Tiles read and write their own rows, which a table has the numbers of: first all of them, then each before it is written; or all
// before one is written; or each of them, twice, before it is.
// CHECK-LABEL: ragged.schedule @tiles
// CHECK-SAME: results = [{dtype = "f32", extents = ["N0", "8"], in_place_of = [0], kind = "ragged"
// CHECK-SAME: {dtype = "f32", extents = ["N1", "8"], in_place_of = [1], kind = "ragged"
// CHECK-SAME: {dtype = "f32", extents = ["N2", "8"], in_place_of = [2], kind = "ragged"

// Part of a tile is written before the rest is read; rows are those of other tiles; another entry of the table is read than is written.
// CHECK-LABEL: ragged.schedule @other_rows
// CHECK-NOT: in_place_of

module attributes {ragged.phase = "loops"} {
  func.func @sum(%w: memref<8x4xf32>, %to: memref<?xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %x = memref.load %w[%c0, %c0] : memref<8x4xf32>
    memref.store %x, %to[%begin] : memref<?xf32>
    return
  }
  func.func @update(%w: memref<8x4xf32>, %g: memref<8x4xf32>, %to: memref<?x8x4xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %0 = ub.poison : f32
    scf.for %row = %begin to %end step %c1 {
      %view = memref.subview %to[%row, 0, 0] [1, 8, 4] [1, 1, 1] : memref<?x8x4xf32> to memref<8x4xf32, strided<[4, 1], offset: ?>>
      scf.for %i = %c0 to %c8 step %c1 {
        %x = vector.transfer_read %w[%i, %c0], %0 {in_bounds = [true]} : memref<8x4xf32>, vector<4xf32>
        %y = vector.transfer_read %g[%i, %c0], %0 {in_bounds = [true]} : memref<8x4xf32>, vector<4xf32>
        %z = arith.subf %x, %y : vector<4xf32>
        %line = memref.subview %view[%i, 0] [1, 4] [1, 1] : memref<8x4xf32, strided<[4, 1], offset: ?>> to memref<4xf32, strided<[1], offset: ?>>
        vector.transfer_write %z, %line[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32, strided<[1], offset: ?>>
      }
    }
    return
  }
  func.func @flat(%x: memref<?xf32>, %y: memref<?xf32>, %base: memref<?xi64>, %rows: memref<?xi64>, %begin: index, %end: index)
      attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c3 = arith.constant 3 : index
    %none = arith.constant dense<0.0> : vector<4xf32>
    %a = memref.load %base[%begin] : memref<?xi64>
    %b = memref.load %rows[%begin] : memref<?xi64>
    %from = arith.index_cast %a : i64 to index
    %to = arith.index_cast %b : i64 to index
    scf.for %i = %c0 to %end step %c4 {
      %p = arith.addi %from, %i : index
      %v = vector.load %x[%p] : memref<?xf32>, vector<4xf32>
      %w = arith.addf %v, %v : vector<4xf32>
      %q = arith.addi %i, %to : index
      vector.store %w, %y[%q] : memref<?xf32>, vector<4xf32>
    }
    %mask = vector.create_mask %c3 : vector<4xi1>
    %p = arith.addi %from, %end : index
    %v = vector.maskedload %x[%p], %mask, %none : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %q = arith.addi %to, %end : index
    vector.maskedstore %y[%q], %mask, %v : memref<?xf32>, vector<4xi1>, vector<4xf32>
    return
  }
  func.func @elsewhere(%x: memref<8xf32>, %y: memref<?x8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    scf.for %i = %c0 to %c7 step %c1 {
      %j = arith.subi %c7, %i : index
      %v = memref.load %x[%j] : memref<8xf32>
      memref.store %v, %y[%c0, %i] : memref<?x8xf32>
    }
    return
  }
  func.func @late(%x: memref<8xf32>, %y: memref<?x8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %zero, %y[%c0, %i] : memref<?x8xf32>
      %v = memref.load %x[%i] : memref<8xf32>
      memref.store %v, %y[%c0, %i] : memref<?x8xf32>
    }
    return
  }
  func.func @apart(%x: memref<8xf32>, %y: memref<?x8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> f32 {
      %v = memref.load %x[%i] : memref<8xf32>
      %t = arith.addf %s, %v : f32
      memref.store %t, %y[%c0, %i] : memref<?x8xf32>
      scf.yield %t : f32
    }
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %sum, %y[%c0, %i] : memref<?x8xf32>
    }
    return
  }
  func.func @count(%x: memref<f32>, %y: memref<?xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c1 = arith.constant 1 : index
    %v = memref.load %x[] : memref<f32>
    %w = arith.addf %v, %v : f32
    scf.for %i = %begin to %end step %c1 {
      memref.store %w, %y[%i] : memref<?xf32>
    }
    return
  }

  func.func @through(%x: memref<8xf32>, %y: memref<?x8xf32>, %begin: index, %end: index, %scratch: memref<8xf32>) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %row = %begin to %end step %c1 {
      scf.for %i = %c0 to %c8 step %c1 {
        %v = memref.load %x[%i] : memref<8xf32>
        memref.store %v, %scratch[%i] : memref<8xf32>
      }
      scf.for %i = %c0 to %c8 step %c1 {
        %v = memref.load %scratch[%i] : memref<8xf32>
        memref.store %v, %y[%row, %i] : memref<?x8xf32>
      }
    }
    return
  }
  func.func @blocks(%x: memref<8xf32>, %y: memref<?x8xf32>, %begin: index, %end: index, %scratch: memref<8xf32>) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    scf.for %block = %c0 to %c8 step %c4 {
      scf.for %i = %c0 to %c4 step %c1 {
        %v = memref.load %x[%i] : memref<8xf32>
        memref.store %v, %scratch[%i] : memref<8xf32>
      }
      scf.for %i = %c0 to %c4 step %c1 {
        %j = arith.addi %block, %i : index
        %v = memref.load %scratch[%i] : memref<8xf32>
        memref.store %v, %y[%c0, %j] : memref<?x8xf32>
      }
    }
    return
  }
  func.func @tiles_in_order(%x: memref<?x8xf32> {ragged.own_rows}, %y: memref<?x8xf32> {ragged.own_rows}, %base: memref<?xi64>, %begin: index, %end: index, %scratch: memref<?xi8>)
      attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %table = memref.view %scratch[%c0][] : memref<?xi8> to memref<8xindex>
    scf.for %first = %begin to %end step %c8 {
      %rest = arith.subi %end, %first : index
      %live = arith.minsi %rest, %c8 : index
      scf.for %i = %c0 to %live step %c1 {
        %b = memref.load %base[%c0] : memref<?xi64>
        %d = arith.index_cast %b : i64 to index
        %r = arith.addi %d, %i : index
        memref.store %r, %table[%i] : memref<8xindex>
      }
      %s = scf.for %i = %c0 to %live step %c1 iter_args(%a = %zero) -> f32 {
        %r = memref.load %table[%i] : memref<8xindex>
        %v = memref.load %x[%r, %c0] : memref<?x8xf32>
        %t = arith.addf %a, %v : f32
        scf.yield %t : f32
      }
      scf.for %i = %c0 to %live step %c1 {
        %j = arith.subi %live, %i : index
        %r = memref.load %table[%i] : memref<8xindex>
        %v = vector.load %x[%r, %c0] : memref<?x8xf32>, vector<8xf32>
        %w = arith.addf %v, %v : vector<8xf32>
        %q = arith.addi %first, %i : index
        %line = memref.subview %y[%q, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<8xf32, strided<[1], offset: ?>>
        vector.store %w, %line[%c0] : memref<8xf32, strided<[1], offset: ?>>, vector<8xf32>
      }
    }
    return
  }
  func.func @tiles_then(%x: memref<?x8xf32> {ragged.own_rows}, %y: memref<?x8xf32> {ragged.own_rows}, %base: memref<?xi64>, %begin: index, %end: index, %scratch: memref<?xi8>)
      attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %table = memref.view %scratch[%c0][] : memref<?xi8> to memref<8xindex>
    scf.for %first = %begin to %end step %c8 {
      %rest = arith.subi %end, %first : index
      %live = arith.minsi %rest, %c8 : index
      scf.for %i = %c0 to %live step %c1 {
        %b = memref.load %base[%c0] : memref<?xi64>
        %d = arith.index_cast %b : i64 to index
        %r = arith.addi %d, %i : index
        memref.store %r, %table[%i] : memref<8xindex>
      }
      %s = scf.for %i = %c0 to %live step %c1 iter_args(%a = %zero) -> f32 {
        %r = memref.load %table[%i] : memref<8xindex>
        %v = memref.load %x[%r, %c0] : memref<?x8xf32>
        %t = arith.addf %a, %v : f32
        scf.yield %t : f32
      }
      scf.for %i = %c0 to %live step %c1 {
        %q = arith.addi %first, %i : index
        memref.store %s, %y[%q, %c0] : memref<?x8xf32>
      }
    }
    return
  }
  func.func @tiles_row_by_row(%x: memref<?x8xf32> {ragged.own_rows}, %y: memref<?x8xf32> {ragged.own_rows}, %base: memref<?xi64>, %begin: index, %end: index, %scratch: memref<?xi8>)
      attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %table = memref.view %scratch[%c0][] : memref<?xi8> to memref<8xindex>
    scf.for %first = %begin to %end step %c8 {
      %rest = arith.subi %end, %first : index
      %live = arith.minsi %rest, %c8 : index
      scf.for %i = %c0 to %live step %c1 {
        %b = memref.load %base[%c0] : memref<?xi64>
        %d = arith.index_cast %b : i64 to index
        %r = arith.addi %d, %i : index
        memref.store %r, %table[%i] : memref<8xindex>
      }
      scf.for %i = %c0 to %live step %c1 {
        %r = memref.load %table[%i] : memref<8xindex>
        %s = scf.for %c = %c0 to %c8 step %c1 iter_args(%a = %zero) -> f32 {
          %v = memref.load %x[%r, %c] : memref<?x8xf32>
          %t = arith.addf %a, %v : f32
          scf.yield %t : f32
        }
        %v = memref.load %x[%r, %c1] : memref<?x8xf32>
        %q = arith.addi %first, %i : index
        scf.for %c = %c0 to %c8 step %c1 {
          %t = arith.addf %s, %v : f32
          memref.store %t, %y[%q, %c] : memref<?x8xf32>
        }
      }
    }
    return
  }
  func.func @tiles_again(%x: memref<?x8xf32> {ragged.own_rows}, %y: memref<?x8xf32> {ragged.own_rows}, %base: memref<?xi64>, %begin: index, %end: index, %scratch: memref<?xi8>)
      attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %table = memref.view %scratch[%c0][] : memref<?xi8> to memref<8xindex>
    scf.for %first = %begin to %end step %c8 {
      %rest = arith.subi %end, %first : index
      %live = arith.minsi %rest, %c8 : index
      scf.for %i = %c0 to %live step %c1 {
        %b = memref.load %base[%c0] : memref<?xi64>
        %d = arith.index_cast %b : i64 to index
        %r = arith.addi %d, %i : index
        memref.store %r, %table[%i] : memref<8xindex>
      }
      scf.for %c = %c0 to %c8 step %c1 {
        scf.for %i = %c0 to %live step %c1 {
          %r = memref.load %table[%i] : memref<8xindex>
          %v = memref.load %x[%r, %c1] : memref<?x8xf32>
          %q = arith.addi %first, %i : index
          memref.store %v, %y[%q, %c] : memref<?x8xf32>
        }
      }
    }
    return
  }
  func.func @tiles_by_columns(%x: memref<?x8xf32> {ragged.own_rows}, %y: memref<?x8xf32> {ragged.own_rows}, %base: memref<?xi64>, %begin: index, %end: index, %scratch: memref<?xi8>)
      attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %table = memref.view %scratch[%c0][] : memref<?xi8> to memref<8xindex>
    scf.for %first = %begin to %end step %c8 {
      %rest = arith.subi %end, %first : index
      %live = arith.minsi %rest, %c8 : index
      scf.for %i = %c0 to %live step %c1 {
        %b = memref.load %base[%c0] : memref<?xi64>
        %d = arith.index_cast %b : i64 to index
        %r = arith.addi %d, %i : index
        memref.store %r, %table[%i] : memref<8xindex>
      }
      scf.for %c = %c0 to %c8 step %c1 {
        %s = scf.for %i = %c0 to %live step %c1 iter_args(%a = %zero) -> f32 {
          %r = memref.load %table[%i] : memref<8xindex>
          %v = memref.load %x[%r, %c0] : memref<?x8xf32>
          %t = arith.addf %a, %v : f32
          scf.yield %t : f32
        }
        scf.for %i = %c0 to %live step %c1 {
          %q = arith.addi %first, %i : index
          memref.store %s, %y[%q, %c] : memref<?x8xf32>
        }
      }
    }
    return
  }
  func.func @tiles_of_others(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %base: memref<?xi64>, %begin: index, %end: index, %scratch: memref<?xi8>)
      attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %table = memref.view %scratch[%c0][] : memref<?xi8> to memref<8xindex>
    scf.for %first = %begin to %end step %c8 {
      %rest = arith.subi %end, %first : index
      %live = arith.minsi %rest, %c8 : index
      scf.for %i = %c0 to %live step %c1 {
        %b = memref.load %base[%c0] : memref<?xi64>
        %d = arith.index_cast %b : i64 to index
        %r = arith.addi %d, %i : index
        memref.store %r, %table[%i] : memref<8xindex>
      }
      %s = scf.for %i = %c0 to %live step %c1 iter_args(%a = %zero) -> f32 {
        %r = memref.load %table[%i] : memref<8xindex>
        %v = memref.load %x[%r, %c0] : memref<?x8xf32>
        %t = arith.addf %a, %v : f32
        scf.yield %t : f32
      }
      scf.for %i = %c0 to %live step %c1 {
        %q = arith.addi %first, %i : index
        memref.store %s, %y[%q, %c0] : memref<?x8xf32>
      }
    }
    return
  }
  func.func @tiles_backwards(%x: memref<?x8xf32> {ragged.own_rows}, %y: memref<?x8xf32> {ragged.own_rows}, %base: memref<?xi64>, %begin: index, %end: index, %scratch: memref<?xi8>)
      attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %table = memref.view %scratch[%c0][] : memref<?xi8> to memref<8xindex>
    scf.for %first = %begin to %end step %c8 {
      %rest = arith.subi %end, %first : index
      %live = arith.minsi %rest, %c8 : index
      scf.for %i = %c0 to %live step %c1 {
        %b = memref.load %base[%c0] : memref<?xi64>
        %d = arith.index_cast %b : i64 to index
        %r = arith.addi %d, %i : index
        memref.store %r, %table[%i] : memref<8xindex>
      }
      scf.for %i = %c0 to %live step %c1 {
        %j = arith.subi %live, %i : index
        %r = memref.load %table[%j] : memref<8xindex>
        %v = vector.load %x[%r, %c0] : memref<?x8xf32>, vector<8xf32>
        %w = arith.addf %v, %v : vector<8xf32>
        %q = arith.addi %first, %i : index
        %line = memref.subview %y[%q, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<8xf32, strided<[1], offset: ?>>
        vector.store %w, %line[%c0] : memref<8xf32, strided<[1], offset: ?>>, vector<8xf32>
      }
    }
    return
  }

  ragged.schedule @step signature {
      args = [{dtype = "f32", kind = "dense", shape = [8, 4]}, {dtype = "f32", kind = "dense", shape = [8, 4]},
              {dtype = "f32", kind = "ragged", extents = ["N"], order = [0], path = ["B"]}], checks = [],
      results = [{dtype = "f32", kind = "dense", shape = [8, 4]},
                 {dtype = "f32", kind = "ragged", extents = ["N"], order = [0], path = ["B"]}], symbols = []} {
    %w = ragged.buffer arg 0 : !ragged.buffer<8x4xf32>
    %g = ragged.buffer arg 1 : !ragged.buffer<8x4xf32>
    %x = ragged.buffer arg 2 : !ragged.buffer<f32>
    %v = ragged.buffer result 0 : !ragged.buffer<8x4xf32>
    %y = ragged.buffer result 1 : !ragged.buffer<f32>
    %s = ragged.buffer temp rows 1 : !ragged.buffer<f32>
    %one = ragged.table offsets <1> path []
    %n = ragged.table offsets <N> path [B]
    %b = ragged.table base arg 2 path [B]
    ragged.launch @sum units groups row_table %one memrefs(%w, %s : !ragged.buffer<8x4xf32>, !ragged.buffer<f32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @update units groups row_table %one
        memrefs(%w, %g, %v : !ragged.buffer<8x4xf32>, !ragged.buffer<8x4xf32>, !ragged.buffer<8x4xf32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @flat units groups row_table %n
        memrefs(%x, %y, %b, %n : !ragged.buffer<f32>, !ragged.buffer<f32>, !ragged.table, !ragged.table)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    // What was written may be read.
    ragged.launch @sum units groups row_table %one memrefs(%v, %s : !ragged.buffer<8x4xf32>, !ragged.buffer<f32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    // And so may the other argument of the type, whose place this was not.
    ragged.launch @sum units groups row_table %one memrefs(%g, %s : !ragged.buffer<8x4xf32>, !ragged.buffer<f32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
  }

  ragged.schedule @read_again signature {
      args = [{dtype = "f32", kind = "dense", shape = [8, 4]}, {dtype = "f32", kind = "dense", shape = [8, 4]}], checks = [],
      results = [{dtype = "f32", kind = "dense", shape = [8, 4]}], symbols = []} {
    %w = ragged.buffer arg 0 : !ragged.buffer<8x4xf32>
    %g = ragged.buffer arg 1 : !ragged.buffer<8x4xf32>
    %v = ragged.buffer result 0 : !ragged.buffer<8x4xf32>
    %one = ragged.table offsets <1> path []
    %s = ragged.buffer temp rows 1 : !ragged.buffer<f32>
    ragged.launch @update units groups row_table %one
        memrefs(%w, %g, %v : !ragged.buffer<8x4xf32>, !ragged.buffer<8x4xf32>, !ragged.buffer<8x4xf32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    %alias = ragged.alias %w : !ragged.buffer<8x4xf32>
    ragged.launch @sum units groups row_table %one memrefs(%alias, %s : !ragged.buffer<8x4xf32>, !ragged.buffer<f32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @sum units groups row_table %one memrefs(%g, %s : !ragged.buffer<8x4xf32>, !ragged.buffer<f32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
  }

  ragged.schedule @read_before signature {
      args = [{dtype = "f32", kind = "dense", shape = [8, 4]}], checks = [],
      results = [{dtype = "f32", kind = "dense", shape = [8, 4]}], symbols = []} {
    %w = ragged.buffer arg 0 : !ragged.buffer<8x4xf32>
    %v = ragged.buffer result 0 : !ragged.buffer<8x4xf32>
    %one = ragged.table offsets <1> path []
    %s = ragged.buffer temp rows 1 : !ragged.buffer<8x4xf32>
    %t = ragged.buffer temp rows 1 : !ragged.buffer<f32>
    ragged.launch @sum units groups row_table %one memrefs(%w, %t : !ragged.buffer<8x4xf32>, !ragged.buffer<f32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @update units groups row_table %one
        memrefs(%w, %w, %s : !ragged.buffer<8x4xf32>, !ragged.buffer<8x4xf32>, !ragged.buffer<8x4xf32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @update units groups row_table %one
        memrefs(%s, %s, %v : !ragged.buffer<8x4xf32>, !ragged.buffer<8x4xf32>, !ragged.buffer<8x4xf32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
  }

  ragged.schedule @not_there signature {
      args = [{dtype = "f32", kind = "dense", shape = [8]}, {dtype = "f32", kind = "dense", shape = [8]}, {dtype = "f32", kind = "dense", shape = [8]}],
      checks = [],
      results = [{dtype = "f32", kind = "dense", shape = [8]}, {dtype = "f32", kind = "dense", shape = [8]}, {dtype = "f32", kind = "dense", shape = [8]}],
      symbols = []} {
    %x = ragged.buffer arg 0 : !ragged.buffer<8xf32>
    %y = ragged.buffer arg 1 : !ragged.buffer<8xf32>
    %z = ragged.buffer arg 2 : !ragged.buffer<8xf32>
    %u = ragged.buffer result 0 : !ragged.buffer<8xf32>
    %v = ragged.buffer result 1 : !ragged.buffer<8xf32>
    %w = ragged.buffer result 2 : !ragged.buffer<8xf32>
    %one = ragged.table offsets <1> path []
    ragged.launch @elsewhere units groups row_table %one memrefs(%x, %u : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @late units groups row_table %one memrefs(%y, %v : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @apart units groups row_table %one memrefs(%z, %w : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
  }

  ragged.schedule @number signature {
      args = [{dtype = "f32", kind = "dense", shape = []}], checks = [], results = [{dtype = "f32", kind = "dense", shape = []}], symbols = []} {
    %x = ragged.buffer arg 0 : !ragged.buffer<f32>
    %y = ragged.buffer result 0 : !ragged.buffer<f32>
    %one = ragged.table offsets <1> path []
    ragged.launch @count units groups row_table %one memrefs(%x, %y : !ragged.buffer<f32>, !ragged.buffer<f32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
  }

  ragged.schedule @numbers signature {
      args = [{dtype = "f32", kind = "ragged", extents = [], order = [], path = ["B"]}], checks = [],
      results = [{dtype = "f32", kind = "ragged", extents = [], order = [], path = ["B"]}], symbols = []} {
    %x = ragged.buffer arg 0 : !ragged.buffer<f32>
    %y = ragged.buffer result 0 : !ragged.buffer<f32>
    %n = ragged.table offsets <1> path [B]
    ragged.launch @count units groups row_table %n memrefs(%x, %y : !ragged.buffer<f32>, !ragged.buffer<f32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
  }

  ragged.schedule @scratch signature {
      args = [{dtype = "f32", kind = "dense", shape = [8]}, {dtype = "f32", kind = "dense", shape = [8]}], checks = [],
      results = [{dtype = "f32", kind = "dense", shape = [8]}, {dtype = "f32", kind = "dense", shape = [8]}], symbols = []} {
    %x = ragged.buffer arg 0 : !ragged.buffer<8xf32>
    %y = ragged.buffer arg 1 : !ragged.buffer<8xf32>
    %u = ragged.buffer result 0 : !ragged.buffer<8xf32>
    %v = ragged.buffer result 1 : !ragged.buffer<8xf32>
    %one = ragged.table offsets <1> path []
    ragged.launch @through units groups row_table %one memrefs(%x, %u : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    ragged.launch @blocks units groups row_table %one memrefs(%y, %v : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>)
        {tile_rows = 1 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
  }

  ragged.schedule @tiles signature {
      args = [{dtype = "f32", kind = "ragged", extents = ["N0", "8"], order = [0, 1], path = ["B"]}, {dtype = "f32", kind = "ragged", extents = ["N1", "8"], order = [0, 1], path = ["B"]}, {dtype = "f32", kind = "ragged", extents = ["N2", "8"], order = [0, 1], path = ["B"]}], checks = [],
      results = [{dtype = "f32", kind = "ragged", extents = ["N0", "8"], order = [0, 1], path = ["B"]}, {dtype = "f32", kind = "ragged", extents = ["N1", "8"], order = [0, 1], path = ["B"]}, {dtype = "f32", kind = "ragged", extents = ["N2", "8"], order = [0, 1], path = ["B"]}], symbols = []} {
    %n = ragged.table offsets <N> path [B]
    %x0 = ragged.buffer arg 0 : !ragged.buffer<8xf32>
    %y0 = ragged.buffer result 0 : !ragged.buffer<8xf32>
    %b0 = ragged.table base arg 0 path [B]
    ragged.launch @tiles_in_order units groups row_table %n
        memrefs(%x0, %y0, %b0 : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.table)
        {tile_rows = 8 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    %x1 = ragged.buffer arg 1 : !ragged.buffer<8xf32>
    %y1 = ragged.buffer result 1 : !ragged.buffer<8xf32>
    %b1 = ragged.table base arg 1 path [B]
    ragged.launch @tiles_then units groups row_table %n
        memrefs(%x1, %y1, %b1 : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.table)
        {tile_rows = 8 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    %x2 = ragged.buffer arg 2 : !ragged.buffer<8xf32>
    %y2 = ragged.buffer result 2 : !ragged.buffer<8xf32>
    %b2 = ragged.table base arg 2 path [B]
    ragged.launch @tiles_row_by_row units groups row_table %n
        memrefs(%x2, %y2, %b2 : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.table)
        {tile_rows = 8 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
  }

  ragged.schedule @other_rows signature {
      args = [{dtype = "f32", kind = "ragged", extents = ["N0", "8"], order = [0, 1], path = ["B"]}, {dtype = "f32", kind = "ragged", extents = ["N1", "8"], order = [0, 1], path = ["B"]}, {dtype = "f32", kind = "ragged", extents = ["N2", "8"], order = [0, 1], path = ["B"]}, {dtype = "f32", kind = "ragged", extents = ["N3", "8"], order = [0, 1], path = ["B"]}], checks = [],
      results = [{dtype = "f32", kind = "ragged", extents = ["N0", "8"], order = [0, 1], path = ["B"]}, {dtype = "f32", kind = "ragged", extents = ["N1", "8"], order = [0, 1], path = ["B"]}, {dtype = "f32", kind = "ragged", extents = ["N2", "8"], order = [0, 1], path = ["B"]}, {dtype = "f32", kind = "ragged", extents = ["N3", "8"], order = [0, 1], path = ["B"]}], symbols = []} {
    %n = ragged.table offsets <N> path [B]
    %x0 = ragged.buffer arg 0 : !ragged.buffer<8xf32>
    %y0 = ragged.buffer result 0 : !ragged.buffer<8xf32>
    %b0 = ragged.table base arg 0 path [B]
    ragged.launch @tiles_by_columns units groups row_table %n
        memrefs(%x0, %y0, %b0 : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.table)
        {tile_rows = 8 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    %x1 = ragged.buffer arg 1 : !ragged.buffer<8xf32>
    %y1 = ragged.buffer result 1 : !ragged.buffer<8xf32>
    %b1 = ragged.table base arg 1 path [B]
    ragged.launch @tiles_again units groups row_table %n
        memrefs(%x1, %y1, %b1 : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.table)
        {tile_rows = 8 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    %x2 = ragged.buffer arg 2 : !ragged.buffer<8xf32>
    %y2 = ragged.buffer result 2 : !ragged.buffer<8xf32>
    %b2 = ragged.table base arg 2 path [B]
    ragged.launch @tiles_of_others units groups row_table %n
        memrefs(%x2, %y2, %b2 : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.table)
        {tile_rows = 8 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
    %x3 = ragged.buffer arg 3 : !ragged.buffer<8xf32>
    %y3 = ragged.buffer result 3 : !ragged.buffer<8xf32>
    %b3 = ragged.table base arg 3 path [B]
    ragged.launch @tiles_backwards units groups row_table %n
        memrefs(%x3, %y3, %b3 : !ragged.buffer<8xf32>, !ragged.buffer<8xf32>, !ragged.table)
        {tile_rows = 8 : i64, flops_per_row = 1 : i64, bytes_per_row = 1 : i64}
  }
}
