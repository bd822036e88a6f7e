//===- LogicalType.cpp - One view of ragged and dense tensors -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/LogicalType.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nested::ragged;

LogicalType::LogicalType(ArrayRef<StringAttr> path,
                         ArrayRef<ExtentAttr> extents, Type elementType)
    : path(path), extents(extents), elementType(elementType),
      order(RaggedTensorType::getDefaultOrder(extents)) {}

std::optional<LogicalType> LogicalType::get(Type type) {
  if (auto ragged = dyn_cast<RaggedTensorType>(type)) {
    LogicalType result;
    result.path.assign(ragged.getPath().begin(), ragged.getPath().end());
    result.extents.assign(ragged.getExtents().begin(),
                          ragged.getExtents().end());
    result.elementType = ragged.getElementType();
    result.order.assign(ragged.getOrder().begin(), ragged.getOrder().end());
    return result;
  }
  auto dense = dyn_cast<RankedTensorType>(type);
  if (!dense || !dense.hasStaticShape())
    return std::nullopt;
  SmallVector<ExtentAttr> extents;
  for (int64_t size : dense.getShape())
    extents.push_back(extent::constant(type.getContext(), size));
  return LogicalType({}, extents, dense.getElementType());
}

LogicalType LogicalType::of(Type type) {
  std::optional<LogicalType> result = get(type);
  assert(result && "expected a ragged tensor or a tensor of static shape");
  return *result;
}

Type LogicalType::toType() const {
  if (!path.empty())
    return RaggedTensorType::get(getContext(), extents, elementType, path,
                                 order);
  SmallVector<int64_t> shape;
  for (ExtentAttr extent : extents) {
    if (!extent.isStatic())
      return {};
    shape.push_back(*extent.getConstant());
  }
  return RankedTensorType::get(shape, elementType);
}

bool LogicalType::hasDefaultOrder() const {
  return order == RaggedTensorType::getDefaultOrder(extents);
}

SmallVector<int64_t> LogicalType::getRaggedDims() const {
  SmallVector<int64_t> dims;
  llvm::copy_if(order, std::back_inserter(dims),
                [&](int64_t dim) { return isRagged(dim); });
  return dims;
}

SmallVector<int64_t> LogicalType::getStaticDims() const {
  SmallVector<int64_t> dims;
  llvm::copy_if(order, std::back_inserter(dims),
                [&](int64_t dim) { return !isRagged(dim); });
  return dims;
}

SmallVector<ExtentAttr> LogicalType::getRaggedExtents() const {
  return llvm::map_to_vector(getRaggedDims(),
                             [&](int64_t dim) { return extents[dim]; });
}

ExtentAttr LogicalType::getRowExtent() const {
  return extent::product(getContext(), getRaggedExtents());
}

SmallVector<int64_t> LogicalType::getRowShape() const {
  return llvm::map_to_vector(getStaticDims(), [&](int64_t dim) {
    return *extents[dim].getConstant();
  });
}

bool LogicalType::areTrailingStatic(int64_t count) const {
  if (count < 0 || count > getRank())
    return false;
  for (int64_t dim = getRank() - count; dim < getRank(); ++dim)
    if (isRagged(dim) || order[dim] != dim)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Paths and lists
//===----------------------------------------------------------------------===//

bool nested::ragged::isPathPrefix(ArrayRef<StringAttr> prefix,
                                  ArrayRef<StringAttr> path) {
  return prefix.size() <= path.size() &&
         prefix == path.take_front(prefix.size());
}

std::optional<SmallVector<StringAttr>>
nested::ragged::joinPaths(ArrayRef<StringAttr> lhs, ArrayRef<StringAttr> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  if (!isPathPrefix(rhs, lhs))
    return std::nullopt;
  return SmallVector<StringAttr>(lhs);
}

SmallVector<StringAttr> nested::ragged::getDefaultPath(MLIRContext *context) {
  return {StringAttr::get(context, "B")};
}

SmallVector<ExtentAttr> nested::ragged::toExtents(ArrayAttr attr) {
  if (!attr)
    return {};
  return llvm::to_vector(attr.getAsRange<ExtentAttr>());
}

SmallVector<StringAttr> nested::ragged::toPath(ArrayAttr attr) {
  if (!attr)
    return {};
  return llvm::to_vector(attr.getAsRange<StringAttr>());
}

ArrayAttr nested::ragged::makeExtentsAttr(MLIRContext *context,
                                          ArrayRef<ExtentAttr> extents) {
  return ArrayAttr::get(context,
                        SmallVector<Attribute>(extents.begin(), extents.end()));
}

ArrayAttr nested::ragged::makePathAttr(MLIRContext *context,
                                       ArrayRef<StringAttr> path) {
  return ArrayAttr::get(context,
                        SmallVector<Attribute>(path.begin(), path.end()));
}

PartitionType nested::ragged::getPartitionType(RaggedTensorType type) {
  return PartitionType::get(type.getContext(),
                            LogicalType::of(type).getRaggedExtents(),
                            type.getPath());
}

bool nested::ragged::isValidElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless()
               ? llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth())
               : integer.isUnsignedInteger(8);
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

Type nested::ragged::getScalarType(Type elementType) {
  if (elementType.isUnsignedInteger())
    return IntegerType::get(elementType.getContext(),
                            elementType.getIntOrFloatBitWidth());
  return elementType;
}

Type nested::ragged::substituteSymbols(Type type, DictionaryAttr substitution) {
  SmallVector<ExtentAttr> extents;
  SmallVector<StringAttr> path;
  auto replace = [&](ArrayRef<ExtentAttr> oldExtents,
                     ArrayRef<StringAttr> oldPath) {
    for (ExtentAttr extent : oldExtents)
      extents.push_back(extent::substitute(extent, substitution));
    for (StringAttr name : oldPath) {
      auto to = substitution.getAs<ExtentAttr>(name);
      path.push_back(to && to.isSymbol() ? to.getName() : name);
    }
    return !llvm::is_contained(extents, ExtentAttr());
  };
  // The caller says what is wrong: the diagnostics here are inactive.
  bool isInvalid = false;
  auto ignore = [&]() {
    isInvalid = true;
    return InFlightDiagnostic();
  };
  if (auto tensor = dyn_cast<RaggedTensorType>(type)) {
    if (!replace(tensor.getExtents(), tensor.getPath()))
      return {};
    // A symbol that becomes a constant may move a dim in the default order.
    SmallVector<int64_t> order(tensor.getOrder());
    if (LogicalType::of(tensor).hasDefaultOrder())
      order = RaggedTensorType::getDefaultOrder(extents);
    (void)RaggedTensorType::verify(ignore, extents, tensor.getElementType(),
                                   path, order);
    if (isInvalid)
      return {};
    return RaggedTensorType::get(type.getContext(), extents,
                                 tensor.getElementType(), path, order);
  }
  if (auto partition = dyn_cast<PartitionType>(type)) {
    if (!replace(partition.getExtents(), partition.getPath()))
      return {};
    (void)PartitionType::verify(ignore, extents, path);
    if (isInvalid)
      return {};
    return PartitionType::get(type.getContext(), extents, path);
  }
  return type;
}

std::string nested::ragged::formatExtents(ArrayRef<ExtentAttr> extents) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(extents, os,
                        [&](ExtentAttr extent) { extent::print(extent, os); });
  os << ']';
  return text;
}

std::string nested::ragged::formatPath(ArrayRef<StringAttr> path) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(path, os,
                        [&](StringAttr name) { os << name.getValue(); });
  os << ']';
  return text;
}
