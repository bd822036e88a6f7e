//===- RaggedInlineCalls.cpp - Inline calls, renaming symbols -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDINLINECALLS
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedInlineCalls
    : nested::ragged::impl::RaggedInlineCallsBase<RaggedInlineCalls> {
  void runOnOperation() override;

private:
  LogicalResult inlineCall(CallOp call, SymbolTable &symbols);
  /// Names of symbols in use in a function.
  static llvm::StringSet<> collectNames(func::FuncOp func);
};
} // namespace

llvm::StringSet<> RaggedInlineCalls::collectNames(func::FuncOp func) {
  llvm::StringSet<> names;
  SymbolBindings bindings(func);
  for (const SymbolBinding &binding : bindings.getBindings())
    names.insert(binding.name.getValue());
  return names;
}

LogicalResult RaggedInlineCalls::inlineCall(CallOp call, SymbolTable &symbols) {
  auto caller = call->getParentOfType<func::FuncOp>();
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return call.emitOpError("expected '")
           << call.getCallee() << "' to be a function with a body";
  if (callee == caller)
    return call.emitOpError("is recursive: '")
           << call.getCallee() << "' calls itself";

  // Symbols that the callee binds inside get names that are free in the caller.
  llvm::StringSet<> taken = collectNames(caller);
  DictionaryAttr given = call.getSubstitution();
  llvm::StringMap<StringAttr> renamed;
  SymbolBindings bindings(callee);
  for (const SymbolBinding &binding : bindings.getBindings()) {
    if (!binding.isFromData() || given.contains(binding.name))
      continue;
    std::string name = binding.name.str();
    for (unsigned i = 1; !taken.insert(name).second; ++i)
      name = (binding.name.getValue() + "_" + Twine(i)).str();
    renamed[binding.name.getValue()] = StringAttr::get(&getContext(), name);
  }
  auto replacement = [&](StringAttr name) -> ExtentAttr {
    if (auto it = renamed.find(name.getValue()); it != renamed.end())
      return extent::symbol(it->second);
    return dyn_cast_if_present<ExtentAttr>(given.get(name));
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](ExtentAttr extent)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        return std::make_pair(
            Attribute(extent::substitute(extent, replacement)),
            WalkResult::skip());
      });
  // Paths are made of symbols, too.
  NamedAttrList names(given);
  for (auto &[name, to] : renamed)
    names.set(name, extent::symbol(to));
  DictionaryAttr substitution = names.getDictionary(&getContext());
  replacer.addReplacement(
      [&](Type type) -> std::optional<std::pair<Type, WalkResult>> {
        if (!isa<RaggedTensorType, PartitionType>(type))
          return std::nullopt;
        return std::make_pair(substituteSymbols(type, substitution),
                              WalkResult::skip());
      });

  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  for (Operation &op : callee.getBody().front().without_terminator()) {
    Operation *clone = builder.clone(op, mapping);
    replacer.recursivelyReplaceElementsIn(clone, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
  Operation *terminator = callee.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), terminator->getOperands())) {
    Value inlined = mapping.lookup(value);
    if (inlined.getType() != result.getType())
      return call.emitOpError("expected the callee's result to become ")
             << result.getType() << ", but the substitution makes it "
             << inlined.getType();
    result.replaceAllUsesWith(inlined);
  }
  call.erase();
  return success();
}

void RaggedInlineCalls::runOnOperation() {
  SymbolTable symbols(getOperation());
  // A chain of calls through n functions is inlined in at most n rounds; a
  // cycle never ends.
  size_t rounds = llvm::range_size(getOperation().getOps<func::FuncOp>()) + 1;
  for (size_t round = 0;; ++round) {
    SmallVector<CallOp> calls;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (isEntry(func))
        func.walk([&](CallOp call) { calls.push_back(call); });
    if (calls.empty())
      break;
    if (round == rounds) {
      calls.front().emitOpError("is recursive");
      return signalPassFailure();
    }
    for (CallOp call : calls)
      if (failed(inlineCall(call, symbols)))
        return signalPassFailure();
  }
  for (auto func :
       llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
    if (!isEntry(func))
      func.erase();
}
