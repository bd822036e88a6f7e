//===- Passes.td - passes from tensor to kernels -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_PASSES
#define NESTED_RAGGED_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// tensor
//===----------------------------------------------------------------------===//

def RaggedInlineCalls : Pass<"ragged-inline-calls", "::mlir::ModuleOp"> {
  let summary = "inline ragged.call, renaming the callee's symbols";
  let description = [{
    Replaces every `ragged.call` by the callee's body, in which the callee's symbols are
    substituted by the caller's extents and symbols that the callee binds itself get fresh
    names. Private functions that are left without uses are erased.

    Guarantees: no `ragged.call`. A recursive call is an error.

    (* example: test/Dialect/Ragged/Transforms/ragged-inline-calls.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect"];
}

def RaggedAutodiff : Pass<"ragged-autodiff", "::mlir::func::FuncOp"> {
  let summary = "replace requests for derivatives by the ops that compute them";
  let description = [{
    Reverse mode on the straight line of a function's body. For each `ragged.gradient`, in program order:
    values are active that depend on a variable and that an output depends on, through floats
    all the way (integers, lengths and partitions are constant). The adjoints of the active ops, from
    DifferentiableOpInterface, are emitted backwards where the request stands; nothing is emitted for what is not
    active. They are named ops of the tensor phase, so that a later request can differentiate them.

    The values of a `ragged.checkpoint` are computed again behind a `ragged.barrier`, once a gradient of the checkpoint is
    there; the others are kept, unless `--ragged-form-kernels` computes them again.

    Then `ragged.variable`, `ragged.stop_gradient`, `ragged.custom_gradient` and `ragged.checkpoint` become the values that
    they are.

    Requires: `--ragged-inline-calls`. Guarantees: none of these ops. An active op without a rule is an error with a
    note at the request.

    (* example: test/Dialect/Ragged/Transforms/ragged-autodiff.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def RaggedAbsorbStructure : Pass<"ragged-absorb-structure", "::mlir::func::FuncOp"> {
  let summary = "structure given as dense arguments becomes ragged arguments";
  let description = [{
    A program may take lengths (`tensor<?xi64>`), values (`tensor<?x128xf32>`) and partitions as
    arguments and pack them itself. In the signature, values that are packed are a ragged argument,
    and lengths are an argument that is structure alone: the caller gives lengths with both.
    `ragged.with_lengths` becomes a pack of the values. Row numbers and coordinates that `locate` and
    `linearize` are asked about are a ragged argument over a batch of their own.

    Arguments of dynamic shape that are used in another way stay; only the reference interpreter runs
    such programs.

    (* example: test/Dialect/Ragged/Transforms/ragged-absorb-structure.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect"];
}

def RaggedUnifySymbols : Pass<"ragged-unify-symbols", "::mlir::func::FuncOp"> {
  let summary = "turn casts and slice bounds into checks at the entry";
  let description = [{
    1. `ragged.cast` from extent `e1` to `e2`: adds the check `e1 == e2` to the entry's `ragged.checks`, with
       the location and reason of the cast, then renames one symbol to the other's extent in the
       whole function, so that the two types are one. What the program declared for its arguments
       is kept in `ragged.declared_type`.
    2. `ragged.slice`: adds `0 <= start` and `start + size <= extent` unless the form of the extents
       proves them.

    A cast between extents of which neither is a symbol cannot be renamed and is an error.

    Guarantees: no `ragged.cast`; types that the program needs to be equal are equal.

    (* example: test/Dialect/Ragged/Transforms/ragged-unify-symbols.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect"];
}

def RaggedVerifyTensor : Pass<"ragged-verify-tensor", "::mlir::func::FuncOp"> {
  let summary = "check the contract of the tensor phase";
  let description = [{
    Every symbol is bound by one value that dominates its uses; no op of a later phase.

    (* example: test/Dialect/Ragged/Transforms/ragged-verify-tensor.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect"];
}

//===----------------------------------------------------------------------===//
// algebra
//===----------------------------------------------------------------------===//

def RaggedReduceFirst : Pass<"ragged-reduce-first", "::mlir::func::FuncOp"> {
  let summary = "reduce before what commutes with the reduction";
  let description = [{
    `mean_b(u[a] + v[b] + h[a, b] @ W)` is `u[a] + mean_b(v[b]) + mean_b(h[a, b]) @ W`: one map per single instead
    of one per pair, and no pair that is only reduced. The source of a sum or mean is read as a
    sum of terms, as in `--ragged-hoist-linear`; a term that is a `ragged.linear` is reduced, then mapped; an axis that
    a term does not have is not reduced: the term is multiplied by the axis' extent (sum) or kept unless the
    axis is empty (mean, R5). What is left is added up and reduced as a whole. max and min over an axis that
    their source does not have are that source.

    Legality: floats; the contracted dim is not reduced; no reduction over the batch, no `keepdims`. Every
    use of the linear map's result ends in such sums and means: else it is made anyway, and reducing it
    is cheaper. A term times a number per row, or times a vector, is not taken apart.

    A linear map is moved where a formula of operations in the lengths is less after it, at short and at long
    lengths; axes that no term has are always taken out. Results differ in the last bits: `--no-reassociate`
    leaves the pass out. A remark of category `ragged-algebra` gives both formulas.

    (* example: test/Dialect/Ragged/Transforms/ragged-reduce-first.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect", "::mlir::arith::ArithDialect"];
}

def RaggedHoistLinear : Pass<"ragged-hoist-linear", "::mlir::func::FuncOp"> {
  let summary = "map the terms of a broadcast sum, not the sum";
  let description = [{
    `(u[a] + v[b]) @ W` is `(u @ W)[a] + (v @ W)[b]`: two maps of singles and an addition per pair.
    The source of a `ragged.linear` is read as a sum of terms: through `ragged.map` regions that add, subtract,
    negate, multiply by constants, by one number per row or by a dense vector along the last dim; through
    `ragged.broadcast`, `ragged.transpose`; and through layer normalisation, since
    `norm(u[a] + v[b]) @ W` is `rstd[a, b] * ((uc * g) @ W)[a] + ...` with the centred `uc`, `vc`. The
    deviation is computed per row of the whole from the centred terms: two passes, as R6 asks.

    Legality: floats only; the contracted dim is the last one of every term and not repeated by it; nothing
    nonlinear is between the terms and the map; a normalisation is over the last dim alone and of
    values that all have fewer rows. Terms of narrow floats are mapped and added in f32.

    It is done where a formula of operations in the lengths is less after it than before, at short and at
    long lengths, whatever the batch (R8); not for GPUs. A term with as many rows as the whole costs as much as the
    whole, so that `(x + y) @ W` stays.

    The order of sums changes, so results differ in the last bits: `--no-reassociate` leaves the pass out. Where
    terms nearly cancel, their rounding is that of the terms and not of the sum.

    A remark of category `ragged-algebra` gives both formulas.

    (* example: test/Dialect/Ragged/Transforms/ragged-hoist-linear.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def RaggedSumByRows : Pass<"ragged-sum-by-rows", "::mlir::func::FuncOp"> {
  let summary = "sum rows before the rest, where rows are reduced anyway";
  let description = [{
    A sum over several ragged axes, of each sample or of the batch, `sum_{s,a,b} g[a, b]`, becomes a sum of sums of rows,
    `sum_{s,a} (sum_b g[a, b])`, where another reduction of the same cells over the same rows is needed in each sample.
    Then one kernel makes the cells for both; sums over other groups of rows are in other kernels, which make
    the cells again. The gradients of a bias and of the values that a hoisted map is broadcast from are such a pair, and so
    are a mean of rows and the loss of all cells.

    Legality: sums of floats, without `keepdims`. The sums of rows are kept in the type that sums are accumulated in (R6), so
    results differ in the last bits at most: `--no-reassociate` leaves the pass out. A remark of
    category `ragged-algebra` names the cells.

    (* example: test/Dialect/Ragged/Transforms/ragged-sum-by-rows.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect", "::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// generic
//===----------------------------------------------------------------------===//

def RaggedGeneralize : Pass<"ragged-generalize", "::mlir::func::FuncOp"> {
  let summary = "named ops become ragged.generic";
  let description = [{
    1. Calls `generalize` on every op with GeneralizableOpInterface.
    2. A generic with several outputs becomes one for each. One that reduces the last of several components of the path
       becomes a reduction within each member and one over the members, which `unnest` makes a dim; its accumulators
       have to be combined with one value by one op that has a neutral element.
    3. Replaces generics without points (an extent that is constant 0) by their inits.

    Requires: `--ragged-unify-symbols`. Guarantees: no op with that interface; generics have one output, and the path of
    those with `batch_reduced` has one component.

    (* example: test/Dialect/Ragged/Transforms/ragged-generalize.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def RaggedFoldMoves : Pass<"ragged-fold-moves", "::mlir::func::FuncOp"> {
  let summary = "take broadcasts, transposes and slices into the maps of their consumers";
  let description = [{
    A generic that yields its input unchanged only says where elements come from. Its consumers
    read its input directly, through the composed map, the sum of the offsets and its value outside of the
    input. Moves that are results of the function, or are used by an op that is not a generic, stay; and so
    do those that something is read outside of, unless they only reorder dims (what is outside of a slice may
    be inside of its input). So does the result of a gather of which a part is read: all of its indices are checked.

    Guarantees: a generic's input is a move only where no one map says what is read.

    (* example: test/Dialect/Ragged/Transforms/ragged-fold-moves.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect"];
}

def RaggedVerifyGeneric : Pass<"ragged-verify-generic", "::mlir::func::FuncOp"> {
  let summary = "check the contract of the generic phase";
  let description = [{
    Only `ragged.generic` and the algorithmic ops that it cannot express (gather, masked_select, nest,
    structure as values) are left.

    (* example: test/Dialect/Ragged/Transforms/ragged-verify-generic.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect"];
}

//===----------------------------------------------------------------------===//
// kernels
//===----------------------------------------------------------------------===//

def RaggedFormKernels : Pass<"ragged-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "fuse generics into kernels: tile programs over rows";
  let description = [{
    1. Every generic gets its *row space*: the ragged extents of its parallel dims, in packed order of the
       result, then those of its reduction dims. Dense programs make rows of their leading dim.
    2. In program order, a generic joins the latest kernel of the same space that comes after
       everything it reads; what it reads from that kernel it must read row by row, and not through
       a fold. Gathers and constants are loads: they are repeated in each kernel that reads them.
    3. Elementwise consumers of a fold's result that need nothing but extents are done where the
       fold ends.
    4. Where derivatives were taken, what a kernel would read row by row from an earlier one is computed
       again instead, from values of fewer rows and from values that are stored anyway, where that is
       cheaper: a minimum cut between what is there and what the kernel needs, in which a value costs the
       operations that make it again or its bytes, `flops-per-byte` operations each. So a backward kernel makes
       the pair-sized broadcasts, normalised values, gates and activations itself. In other functions moves alone are
       repeated: the rows of a bias, parts of a row.
       A kernel whose parts share nothing is split, and so is one that adds up several matrices over the batch (gradients of
       weights) that together exceed the cache, if its parts share little work, which each of them then does.

       A function with `ragged.memory_budget = {bytes = 1048576, lengths = {N = array<i64: 30, 70>}}` says how many
       bytes temporaries may take at once in a call with those lengths (`batch = 2` in place of `lengths` where
       there are no symbols). Then the price of a byte is the least that keeps to it: what fits is stored where
       making it again would take longer, the rest is computed again. A budget that is too small for what
       can't be computed again is an error, which names the largest values.

       `fuse=never` makes a kernel of every generic, and stores every value; `fuse=always` computes again, in every
       function, whatever can be, at any price. To store one value whatever the cost, put a `ragged.barrier` behind it.
    5. A vector that is made of dense arguments alone in one step (the offset of a norm taken through the weights
       behind it) and read by one kernel over samples becomes part of that, in front of its tiles.
    6. The kernel's region is written as linalg on tiles.

    Each decision is a remark, of category `ragged-fusion` (what was fused, and why not) or
    `ragged-recompute` (what is computed again, what is stored, with its bytes).

    Requires: the generic phase. Guarantees: the kernels phase.

    (* example: test/Dialect/Ragged/Transforms/ragged-form-kernels.mlir *)
  }];
  let options = [
    Option<"fuse", "fuse", "::nested::ragged::Fusion", /*default=*/"::nested::ragged::Fusion::Cost",
           "What is put into one kernel", "NESTED_FUSION_VALUES">,
    Option<"flopsPerByte", "flops-per-byte", "int64_t", /*default=*/"128",
           "Work that may replace a byte that a backward kernel would read from an earlier one; 0: store all">,
    Option<"largeTileRows", "large-tile-rows", "int64_t", /*default=*/"48",
           "Most rows of a tile that is multiplied with more than 1 MB of weights">,
    Option<"share", "share", "bool", /*default=*/"true",
           "Whether what is made of dense arguments alone becomes part of the kernel that reads it">
  ];
  let dependentDialects = ["::nested::ragged::RaggedDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def RaggedVerifyKernels : Pass<"ragged-verify-kernels", "::mlir::func::FuncOp"> {
  let summary = "check the contract of the kernels phase";
  let description = [{
    No `ragged.generic` and no gather outside of kernels; rule K1 is checked by the kernel's own verifier.

    (* example: test/Dialect/Ragged/Transforms/ragged-verify-kernels.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect"];
}

def RaggedFormContractions : Pass<"ragged-form-contractions", "::mlir::func::FuncOp"> {
  let summary = "contractions become kernels of their own where tiles of rows would be slow";
  let description = [{
    The one place that decides how a product of matrices is computed. A `ragged.generic` is one when it adds up, from 0,
    the products of its two inputs, and has dims of one input and the result (*rows*), of the other input and the
    result (*columns*), and of both inputs alone (*depth*; the batch counts as one when it is reduced). It becomes

    * part of a tile program (nothing changes here) when one input is dense and every depth dim is static: rows times
      weights, fused with what is around it; and when it is summed over the batch, its accumulator takes at most
      1 MB, and generics make one of the inputs row by row in the same space: the kernel that makes those rows adds up
      their products, and they need not be stored;
    * a `ragged.contract_kernel` otherwise: products of two values of one sample, whatever their depth, and sums over
      the batch (weight gradients). What an input does besides (a gather, a constant) is stored first.

    Each decision is a remark of category `ragged-contraction`.

    Requires: the generic phase, for a CPU. Limits: the offsets of a slice must not be those of a dim that is summed over
    the batch.

    (* example: test/Dialect/Ragged/Transforms/ragged-form-contractions.mlir *)
  }];
  let dependentDialects = ["::nested::ragged::RaggedDialect"];
}

#endif // NESTED_RAGGED_PASSES
