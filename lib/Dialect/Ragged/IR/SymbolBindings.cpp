//===- SymbolBindings.cpp - Which value binds each symbol -----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/SymbolBindings.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Dominance.h"
#include "nested/Dialect/Ragged/IR/RaggedBatch.h"

using namespace mlir;
using namespace nested::ragged;

/// The tuple of extents of a type that has one, in the order of its dims.
static ArrayRef<ExtentAttr> getTuple(Type type) {
  if (auto tensor = dyn_cast<RaggedTensorType>(type))
    return tensor.getExtents();
  if (auto partition = dyn_cast<PartitionType>(type))
    return partition.getExtents();
  return {};
}

static ArrayRef<StringAttr> getTypePath(Type type) {
  if (auto tensor = dyn_cast<RaggedTensorType>(type))
    return tensor.getPath();
  if (auto partition = dyn_cast<PartitionType>(type))
    return partition.getPath();
  return {};
}

//===----------------------------------------------------------------------===//
// What arguments and ops bind
//===----------------------------------------------------------------------===//

/// Symbols that an entry argument could bind.
static SmallVector<SymbolBinding> getSymbolsOf(BlockArgument argument) {
  SmallVector<SymbolBinding> bindings;
  ArrayRef<StringAttr> path = getTypePath(argument.getType());
  // The first component is the batch itself.
  for (size_t i = 1; i < path.size(); ++i) {
    SymbolBinding binding;
    binding.name = path[i];
    binding.value = argument;
    binding.path.assign(path.begin(), path.begin() + i);
    bindings.push_back(binding);
  }
  for (auto [dim, extent] : llvm::enumerate(getTuple(argument.getType()))) {
    if (!extent.isSymbol())
      continue;
    SymbolBinding binding;
    binding.name = extent.getName();
    binding.value = argument;
    binding.dim = dim;
    binding.path.assign(path.begin(), path.end());
    bindings.push_back(binding);
  }
  return bindings;
}

/// The symbol at a dim of the result, if it is one and not in the source (which
/// may be null).
static void bindDim(Value result, int64_t dim, Type source, ExtentAttr upper,
                    SmallVectorImpl<SymbolBinding> &bindings) {
  ArrayRef<ExtentAttr> extents = getTuple(result.getType());
  if (dim >= int64_t(extents.size()) || !extents[dim].isSymbol())
    return;
  llvm::SmallSetVector<StringAttr, 4> known;
  if (source)
    for (ExtentAttr extent : getTuple(source))
      extent.getSymbols(known);
  if (known.contains(extents[dim].getName()))
    return;
  SymbolBinding binding;
  binding.name = extents[dim].getName();
  binding.value = result;
  binding.dim = dim;
  ArrayRef<StringAttr> path = getTypePath(result.getType());
  binding.path.assign(path.begin(), path.end());
  binding.upperBound = upper;
  bindings.push_back(binding);
}

/// The batch that the results are over, and the lengths of its members.
static void bindMembers(const BatchMove &move,
                        SmallVectorImpl<SymbolBinding> &bindings) {
  if (!move.binds)
    return;
  if (move.bindsBatch()) {
    SymbolBinding binding;
    binding.name = move.chosenPath.back();
    binding.value = move.results[0];
    binding.path.append(move.getParentPath().begin(),
                        move.getParentPath().end());
    binding.upperBound = move.getUpperBound();
    bindings.push_back(binding);
  }
  for (auto [from, to] : llvm::zip(move.from, move.to)) {
    if (!to.isSymbol())
      continue;
    SymbolBinding binding;
    binding.name = to.getName();
    binding.value = move.results[0];
    binding.dim = 0;
    binding.path = move.chosenPath;
    binding.upperBound = from;
    bindings.push_back(binding);
  }
}

SmallVector<SymbolBinding> nested::ragged::getSymbolsBoundBy(Operation *op) {
  SmallVector<SymbolBinding> bindings;
  if (std::optional<BatchMove> move = BatchMove::get(op)) {
    bindMembers(*move, bindings);
    return bindings;
  }
  // May run on ops that are not verified yet: nothing is taken for granted.
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return bindings;
  Value result = op->getResult(0);
  Type source = op->getOperand(0).getType();
  ArrayRef<ExtentAttr> sourceExtents = getTuple(source);
  ExtentAttr upper = sourceExtents.empty() ? ExtentAttr() : sourceExtents[0];

  if (auto size = dyn_cast<BindSizeOp>(op)) {
    bindDim(result, 0, {}, size.getAtMost(), bindings);
    // Of a dense number there is one for all samples.
    for (SymbolBinding &binding : bindings)
      binding.path.assign(getTypePath(source).begin(),
                          getTypePath(source).end());
  } else if (isa<MaskedSelectOp, NestOp>(op)) {
    bindDim(result, 0, source, upper, bindings);
  } else if (isa<WithLengthsOp>(op)) {
    for (int64_t dim = 0, e = getTuple(result.getType()).size(); dim < e; ++dim)
      bindDim(result, dim, source, {}, bindings);
  } else if (isa<PartitionOp>(op) && !isa<RaggedTensorType>(source)) {
    llvm::SmallSetVector<StringAttr, 4> symbols;
    for (auto [dim, extent] : llvm::enumerate(getTuple(result.getType()))) {
      size_t before = symbols.size();
      extent.getSymbols(symbols);
      for (StringAttr name : symbols.getArrayRef().drop_front(before)) {
        SymbolBinding binding;
        binding.name = name;
        binding.value = result;
        binding.dim = dim;
        ArrayRef<StringAttr> path = getTypePath(result.getType());
        binding.path.assign(path.begin(), path.end());
        bindings.push_back(binding);
      }
    }
  }
  return bindings;
}

//===----------------------------------------------------------------------===//
// SymbolBindings
//===----------------------------------------------------------------------===//

SymbolBindings::SymbolBindings(FunctionOpInterface func) {
  Region *body = func.getCallableRegion();
  if (!body || body->empty())
    return;
  for (BlockArgument argument : body->getArguments()) {
    for (SymbolBinding &binding : getSymbolsOf(argument)) {
      auto known = positions.find(binding.name);
      if (known == positions.end())
        bind(std::move(binding));
      // One length per sample is enough for every longer path.
      else if (binding.path.size() < bindings[known->second].path.size())
        bindings[known->second] = std::move(binding);
    }
  }
  body->walk([&](Operation *op) {
    for (SymbolBinding &binding : getSymbolsBoundBy(op))
      bind(std::move(binding));
  });
}

void SymbolBindings::bind(SymbolBinding binding) {
  bool isNew = positions.try_emplace(binding.name, bindings.size()).second;
  (isNew ? bindings : duplicates).push_back(std::move(binding));
}

const SymbolBinding *SymbolBindings::lookup(StringAttr name) const {
  auto position = positions.find(name);
  return position == positions.end() ? nullptr : &bindings[position->second];
}

void nested::ragged::attachBindingNotes(InFlightDiagnostic &diagnostic,
                                        Operation *op,
                                        ArrayRef<StringAttr> names) {
  auto func = op->getParentOfType<FunctionOpInterface>();
  if (!func || names.empty())
    return;
  SymbolBindings bindings(func);
  llvm::SmallSetVector<StringAttr, 4> unique(names.begin(), names.end());
  for (StringAttr name : unique)
    if (const SymbolBinding *binding = bindings.lookup(name))
      diagnostic.attachNote(binding->value.getLoc())
          << "symbol '" << name.getValue() << "' is bound here";
}

//===----------------------------------------------------------------------===//
// verifySymbols
//===----------------------------------------------------------------------===//

namespace {
/// Checks the symbols of one function.
class SymbolVerifier {
public:
  SymbolVerifier(FunctionOpInterface func, const SymbolBindings &bindings)
      : func(func), bindings(bindings), dominance(func) {}

  LogicalResult run() {
    Region *body = func.getCallableRegion();
    if (!body || body->empty())
      return success();
    for (BlockArgument argument : body->getArguments())
      if (failed(checkType(argument.getType(), &body->front().front(),
                           argument.getLoc())))
        return failure();
    WalkResult result = body->walk([&](Operation *op) {
      return failed(checkOp(op)) ? WalkResult::interrupt()
                                 : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

private:
  LogicalResult checkOp(Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(checkType(type, op, op->getLoc())))
        return failure();
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (failed(checkType(argument.getType(), op, argument.getLoc())))
          return failure();
    // Extents in attributes; those in types there come with a type as well.
    ExtentAttr failing;
    StringAttr missing;
    for (NamedAttribute attribute : op->getAttrDictionary())
      attribute.getValue().walk([&](ExtentAttr extent) {
        if (failing)
          return;
        for (StringAttr name : getSymbolsIn(extent))
          if (!isInScope(name, op)) {
            failing = extent;
            missing = name;
            return;
          }
      });
    return failing ? emitOutOfScope(missing, op, op->getLoc()) : success();
  }

  static SmallVector<StringAttr> getSymbolsIn(ExtentAttr extent) {
    llvm::SmallSetVector<StringAttr, 4> symbols;
    extent.getSymbols(symbols);
    return symbols.takeVector();
  }

  bool isInScope(StringAttr name, Operation *op) {
    const SymbolBinding *binding = bindings.lookup(name);
    return binding && (binding->value.getDefiningOp() == op ||
                       dominance.dominates(binding->value, op));
  }

  LogicalResult emitOutOfScope(StringAttr name, Operation *op, Location loc) {
    const SymbolBinding *binding = bindings.lookup(name);
    if (!binding)
      return emitError(loc, "expected symbol '")
             << name.getValue()
             << "' to be bound by an argument or an operation, but got none "
                "that binds it";
    InFlightDiagnostic diagnostic = emitError(loc, "expected symbol '");
    diagnostic << name.getValue()
               << "' to be bound before its use, but got a later binding";
    diagnostic.attachNote(binding->value.getLoc())
        << "symbol '" << name.getValue() << "' is bound here";
    return diagnostic;
  }

  /// Every symbol in scope, and with one length for each instance of the path
  /// or, if `isExtent`, of a prefix.
  LogicalResult checkName(StringAttr name, ArrayRef<StringAttr> path,
                          bool isExtent, Operation *op, Location loc) {
    if (!isInScope(name, op))
      return emitOutOfScope(name, op, loc);
    const SymbolBinding *binding = bindings.lookup(name);
    if (isPathPrefix(binding->path, path) &&
        (isExtent || binding->path.size() == path.size()))
      return success();
    InFlightDiagnostic diagnostic = emitError(loc, "expected ");
    diagnostic << (isExtent ? "symbol '" : "path component '")
               << name.getValue() << "' over "
               << (isExtent ? "a prefix of path " : "path ") << formatPath(path)
               << ", but got path " << formatPath(binding->path);
    diagnostic.attachNote(binding->value.getLoc())
        << "symbol '" << name.getValue() << "' is bound here";
    return diagnostic;
  }

  LogicalResult checkType(Type type, Operation *op, Location loc) {
    ArrayRef<StringAttr> path = getTypePath(type);
    // A batch that nothing binds is one of the arguments, or the default one.
    for (size_t i = path.empty() || bindings.lookup(path[0]) ? 0 : 1;
         i < path.size(); ++i)
      if (failed(checkName(path[i], path.take_front(i), /*isExtent=*/false, op,
                           loc)))
        return failure();
    for (ExtentAttr extent : getTuple(type))
      for (StringAttr name : getSymbolsIn(extent))
        if (failed(checkName(name, path, /*isExtent=*/true, op, loc)))
          return failure();
    return success();
  }

  FunctionOpInterface func;
  const SymbolBindings &bindings;
  DominanceInfo dominance;
};
} // namespace

static LogicalResult emitBoundAlready(const SymbolBinding &second,
                                      Value first) {
  InFlightDiagnostic diagnostic =
      emitError(second.value.getLoc(), "expected a fresh symbol, but got '");
  diagnostic << second.name.getValue() << "', which is bound already";
  diagnostic.attachNote(first.getLoc())
      << "symbol '" << second.name.getValue() << "' is bound here";
  return diagnostic;
}

LogicalResult nested::ragged::verifySymbols(FunctionOpInterface func) {
  SymbolBindings bindings(func);
  if (!bindings.duplicates.empty()) {
    const SymbolBinding &second = bindings.duplicates.front();
    return emitBoundAlready(second, bindings.lookup(second.name)->value);
  }
  // Nothing binds the batches of arguments, but they are taken.
  if (Region *body = func.getCallableRegion(); body && !body->empty())
    for (BlockArgument argument : body->getArguments()) {
      ArrayRef<StringAttr> path = getTypePath(argument.getType());
      if (path.empty())
        continue;
      if (const SymbolBinding *binding = bindings.lookup(path[0]))
        return emitBoundAlready(*binding, argument);
    }
  return SymbolVerifier(func, bindings).run();
}
