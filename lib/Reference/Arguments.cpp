//===- Arguments.cpp - What the caller gives to an entry ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Symbols are bound by the declared types of the arguments, then every length
// that was given is compared with what its extent is, then data is read.
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

using namespace mlir;
using namespace nested;
using namespace nested::reference;

// The attributes are part of the generic phase's text, which is why their names
// are here and not shared with the passes that write them.
static constexpr StringLiteral kName = "ragged.name";
static constexpr StringLiteral kDeclaredType = "ragged.declared_type";
static constexpr StringLiteral kChecks = "ragged.checks";

std::string reference::getArgumentName(func::FuncOp func, unsigned index) {
  if (auto name = func.getArgAttrOfType<StringAttr>(index, kName))
    return name.getValue().str();
  return std::to_string(index);
}

static std::string getOrigin(func::FuncOp func, unsigned index) {
  return "argument '" + getArgumentName(func, index) + "'";
}

/// Numbers of the dims that an argument has lengths for: the ragged ones, all
/// of a partition's.
static SmallVector<int64_t> getLengthDims(Type type) {
  SmallVector<int64_t> dims;
  for (auto [dim, extent] : llvm::enumerate(getExtents(type)))
    if (isa<ragged::PartitionType>(type) || !extent.isStatic())
      dims.push_back(dim);
  return dims;
}

/// How many samples an argument says that there are; nullopt if it does not.
static std::optional<int64_t> countSamples(Type type,
                                           const Argument &argument) {
  if (argument.numSamples >= 0)
    return argument.numSamples;
  Path path = getPath(type);
  if (path.size() > 1) {
    if (!argument.pathLengths.empty() && argument.pathLengths[0])
      return argument.pathLengths[0]->size();
    return std::nullopt;
  }
  for (const auto &lengths : argument.lengths)
    if (lengths)
      return lengths->size();
  if (argument.base)
    return argument.base->size();
  if (getLengthDims(type).empty() && argument.rowCapacity >= 0)
    return argument.rowCapacity;
  return std::nullopt;
}

LogicalResult Interpreter::bindArguments(func::FuncOp func,
                                         ArrayRef<Type> declared,
                                         ArrayRef<Argument> arguments) {
  for (auto [k, argument] : llvm::enumerate(arguments)) {
    Location location = func.getArgument(k).getLoc();
    auto emitError = [&] { return mlir::emitError(location); };
    Path path = getPath(declared[k]);
    std::string origin = getOrigin(func, k);
    size_t numLengths = getLengthDims(declared[k]).size();
    if (!argument.lengths.empty() && argument.lengths.size() != numLengths)
      return emitError() << origin << " has lengths for "
                         << argument.lengths.size() << " dims, expected "
                         << numLengths << " for " << declared[k];
    size_t numLevels = path.empty() ? 0 : path.size() - 1;
    if (argument.pathLengths.size() > numLevels)
      return emitError() << origin << " has lengths for "
                         << argument.pathLengths.size()
                         << " components of its path, expected " << numLevels;
    if (path.empty())
      continue;
    if (std::optional<int64_t> samples = countSamples(declared[k], argument);
        samples &&
        failed(scope.bindBatch(emitError, path[0], *samples, origin, location)))
      return failure();
  }

  // Outer paths first: they say which instances the longer ones have, and one
  // length per sample is enough for every longer path. An argument may leave
  // out lengths that a later one has.
  size_t maxLevel = 0;
  for (Type type : declared)
    maxLevel = std::max(maxLevel, getPath(type).size());
  for (size_t level = 0; level <= maxLevel; ++level) {
    for (auto [k, argument] : llvm::enumerate(arguments)) {
      Location location = func.getArgument(k).getLoc();
      auto emitError = [&] { return mlir::emitError(location); };
      Path path = getPath(declared[k]), over = path.take_front(level);
      if (path.size() < level || !scope.lookupInstances(over))
        continue;
      std::string origin = getOrigin(func, k);
      auto bind = [&](StringAttr name,
                      const std::vector<int64_t> &lengths) -> LogicalResult {
        if (scope.lookup(name))
          return success();
        return scope.bind(
            emitError, name,
            {SmallVector<StringAttr>(over), lengths, origin, location});
      };
      if (level > 0 && level <= argument.pathLengths.size() &&
          argument.pathLengths[level - 1] &&
          failed(bind(path[level], *argument.pathLengths[level - 1])))
        return failure();
      if (argument.lengths.empty() || path.size() != level)
        continue;
      for (auto [dim, lengths] :
           llvm::zip_equal(getLengthDims(declared[k]), argument.lengths)) {
        ragged::ExtentAttr extent = getExtents(declared[k])[dim];
        if (lengths && extent.isSymbol() &&
            failed(bind(extent.getName(), *lengths)))
          return failure();
      }
    }
  }
  return success();
}

/// Compares everything that an argument says with the symbols.
LogicalResult Interpreter::checkArgument(func::FuncOp func, unsigned index,
                                         Type declared,
                                         const Argument &argument) {
  Location location = func.getArgument(index).getLoc();
  auto emitError = [&] { return mlir::emitError(location); };
  Path path = getPath(declared);
  std::string origin = getOrigin(func, index);
  FailureOr<const Instances *> instances = scope.getInstances(emitError, path);
  if (failed(instances))
    return failure();
  llvm::SmallSetVector<StringAttr, 4> names;
  for (ragged::ExtentAttr extent : getExtents(declared))
    extent.getSymbols(names);
  for (StringAttr name : names)
    if (!scope.lookup(name))
      return emitError() << "no argument gives the lengths of '"
                         << name.getValue() << "' in the type of " << origin;

  auto compare = [&](ragged::ExtentAttr extent, Path over,
                     const std::vector<int64_t> &lengths,
                     const Twine &what) -> LogicalResult {
    FailureOr<const Instances *> own = scope.getInstances(emitError, over);
    if (failed(own))
      return failure();
    if (static_cast<int64_t>(lengths.size()) != (*own)->count)
      return emitError() << origin << " has " << lengths.size()
                         << " lengths for " << what << ", expected "
                         << (*own)->count;
    for (auto [i, length] : llvm::enumerate(lengths)) {
      FailureOr<int64_t> expected = scope.evaluate(emitError, extent, over, i);
      if (failed(expected))
        return failure();
      if (*expected == length)
        continue;
      InFlightDiagnostic diagnostic = emitError();
      diagnostic << origin << " has length " << length << " for " << what
                 << " in " << scope.describe(over, i) << ", but "
                 << extent.str() << " is " << *expected;
      scope.attachNotes(diagnostic, extent, over, i);
      return diagnostic;
    }
    return success();
  };
  for (auto [level, lengths] : llvm::enumerate(argument.pathLengths))
    if (lengths &&
        failed(compare(ragged::extent::symbol(path[level + 1]),
                       path.take_front(level + 1), *lengths,
                       "component " + Twine(level + 1) + " of its path")))
      return failure();
  if (!argument.lengths.empty())
    for (auto [dim, lengths] :
         llvm::zip_equal(getLengthDims(declared), argument.lengths))
      if (lengths && failed(compare(getExtents(declared)[dim], path, *lengths,
                                    "dim " + Twine(dim))))
        return failure();
  if (argument.base &&
      static_cast<int64_t>(argument.base->size()) != (*instances)->count)
    return emitError() << origin << " has " << argument.base->size()
                       << " first rows for " << (*instances)->count
                       << " instances";
  if (!argument.shape)
    return success();
  SmallVector<int64_t> expected;
  if (auto tensor = dyn_cast<RankedTensorType>(declared))
    llvm::append_range(expected, tensor.getShape());
  for (ragged::ExtentAttr extent : getExtents(declared))
    expected.push_back(extent.getConstant().value_or(-1));
  bool agrees = argument.shape->size() == expected.size();
  if (agrees)
    for (auto [given, size] : llvm::zip_equal(*argument.shape, expected))
      agrees &= size < 0 || given == size;
  if (!agrees) {
    InFlightDiagnostic diagnostic = emitError();
    diagnostic << origin << " has shape (";
    llvm::interleaveComma(*argument.shape, diagnostic);
    return diagnostic << "), expected " << declared;
  }
  return success();
}

/// Reads the values of an argument whose lengths have been checked. `declared`
/// has the same sizes as the type that the body uses.
FailureOr<RaggedValue> Interpreter::readArgument(func::FuncOp func,
                                                 unsigned index, Type declared,
                                                 const Argument &argument) {
  Location location = func.getArgument(index).getLoc();
  auto emitError = [&] { return mlir::emitError(location); };
  std::string origin = getOrigin(func, index);
  RaggedValue value;
  value.type = func.getArgumentTypes()[index];
  auto tensor = dyn_cast<ragged::RaggedTensorType>(declared);
  if (isa<ragged::PartitionType>(declared)) {
    FailureOr<const Instances *> instances =
        scope.getInstances(emitError, getPath(declared));
    for (int64_t i = 0; i < (*instances)->count; ++i) {
      auto shape =
          scope.evaluate(emitError, getExtents(declared), getPath(declared), i);
      if (failed(shape))
        return failure();
      Array &extents = value.instances.emplace_back();
      extents.dtype = DType::I64;
      extents.shape = std::move(*shape);
    }
    return value;
  }

  Type elementType =
      tensor ? tensor.getElementType() : getElementTypeOrSelf(declared);
  std::optional<DType> dtype = getDType(elementType);
  if (!dtype)
    return emitError() << "the reference interpreter does not support type "
                       << declared;
  if (argument.dtype != *dtype)
    return emitError() << origin << " has dtype " << getName(argument.dtype)
                       << ", expected " << getName(*dtype);

  auto shaped = dyn_cast<RankedTensorType>(declared);
  if (shaped && !shaped.hasStaticShape()) {
    if (!argument.shape)
      return emitError() << origin << " needs a shape, its type is "
                         << declared;
    value.instances.emplace_back().shape = *argument.shape;
    value.instances.front().dtype = *dtype;
    value.instances.front().data.resize(countElements(*argument.shape));
  } else {
    FailureOr<RaggedValue> sizes = allocate(func, declared);
    if (failed(sizes))
      return failure();
    value.instances = std::move(sizes->instances);
  }

  // In memory: [row, static dims...], or the dims of a dense array.
  SmallVector<int64_t> rowShape, order;
  if (tensor) {
    rowShape = tensor.getRowShape();
    llvm::append_range(order, tensor.getOrder());
  } else {
    llvm::append_range(rowShape, value.instances.front().shape);
    for (size_t dim = 0; dim < rowShape.size(); ++dim)
      order.push_back(dim);
  }
  SmallVector<int64_t> strides(argument.strides.begin(),
                               argument.strides.end());
  if (strides.empty()) {
    strides = getStrides(rowShape);
    if (tensor)
      strides.insert(strides.begin(), countElements(rowShape));
  }
  if (strides.size() != rowShape.size() + (tensor ? 1 : 0))
    return emitError() << origin << " has " << strides.size()
                       << " strides, expected "
                       << rowShape.size() + (tensor ? 1 : 0);

  int64_t size = getSize(*dtype), packed = 0;
  const auto *memory = static_cast<const char *>(argument.data);
  std::vector<int64_t> rows = value.getRows();
  for (auto [i, array] : llvm::enumerate(value.instances)) {
    int64_t base = 0;
    if (tensor) {
      base = argument.base ? (*argument.base)[i] : packed;
      packed += rows[i];
      if (base < 0 ||
          (argument.rowCapacity >= 0 && rows[i] > argument.rowCapacity - base))
        return emitError() << origin << " needs rows " << base << " to "
                           << base + rows[i] << " in "
                           << scope.describe(getPath(declared), i)
                           << ", but has " << argument.rowCapacity << " rows";
    }
    if (!array.data.empty() && !memory)
      return emitError() << origin << " has no data";
    // Walk the dims in the order in which they are stored.
    SmallVector<int64_t> own = getStrides(array.shape), shape, logical, stored;
    size_t numRagged = tensor ? tensor.getRaggedDims().size() : 0;
    for (auto [position, dim] : llvm::enumerate(order)) {
      shape.push_back(array.shape[dim]);
      logical.push_back(own[dim]);
      stored.push_back(position < numRagged
                           ? strides[0]
                           : strides[position - numRagged + (tensor ? 1 : 0)]);
    }
    for (size_t position = numRagged; position-- > 1;)
      stored[position - 1] = stored[position] * shape[position];
    Odometer walk(shape);
    walk.addOperand(logical);
    walk.addOperand(stored, tensor ? base * strides[0] : 0);
    for (; walk.isValid(); walk.next())
      array.data[walk.getOffset(0)] =
          readNumber(*dtype, memory + walk.getOffset(1) * size);
  }
  return value;
}

/// The checks that `--ragged-unify-symbols` made of casts and slices.
LogicalResult Interpreter::runEntryChecks(func::FuncOp func) {
  if (auto checks = func->getAttrOfType<ArrayAttr>(kChecks))
    llvm::append_range(pendingChecks, checks.getAsRange<DictionaryAttr>());
  ragged::SymbolBindings bindings(func);
  for (const ragged::SymbolBinding &binding : bindings.getBindings())
    if (binding.isFromData())
      fromData.insert(binding.name);
  return runReadyChecks(func);
}

LogicalResult Interpreter::runReadyChecks(func::FuncOp func) {
  auto isReady = [&](StringAttr name) {
    return !fromData.contains(name) || scope.lookup(name) ||
           scope.isBatchBound(name);
  };
  std::vector<DictionaryAttr> ready;
  llvm::erase_if(pendingChecks, [&](DictionaryAttr check) {
    llvm::SmallSetVector<StringAttr, 4> names;
    for (const char *side : {"lhs", "rhs"})
      if (auto extent = check.getAs<ragged::ExtentAttr>(side))
        extent.getSymbols(names);
    names.insert_range(ragged::toPath(check.getAs<ArrayAttr>("path")));
    if (!llvm::all_of(names, isReady))
      return false;
    ready.push_back(check);
    return true;
  });
  auto emitError = [&] { return func.emitError(); };
  for (DictionaryAttr check : ready) {
    auto lhs = check.getAs<ragged::ExtentAttr>("lhs");
    auto rhs = check.getAs<ragged::ExtentAttr>("rhs");
    auto op = check.getAs<StringAttr>("op");
    SmallVector<StringAttr> path =
        ragged::toPath(check.getAs<ArrayAttr>("path"));
    if (!lhs || !rhs || !op || (op.getValue() != "==" && op.getValue() != "<="))
      return emitError() << "the reference interpreter does not support check "
                         << check;
    FailureOr<const Instances *> instances =
        scope.getInstances(emitError, path);
    if (failed(instances))
      return failure();
    for (int64_t i = 0; i < (*instances)->count; ++i) {
      FailureOr<int64_t> left = scope.evaluate(emitError, lhs, path, i);
      FailureOr<int64_t> right = scope.evaluate(emitError, rhs, path, i);
      if (failed(left) || failed(right))
        return failure();
      if (op.getValue() == "==" ? *left == *right : *left <= *right)
        continue;
      InFlightDiagnostic diagnostic = emitError();
      diagnostic << "lengths disagree in " << scope.describe(path, i) << ": "
                 << lhs.str() << " is " << *left << ", " << rhs.str() << " is "
                 << *right;
      auto text = [&](StringRef key) {
        auto attr = check.getAs<StringAttr>(key);
        return attr ? attr.getValue() : StringRef();
      };
      diagnostic << "; '" << text("what") << "'";
      if (!text("where").empty())
        diagnostic << " at " << text("where");
      diagnostic << " needs " << lhs.str() << " " << op.getValue() << " "
                 << rhs.str();
      scope.attachNotes(diagnostic, {lhs, rhs}, path, i);
      return diagnostic;
    }
  }
  return success();
}

LogicalResult Interpreter::bindEntry(func::FuncOp func,
                                     ArrayRef<Argument> arguments) {
  if (func.getNumArguments() != arguments.size())
    return func.emitError("'")
           << func.getName() << "' takes " << func.getNumArguments()
           << " arguments, but was given " << arguments.size();
  if (func.isExternal())
    return func.emitError("'") << func.getName() << "' has no body";
  SmallVector<Type> declared;
  for (auto [k, type] : llvm::enumerate(func.getArgumentTypes())) {
    auto attr = func.getArgAttrOfType<TypeAttr>(k, kDeclaredType);
    declared.push_back(attr ? attr.getValue() : type);
  }
  if (failed(bindArguments(func, declared, arguments)))
    return failure();
  for (auto [k, argument] : llvm::enumerate(arguments))
    if (failed(checkArgument(func, k, declared[k], argument)))
      return failure();
  if (failed(runEntryChecks(func)))
    return failure();
  for (auto [k, argument] : llvm::enumerate(arguments)) {
    FailureOr<RaggedValue> value = readArgument(func, k, declared[k], argument);
    if (failed(value))
      return failure();
    values[func.getArgument(k)] =
        std::make_unique<RaggedValue>(std::move(*value));
  }
  return success();
}
