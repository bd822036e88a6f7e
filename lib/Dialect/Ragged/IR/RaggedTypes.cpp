//===- RaggedTypes.cpp - Types of the ragged dialect ----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nested::ragged;

#define GET_TYPEDEF_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedTypes.cpp.inc"

void RaggedDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "nested/Dialect/Ragged/IR/RaggedTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Shared pieces of syntax
//===----------------------------------------------------------------------===//

static ParseResult parseExtentList(AsmParser &parser,
                                   SmallVectorImpl<ExtentAttr> &extents) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
    FailureOr<ExtentAttr> extent = extent::parse(parser);
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
    return success();
  });
}

static ParseResult parseName(AsmParser &parser,
                             SmallVectorImpl<StringAttr> &names) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalKeyword(&name))
    return parser.emitError(loc, "expected the name of a batch");
  if (!extent::isValidSymbolName(name))
    return parser.emitError(loc) << "'" << name << "' cannot be a symbol";
  names.push_back(StringAttr::get(parser.getContext(), name));
  return success();
}

static ParseResult parseNames(AsmParser &parser,
                              SmallVectorImpl<StringAttr> &names) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() { return parseName(parser, names); });
}

ParseResult nested::ragged::parseExtents(AsmParser &parser, ArrayAttr &attr) {
  SmallVector<ExtentAttr> extents;
  if (parseExtentList(parser, extents))
    return failure();
  attr = makeExtentsAttr(parser.getContext(), extents);
  return success();
}

void nested::ragged::printExtents(AsmPrinter &printer, Operation *,
                                  ArrayAttr attr) {
  printer << formatExtents(toExtents(attr));
}

ParseResult nested::ragged::parsePath(AsmParser &parser, ArrayAttr &attr) {
  SmallVector<StringAttr> path;
  if (parseNames(parser, path))
    return failure();
  attr = makePathAttr(parser.getContext(), path);
  return success();
}

void nested::ragged::printPath(AsmPrinter &printer, Operation *,
                               ArrayAttr attr) {
  printer << formatPath(toPath(attr));
}

ParseResult nested::ragged::parseOptionalExtent(AsmParser &parser,
                                                ExtentAttr &attr) {
  if (failed(parser.parseOptionalLess()))
    return success();
  FailureOr<ExtentAttr> extent = extent::parse(parser);
  if (failed(extent) || parser.parseGreater())
    return failure();
  attr = *extent;
  return success();
}

void nested::ragged::printOptionalExtent(AsmPrinter &printer, Operation *,
                                         ExtentAttr attr) {
  if (attr)
    printer << " <" << attr.str() << '>';
}

ParseResult nested::ragged::parseListThenType(AsmParser &parser,
                                              SmallVectorImpl<Type> &list,
                                              Type &last) {
  if (parser.parseTypeList(list))
    return failure();
  last = list.pop_back_val();
  return success();
}

void nested::ragged::printListThenType(AsmPrinter &printer, Operation *,
                                       TypeRange list, Type last) {
  for (Type type : list)
    printer << type << ", ";
  printer << last;
}

ParseResult nested::ragged::parseScaleAndOffset(AsmParser &parser, Type &scale,
                                                Type &offset) {
  while (succeeded(parser.parseOptionalComma())) {
    bool isScale = !scale && succeeded(parser.parseOptionalKeyword("scale"));
    if (!isScale && (offset || parser.parseKeyword("offset")))
      return parser.emitError(
          parser.getCurrentLocation(),
          "expected 'scale' or 'offset', each at most once");
    if (parser.parseType(isScale ? scale : offset))
      return failure();
  }
  return success();
}

void nested::ragged::printScaleAndOffset(AsmPrinter &printer, Operation *,
                                         Type scale, Type offset) {
  if (scale)
    printer << ", scale " << scale;
  if (offset)
    printer << ", offset " << offset;
}

//===----------------------------------------------------------------------===//
// RaggedTensorType
//===----------------------------------------------------------------------===//

RaggedTensorType RaggedTensorType::get(ArrayRef<ExtentAttr> extents,
                                       Type elementType) {
  return get(extents, elementType, getDefaultPath(elementType.getContext()));
}

RaggedTensorType RaggedTensorType::get(ArrayRef<ExtentAttr> extents,
                                       Type elementType,
                                       ArrayRef<StringAttr> path) {
  return get(elementType.getContext(), extents, elementType, path,
             getDefaultOrder(extents));
}

SmallVector<int64_t>
RaggedTensorType::getDefaultOrder(ArrayRef<ExtentAttr> extents) {
  SmallVector<int64_t> order;
  for (bool isStatic : {false, true})
    for (auto [dim, extent] : llvm::enumerate(extents))
      if (extent.isStatic() == isStatic)
        order.push_back(dim);
  return order;
}

SmallVector<int64_t> RaggedTensorType::getRaggedDims() const {
  return LogicalType::of(*this).getRaggedDims();
}

SmallVector<int64_t> RaggedTensorType::getStaticDims() const {
  return LogicalType::of(*this).getStaticDims();
}

ExtentAttr RaggedTensorType::getRowExtent() const {
  return LogicalType::of(*this).getRowExtent();
}

SmallVector<int64_t> RaggedTensorType::getRowShape() const {
  return LogicalType::of(*this).getRowShape();
}

RankedTensorType RaggedTensorType::getValuesType() const {
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  llvm::append_range(shape, getRowShape());
  return RankedTensorType::get(shape, getElementType());
}

/// The clauses `, path = [...]` and `, order = [...]`, in this order.
static ParseResult parseClauses(AsmParser &parser,
                                SmallVectorImpl<StringAttr> &path,
                                std::optional<SmallVector<int64_t>> *order) {
  bool hasPath = false;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    if (!hasPath && succeeded(parser.parseOptionalKeyword("path"))) {
      hasPath = true;
      if (parser.parseEqual() || parseNames(parser, path))
        return failure();
    } else if (order && !*order &&
               succeeded(parser.parseOptionalKeyword("order"))) {
      order->emplace();
      if (parser.parseEqual() ||
          parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
            return parser.parseInteger((*order)->emplace_back());
          }))
        return failure();
    } else {
      return parser.emitError(loc)
             << "expected " << (order ? "'path' or 'order'" : "'path'")
             << ", each at most once";
    }
  }
  if (!hasPath)
    path = getDefaultPath(parser.getContext());
  return success();
}

Type RaggedTensorType::parse(AsmParser &parser) {
  SmallVector<ExtentAttr> extents;
  Type elementType;
  SmallVector<StringAttr> path;
  std::optional<SmallVector<int64_t>> order;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseExtentList(parser, extents) ||
      parser.parseComma() || parser.parseType(elementType) ||
      parseClauses(parser, path, &order) || parser.parseGreater())
    return {};
  return parser.getChecked<RaggedTensorType>(
      loc, parser.getContext(), extents, elementType, path,
      order ? *order : getDefaultOrder(extents));
}

void RaggedTensorType::print(AsmPrinter &printer) const {
  printer << '<' << formatExtents(getExtents()) << ", " << getElementType();
  if (getPath() != ArrayRef(getDefaultPath(getContext())))
    printer << ", path = " << formatPath(getPath());
  if (getOrder() != ArrayRef(getDefaultOrder(getExtents()))) {
    printer << ", order = [";
    llvm::interleaveComma(getOrder(), printer);
    printer << ']';
  }
  printer << '>';
}

static LogicalResult verifyPath(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<StringAttr> path) {
  // A dense value is a builtin tensor: one type for each meaning.
  if (path.empty())
    return emitError()
           << "expected at least one name in the path, but got none; a "
              "value that is not batched has a builtin tensor type";
  for (auto [position, name] : llvm::enumerate(path))
    if (llvm::is_contained(path.take_front(position), name))
      return emitError() << "expected distinct names in the path, but got '"
                         << name.getValue() << "' twice";
  return success();
}

static LogicalResult verifyExtents(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<ExtentAttr> extents) {
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent.isStatic() && *extent.getConstant() < 0)
      return emitError() << "expected extents of at least 0, but got "
                         << extent.str() << " at dim " << dim;
  return success();
}

LogicalResult
RaggedTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                         ArrayRef<ExtentAttr> extents, Type elementType,
                         ArrayRef<StringAttr> path, ArrayRef<int64_t> order) {
  if (!isValidElementType(elementType))
    return emitError() << "expected element type i1, i8, i16, i32, i64, f16, "
                          "bf16, f32 or f64, but got "
                       << elementType;
  if (failed(verifyExtents(emitError, extents)) ||
      failed(verifyPath(emitError, path)))
    return failure();

  if (order.size() != extents.size())
    return emitError() << "expected an order of " << extents.size()
                       << " dims, but got " << order.size();
  llvm::SmallBitVector seen(extents.size());
  int64_t lastStatic = -1;
  for (int64_t dim : order) {
    if (dim < 0 || dim >= int64_t(extents.size()) || seen.test(dim))
      return emitError()
             << "expected the order to be a permutation of the dims, "
                "but got dim "
             << dim
             << (dim >= 0 && dim < int64_t(extents.size())
                     ? " twice"
                     : ", which does not exist");
    seen.set(dim);
    if (extents[dim].isStatic())
      lastStatic = dim;
    else if (lastStatic >= 0)
      return emitError() << "expected ragged dims to be stored before static "
                            "ones, but got static dim "
                         << lastStatic << " before ragged dim " << dim;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// PartitionType and BufferType
//===----------------------------------------------------------------------===//

Type PartitionType::parse(AsmParser &parser) {
  SmallVector<ExtentAttr> extents;
  SmallVector<StringAttr> path;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseExtentList(parser, extents) ||
      parseClauses(parser, path, nullptr) || parser.parseGreater())
    return {};
  return parser.getChecked<PartitionType>(loc, parser.getContext(), extents,
                                          path);
}

void PartitionType::print(AsmPrinter &printer) const {
  printer << '<' << formatExtents(getExtents());
  if (getPath() != ArrayRef(getDefaultPath(getContext())))
    printer << ", path = " << formatPath(getPath());
  printer << '>';
}

LogicalResult
PartitionType::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<ExtentAttr> extents, ArrayRef<StringAttr> path) {
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent.isStatic())
      return emitError() << "expected ragged extents, but got " << extent.str()
                         << " at dim " << dim;
  return verifyPath(emitError, path);
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  return get(parser.getContext(), shape, elementType);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getRowShape())
    printer << size << 'x';
  printer << getElementType() << '>';
}
