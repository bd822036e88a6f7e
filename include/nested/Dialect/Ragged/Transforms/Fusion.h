//===- Fusion.h - What kernels may be made of -------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_TRANSFORMS_FUSION_H
#define NESTED_DIALECT_RAGGED_TRANSFORMS_FUSION_H

namespace nested::ragged {

/// How operations are put together into kernels.
enum class Fusion {
  /// By cost: what is read row by row joins its producer; what is stored and
  /// what is computed again is chosen by bytes and operations.
  Cost,
  /// Each operation is a kernel of its own, and every value is stored.
  Never,
  /// As by cost, but what can be computed again where it is read is never
  /// stored: least memory, most operations.
  Always,
};

} // namespace nested::ragged

/// The values of a command line option of type Fusion.
#define NESTED_FUSION_VALUES                                                   \
  llvm::cl::values(clEnumValN(::nested::ragged::Fusion::Cost, "cost",          \
                              "as bytes and operations say"),                  \
                   clEnumValN(::nested::ragged::Fusion::Never, "never",        \
                              "each operation is a kernel of its own"),        \
                   clEnumValN(::nested::ragged::Fusion::Always, "always",      \
                              "what can be computed again is never stored"))

#endif // NESTED_DIALECT_RAGGED_TRANSFORMS_FUSION_H
