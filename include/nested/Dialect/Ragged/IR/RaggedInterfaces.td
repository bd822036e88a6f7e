//===- RaggedInterfaces.td - op interfaces of the ragged dialect -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_INTERFACES
#define NESTED_RAGGED_INTERFACES

include "mlir/IR/OpBase.td"

def GeneralizableOpInterface : OpInterface<"GeneralizableOpInterface"> {
  let cppNamespace = "::nested::ragged";
  let description = [{
    A named op of the `tensor` phase that is one or several `ragged.generic` ops.
    `--ragged-generalize` calls it on every op that has it.
  }];
  let methods = [InterfaceMethod<
    "Emit the equivalent `generic` phase ops at the rewriter's insertion point and "
    "return one value per result of the op, of the same types. Emits a diagnostic "
    "on failure.",
    "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "generalize",
    (ins "::mlir::RewriterBase &":$rewriter)>];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::nested::ragged";
  let description = [{
    An op that `--ragged-autodiff` can differentiate, in two halves: what to keep of the forward
    computation, and how to use it. Ops of the tensor phase have it, and, as external models, the
    ops of `arith` and `math` that regions are made of.

    What is active is decided by type: values of integers, lengths and partitions are constant to every
    derivative, and an operand is active when a variable that was asked for reaches it through floats.
  }];
  let methods = [
    InterfaceMethod<
      "Emit, behind the op, what `emitAdjoint` needs beside the op's operands and results. "
      "`active` has an entry per operand.",
      "::llvm::SmallVector<::mlir::Value>", "cacheValues",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<bool>":$active), "",
      "return {};">,
    InterfaceMethod<
      "Emit the gradients of the active operands from those of the results (null: the result does not matter), "
      "each of the type of its operand. Returns a value per operand; null: 0, or inactive. "
      "Emits a diagnostic on failure.",
      "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "emitAdjoint",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$gradients,
           "::llvm::ArrayRef<::mlir::Value>":$cached, "::llvm::ArrayRef<bool>":$active)>];
}

def SizeCheckOpInterface : OpInterface<"SizeCheckOpInterface"> {
  let cppNamespace = "::nested::ragged";
  let description = [{
    An op whose sizes are right only for some lengths. What its form does not prove is
    checked for every sample when the program is entered: `--ragged-unify-symbols` collects it.
  }];
  let methods = [InterfaceMethod<
    "The relations between extents over `getSizeCheckPath` that must hold.",
    "::llvm::SmallVector<::nested::ragged::SizeCheck>", "getSizeChecks", (ins)>,
    InterfaceMethod<"The path of the samples.", "::llvm::SmallVector<::mlir::StringAttr>",
    "getSizeCheckPath", (ins)>,
    InterfaceMethod<"What asks for it, for messages.", "::std::string", "getSizeCheckReason", (ins)>];
}

def IndexedLoadOpInterface : OpInterface<"IndexedLoadOpInterface"> {
  let cppNamespace = "::nested::ragged";
  let description = [{
    An op whose result is elements of one operand, at coordinates of which one comes from another. Kernels do it
    where they read the result, so that it is not stored.
  }];
  let methods = [
    InterfaceMethod<"What is read from.", "::mlir::Value", "getLoadedSource", (ins)>,
    InterfaceMethod<"The indices.", "::mlir::Value", "getLoadedIndices", (ins)>,
    InterfaceMethod<"The dim of the source that the index is the coordinate of.", "int64_t", "getIndexedDim", (ins)>,
    InterfaceMethod<"From the result's dims to the source's; 0 at the indexed dim.", "::mlir::AffineMap",
      "getSourceMap", (ins)>,
    InterfaceMethod<"From the result's dims to those of the indices.", "::mlir::AffineMap", "getIndexMap", (ins)>];
}

def TileAccessOpInterface : OpInterface<"TileAccessOpInterface"> {
  let cppNamespace = "::nested::ragged";
  let description = [{
    An op of a kernel's region that knows about rows of the batch. Everything else in
    the region is ordinary `linalg` on tensors of static shape.
  }];
  let methods = [InterfaceMethod<
    "Bytes of the batch that one row of the tile reads or writes; for remarks and costs.",
    "int64_t", "getBytesPerRow", (ins)>];
}

def LoopKernelOpInterface : OpInterface<"LoopKernelOpInterface"> {
  let cppNamespace = "::nested::ragged";
  let description = [{
    An op of the `generic` and `kernels` phases that is no `ragged.generic` but one or several kernels of its
    own: loops over groups (samples, or the runs of one dim), written in `scf`, `vector`, `memref` and `arith`. It is
    a step by itself: `--ragged-form-kernels` fuses nothing with it.
    `--ragged-kernels-to-structure` calls it. The implementations are external models beside that pass
    (`LoopKernel.h` has what they are written with), so that the dialect knows nothing of loops.
  }];
  let methods = [InterfaceMethod<
    "Add what the op is at run time to the schedule: memory of its results, temporaries, kernels and their "
    "launches, symbols that it binds. Emits a diagnostic on failure.",
    "::llvm::LogicalResult", "emitLoopKernels",
    (ins "::nested::ragged::LoopKernelBuilder &":$builder)>,
  InterfaceMethod<
    "Whether the kernels work when all threads of a block run them and one of them writes: they read nothing "
    "that they have written.",
    "bool", "worksOnGPU", (ins), "", "return false;">];
}

#endif // NESTED_RAGGED_INTERFACES
