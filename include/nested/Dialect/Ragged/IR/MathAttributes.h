//===- MathAttributes.h - What is known of math ops -------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_MATHATTRIBUTES_H
#define NESTED_DIALECT_RAGGED_IR_MATHATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace nested {

/// On a `math.exp` whose operand is not positive (or NaN) and whose results
/// below the smallest normal number may be 0.
inline constexpr llvm::StringLiteral kNotPositiveAttr = "nested.not_positive";

} // namespace nested

#endif // NESTED_DIALECT_RAGGED_IR_MATHATTRIBUTES_H
