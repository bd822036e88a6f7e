//===- GenericRegion.h - What the region of a generic does ------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_GENERICREGION_H
#define NESTED_DIALECT_RAGGED_IR_GENERICREGION_H

#include "nested/Dialect/Ragged/IR/Ragged.h"

namespace nested::ragged {

/// Whether a value of the region is computed from what an output accumulates;
/// of `except`, if any, it may be.
bool readsAccumulator(GenericOp op, mlir::Value value,
                      std::optional<unsigned> except = std::nullopt);

/// The combiner `acc = op(acc, x)` of output `i`, where `x` depends on no
/// accumulator; null if the region is not of that form.
mlir::Operation *matchCombiner(GenericOp op, unsigned i, mlir::Value &element);

/// The results of generics with one output each that reduce no component of a
/// longer path. Emits a diagnostic on failure.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
splitOutputs(GenericOp op, mlir::RewriterBase &rewriter);

} // namespace nested::ragged

#endif // NESTED_DIALECT_RAGGED_IR_GENERICREGION_H
