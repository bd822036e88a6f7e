//===- RaggedUnifySymbols.cpp - Casts and slice bounds become entry checks
//-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDUNIFYSYMBOLS
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedUnifySymbols
    : nested::ragged::impl::RaggedUnifySymbolsBase<RaggedUnifySymbols> {
  void runOnOperation() override;

private:
  LogicalResult unify(CastOp cast);
  void checkSizes(SizeCheckOpInterface op);
  void rename(StringAttr symbol, ExtentAttr extent);
  void addCheck(CheckKind kind, ExtentAttr lhs, ExtentAttr rhs,
                ArrayRef<StringAttr> path, StringRef what, Location where);

  SmallVector<Attribute> checks;
};
} // namespace

void RaggedUnifySymbols::addCheck(CheckKind kind, ExtentAttr lhs,
                                  ExtentAttr rhs, ArrayRef<StringAttr> path,
                                  StringRef what, Location where) {
  Attribute check = getCheckAttr(kind, lhs, rhs, path, what, where);
  if (!llvm::is_contained(checks, check))
    checks.push_back(check);
}

/// Replaces `symbol` in all types and attributes of the function. Checks and
/// the declared types of arguments keep it: they speak of what the caller
/// gives.
void RaggedUnifySymbols::rename(StringAttr symbol, ExtentAttr extent) {
  func::FuncOp func = getOperation();
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](ExtentAttr old) -> std::optional<std::pair<Attribute, WalkResult>> {
        ExtentAttr now = extent::substitute(old, [&](StringAttr name) {
          return name == symbol ? extent : ExtentAttr();
        });
        return std::make_pair(Attribute(now), WalkResult::skip());
      });
  for (BlockArgument arg : func.getArguments()) {
    unsigned i = arg.getArgNumber();
    if (!func.getArgAttr(i, kDeclaredTypeAttr) &&
        replacer.replace(arg.getType()) != arg.getType())
      func.setArgAttr(i, kDeclaredTypeAttr, TypeAttr::get(arg.getType()));
  }
  ArrayAttr argAttrs = func.getArgAttrsAttr();
  replacer.recursivelyReplaceElementsIn(func, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  if (argAttrs)
    func.setArgAttrsAttr(argAttrs);
}

template <typename AttrOrType>
static bool mentions(AttrOrType element, StringAttr symbol) {
  return element
      .walk([&](ExtentAttr extent) {
        llvm::SmallSetVector<StringAttr, 4> names;
        extent.getSymbols(names);
        return names.contains(symbol) ? WalkResult::interrupt()
                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether the value is computed from `symbol`, or from a value of which it is
/// a size.
static bool dependsOn(Value value, StringAttr symbol) {
  llvm::SetVector<Value> work;
  work.insert(value);
  bool found = false;
  for (size_t i = 0; i < work.size() && !found; ++i) {
    found = work[i] != value && mentions(work[i].getType(), symbol);
    if (Operation *op = work[i].getDefiningOp())
      op->walk([&](Operation *inner) {
        work.insert(inner->operand_begin(), inner->operand_end());
        found |= mentions(inner->getAttrDictionary(), symbol);
      });
  }
  return found;
}

LogicalResult RaggedUnifySymbols::unify(CastOp cast) {
  std::string reason = cast.getReason().value_or("").str();
  for (int64_t dim = 0;; ++dim) {
    // Renaming changes the types under us: look again each time.
    auto from = mlir::cast<RaggedTensorType>(cast.getSource().getType());
    auto to = mlir::cast<RaggedTensorType>(cast.getResult().getType());
    if (dim == from.getRank())
      break;
    ExtentAttr lhs = from.getExtents()[dim], rhs = to.getExtents()[dim];
    if (lhs == rhs)
      continue;
    // What was unified before is only known by its new name here; the check of
    // the first cast and this one together say that all are equal.
    addCheck(CheckKind::EQ, lhs, rhs, from.getPath(), reason, cast.getLoc());
    SymbolBindings bindings(getOperation());
    auto canRename = [&](ExtentAttr extent) {
      if (!extent.isSymbol())
        return false;
      const SymbolBinding *binding = bindings.lookup(extent.getName());
      return binding && !binding->isFromData();
    };
    // What replaces a symbol exists wherever the symbol was used.
    auto canReplace = [&](ExtentAttr extent, ExtentAttr symbol) {
      llvm::SmallSetVector<StringAttr, 4> names;
      extent.getSymbols(names);
      return llvm::none_of(names, [&](StringAttr name) {
        const SymbolBinding *binding = bindings.lookup(name);
        return name == symbol.getName() ||
               (binding && dependsOn(binding->value, symbol.getName()));
      });
    };
    // The symbol on the source's side gives way: the other is what the program
    // wanted the type to be.
    if (canRename(lhs) && canReplace(rhs, lhs)) {
      rename(lhs.getName(), rhs);
    } else if (canRename(rhs) && canReplace(lhs, rhs)) {
      rename(rhs.getName(), lhs);
    } else {
      return cast.emitOpError("cannot make ")
             << lhs.str() << " and " << rhs.str()
             << " one extent: expected one of them to be the length of an "
                "argument from which the other is not computed";
    }
  }
  if (cast.getSource().getType() != cast.getResult().getType())
    return cast.emitOpError(
               "expected types that differ in extents only, but got ")
           << cast.getSource().getType() << " and "
           << cast.getResult().getType();
  cast.getResult().replaceAllUsesWith(cast.getSource());
  cast.erase();
  return success();
}

void RaggedUnifySymbols::checkSizes(SizeCheckOpInterface op) {
  for (const SizeCheck &check : op.getSizeChecks()) {
    bool isKnown = check.kind == CheckKind::EQ
                       ? check.lhs == check.rhs
                       : extent::isKnownLE(check.lhs, check.rhs);
    if (!isKnown)
      addCheck(check.kind, check.lhs, check.rhs, op.getSizeCheckPath(),
               op.getSizeCheckReason(), op->getLoc());
  }
}

void RaggedUnifySymbols::runOnOperation() {
  func::FuncOp func = getOperation();
  if (!isEntry(func))
    return;
  checks.clear();
  if (auto known = func->getAttrOfType<ArrayAttr>(kChecksAttr))
    checks.append(known.begin(), known.end());
  SmallVector<CastOp> casts;
  func.walk([&](CastOp cast) { casts.push_back(cast); });
  for (CastOp cast : casts)
    if (failed(unify(cast)))
      return signalPassFailure();
  func.walk([&](SizeCheckOpInterface op) { checkSizes(op); });
  if (checks.empty())
    return;
  func->setAttr(kChecksAttr, ArrayAttr::get(&getContext(), checks));
}
