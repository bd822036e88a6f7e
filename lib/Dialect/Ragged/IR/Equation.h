//===- Equation.h - Einsum equations
//----------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_IR_EQUATION_H
#define NESTED_LIB_DIALECT_RAGGED_IR_EQUATION_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace nested::ragged {

/// `"nc,mc->nm"`: letters of the operands and of the result.
struct Equation {
  llvm::SmallVector<std::string> inputs;
  std::string output;

  /// Null, with a reason, unless every dim is a letter and there is one `->`.
  static std::optional<Equation> parse(llvm::StringRef text,
                                       std::string &error);
  /// Of a verified op.
  static Equation of(llvm::StringRef text) {
    std::string error;
    return *parse(text, error);
  }
};

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_IR_EQUATION_H
