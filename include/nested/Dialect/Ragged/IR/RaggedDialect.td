//===- RaggedDialect.td - the ragged dialect -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_DIALECT
#define NESTED_RAGGED_DIALECT

include "mlir/IR/OpBase.td"

def Ragged_Dialect : Dialect {
  let name = "ragged";
  let cppNamespace = "::nested::ragged";
  let summary = "Tensors whose axes have another length in every sample";
  let description = [{
    A program is written for one *sample*; a *batch* of samples of different
    sizes is stored packed, without padding. Sizes are symbols in types at
    compile time and tensors in memory at run time.

    The rules that verifiers, tests and documents refer to by label (R1-R10)
    are written out in `docs/Language.md`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

#endif // NESTED_RAGGED_DIALECT
