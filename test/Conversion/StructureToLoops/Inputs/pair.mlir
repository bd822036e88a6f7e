// The pair block: p = u[a] + v[b], layer norm, two projections, silu gate,
// projection, residual, mean over b. A unit is a pair row (sample, a).

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#id1 = affine_map<(d0) -> (d0)>

func.func @pair(%U: memref<?x128xf32>, %V: memref<?x128xf32>,
    %W1: memref<128x512xf32>, %W2: memref<128x512xf32>, %W3: memref<512x128xf32>,
    %G: memref<128xf32>, %B: memref<128xf32>,
    %off: memref<?xi64>, %poff: memref<?xi64>,
    %P: memref<?x128xf32>, %S: memref<?x128xf32>,
    %begin: index, %end: index) attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  %none = arith.constant -1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %inv = arith.constant 0.0078125 : f32
  %eps = arith.constant 1.0e-5 : f32
  %false = arith.constant false

  // First row, sample and coordinate of the first unit; row behind the last one.
  %units0 = memref.dim %off, %c0 : memref<?xi64>
  %samples = arith.subi %units0, %c1 : index
  %s0 = scf.while (%s = %c0) : (index) -> index {
    %s1 = arith.addi %s, %c1 : index
    %next = memref.load %off[%s1] : memref<?xi64>
    %nexti = arith.index_cast %next : i64 to index
    %go = arith.cmpi sle, %nexti, %begin : index
    scf.condition(%go) %s : index
  } do {
  ^bb0(%s: index):
    %s1 = arith.addi %s, %c1 : index
    scf.yield %s1 : index
  }
  %o0 = memref.load %off[%s0] : memref<?xi64>
  %o0i = arith.index_cast %o0 : i64 to index
  %s01 = arith.addi %s0, %c1 : index
  %o1 = memref.load %off[%s01] : memref<?xi64>
  %o1i = arith.index_cast %o1 : i64 to index
  %n0 = arith.subi %o1i, %o0i : index
  %p0 = memref.load %poff[%s0] : memref<?xi64>
  %p0i = arith.index_cast %p0 : i64 to index
  %a0 = arith.subi %begin, %o0i : index
  %skip = arith.muli %a0, %n0 : index
  %first = arith.addi %p0i, %skip : index

  %se = scf.while (%s = %s0) : (index) -> index {
    %s1 = arith.addi %s, %c1 : index
    %next = memref.load %off[%s1] : memref<?xi64>
    %nexti = arith.index_cast %next : i64 to index
    %go = arith.cmpi slt, %nexti, %end : index
    scf.condition(%go) %s : index
  } do {
  ^bb0(%s: index):
    %s1 = arith.addi %s, %c1 : index
    scf.yield %s1 : index
  }
  %oe = memref.load %off[%se] : memref<?xi64>
  %oei = arith.index_cast %oe : i64 to index
  %se1 = arith.addi %se, %c1 : index
  %of = memref.load %off[%se1] : memref<?xi64>
  %ofi = arith.index_cast %of : i64 to index
  %ne = arith.subi %ofi, %oei : index
  %pe = memref.load %poff[%se] : memref<?xi64>
  %pei = arith.index_cast %pe : i64 to index
  %ae = arith.subi %end, %oei : index
  %skipe = arith.muli %ae, %ne : index
  %last = arith.addi %pei, %skipe : index

  %e1 = tensor.empty() : tensor<128xf32>
  %acc0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<128xf32>) -> tensor<128xf32>

  %r:4 = scf.for %t = %first to %last step %c48
      iter_args(%s = %s0, %a = %a0, %b = %c0, %acc = %acc0) -> (index, index, index, tensor<128xf32>) {
    %left = arith.subi %last, %t : index
    %live = arith.minsi %left, %c48 : index

    %er = tensor.empty() : tensor<48xindex>
    %em = tensor.empty() : tensor<48xi64>
    %fill:7 = scf.for %i = %c0 to %live step %c1
        iter_args(%si = %s, %ai = %a, %bi = %b, %ru = %er, %rv = %er, %fl = %er, %mm = %em)
        -> (index, index, index, tensor<48xindex>, tensor<48xindex>, tensor<48xindex>, tensor<48xi64>) {
      %so = memref.load %off[%si] : memref<?xi64>
      %soi = arith.index_cast %so : i64 to index
      %si1 = arith.addi %si, %c1 : index
      %sp = memref.load %off[%si1] : memref<?xi64>
      %n = arith.subi %sp, %so : i64
      %ni = arith.index_cast %n : i64 to index
      %u = arith.addi %soi, %ai : index
      %v = arith.addi %soi, %bi : index
      %b1 = arith.addi %bi, %c1 : index
      %rowEnd = arith.cmpi eq, %b1, %ni : index
      %f = arith.select %rowEnd, %u, %none : index
      %ru1 = tensor.insert %u into %ru[%i] : tensor<48xindex>
      %rv1 = tensor.insert %v into %rv[%i] : tensor<48xindex>
      %fl1 = tensor.insert %f into %fl[%i] : tensor<48xindex>
      %mm1 = tensor.insert %n into %mm[%i] : tensor<48xi64>
      %b2 = arith.select %rowEnd, %c0, %b1 : index
      %a1 = arith.addi %ai, %c1 : index
      %a2 = arith.select %rowEnd, %a1, %ai : index
      %sampleEnd = arith.cmpi eq, %a2, %ni : index
      %a3 = arith.select %sampleEnd, %c0, %a2 : index
      %s3 = scf.if %sampleEnd -> index {
        // Skips empty samples.
        %w = scf.while (%x = %si1) : (index) -> index {
          %x1 = arith.addi %x, %c1 : index
          %in = arith.cmpi slt, %x, %samples : index
          %go = scf.if %in -> i1 {
            %l0 = memref.load %off[%x] : memref<?xi64>
            %l1 = memref.load %off[%x1] : memref<?xi64>
            %eq = arith.cmpi eq, %l0, %l1 : i64
            scf.yield %eq : i1
          } else {
            scf.yield %false : i1
          }
          scf.condition(%go) %x : index
        } do {
        ^bb0(%x: index):
          %x1 = arith.addi %x, %c1 : index
          scf.yield %x1 : index
        }
        scf.yield %w : index
      } else {
        scf.yield %si : index
      }
      scf.yield %s3, %a3, %b2, %ru1, %rv1, %fl1, %mm1
          : index, index, index, tensor<48xindex>, tensor<48xindex>, tensor<48xindex>, tensor<48xi64>
    }

    %w1 = bufferization.to_tensor %W1 restrict : memref<128x512xf32> to tensor<128x512xf32>
    %w2 = bufferization.to_tensor %W2 restrict : memref<128x512xf32> to tensor<128x512xf32>
    %w3 = bufferization.to_tensor %W3 restrict : memref<512x128xf32> to tensor<512x128xf32>
    %gamma = bufferization.to_tensor %G restrict : memref<128xf32> to tensor<128xf32>
    %beta = bufferization.to_tensor %B restrict : memref<128xf32> to tensor<128xf32>

    %eT = tensor.empty() : tensor<48x128xf32>
    %eR = tensor.empty() : tensor<48xf32>
    %eZ = tensor.empty() : tensor<48x512xf32>
    %u = ragged.tile_gather %U[%fill#3] live %live : memref<?x128xf32>, tensor<48xindex> -> tensor<48x128xf32>
    %v = ragged.tile_gather %V[%fill#4] live %live : memref<?x128xf32>, tensor<48xindex> -> tensor<48x128xf32>
    %p = linalg.add ins(%u, %v : tensor<48x128xf32>, tensor<48x128xf32>) outs(%eT : tensor<48x128xf32>) -> tensor<48x128xf32>
    %z1 = linalg.fill ins(%zero : f32) outs(%eR : tensor<48xf32>) -> tensor<48xf32>
    %sum = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
        ins(%p : tensor<48x128xf32>) outs(%z1 : tensor<48xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = arith.addf %x, %o : f32
      linalg.yield %0 : f32
    } -> tensor<48xf32>
    %d = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%p, %sum : tensor<48x128xf32>, tensor<48xf32>) outs(%eT : tensor<48x128xf32>) {
    ^bb0(%x: f32, %m: f32, %o: f32):
      %0 = arith.mulf %m, %inv : f32
      %1 = arith.subf %x, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<48x128xf32>
    %var = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
        ins(%d : tensor<48x128xf32>) outs(%z1 : tensor<48xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = arith.mulf %x, %x fastmath<contract> : f32
      %1 = arith.addf %0, %o fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<48xf32>
    %rstd = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
        ins(%var : tensor<48xf32>) outs(%eR : tensor<48xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = arith.mulf %x, %inv : f32
      %1 = arith.addf %0, %eps : f32
      %2 = math.sqrt %1 : f32
      %3 = arith.divf %one, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<48xf32>
    %y = linalg.generic {indexing_maps = [#id2, #row, #col, #col, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%d, %rstd, %gamma, %beta : tensor<48x128xf32>, tensor<48xf32>, tensor<128xf32>, tensor<128xf32>)
        outs(%eT : tensor<48x128xf32>) {
    ^bb0(%x: f32, %r0: f32, %g: f32, %b0: f32, %o: f32):
      %0 = arith.mulf %x, %r0 fastmath<contract> : f32
      %1 = arith.mulf %0, %g fastmath<contract> : f32
      %2 = arith.addf %1, %b0 fastmath<contract> : f32
      linalg.yield %2 : f32
    } -> tensor<48x128xf32>
    %zz = linalg.fill ins(%zero : f32) outs(%eZ : tensor<48x512xf32>) -> tensor<48x512xf32>
    %g = linalg.matmul ins(%y, %w1 : tensor<48x128xf32>, tensor<128x512xf32>) outs(%zz : tensor<48x512xf32>) -> tensor<48x512xf32>
    %h = linalg.matmul ins(%y, %w2 : tensor<48x128xf32>, tensor<128x512xf32>) outs(%zz : tensor<48x512xf32>) -> tensor<48x512xf32>
    %z = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%g, %h : tensor<48x512xf32>, tensor<48x512xf32>) outs(%eZ : tensor<48x512xf32>) {
    ^bb0(%x: f32, %k: f32, %o: f32):
      %0 = arith.negf %x : f32
      %1 = math.exp %0 : f32
      %2 = arith.addf %1, %one : f32
      %3 = arith.mulf %x, %k : f32
      %4 = arith.divf %3, %2 : f32
      linalg.yield %4 : f32
    } -> tensor<48x512xf32>
    %q = linalg.matmul ins(%z, %w3 : tensor<48x512xf32>, tensor<512x128xf32>) outs(%p : tensor<48x128xf32>) -> tensor<48x128xf32>
    ragged.tile_store %q, %P[%t] live %live : tensor<48x128xf32>, memref<?x128xf32>
    %acc1 = ragged.tile_fold ins(%q : tensor<48x128xf32>) acc(%acc : tensor<128xf32>) init(%acc0 : tensor<128xf32>)
        flush %fill#5 : tensor<48xindex> into(%S : memref<?x128xf32>) aux(%fill#6 : tensor<48xi64>) live %live combine {
    ^bb0(%x: f32, %m: f32):
      %0 = arith.addf %m, %x : f32
      ragged.yield %0 : f32
    } finalize {
    ^bb0(%m: f32, %k: i64):
      %0 = arith.sitofp %k : i64 to f32
      %1 = arith.divf %m, %0 : f32
      ragged.yield %1 : f32
    } -> tensor<128xf32>
    scf.yield %fill#0, %fill#1, %fill#2, %acc1 : index, index, index, tensor<128xf32>
  } {ragged.tile_loop}
  return
}
