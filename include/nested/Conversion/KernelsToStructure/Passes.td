//===- Passes.td - from the kernels phase to structure -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_KERNELSTOSTRUCTURE_PASSES
#define NESTED_KERNELSTOSTRUCTURE_PASSES

include "mlir/Pass/PassBase.td"

def RaggedKernelsToStructure : Pass<"ragged-kernels-to-structure", "::mlir::ModuleOp"> {
  let summary = "ragged types become packed values, lengths and tables";
  let description = [{
    1. Every entry becomes a `ragged.schedule` of the same name: its signature as data, structure tables,
       buffers, and the steps that the runtime takes.
    2. Every `ragged.kernel` becomes a function with the attribute `ragged.kernel`, on memrefs of packed
       rows and of tables: it finds the first row of its units, and runs the tile program in a loop over
       tiles that cuts the packed rows regardless of where groups and samples end. Row numbers of
       everything that is not read in the order of the iteration space are computed per row.
       A kernel in which no two columns of a row meet goes along runs of rows instead, in vectors of `vector-bits`
       or more: of rows if a row is one element, else of columns. A run is as many rows as every read finds one
       behind the other, at best a sample; folds keep one accumulator per lane. It is written as loops, not as
       a tile program.
       Kernels behind one that folds become one function with it if they go along the same rows and read what was made of
       their own unit (a softmax over rows: the largest element, the sum, the quotient): unit by unit, so that all but the first
       find its rows in a cache. An element with a function of `math` that a fold and a later result of its type both need
       is computed once, and stored where the result will be.
    3. A fold over the batch becomes two launches: partial results of chunks of rows, then one pass
       over them (R8).

    4. Every op with `LoopKernelOpInterface` (`masked_select`, `scan`, ...) adds the kernels that it is: functions of
       the same form, but loops over samples, or over groups of them, instead of tile programs.

    Booleans are stored as bytes.

    Requires: the kernels phase. Guarantees: `--ragged-verify-structure`.

    Limits: a function of several kernels is cut into units of its folds. One large sample is then the work of one thread,
    elementwise kernels included.

    (* example: test/Conversion/KernelsToStructure/ragged-kernels-to-structure.mlir *)
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "0",
           "Width of the registers that kernels are vectorized for; 0: all kernels are tile programs">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect", "::nested::ragged::RaggedDialect"
  ];
}

def RaggedVerifyStructure : Pass<"ragged-verify-structure", "::mlir::ModuleOp"> {
  let summary = "check the contract of the structure phase";
  let description = [{
    No value of a ragged tensor or partition type; every function is a kernel on memrefs, scalars, `begin` and
    `end`; every launch names a function and gives it as many operands as it takes.

    (* example: test/Conversion/KernelsToStructure/ragged-verify-structure.mlir *)
  }];
}

#endif // NESTED_KERNELSTOSTRUCTURE_PASSES
