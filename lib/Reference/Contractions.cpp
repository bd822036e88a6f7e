//===- Contractions.cpp - linear ------------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "Scalars.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace nested;
using namespace nested::reference;
using ragged::LogicalType;

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

/// result[row, m] = bias[m] + sum over k of source[row, k] * weights[k, m].
LogicalResult Interpreter::run(ragged::LinearOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  const Array &weights = get(op.getWeights()).instances.front();
  const Array *bias =
      op.getBias() ? &get(op.getBias()).instances.front() : nullptr;
  int64_t depth = weights.shape[0], width = weights.shape[1];
  if (bias && bias->shape[0] != width)
    return op.emitError("the bias has ")
           << bias->shape[0] << " elements for " << width << " columns";

  for (auto [i, array] : llvm::enumerate(result->instances)) {
    const Array &source = get(op.getSource()).instances[i];
    if (source.shape.back() != depth || array.shape.back() != width)
      return op.emitError("cannot multiply rows of ")
             << source.shape.back() << " with weights of " << depth << " x "
             << width;
    bool floats = isFloat(array.dtype);
    int64_t rows = countElements(ArrayRef<int64_t>(array.shape).drop_back());
    for (int64_t row = 0; row < rows; ++row) {
      const Number *x = source.data.data() + row * depth;
      Number *y = array.data.data() + row * width;
      for (int64_t m = 0; bias && m < width; ++m)
        y[m] = bias->data[m];
      for (int64_t k = 0; k < depth; ++k) {
        const Number *w = weights.data.data() + k * width;
        if (floats)
          for (int64_t m = 0; m < width; ++m)
            y[m].f += x[k].f * w[m].f;
        else
          for (int64_t m = 0; m < width; ++m)
            y[m].i =
                wrapTo(array.dtype, static_cast<uint64_t>(x[k].i) * w[m].i +
                                        static_cast<uint64_t>(y[m].i));
      }
    }
  }
  return set(op.getResult(), std::move(*result));
}
