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

#endif // NESTED_RAGGED_INTERFACES
