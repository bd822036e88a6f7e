//===- Utils.cpp - What passes of the dialect share ---------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

using namespace mlir;
using namespace nested::ragged;

bool nested::ragged::isEntry(FunctionOpInterface func) {
  return SymbolTable::getSymbolVisibility(func) ==
             SymbolTable::Visibility::Public &&
         !func.isExternal();
}

std::string nested::ragged::formatLocation(Location loc) {
  std::string text;
  loc->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part)) {
      text =
          (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return text;
}

DictionaryAttr nested::ragged::getCheckAttr(CheckKind kind, ExtentAttr lhs,
                                            ExtentAttr rhs,
                                            ArrayRef<StringAttr> path,
                                            StringRef what, Location where) {
  Builder b(lhs.getContext());
  return b.getDictionaryAttr(
      {b.getNamedAttr("lhs", lhs), b.getNamedAttr("rhs", rhs),
       b.getNamedAttr("op",
                      b.getStringAttr(kind == CheckKind::EQ ? "==" : "<=")),
       b.getNamedAttr("path", makePathAttr(lhs.getContext(), path)),
       b.getNamedAttr("what", b.getStringAttr(what)),
       b.getNamedAttr("where", b.getStringAttr(formatLocation(where)))});
}
