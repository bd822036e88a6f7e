//===- Value.cpp - Numbers and values of the reference interpreter --------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loops.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "nested/Reference/Reference.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace nested;
using namespace nested::reference;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::optional<DType> reference::getDType(Type type) {
  if (type.isIndex())
    return DType::I64;
  if (type.isUnsignedInteger(8))
    return DType::U8;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return DType::I1;
    case 8:
      return DType::I8;
    case 16:
      return DType::I16;
    case 32:
      return DType::I32;
    case 64:
      return DType::I64;
    default:
      return std::nullopt;
    }
  }
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  return std::nullopt;
}

bool reference::isFloat(DType dtype) { return dtype >= DType::F16; }

int64_t reference::getSize(DType dtype) {
  switch (dtype) {
  case DType::I1:
  case DType::I8:
  case DType::U8:
    return 1;
  case DType::I16:
  case DType::F16:
  case DType::BF16:
    return 2;
  case DType::I32:
  case DType::F32:
    return 4;
  case DType::I64:
  case DType::F64:
    return 8;
  }
  llvm_unreachable("covered switch");
}

StringRef reference::getName(DType dtype) {
  switch (dtype) {
  case DType::I1:
    return "i1";
  case DType::I8:
    return "i8";
  case DType::I16:
    return "i16";
  case DType::I32:
    return "i32";
  case DType::I64:
    return "i64";
  case DType::U8:
    return "u8";
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::F32:
    return "f32";
  case DType::F64:
    return "f64";
  }
  llvm_unreachable("covered switch");
}

static const llvm::fltSemantics &getHalf(DType dtype) {
  return dtype == DType::F16 ? APFloat::IEEEhalf() : APFloat::BFloat();
}

double reference::roundTo(DType dtype, double value) {
  switch (dtype) {
  case DType::F32:
    return static_cast<float>(value);
  case DType::F16:
  case DType::BF16: {
    if (std::isnan(value))
      return value;
    APFloat number(value);
    bool inexact;
    number.convert(getHalf(dtype), APFloat::rmNearestTiesToEven, &inexact);
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &inexact);
    return number.convertToDouble();
  }
  default:
    return value;
  }
}

int64_t reference::wrapTo(DType dtype, int64_t value) {
  switch (dtype) {
  case DType::I1:
    return value & 1;
  case DType::I8:
    return static_cast<int8_t>(value);
  case DType::U8:
    return static_cast<uint8_t>(value);
  case DType::I16:
    return static_cast<int16_t>(value);
  case DType::I32:
    return static_cast<int32_t>(value);
  default:
    return value;
  }
}

template <typename T>
static T read(const void *memory) {
  T value;
  std::memcpy(&value, memory, sizeof(T));
  return value;
}

Number reference::readNumber(DType dtype, const void *memory) {
  Number number;
  switch (dtype) {
  case DType::I1:
    number.i = read<uint8_t>(memory) != 0;
    break;
  case DType::I8:
    number.i = read<int8_t>(memory);
    break;
  case DType::U8:
    number.i = read<uint8_t>(memory);
    break;
  case DType::I16:
    number.i = read<int16_t>(memory);
    break;
  case DType::I32:
    number.i = read<int32_t>(memory);
    break;
  case DType::I64:
    number.i = read<int64_t>(memory);
    break;
  case DType::F16:
  case DType::BF16: {
    APFloat value(getHalf(dtype), APInt(16, read<uint16_t>(memory)));
    bool inexact;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &inexact);
    number.f = value.convertToDouble();
    break;
  }
  case DType::F32:
    number.f = read<float>(memory);
    break;
  case DType::F64:
    number.f = read<double>(memory);
    break;
  }
  return number;
}

void reference::writeNumber(DType dtype, Number number, void *memory) {
  if (!isFloat(dtype)) {
    int64_t value = wrapTo(dtype, number.i);
    std::memcpy(memory, &value, getSize(dtype)); // Little endian.
  } else if (dtype == DType::F64) {
    std::memcpy(memory, &number.f, sizeof(double));
  } else if (dtype == DType::F32) {
    float value = static_cast<float>(number.f);
    std::memcpy(memory, &value, sizeof(float));
  } else {
    APFloat value(number.f);
    bool inexact;
    value.convert(getHalf(dtype), APFloat::rmNearestTiesToEven, &inexact);
    auto bits = static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
    std::memcpy(memory, &bits, sizeof(bits));
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool RaggedValue::isRagged() const {
  return isa<ragged::RaggedTensorType, ragged::PartitionType>(type);
}

std::vector<int64_t> RaggedValue::getLengths(int64_t dim) const {
  std::vector<int64_t> lengths;
  for (const Array &array : instances)
    lengths.push_back(array.shape[dim]);
  return lengths;
}

std::vector<int64_t> RaggedValue::getRows() const {
  std::vector<int64_t> rows;
  auto tensor = dyn_cast<ragged::RaggedTensorType>(type);
  for (const Array &array : instances) {
    int64_t product = 1;
    if (tensor)
      for (int64_t dim : tensor.getRaggedDims())
        product *= array.shape[dim];
    else
      product = countElements(array.shape);
    rows.push_back(product);
  }
  return rows;
}

Array RaggedValue::getPacked() const {
  auto tensor = dyn_cast<ragged::RaggedTensorType>(type);
  if (!tensor)
    return instances.front();
  Array packed;
  packed.dtype = *getDType(tensor.getElementType());
  packed.shape.push_back(0);
  for (int64_t rows : getRows())
    packed.shape[0] += rows;
  llvm::append_range(packed.shape, tensor.getRowShape());
  for (const Array &array : instances) {
    // Walk the dims in the order in which they are stored.
    SmallVector<int64_t> strides = getStrides(array.shape), shape, stored;
    for (int64_t dim : tensor.getOrder()) {
      shape.push_back(array.shape[dim]);
      stored.push_back(strides[dim]);
    }
    Odometer walk(shape);
    walk.addOperand(stored);
    for (; walk.isValid(); walk.next())
      packed.data.push_back(array.data[walk.getOffset(0)]);
  }
  return packed;
}

std::vector<char> RaggedValue::getPackedBytes() const {
  Array packed = getPacked();
  int64_t size = getSize(packed.dtype);
  std::vector<char> bytes(packed.data.size() * size);
  for (auto [i, number] : llvm::enumerate(packed.data))
    writeNumber(packed.dtype, number, bytes.data() + i * size);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printNumber(DType dtype, Number number, raw_ostream &os) {
  if (!isFloat(dtype)) {
    os << number.i;
    return;
  }
  if (std::isnan(number.f)) {
    os << "nan"; // The sign of a NaN means nothing.
    return;
  }
  os << llvm::format("%.6g", number.f);
}

static void printDim(const Array &array, unsigned dim, int64_t offset,
                     raw_ostream &os) {
  if (dim == array.shape.size()) {
    printNumber(array.dtype, array.data[offset], os);
    return;
  }
  int64_t stride =
      countElements(ArrayRef<int64_t>(array.shape).drop_front(dim + 1));
  os << '[';
  for (int64_t i = 0; i < array.shape[dim]; ++i) {
    if (i)
      os << ", ";
    printDim(array, dim + 1, offset + i * stride, os);
  }
  os << ']';
}

void reference::print(const RaggedValue &value, StringRef name,
                      raw_ostream &os) {
  os << name << " : " << value.type << '\n';
  for (auto [i, lengths] : llvm::enumerate(value.pathLengths)) {
    os << "  path " << i + 1 << " = [";
    llvm::interleaveComma(lengths, os);
    os << "]\n";
  }
  for (auto [i, array] : llvm::enumerate(value.instances)) {
    os << "  ";
    if (value.isRagged())
      os << '[' << i << "] ";
    if (isa<ragged::PartitionType>(value.type)) {
      os << '(';
      llvm::interleaveComma(array.shape, os);
      os << ')';
    } else {
      printDim(array, 0, 0, os);
    }
    // An array without elements does not show its shape otherwise.
    if (array.data.empty() && array.shape.size() > 1) {
      os << " shape (";
      llvm::interleaveComma(array.shape, os);
      os << ')';
    }
    os << '\n';
  }
}
