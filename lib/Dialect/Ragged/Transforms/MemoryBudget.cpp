//===- MemoryBudget.cpp - Bytes that the user allows ----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryBudget.h"

#include "nested/Dialect/Ragged/IR/LogicalType.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nested::ragged;

int64_t nested::ragged::getRowBytes(Value value) {
  LogicalType type = LogicalType::of(value);
  int64_t bytes = (type.elementType.getIntOrFloatBitWidth() + 7) / 8;
  for (int64_t size : type.getRowShape())
    bytes *= size;
  return bytes;
}

FailureOr<std::optional<MemoryBudget>> MemoryBudget::get(func::FuncOp func) {
  Attribute attr = func->getAttr(kMemoryBudgetAttr);
  if (!attr)
    return std::optional<MemoryBudget>();
  auto fail = [&]() -> FailureOr<std::optional<MemoryBudget>> {
    return func.emitError("expected '")
           << kMemoryBudgetAttr
           << "' to have 'bytes', at least 0, and 'lengths', for each symbol "
              "an "
              "array of i64 that are at least 0, of one size, or 'batch', a "
              "number of samples; but got "
           << attr;
  };
  auto fields = dyn_cast<DictionaryAttr>(attr);
  if (!fields)
    return fail();
  MemoryBudget budget(func);
  auto bytes = fields.getAs<IntegerAttr>("bytes");
  budget.lengths = fields.getAs<DictionaryAttr>("lengths");
  auto batch = fields.getAs<IntegerAttr>("batch");
  if (!bytes || bytes.getInt() < 0 || !(budget.lengths || batch))
    return fail();
  budget.bytes = bytes.getInt();
  budget.batch = batch ? batch.getInt() : -1;
  if (!budget.lengths)
    budget.lengths = DictionaryAttr::get(func.getContext());
  for (NamedAttribute entry : budget.lengths) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
    if (!numbers ||
        llvm::any_of(numbers.asArrayRef(), [](int64_t n) { return n < 0; }))
      return fail();
    const SymbolBinding *binding = budget.bindings.lookup(entry.getName());
    if (binding && binding->path.size() > 1)
      continue; // One for each instance.
    if (budget.batch >= 0 && budget.batch != numbers.size())
      return fail();
    budget.batch = numbers.size();
  }
  if (budget.batch < 0)
    return fail();
  return std::optional<MemoryBudget>(std::move(budget));
}

std::optional<int64_t>
MemoryBudget::getLength(StringAttr name, ArrayRef<StringAttr> path,
                        ArrayRef<int64_t> instance) const {
  const SymbolBinding *binding = bindings.lookup(name);
  auto numbers = lengths.getAs<DenseI64ArrayAttr>(name);
  if (!numbers) {
    if (binding && binding->upperBound)
      return evaluate(binding->upperBound, path, instance);
    if (binding ? binding->isPathComponent() && binding->path.empty()
                : name == getDefaultPath(name.getContext()).front())
      return batch;
    return std::nullopt;
  }
  size_t depth = binding ? binding->path.size() : 1;
  // Of other samples: whichever they are.
  if (binding && !isPathPrefix(binding->path, path))
    depth = 0;
  if (depth == 0 || depth > instance.size()) {
    int64_t most = 0;
    for (int64_t length : numbers.asArrayRef())
      most = std::max(most, length);
    return most;
  }
  int64_t i = instance[depth - 1];
  if (i >= numbers.size())
    return std::nullopt;
  return numbers[i];
}

std::optional<int64_t>
MemoryBudget::evaluate(ExtentAttr extent, ArrayRef<StringAttr> path,
                       ArrayRef<int64_t> instance) const {
  return extent::evaluate(
      extent, [&](StringAttr name) { return getLength(name, path, instance); });
}

std::optional<std::vector<MemoryBudget::Instance>>
MemoryBudget::getInstances(ArrayRef<StringAttr> path) const {
  std::vector<Instance> instances(1);
  for (size_t depth = 0; depth < path.size(); ++depth) {
    std::vector<Instance> inner;
    for (const Instance &outer : instances) {
      std::optional<int64_t> count =
          getLength(path[depth], path.take_front(depth), outer);
      if (!count)
        return std::nullopt;
      for (int64_t i = 0; i < *count; ++i) {
        inner.push_back(outer);
        inner.back().push_back(inner.size() - 1);
      }
    }
    instances = std::move(inner);
  }
  return instances;
}

std::optional<int64_t> MemoryBudget::getSize(Value value) const {
  LogicalType type = LogicalType::of(value);
  auto instances = getInstances(type.path);
  if (!instances)
    return std::nullopt;
  int64_t rows = 0, size = 0;
  for (const Instance &instance : *instances) {
    std::optional<int64_t> more =
        evaluate(type.getRowExtent(), type.path, instance);
    if (!more || llvm::AddOverflow(rows, *more, rows))
      return std::nullopt;
  }
  if (llvm::MulOverflow(rows, getRowBytes(value), size))
    return std::nullopt;
  return size;
}
