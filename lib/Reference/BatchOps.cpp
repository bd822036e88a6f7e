//===- BatchOps.cpp - Other samples, and sizes from numbers ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

using namespace mlir;
using namespace nested;
using namespace nested::reference;
using ragged::BatchMove;

/// For each instance of the parents' path, its members: instances of `path`, in
/// order.
static std::vector<std::vector<int64_t>>
groupByParent(const Instances &instances, const Instances &parents,
              size_t depth) {
  std::vector<std::vector<int64_t>> members(parents.count);
  for (int64_t i = 0; i < instances.count; ++i)
    members[instances.ancestors[depth - 1][i]].push_back(i);
  return members;
}

FailureOr<std::vector<std::vector<int64_t>>>
Interpreter::chooseMembers(Operation *op, const BatchMove &move) {
  Path parentPath = move.getParentPath();
  FailureOr<const Instances *> instances = getInstances(op, move.sourcePath);
  FailureOr<const Instances *> parents = getInstances(op, parentPath);
  if (failed(instances) || failed(parents))
    return failure();
  std::vector<std::vector<int64_t>> members =
      groupByParent(**instances, **parents, move.sourcePath.size());
  const RaggedValue &selector = get(move.selector);
  std::vector<std::vector<int64_t>> chosen((*parents)->count);
  auto choose = [&](int64_t parent, int64_t index) -> LogicalResult {
    int64_t count = members[parent].size();
    if (index < 0 || index >= count) {
      InFlightDiagnostic diagnostic = op->emitError("index ");
      diagnostic << index << " is out of range for " << count << " of '"
                 << move.sourcePath.back().getValue() << "'";
      if (!parentPath.empty())
        diagnostic << " in " << scope.describe(parentPath, parent);
      return diagnostic;
    }
    chosen[parent].push_back(members[parent][index]);
    return success();
  };
  switch (move.kind) {
  case BatchMove::Kind::Mask:
  case BatchMove::Kind::Counts:
    for (auto [parent, own] : llvm::enumerate(members))
      for (int64_t member : own) {
        int64_t count = selector.instances[member].data.front().i;
        if (count < 0 || count > move.atMost)
          return op->emitError("has ")
                 << count << " copies of "
                 << scope.describe(move.sourcePath, member)
                 << ", expected 0 to " << move.atMost;
        chosen[parent].insert(chosen[parent].end(), count, member);
      }
    return chosen;
  case BatchMove::Kind::List:
    for (Number number : selector.instances.front().data)
      if (failed(choose(0, number.i)))
        return failure();
    return chosen;
  case BatchMove::Kind::Indices: {
    FailureOr<const Instances *> results = getInstances(op, move.chosenPath);
    if (failed(results))
      return failure();
    size_t depth = move.chosenPath.size();
    for (int64_t i = 0; i < (*results)->count; ++i)
      if (failed(choose((*results)->ancestors[depth - 1][i],
                        selector.instances[i].data.front().i)))
        return failure();
    return chosen;
  }
  }
  llvm_unreachable("covered switch");
}

LogicalResult Interpreter::bindMembers(Operation *op, const BatchMove &move,
                                       ArrayRef<std::vector<int64_t>> chosen) {
  auto emitError = [=] { return op->emitError(); };
  std::string origin = ("'" + op->getName().getStringRef() + "'").str();
  std::vector<int64_t> counts;
  for (const std::vector<int64_t> &own : chosen)
    counts.push_back(own.size());
  if (move.bindsBatch()) {
    StringAttr name = move.chosenPath.back();
    Path parentPath = move.getParentPath();
    LogicalResult bound = parentPath.empty()
                              ? scope.bindBatch(emitError, name, counts.front(),
                                                origin, op->getLoc())
                              : scope.bind(emitError, name,
                                           {SmallVector<StringAttr>(parentPath),
                                            counts, origin, op->getLoc()});
    if (failed(bound))
      return failure();
  }
  for (auto [from, to] : llvm::zip_equal(move.from, move.to)) {
    SymbolValue symbol{move.chosenPath, {}, origin, op->getLoc()};
    for (const std::vector<int64_t> &own : chosen)
      for (int64_t member : own) {
        FailureOr<int64_t> length =
            scope.evaluate(emitError, from, move.sourcePath, member);
        if (failed(length))
          return failure();
        symbol.lengths.push_back(*length);
      }
    if (failed(scope.bind(emitError, to.getName(), std::move(symbol))))
      return failure();
  }
  return success();
}

LogicalResult Interpreter::checkMembers(Operation *op, const BatchMove &move,
                                        ArrayRef<std::vector<int64_t>> chosen) {
  auto emitError = [=] { return op->emitError(); };
  FailureOr<const Instances *> results = getInstances(op, move.chosenPath);
  FailureOr<const Instances *> parents = getInstances(op, move.getParentPath());
  if (failed(results) || failed(parents))
    return failure();
  std::vector<std::vector<int64_t>> copies =
      groupByParent(**results, **parents, move.chosenPath.size());
  for (auto [parent, own] : llvm::enumerate(chosen)) {
    if (own.size() != copies[parent].size()) {
      InFlightDiagnostic diagnostic = op->emitError("chooses ");
      diagnostic << own.size() << " of '" << move.sourcePath.back().getValue()
                 << "'";
      if (!move.getParentPath().empty())
        diagnostic << " in " << scope.describe(move.getParentPath(), parent);
      return diagnostic << ", expected the " << copies[parent].size() << " of '"
                        << move.chosenPath.back().getValue() << "'";
    }
    for (auto [member, copy] : llvm::zip_equal(own, copies[parent]))
      for (auto [from, to] : llvm::zip_equal(move.from, move.to)) {
        FailureOr<int64_t> expected =
            scope.evaluate(emitError, from, move.sourcePath, member);
        FailureOr<int64_t> found =
            scope.evaluate(emitError, to, move.chosenPath, copy);
        if (failed(expected) || failed(found))
          return failure();
        if (*expected != *found)
          return op->emitError("'") << to.str() << "' is " << *found << " in "
                                    << scope.describe(move.chosenPath, copy)
                                    << ", expected '" << from.str() << "' of "
                                    << scope.describe(move.sourcePath, member)
                                    << ", " << *expected;
      }
  }
  return success();
}

LogicalResult Interpreter::moveBatch(Operation *op) {
  BatchMove move = BatchMove::of(op);
  FailureOr<std::vector<std::vector<int64_t>>> chosen = chooseMembers(op, move);
  if (failed(chosen) || failed(move.binds ? bindMembers(op, move, *chosen)
                                          : checkMembers(op, move, *chosen)))
    return failure();
  std::vector<int64_t> members;
  for (const std::vector<int64_t> &own : *chosen)
    members.insert(members.end(), own.begin(), own.end());
  for (auto [source, value] : llvm::zip_equal(move.sources, move.results)) {
    const RaggedValue &from = get(source);
    RaggedValue result;
    if (move.sums) {
      FailureOr<RaggedValue> zeros = allocate(op, value.getType());
      if (failed(zeros))
        return failure();
      result = std::move(*zeros);
      for (auto [copy, member] : llvm::enumerate(members))
        for (auto [sum, number] : llvm::zip_equal(result.instances[member].data,
                                                  from.instances[copy].data))
          sum.f += number.f;
    } else {
      result.type = value.getType();
      for (int64_t member : members)
        result.instances.push_back(from.instances[member]);
    }
    if (failed(set(value, std::move(result))))
      return failure();
  }
  return success();
}

LogicalResult Interpreter::run(ragged::SelectBatchOp op) {
  return moveBatch(op);
}

LogicalResult Interpreter::run(ragged::RepeatBatchOp op) {
  return moveBatch(op);
}

LogicalResult Interpreter::run(ragged::MoveBatchOp op) { return moveBatch(op); }

LogicalResult Interpreter::run(ragged::BindSizeOp op) {
  auto emitError = [&] { return op.emitError(); };
  ragged::ExtentAttr upper = op.getAtMost();
  Path path = getPath(op.getSize().getType());
  // Where the bound has more values than the size, its largest counts.
  Path boundPath = path;
  llvm::SmallSetVector<StringAttr, 4> names;
  upper.getSymbols(names);
  for (StringAttr name : names)
    if (const SymbolValue *symbol = scope.lookup(name);
        symbol && symbol->path.size() > boundPath.size())
      boundPath = symbol->path;
  std::vector<int64_t> bounds;
  FailureOr<const Instances *> instances = getInstances(op, boundPath);
  if (failed(instances))
    return failure();
  for (int64_t i = 0; i < (*instances)->count; ++i) {
    FailureOr<int64_t> bound = scope.evaluate(emitError, upper, boundPath, i);
    if (failed(bound))
      return failure();
    bounds.push_back(*bound);
  }
  if (path.empty()) {
    int64_t largest = 0;
    for (int64_t bound : bounds)
      largest = std::max(largest, bound);
    bounds = {largest};
  }
  ragged::PartitionType type = op.getType();
  StringAttr name = type.getExtents()[0].getName();
  SymbolValue symbol{
      SmallVector<StringAttr>(path), {}, "'ragged.bind_size'", op.getLoc()};
  for (auto [i, array] : llvm::enumerate(get(op.getSize()).instances)) {
    int64_t size = array.data.front().i;
    if (size < 0 || size > bounds[i]) {
      InFlightDiagnostic diagnostic = op.emitError("'");
      diagnostic << name.getValue() << "' is " << size;
      if (!path.empty())
        diagnostic << " in " << scope.describe(path, i);
      diagnostic << ", expected 0 to " << bounds[i] << " (" << upper.str()
                 << ")";
      scope.attachNotes(diagnostic, upper, path, i);
      return diagnostic;
    }
    symbol.lengths.push_back(size);
  }
  if (failed(scope.bind(emitError, name, std::move(symbol))))
    return failure();
  FailureOr<RaggedValue> result = allocatePartition(op, type);
  if (failed(result))
    return failure();
  return set(op.getResult(), std::move(*result));
}
