//===- RaggedScheduleOps.cpp - The schedule of an entry -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/Ragged.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// buffer
//===----------------------------------------------------------------------===//

/// Reads the integer after an optional keyword.
static ParseResult parseOptionalCount(OpAsmParser &parser, StringRef keyword,
                                      IntegerAttr &attr) {
  int64_t value;
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  if (parser.parseInteger(value))
    return failure();
  attr = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

ParseResult BufferOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  StringRef kind;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalKeyword(&kind, {"arg", "result", "temp"}))
    return parser.emitError(loc, "expected 'arg', 'result' or 'temp'");
  properties.kind = parser.getBuilder().getStringAttr(kind);

  if (kind != "temp") {
    int64_t index;
    if (parser.parseInteger(index))
      return failure();
    properties.index = parser.getBuilder().getI64IntegerAttr(index);
  }
  if (succeeded(parser.parseOptionalKeyword("total"))) {
    OpAsmParser::UnresolvedOperand total;
    if (parser.parseOperand(total) ||
        parser.resolveOperand(total, TableType::get(parser.getContext()),
                              result.operands))
      return failure();
  }
  Type type;
  if (parseOptionalCount(parser, "chunk", properties.chunk) ||
      parseOptionalCount(parser, "rows", properties.rows) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  result.addTypes(type);
  return success();
}

void BufferOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getKind();
  if (std::optional<uint64_t> index = getIndex())
    printer << ' ' << *index;
  if (getTotal())
    printer << " total " << getTotal();
  if (std::optional<uint64_t> chunk = getChunk())
    printer << " chunk " << *chunk;
  if (std::optional<uint64_t> rows = getRows())
    printer << " rows " << *rows;
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"kind", "index", "chunk", "rows"});
  printer << " : " << getType();
}

LogicalResult BufferOp::verify() {
  bool isTemp = getKind() == "temp";
  if (!isTemp && getKind() != "arg" && getKind() != "result")
    return emitOpError("expected kind 'arg', 'result' or 'temp', but got '")
           << getKind() << "'";
  if (isTemp == getIndex().has_value())
    return emitOpError(
               "expected an index for an argument or a result only, but "
               "got ")
           << (isTemp ? "one for a temporary" : "none");
  bool hasRows = getRows().has_value(), hasTotal = bool(getTotal());
  if (!isTemp && (hasRows || hasTotal))
    return emitOpError("expected rows for a temporary only, but got them for '")
           << getKind() << "'";
  if (isTemp && hasRows == hasTotal)
    return emitOpError("expected either a total or a number of rows, but got ")
           << (hasRows ? "both" : "neither");
  if (getChunk() && !hasTotal)
    return emitOpError("expected a total to cut into chunks, but got none");
  if (getChunk() && int64_t(*getChunk()) <= 0)
    return emitOpError("expected chunks of at least 1 row, but got ")
           << int64_t(*getChunk());
  if (hasRows && int64_t(*getRows()) < 0)
    return emitOpError("expected at least 0 rows, but got ")
           << int64_t(*getRows());
  return success();
}

//===----------------------------------------------------------------------===//
// launch
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  if ((getUnits() == UnitKind::Chunks) != getChunk().has_value())
    return emitOpError("expected a chunk size for units of kind 'chunks' only, "
                       "but got ")
           << (getChunk() ? "one" : "none") << " for kind '"
           << stringifyUnitKind(getUnits()) << "'";
  if (getChunk() && int64_t(*getChunk()) <= 0)
    return emitOpError("expected chunks of at least 1 row, but got ")
           << int64_t(*getChunk());
  if (getUnitTable() && getUnits() != UnitKind::Groups)
    return emitOpError("expected a unit table for units of kind 'groups' only, "
                       "but got one for kind '")
           << stringifyUnitKind(getUnits()) << "'";
  if (int64_t(getTileRows()) <= 0)
    return emitOpError("expected tiles of at least 1 row, but got ")
           << int64_t(getTileRows());
  return success();
}
