//===- Loops.h - Loops over dense arrays ------------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_REFERENCE_LOOPS_H
#define NESTED_LIB_REFERENCE_LOOPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace nested::reference {

inline int64_t countElements(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// Elements between neighbours along each dim; the last dim varies fastest.
inline llvm::SmallVector<int64_t> getStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// Visits the points of a box in order, the last dim fastest, and keeps for
/// each operand the offset of its element: base + sum of coordinate times
/// stride.
class Odometer {
public:
  explicit Odometer(llvm::ArrayRef<int64_t> shape)
      : shape(shape), coordinates(shape.size(), 0),
        valid(countElements(shape) != 0) {}

  /// One stride per dim of the box; 0 repeats the operand along it.
  void addOperand(llvm::ArrayRef<int64_t> strides, int64_t base = 0) {
    allStrides.emplace_back(strides);
    offsets.push_back(base);
  }

  bool isValid() const { return valid; }
  void next() {
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++coordinates[dim] < shape[dim]) {
        for (size_t k = 0; k < offsets.size(); ++k)
          offsets[k] += allStrides[k][dim];
        return;
      }
      coordinates[dim] = 0;
      for (size_t k = 0; k < offsets.size(); ++k)
        offsets[k] -= allStrides[k][dim] * (shape[dim] - 1);
    }
    valid = false;
  }

  int64_t getOffset(size_t operand) const { return offsets[operand]; }
  llvm::ArrayRef<int64_t> getCoordinates() const { return coordinates; }

private:
  llvm::SmallVector<int64_t> shape, coordinates, offsets;
  llvm::SmallVector<llvm::SmallVector<int64_t>> allStrides;
  bool valid;
};

} // namespace nested::reference

#endif // NESTED_LIB_REFERENCE_LOOPS_H
