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

Value nested::ragged::createMove(OpBuilder &builder, Value value) {
  LogicalType type = LogicalType::of(value);
  MLIRContext *context = builder.getContext();
  Location loc = value.getLoc();
  Value init = EmptyOp::create(builder, loc, value.getType());
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(type.getRank(), context);
  SmallVector<StringRef> iterators(type.getRank(), "parallel");
  auto op = GenericOp::create(
      builder, loc, TypeRange{value.getType()}, ValueRange{value},
      ValueRange{init}, makeExtentsAttr(context, type.extents),
      builder.getStrArrayAttr(iterators), makePathAttr(context, type.path),
      builder.getAffineMapArrayAttr({identity, identity}), ArrayAttr(),
      ArrayAttr(), UnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  Type element = getScalarType(type.elementType);
  Block *block =
      builder.createBlock(&op.getBody(), {}, {element, element}, {loc, loc});
  YieldOp::create(builder, loc, block->getArgument(0));
  return op.getResult(0);
}
