//===- Passes.td - From the loops phase to the LLVM dialect -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LOOPSTOLLVM_PASSES
#define NESTED_LOOPSTOLLVM_PASSES

include "mlir/Pass/PassBase.td"

def DefineArithmetic : Pass<"define-arithmetic"> {
  let summary = "Give results to divisions by zero and the like";
  let description = [{
    R11: what `arith` and `math` leave undefined, or a processor stops at, has a
    result in kernels, that of NumPy where it has one:

    * an integer divided by zero is 0, and so is the remainder; the least
      number divided by -1 is itself;
    * a shift by the width or more, or by a negative number, moves all bits
      out; of `arith.shrsi` the sign stays;
    * a float converted to an integer saturates, NaN becomes 0;
    * an integer to a negative integer power is 0, but for 1 and -1. Powers
      become loops that square.

    Rows past the end of a tile are computed too, from numbers that nobody
    wrote: without this they could stop the process. Types `index` and `i1` are
    left alone. Runs before vectors are lowered.

    (* example: test/Conversion/LoopsToLLVM/define-arithmetic.mlir *)
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def CarryBF16 : Pass<"carry-bf16", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Keep bf16 in integer registers";
  let description = [{
    Makes every bf16 an i16 of the same bits: values, elements of vectors and memory, constants. Runs behind
    `--expand-halves` and `--arith-expand`, when bf16 is only moved.

    LLVM's code generator for x86 keeps a bf16 that lives in several blocks as f32, and calls a library
    function to narrow it; artifacts have no library.

    (* example: test/Conversion/LoopsToLLVM/carry-bf16.mlir *)
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandHalves : Pass<"expand-halves", "::mlir::func::FuncOp"> {
  let summary = "Write out what f16 and bf16 have no instructions for";
  let description = [{
    Functions of `math` that `--approximate-math` leaves are computed in f32. Integers and f64 to f16 and bf16 go by way of f32, rounded so that the result is the nearest half to
    what was given: there is no second rounding. Where the target has no instructions for it, f32 from and
    to f16 becomes integer arithmetic. f32 to bf16 is left to `--arith-expand`.

    Scalars and vectors; runs before vectors are lowered.

    (* example: test/Conversion/LoopsToLLVM/expand-halves.mlir *)
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"
  ];
  let options = [
    Option<"f16Instructions", "f16-instructions", "bool", /*default=*/"false",
           "The target converts f32 from and to f16.">
  ];
}

def ApproximateMath : Pass<"approximate-math", "::mlir::func::FuncOp"> {
  let summary = "Replace f32 math functions by polynomials";
  let description = [{
    Computes `math.exp`, `exp2`, `log`, `log2`, `log1p`, `expm1`, `tanh`, `erf`,
    `erfc`, `sin` and `cos` on f32 scalars and vectors with polynomials, so that
    they run in vector registers. f16 and bf16 are computed in f32. Scalars and vectors get
    the same polynomial, hence the same bits.

    Accuracy over all finite f32 (largest error, in units of the last place):
    exp 1.1, exp2 1.1, log 0.8, log2 1.3, log1p 2.5, expm1 2.4, tanh 4.4, erf 4.6,
    erfc 2.6, sin and cos 1.5. NaN stays NaN, infinities have the right limits,
    and results and arguments below the smallest normal number are not flushed.
    sin and cos of a vector with an element beyond 48000 are left to a call.

    What has no approximation that is good enough stays: f64, `atan`, `pow` and
    the rest. `bind-services` turns those into calls. Run it before
    `bind-services` and before vectors are lowered.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def LowerVectorOps : Pass<"lower-vector-ops", "::mlir::func::FuncOp"> {
  let summary = "Lower contractions, reductions and permuted transfers";
  let description = [{
    Takes the vector operations with structure apart, down to those that
    `convert-vector-to-llvm` handles well: `vector.contract` becomes outer
    products (fused multiply-adds on whole rows; the form that reaches peak),
    `vector.multi_reduction` becomes row reductions when it reduces the last
    dimension and elementwise operations otherwise, permuted transfers
    become plain transfers and transposes, transposes become shuffles.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def BindServices : Pass<"bind-services", "::mlir::ModuleOp"> {
  let summary = "Call math functions through the services table of the host";
  let description = [{
    Compiled code links against nothing, so a math function that is still there
    is called through the table that the loader puts into the exported global
    `nested_services_slot`. The table is an array of function pointers in the
    order of `runtime/include/nested/services.def`. Vectors are taken apart,
    f16 and bf16 are computed in f32. `arith.remf` is `fmod`.

    Operations that every target has as instructions or that upstream expands
    inline (`absf`, `floor`, `sqrt`, `fma`, `copysign`, ...) stay. The module
    attribute `ragged.services` records how long the table must be. An
    operation that no service covers is an error.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def EmitKernelAbi : Pass<"emit-kernel-abi", "::mlir::ModuleOp"> {
  let summary = "Wrap kernels into the calling convention of the artifact";
  let description = [{
    Turns every `func.func @k` with the attribute `ragged.kernel` into an
    internal function `@k.body` on bare pointers and emits the exported

    ```mlir
    llvm.func @k(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr)
    ```

    that loads pointers, leading dimensions and scalars from the frame and calls
    it. The arguments of a kernel are memrefs (at most the leading dimension
    dynamic, identity layout), then scalars of type index or i64, then
    begin and end, then, when the attribute `ragged.scratch_bytes` is there, a
    `memref<?xi8>`. Inside, descriptors are built with constant sizes and strides.

    Memrefs of one kernel do not overlap: their pointers are `noalias` unless
    the argument has the attribute `ragged.may_alias`, and `readonly` when the
    kernel provably does not write through them. Runs before the conversion of
    `func` to LLVM, since it needs the memref types.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect"
  ];
}

def VerifyLLVMPhase : Pass<"verify-llvm-phase", "::mlir::ModuleOp"> {
  let summary = "Check that only the LLVM dialect is left";
  let description = [{
    The contract of the `llvm` phase: a module holds LLVM dialect operations
    and, at its top level, operations of the `ragged` dialect (the schedule,
    which becomes the manifest). Reports every operation that is something else.
  }];
}

#endif // NESTED_LOOPSTOLLVM_PASSES
