//===- Calls.cpp - ragged.call --------------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

using namespace mlir;
using namespace nested;
using namespace nested::reference;

/// Activations one inside the other, above which a call is taken to be endless.
static constexpr unsigned kMaxDepth = 100;

/// Binds the callee's symbols in the interpreter that will run it. What the
/// operands' sizes say comes first, then the substitution for symbols that are
/// no dim of an argument.
LogicalResult Interpreter::bindCallee(ragged::CallOp op, func::FuncOp callee,
                                      Interpreter &inner) {
  auto emitError = [&] { return op.emitError(); };
  // Shorter paths first: one length per sample is enough for the longer ones.
  SmallVector<std::pair<size_t, unsigned>> order;
  for (auto [k, type] : llvm::enumerate(callee.getArgumentTypes()))
    order.push_back({getPath(type).size(), k});
  llvm::sort(order);
  for (unsigned k : llvm::make_second_range(order)) {
    mlir::Value operand = op.getOperands()[k];
    Type type = callee.getArgumentTypes()[k];
    Path own = getPath(type), given = getPath(operand.getType());
    std::string origin =
        "argument '" + getArgumentName(callee, k) + "' of the call";
    if (own.size() != given.size())
      return op.emitError("passes a value over ")
             << ragged::formatPath(given) << " as " << origin
             << ", which is over " << ragged::formatPath(own);
    Location location = callee.getArgument(k).getLoc();
    for (size_t level = 0; level < own.size(); ++level) {
      FailureOr<const Instances *> instances =
          getInstances(op, given.take_front(level + 1));
      if (failed(instances))
        return failure();
      if (level == 0) {
        if (failed(inner.scope.bindBatch(emitError, own[0], (*instances)->count,
                                         origin, location)))
          return failure();
        continue;
      }
      if (inner.scope.lookup(own[level]))
        continue;
      std::vector<int64_t> lengths;
      const Instances *outer = scope.lookupInstances(given.take_front(level));
      lengths.assign(outer->count, 0);
      for (int64_t parent : (*instances)->ancestors[level])
        ++lengths[parent];
      if (failed(
              inner.scope.bind(emitError, own[level],
                               {SmallVector<StringAttr>(own.take_front(level)),
                                lengths, origin, location})))
        return failure();
    }
    const RaggedValue &value = get(operand);
    for (auto [dim, extent] : llvm::enumerate(getExtents(type)))
      if (extent.isSymbol() && !inner.scope.lookup(extent.getName()) &&
          failed(inner.scope.bind(emitError, extent.getName(),
                                  {SmallVector<StringAttr>(own),
                                   value.getLengths(dim), origin, location})))
        return failure();
  }

  for (NamedAttribute entry : op.getSubstitution()) {
    auto extent = dyn_cast<ragged::ExtentAttr>(entry.getValue());
    if (!extent || inner.scope.lookup(entry.getName()))
      continue;
    // The argument over the shortest path that mentions the symbol has it once
    // per instance.
    std::optional<unsigned> best;
    for (auto [k, type] : llvm::enumerate(callee.getArgumentTypes())) {
      llvm::SmallSetVector<StringAttr, 4> names;
      for (ragged::ExtentAttr size : getExtents(type))
        size.getSymbols(names);
      if (names.contains(entry.getName()) &&
          (!best || getPath(type).size() <
                        getPath(callee.getArgumentTypes()[*best]).size()))
        best = k;
    }
    if (!best)
      continue;
    Path own = getPath(callee.getArgumentTypes()[*best]);
    Path given = getPath(op.getOperands()[*best].getType());
    FailureOr<const Instances *> instances = getInstances(op, given);
    if (failed(instances))
      return failure();
    std::vector<int64_t> lengths;
    for (int64_t i = 0; i < (*instances)->count; ++i) {
      FailureOr<int64_t> length = scope.evaluate(emitError, extent, given, i);
      if (failed(length))
        return failure();
      lengths.push_back(*length);
    }
    if (failed(inner.scope.bind(emitError, entry.getName(),
                                {SmallVector<StringAttr>(own), lengths,
                                 "the substitution of the call", op.getLoc()})))
      return failure();
  }
  return success();
}

LogicalResult Interpreter::run(ragged::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  if (!callee || callee.isExternal())
    return op.emitError("expected '")
           << op.getCallee() << "' to be a function with a body";
  if (depth >= kMaxDepth)
    return op.emitError("is recursive");
  if (callee.getNumArguments() != op.getOperands().size())
    return op.emitError("passes ")
           << op.getOperands().size() << " arguments to '" << op.getCallee()
           << "', which takes " << callee.getNumArguments();
  Interpreter inner(options, depth + 1);
  if (failed(bindCallee(op, callee, inner)))
    return failure();
  for (auto [argument, operand] :
       llvm::zip_equal(callee.getArguments(), op.getOperands())) {
    auto value = std::make_unique<RaggedValue>(get(operand));
    value->type = argument.getType();
    inner.values[argument] = std::move(value);
  }
  FailureOr<std::vector<RaggedValue>> results = inner.runBody(callee);
  if (failed(results))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *results)) {
    value.type = result.getType();
    if (failed(bindFresh(op, result, value)) ||
        failed(set(result, std::move(value))))
      return failure();
  }
  return success();
}
