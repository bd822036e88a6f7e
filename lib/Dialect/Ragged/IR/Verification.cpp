//===- Verification.cpp - What the verifiers share ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nested::ragged;

InFlightDiagnostic nested::ragged::emitExpected(Operation *op,
                                                const Twine &what,
                                                const Twine &got) {
  return op->emitOpError("expected ") << what << ", but got " << got;
}

llvm::SmallSetVector<StringAttr, 4>
nested::ragged::getSymbols(ExtentAttr extent) {
  llvm::SmallSetVector<StringAttr, 4> symbols;
  if (extent)
    extent.getSymbols(symbols);
  return symbols;
}

/// Those of one set only; all of both if there are none.
static SmallVector<StringAttr>
getDifference(const llvm::SmallSetVector<StringAttr, 4> &lhs,
              const llvm::SmallSetVector<StringAttr, 4> &rhs) {
  SmallVector<StringAttr> names;
  for (StringAttr name : lhs)
    if (!rhs.contains(name))
      names.push_back(name);
  for (StringAttr name : rhs)
    if (!lhs.contains(name))
      names.push_back(name);
  if (names.empty())
    names.append(lhs.begin(), lhs.end());
  return names;
}

void nested::ragged::attachMismatchNotes(InFlightDiagnostic &diagnostic,
                                         Operation *op, ExtentAttr lhs,
                                         ExtentAttr rhs) {
  attachBindingNotes(diagnostic, op,
                     getDifference(getSymbols(lhs), getSymbols(rhs)));
}

void nested::ragged::attachMismatchNotes(InFlightDiagnostic &diagnostic,
                                         Operation *op, const LogicalType &lhs,
                                         const LogicalType &rhs) {
  llvm::SmallSetVector<StringAttr, 4> names;
  for (auto [l, r] : llvm::zip(lhs.extents, rhs.extents))
    if (l != r)
      names.insert_range(getDifference(getSymbols(l), getSymbols(r)));
  for (StringAttr name : lhs.path)
    if (!llvm::is_contained(rhs.path, name))
      names.insert(name);
  for (StringAttr name : rhs.path)
    if (!llvm::is_contained(lhs.path, name))
      names.insert(name);
  attachBindingNotes(diagnostic, op, names.getArrayRef());
}

std::string nested::ragged::quote(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '\'' << type << '\'';
  return text;
}

std::string nested::ragged::quote(const LogicalType &type) {
  if (Type asType = type.toType())
    return quote(asType);
  // No type has an empty path and a ragged extent.
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "a dense tensor of extents " << formatExtents(type.extents);
  return text;
}

LogicalResult nested::ragged::verifyType(Operation *op, StringRef what,
                                         const LogicalType &expected,
                                         Type actual, bool sameOrder) {
  std::optional<LogicalType> got = LogicalType::get(actual);
  if (got && got->path == expected.path && got->extents == expected.extents &&
      got->elementType == expected.elementType &&
      (!sameOrder || got->order == expected.order))
    return success();
  InFlightDiagnostic diagnostic =
      emitExpected(op, what + " of type " + quote(expected), quote(actual));
  if (got)
    attachMismatchNotes(diagnostic, op, expected, *got);
  return diagnostic;
}

LogicalResult nested::ragged::verifyDim(Operation *op, StringRef what,
                                        int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return emitExpected(op, what + " below rank " + Twine(rank), Twine(dim));
}

LogicalResult nested::ragged::verifyDims(Operation *op, StringRef what,
                                         ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : dims) {
    if (failed(verifyDim(op, what, dim, rank)))
      return failure();
    if (seen.test(dim))
      return emitExpected(op, "distinct " + what, Twine(dim) + " twice");
    seen.set(dim);
  }
  return success();
}

/// `(f32, i64)`
static std::string formatTypes(ArrayRef<Type> types) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(';
  llvm::interleaveComma(types, os);
  os << ')';
  return text;
}

LogicalResult nested::ragged::verifyArguments(Operation *op, StringRef what,
                                              Block &block,
                                              ArrayRef<Type> expected) {
  SmallVector<Type> actual(block.getArgumentTypes());
  if (ArrayRef(actual) == expected)
    return success();
  return emitExpected(op, what + " with arguments " + formatTypes(expected),
                      formatTypes(actual));
}

LogicalResult nested::ragged::verifyYield(Operation *op, StringRef what,
                                          Block &block,
                                          ArrayRef<Type> expected) {
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitExpected(op, what + " to end with ragged.yield",
                        "another operation");
  SmallVector<Type> actual(yield.getValues().getTypes());
  if (ArrayRef(actual) == expected)
    return success();
  return emitExpected(op, what + " to yield " + formatTypes(expected),
                      formatTypes(actual));
}

bool nested::ragged::isAccessAllowed(ExtentAttr bound, ExtentAttr extent,
                                     bool isChecked) {
  if (isChecked)
    return !extent::isKnownLE(extent::add(extent, 1), bound);
  return bound == extent;
}
