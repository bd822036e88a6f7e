//===- Passes.td - From the structure phase to loops -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_STRUCTURETOLOOPS_PASSES
#define NESTED_STRUCTURETOLOOPS_PASSES

include "mlir/Pass/PassBase.td"

def TileBody : Pass<"tile-body", "::mlir::func::FuncOp"> {
  let summary = "Turn tile programs into loops over rows and register blocks";
  let description = [{
    Works on functions with the attribute `ragged.kernel`, in every loop with the
    attribute `ragged.tile_loop`. The body of such a loop is a program on tensors
    whose dim 0 is the rows of a tile, of which only the first `live` are real.

    What it does: the ops are put into stages. A *contraction group* is a
    contraction of rows with a shared tensor, and the elementwise ops that follow it;
    contractions that such an op joins are one group. It becomes loops over
    panels of columns, blocks of rows and the summed index, with the accumulators of
    one block in registers. All other row ops of a stage become one loop over the
    live rows, one row at a time, together with `ragged.tile_load`, `tile_gather`,
    `tile_store` and `tile_fold`. A `tile_fold` that adds up the products of every element of
    one row with every element of another (a weight gradient) is a stage of its own: the products are made
    nowhere, blocks of the accumulator stay in registers for all rows of the tile. Values that a later stage needs go through
    tile-sized tensors. A load is repeated in every stage that uses it.

    Requires: static shapes but for the leading dimension of memrefs; row
    independence (in every linalg op, dim 0 of tile operands is the same leading
    parallel loop). An op that violates it is reported.

    Guarantees: no op of the ragged dialect is left in the loop. What remains
    are linalg ops on single rows and on register blocks, and
    `bufferization.materialize_in_destination` of rows. Only live rows of a memref
    are read or written. Register blocks reach past them: there they read the last
    live row of a memref again, or tile-sized tensors; nothing there flows back into a
    live row.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512", "Width of a vector register">,
    Option<"blockRows", "mr", "int64_t", "0", "Rows of a register block (0: by vector-bits)">,
    Option<"blockColumns", "np", "int64_t", "0",
           "Columns of a register block, over all contractions of a group (0: by vector-bits)">,
    Option<"packBytes", "pack-bytes", "int64_t", "262144",
           "Copy shared operands of more bytes into panels; of more than 32 kB where the columns of a "
           "register block are no more than a line of the cache">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect"
  ];
}

def TileSplitColumns : Pass<"tile-split-columns", "::mlir::func::FuncOp"> {
  let summary = "Compute contractions that are used in parts part by part";
  let description = [{
    A contraction of a tile program of which only ranges of columns are used becomes one contraction for
    each range, with those columns of the shared operand: queries, keys and values of one
    projection, or gate and up. Their results then need no tile-sized tensor: they are stored from registers, or joined by
    what uses them. Every sum keeps its terms and their order.

    Only where the contraction starts from something that is made for each element alone (a bias, a
    constant), nothing else uses it, and no column is used twice; up to 8 parts of at least 16 columns.

    ```mlir
    %p = linalg.matmul ins(%x, %w : tensor<48x64xf32>, tensor<64x96xf32>) outs(%b : tensor<48x96xf32>) -> tensor<48x96xf32>
    %q = tensor.extract_slice %p[0, 32] [48, 64] [1, 1] : tensor<48x96xf32> to tensor<48x64xf32>
    // becomes a product with
    %v = tensor.extract_slice %w[0, 32] [64, 64] [1, 1] : tensor<64x96xf32> to tensor<64x64xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def OutlineShared : Pass<"outline-shared", "::mlir::ModuleOp"> {
  let summary = "Compute once per call what all grains share";
  let description = [{
    Linalg ops in front of a kernel's loops that are made of dense operands alone, such
    as weights that `tile-body` packs into panels, or sums of them, move into a kernel of
    their own, `@NAME_shared`, whose units are the indices of their first dim (panels; 64
    of them where each is a number). The schedule launches it in front of the kernel and
    holds its results in temporaries.

    Requires: the kernel is launched by one schedule, once. Ops of fewer than
    `min-points` points stay where they are, since a launch costs more, and so do
    those that are made of other such results.

    Guarantees: the arguments of kernels and the operands of launches agree.
  }];
  let options = [
    Option<"minPoints", "min-points", "int64_t", "4096", "Least work to move">
  ];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
    "::nested::ragged::RaggedDialect"
  ];
}

def TileContract : Pass<"tile-contract", "::mlir::func::FuncOp"> {
  let summary = "Products of matrices in register blocks";
  let description = [{
    Every `ragged.tile_contract` becomes loops over panels of columns, parts of the depth and blocks of rows:

        for columns in steps of 256, for depth in steps of 256:
          copy that part of rhs into panels, one after the other: [depth][columns of a register block]
          for rows in steps of 240, for panel, for block of rows:
            accumulators = 0; for d: accumulators += lhs[rows, d] * panel[d]; into dest

    A block is 6 rows of 4 vectors (AVX-512, NEON) or 2 (AVX2), with narrower ones for the last columns; what reaches
    past the last column is computed on zeros, and what reaches past the last row on the last row once more, and
    neither is stored. Rhs is copied vector by vector where columns or the depth are neighbours in memory (the latter are
    transposed in registers), else element by element.

    With `lanes` the vectors of a block run over the lanes, and both operands are copied, a line of the cache at a time:
    144 columns and 256 steps of rhs, then 24 rows of lhs after the other. Blocks add up 64 steps of 12 columns (with
    vectors of 256 bits) before they go on to the next steps, which keeps the columns in the nearest cache.

    Guarantees: the order of additions depends on the depth alone (R8): sums of 256 terms, which are added up.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512", "Width of a vector register">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def TileAttention : Pass<"tile-attention", "::mlir::func::FuncOp"> {
  let summary = "Attention in register blocks";
  let description = [{
    Every `ragged.tile_attention` becomes loops over blocks of 128 keys and groups of 24 queries:

        copy the queries, scaled; out = 0
        for keys in steps of 128:
          copy them and their values into panels
          for queries in steps of 24:
            for panel of keys, for block of 6 queries: scores into scratch memory
            for query: weights = exp(score - largest so far); what is known shrinks (online softmax)
            for panel of values, for block of 6 queries: out += weights * values
        out / sum of weights

    Panels are 4 vectors wide (AVX-512, NEON) or 2 (AVX2), narrower for the last keys. Soft cap, bias, mask and window
    change a score before it becomes a weight; keys that no query of a block sees are skipped. A query that sees no key gives
    0 (R5).

    Every `ragged.tile_attention_gradient` becomes the same loops with scores and `dot(seed, value)` in scratch memory, which become
    weights and gradients of scores; these are summed over keys into the gradients of queries, or, with queries and keys having
    changed places, over queries into those of keys and values. There is no largest score to find: the normalizer has it.

    Requires: at most 192 queries an op, or keys where their gradients are written. Guarantees: the order of additions depends on
    the numbers of queries and keys alone (R8).
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512", "Width of a vector register">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def TileColumns : Pass<"tile-columns", "::mlir::func::FuncOp"> {
  let summary = "Process wide rows in chunks of columns";
  let description = [{
    Every linalg op of a kernel that has more than `max-elements` iterations becomes part
    of a loop over chunks of at most `chunk` iterations, so that code size and
    registers stay bounded for any width. Ops of equal iteration space that follow
    each other elementwise share a loop; a reduction over columns ends it. Stores of
    wide rows are cut in the same way.

    Narrow ops whose innermost loop is longer than a register but not a power of two
    are cut into powers of two, without a loop: LLVM would take such vectors apart
    into scalars where they cross a block.

    Requires: static shapes. Ops that cannot be cut (an operand is accessed through a
    sum of loops) are left as they are.

    Guarantees: the order in which a reduction adds up a row depends on the row's width
    only.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512", "Width of a vector register">,
    Option<"maxElements", "max-elements", "int64_t", "512", "Iterations that need no loop">,
    Option<"chunk", "chunk", "int64_t", "128", "Iterations of one chunk">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def TileVectorize : Pass<"tile-vectorize", "::mlir::func::FuncOp"> {
  let summary = "Vectorize the linalg ops of kernels";
  let description = [{
    Rows become vectors, contractions `vector.contract`, stores of rows vector
    writes. Reads and writes of slices become reads and writes of the whole, and
    accumulators move from tensors into loop-carried vectors.

    Requires: static shapes; at most `max-elements` iterations per op are vectorized.

    Guarantees: no `bufferization.materialize_in_destination` of rows is left. Linalg
    ops that upstream's vectorizer refuses (or that are too large) are left to
    `tile-bufferize`, which makes scalar loops of them.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", "1024", "Largest op to vectorize">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def TileBufferize : Pass<"tile-bufferize", "::mlir::ModuleOp"> {
  let summary = "Turn the tensors of kernels into memrefs";
  let description = [{
    One-shot bufferization inside each kernel, then scalar loops for the linalg ops
    that are left, and vectors for the copies.

    Requires: tensors that come from memrefs of the caller are never written
    (`bufferization.to_tensor ... restrict`).

    Guarantees: no tensor and no linalg op is left in a kernel. Buffers are
    `memref.alloc` of static size.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect"
  ];
}

def TileScratch : Pass<"tile-scratch", "::mlir::func::FuncOp"> {
  let summary = "Place the buffers of a kernel in its scratch memory";
  let description = [{
    Every `memref.alloc` of a kernel becomes a `memref.view` of a new last argument
    `memref<?xi8>`, at a multiple of 64 bytes. Buffers that are never live at the same
    time share memory. The attribute `ragged.scratch_bytes` says how much is needed.

    Requires: allocs of static size and identity layout.

    Guarantees: no alloc and no dealloc is left. Functions without buffers are not
    changed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def VerifyLoops : Pass<"verify-loops", "::mlir::func::FuncOp"> {
  let summary = "Check the contract of the loops phase";
  let description = [{
    Kernels hold scf, vector, memref, arith and math ops (and affine maps of
    subscripts) on scalars, vectors and memrefs. There are no tensors, no linalg and
    no ragged ops, no allocations, and no copies of memrefs (they would become
    calls into a library). Reports every op that is something else.
  }];
}

def MarkPrepared : Pass<"mark-prepared", "::mlir::ModuleOp"> {
  let summary = "Mark launches that need dense arguments alone";
  let description = [{
    A launch gets the attribute `ragged.prepare` when it depends on dense arguments that nothing writes, on no length and on no sample:
    it packs or converts weights, or multiplies them with each other. The runtime can run it once, ahead of calls
    (`nested_prepare`), and leave it out of them. Where launches per sample alone are between it and the first step that reads
    what it makes, it moves there: such launches run for some samples after the other, and what they do not need yet takes no memory.

    Requires: kernels as functions on memrefs, so that it is known what they write.

    Guarantees: temporaries of launches that are marked are written by such launches alone, before any other step
    reads them. Every marked launch depends on an argument.
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect"];
}

def MarkInPlace : Pass<"mark-in-place", "::mlir::ModuleOp"> {
  let summary = "Find results that may take the memory of an argument";
  let description = [{
    `in_place_of` of a result in the signature becomes the numbers of the arguments, of its type, in whose memory its kernel can write it:
    the runtime then copies no argument that is donated to the result (docs/Artifact.md). The update of a parameter by an optimiser is the typical case.

    An argument is one of them if it has been read before the kernel. Or nothing reads it after the kernel, and the kernel reads each element once, where it then
    writes the element of the result: in one block, at the same address, as wide, under the same mask. Or tiles read and write their own
    rows alone (`ragged.own_rows`), and each reads what it does before it writes. Or the function is several kernels whose
    units read elements of their own alone, and none that has been written (`ragged.own_units`). Or the kernel reads all that it
    does before it writes a result of one row. Addresses are compared as sums of what the kernel computes; that first rows
    of the argument are those of the result holds because the runtime asks for arguments without gaps. Memrefs that may be the same memory get
    `ragged.may_alias`.

    Requires: kernels as functions on memrefs, each of which writes an element of a result once.

    Limits: a kernel that reads rows of other tiles, or of other samples, is not in place: another thread may have written them. Nor is
    one whose tiles write some columns before they read the rows again for others, or several rows at a time: a product of matrices alone.

    (* example: test/Conversion/StructureToLoops/mark-in-place.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect"];
}

#endif // NESTED_STRUCTURETOLOOPS_PASSES
