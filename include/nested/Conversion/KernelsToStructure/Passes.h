//===- Passes.h - From the kernels phase to structure ------------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_CONVERSION_KERNELSTOSTRUCTURE_PASSES_H
#define NESTED_CONVERSION_KERNELSTOSTRUCTURE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace nested {

#define GEN_PASS_DECL
#include "nested/Conversion/KernelsToStructure/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nested/Conversion/KernelsToStructure/Passes.h.inc"

} // namespace nested

#endif // NESTED_CONVERSION_KERNELSTOSTRUCTURE_PASSES_H
