//===- ScheduleBuilder.cpp - Tables, buffers and steps of an entry ------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

#include "LoopKernel.h"
#include "RowRuns.h"

#include "nested/Dialect/Ragged/Transforms/Passes.h"

using namespace mlir;
using namespace nested::ragged;

ScheduleBuilder::ScheduleBuilder(func::FuncOp func, int64_t vectorBits)
    : func(func), vectorBits(vectorBits), context(func.getContext()), b(func) {
  schedule = ScheduleOp::create(b, func.getLoc(), func.getSymName(),
                                b.getDictionaryAttr({}));
  b.createBlock(&schedule.getBody());
}

//===----------------------------------------------------------------------===//
// Tables and buffers
//===----------------------------------------------------------------------===//

Value ScheduleBuilder::getTable(const TableKey &key) {
  for (auto &[known, value] : tables)
    if (known == key)
      return value;
  std::optional<int64_t> bound;
  if (std::optional<TableKey> boundKey = getBound(key))
    bound = getTableNumber(getTable(*boundKey));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&schedule.getBody().front());
  bool splits = key.kind == TableKind::RowSplits;
  Value value = TableOp::create(
      b, func.getLoc(), TableType::get(context), key.kind, key.extent,
      key.arg < 0 ? IntegerAttr() : b.getI64IntegerAttr(key.arg),
      makePathAttr(context, key.path),
      splits ? makeExtentsAttr(context, key.extents) : ArrayAttr(),
      splits ? b.getI64IntegerAttr(key.level) : IntegerAttr());
  if (bound)
    value.getDefiningOp()->setAttr(kTableBoundAttr,
                                   b.getI64IntegerAttr(*bound));
  tables.push_back({key, value});
  return value;
}

int64_t ScheduleBuilder::getTableNumber(Value table) {
  auto ops = schedule.getOps<TableOp>();
  auto isTable = [&](TableOp op) { return op.getResult() == table; };
  return std::distance(ops.begin(), llvm::find_if(ops, isTable));
}

void ScheduleBuilder::addSelection(const BatchMove &move) {
  selections.push_back(move);
}

std::optional<TableKey> ScheduleBuilder::getBound(const TableKey &key) const {
  if (key.kind != TableKind::Offsets)
    return std::nullopt;
  auto move = llvm::find_if(selections, [&](const BatchMove &move) {
    return key.path == move.chosenPath;
  });
  // An index may choose a long sample as often as it likes.
  if (move == selections.end() || (move->kind != BatchMove::Kind::Mask &&
                                   move->kind != BatchMove::Kind::Counts))
    return std::nullopt;
  bool isKnown = true;
  ExtentAttr source = extent::substitute(key.extent, [&](StringAttr name) {
    for (auto [from, to] : llvm::zip_equal(move->from, move->to))
      if (to.getName() == name)
        return from;
    isKnown = false;
    return ExtentAttr();
  });
  ExtentAttr most = source ? extent::mul(source, move->atMost) : ExtentAttr();
  if (!isKnown || !most)
    return std::nullopt;
  return TableKey::makeOffsets(most, move->sourcePath);
}

std::optional<int64_t> ScheduleBuilder::getArgument(Value value) const {
  auto it = arguments.find(value);
  if (it == arguments.end())
    return std::nullopt;
  return it->second;
}

memref::GlobalOp ScheduleBuilder::getConstant(DenseElementsAttr value,
                                              Location loc) {
  auto module = func->getParentOfType<ModuleOp>();
  unsigned number = 0;
  for (auto global : module.getOps<memref::GlobalOp>()) {
    if (global.getInitialValue() == Attribute(value))
      return global;
    ++number;
  }
  // Booleans are stored as bytes.
  Type stored = getStorageType(value.getElementType());
  if (stored != value.getElementType())
    value =
        value.mapValues(stored, [](const APInt &bit) { return bit.zext(8); });
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  auto type = MemRefType::get(value.getType().getShape(), stored);
  return memref::GlobalOp::create(top, loc, "constant" + std::to_string(number),
                                  top.getStringAttr("private"), type, value,
                                  /*constant=*/true, top.getI64IntegerAttr(64));
}

static BufferType getBufferType(const LogicalType &type) {
  return BufferType::get(type.getContext(), type.getRowShape(),
                         getStorageType(type.elementType));
}

Value ScheduleBuilder::createTemp(const LogicalType &type) {
  BufferType bufferType = getBufferType(type);
  if (type.isDense())
    return BufferOp::create(b, func.getLoc(), bufferType,
                            b.getStringAttr("temp"), IntegerAttr(), Value(),
                            IntegerAttr(), b.getI64IntegerAttr(1));
  Value total = getTable(TableKey::makeOffsets(type.getRowExtent(), type.path));
  return BufferOp::create(b, func.getLoc(), bufferType, b.getStringAttr("temp"),
                          IntegerAttr(), total, IntegerAttr(), IntegerAttr());
}

void ScheduleBuilder::assignBuffers(Operation *op) {
  for (Value value : op->getResults())
    assignBuffer(value);
}

/// The first result of the entry that a value is; if it is none, one that has
/// the same rows by the same symbols: as members, or members as a dim. The
/// sizes of groups of an axis may be bound later.
static std::optional<unsigned> findResult(Value value) {
  for (OpOperand &use : value.getUses())
    if (isa<func::ReturnOp>(use.getOwner())) {
      auto operands = use.getOwner()->getOperands();
      return std::distance(operands.begin(), llvm::find(operands, value));
    }
  for (Operation *user : value.getUsers()) {
    if (!isa<UnnestOp, RenestOp>(user) ||
        LogicalType::of(user->getResult(0)).getRank() ==
            LogicalType::of(value).getRank())
      continue;
    if (std::optional<unsigned> result = findResult(user->getResult(0)))
      return result;
  }
  return std::nullopt;
}

/// A result of the entry where the value is one.
void ScheduleBuilder::assignBuffer(Value value) {
  std::optional<unsigned> position = findResult(value);
  std::optional<LogicalType> type = LogicalType::get(value);
  if (!position) {
    if (type)
      buffers[value] = createTemp(*type);
    return;
  }
  BufferType bufferType;
  if (type) {
    bufferType = getBufferType(*type);
  } else { // Structure as a dense tensor: as many rows as there are.
    auto dense = cast<RankedTensorType>(value.getType());
    bufferType = BufferType::get(context, dense.getShape().drop_front(),
                                 getStorageType(dense.getElementType()));
  }
  buffers[value] = BufferOp::create(
      b, value.getLoc(), bufferType, b.getStringAttr("result"),
      b.getI64IntegerAttr(*position), Value(), IntegerAttr(), IntegerAttr());
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void nested::ragged::createLaunch(OpBuilder &b, ArrayRef<Operation *> ops,
                                  StringRef name, const EmittedKernel &emitted,
                                  UnitKind units, int64_t chunk,
                                  int64_t tileRows, ScheduleBuilder &schedule) {
  Value rowTable = schedule.getTable(emitted.rowTable);
  Value unitTable =
      emitted.unitTable ? schedule.getTable(*emitted.unitTable) : Value();
  bool perSample =
      units == UnitKind::Groups && isPerSample(ops, emitted, schedule);
  LaunchOp::create(b, ops.front()->getLoc(), name, units,
                   chunk ? b.getI64IntegerAttr(chunk) : IntegerAttr(), rowTable,
                   unitTable, emitted.memrefs, emitted.scalars, tileRows,
                   emitted.flopsPerRow, emitted.bytesPerRow, emitted.errors,
                   perSample);
}

LogicalResult ScheduleBuilder::addKernel(KernelOp kernel) {
  if (chained.contains(kernel))
    return success();
  if (kernel.getUnits() == UnitKind::Chunks)
    return addBatchKernel(kernel);
  if (vectorBits)
    if (std::optional<RunPlan> plan = planRuns(kernel, *this, vectorBits))
      return addRuns(kernel, *plan);
  assignBuffers(kernel);
  SmallVector<Value> outputs;
  for (Value result : kernel.getResults())
    outputs.push_back(buffers[result]);
  OpBuilder module(schedule);
  FailureOr<EmittedKernel> emitted = emitKernelFunction(
      module, kernel, kernel.getKernelName(), *this, outputs);
  if (failed(emitted))
    return failure();
  createLaunch(b, kernel.getOperation(), kernel.getKernelName(), *emitted,
               UnitKind::Groups, 0, kernel.getTile(), *this);
  return success();
}

LogicalResult ScheduleBuilder::addBatchKernel(KernelOp kernel) {
  assignBuffers(kernel);
  Operation *yield = kernel.getBody().front().getTerminator();
  Value rowTable = getTable(TableKey::makeOffsets(
      extent::product(context, toExtents(kernel.getSpace())),
      toPath(kernel.getPath())));
  SmallVector<Value> outputs;
  SmallVector<unsigned> folds;
  for (auto [k, value] : llvm::enumerate(yield->getOperands())) {
    auto reduce = value.getDefiningOp<TileReduceOp>();
    if (!reduce) {
      outputs.push_back(buffers[kernel.getResult(k)]);
      continue;
    }
    folds.push_back(k);
    auto type = cast<RankedTensorType>(reduce.getResult(0).getType());
    Type element =
        getStorageType(cast<TypedAttr>(reduce.getInit()[0]).getType());
    outputs.push_back(BufferOp::create(
        b, kernel.getLoc(), BufferType::get(context, type.getShape(), element),
        b.getStringAttr("temp"), IntegerAttr(), rowTable,
        b.getI64IntegerAttr(kernel.getChunk()), IntegerAttr()));
  }
  OpBuilder module(schedule);
  std::string name = kernel.getKernelName().str();
  FailureOr<EmittedKernel> partial =
      emitKernelFunction(module, kernel, name, *this, outputs);
  if (failed(partial))
    return failure();
  createLaunch(b, kernel.getOperation(), name, *partial, UnitKind::Chunks,
               kernel.getChunk(), kernel.getTile(), *this);
  for (unsigned k : folds) {
    std::string combineName = name + "_combine" + std::to_string(k);
    auto reduce = yield->getOperand(k).getDefiningOp<TileReduceOp>();
    FailureOr<EmittedKernel> combine =
        emitCombineFunction(module, reduce, kernel, combineName, *this,
                            outputs[k], buffers[kernel.getResult(k)]);
    if (failed(combine))
      return failure();
    createLaunch(b, kernel.getOperation(), combineName, *combine,
                 UnitKind::Single, 0, kernel.getTile(), *this);
  }
  return success();
}

void ScheduleBuilder::bindSymbol(Operation *op, Value counts,
                                 ExtentAttr upper) {
  for (const SymbolBinding &binding : getSymbolsBoundBy(op))
    bindSymbol(op->getLoc(), binding.name, binding.path, upper, counts);
}

void ScheduleBuilder::bindSymbol(Location loc, StringAttr name,
                                 ArrayRef<StringAttr> path, ExtentAttr upper,
                                 Value counts) {
  BindOp::create(b, loc, name, makePathAttr(context, path), upper, counts);
  unbound.erase(name);
  addReadyChecks();
}

void ScheduleBuilder::splitChecks() {
  SymbolBindings bindings(func);
  for (const SymbolBinding &binding : bindings.getBindings())
    if (binding.isFromData())
      unbound.insert(binding.name);
  if (auto known = func->getAttrOfType<ArrayAttr>(kChecksAttr))
    for (auto check : known.getAsRange<DictionaryAttr>())
      (isUnbound(check) ? deferredChecks : entryChecks).push_back(check);
}

bool ScheduleBuilder::isUnbound(DictionaryAttr check) const {
  llvm::SmallSetVector<StringAttr, 4> names;
  for (const char *side : {"lhs", "rhs"})
    check.getAs<ExtentAttr>(side).getSymbols(names);
  names.insert_range(toPath(check.getAs<ArrayAttr>("path")));
  return llvm::any_of(names,
                      [&](StringAttr name) { return unbound.contains(name); });
}

void ScheduleBuilder::addReadyChecks() {
  llvm::erase_if(deferredChecks, [&](DictionaryAttr check) {
    if (isUnbound(check))
      return false;
    bool isEqual = check.getAs<StringAttr>("op").getValue() == "==";
    CheckOp::create(
        b, func.getLoc(), isEqual ? CheckKind::EQ : CheckKind::LE,
        check.getAs<ExtentAttr>("lhs"), check.getAs<ExtentAttr>("rhs"),
        check.getAs<ArrayAttr>("path"), check.getAs<StringAttr>("what"),
        check.getAs<StringAttr>("where"), ArrayAttr());
    return true;
  });
}

/// Numbers in memory already: they are lengths from here on.
void ScheduleBuilder::addBindSize(BindSizeOp op) {
  bindSymbol(op, getPacked(op.getSize()), op.getAtMost());
}

LogicalResult ScheduleBuilder::addLoopKernels(LoopKernelOpInterface op) {
  std::string name = (func.getName() + "_" + op->getName().stripDialect() +
                      Twine(numLoopOps++))
                         .str();
  LoopKernelBuilder builder(*this, b, op, name);
  return op.emitLoopKernels(builder);
}

LogicalResult ScheduleBuilder::addNest(NestOp op) {
  LogicalType source = LogicalType::of(op.getSource());
  LogicalType result = LogicalType::of(op.getResult());
  bindSymbol(op, getPacked(op.getLengths()), source.extents[0]);
  CheckOp::create(b, op.getLoc(), CheckKind::EQ, result.extents[0],
                  source.extents[0], makePathAttr(context, result.path),
                  b.getStringAttr("nest"),
                  b.getStringAttr(formatLocation(op.getLoc())),
                  makePathAttr(context, result.path));
  buffers[op.getResult()] = getPacked(op.getSource());
  return success();
}

/// The memory of a value without gaps between samples, which an argument may
/// have.
Value ScheduleBuilder::getPacked(Value value) {
  return getArgument(value) ? createPackedCopy(value) : buffers[value];
}

/// A copy of an argument without gaps.
Value ScheduleBuilder::createPackedCopy(Value value) {
  LogicalType type = LogicalType::of(value);
  Value copy = createTemp(type);
  CopyOp::create(b, value.getLoc(), buffers[value], copy, type.getRowExtent(),
                 makePathAttr(context, type.path));
  return copy;
}

/// The values of another tensor, cut otherwise: as many rows, packed.
LogicalResult ScheduleBuilder::addPack(PackOp op) {
  auto values = op.getValues().getDefiningOp<ValuesOp>();
  if (!values)
    return op.emitOpError("expected values of a ragged tensor, or an argument");
  LogicalType source = LogicalType::of(values.getSource());
  LogicalType result = LogicalType::of(op.getResult());
  // The difference of the rows, summed over the batch, is 0.
  CheckOp::create(b, op.getLoc(), CheckKind::EQ,
                  extent::sub(result.getRowExtent(), source.getRowExtent()),
                  extent::constant(context, 0),
                  makePathAttr(context, result.path), b.getStringAttr("pack"),
                  b.getStringAttr(formatLocation(op.getLoc())),
                  makePathAttr(context, result.path));
  buffers[op.getResult()] = getPacked(values.getSource());
  return success();
}

std::pair<ExtentAttr, SmallVector<StringAttr>>
ScheduleBuilder::getDenseRows(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto values = dyn_cast_or_null<ValuesOp>(op)) {
    LogicalType source = LogicalType::of(values.getSource());
    return {source.getRowExtent(), source.path};
  }
  if (isa_and_present<LocateOp, LinearizeOp>(op))
    return getDenseRows(op->getOperand(0));
  return {};
}

Value ScheduleBuilder::getDenseBuffer(Value value) {
  auto values = value.getDefiningOp<ValuesOp>();
  if (!values)
    return buffers.lookup(value);
  Value source = values.getSource();
  if (!getArgument(source))
    return buffers.lookup(source);
  if (Value copy = buffers.lookup(value))
    return copy;
  return buffers[value] = createPackedCopy(source);
}

/// `locate` and `linearize`: the runtime does them.
LogicalResult ScheduleBuilder::addHostCall(Operation *op) {
  auto [rows, path] = getDenseRows(op->getResult(0));
  if (!rows)
    return op->emitOpError(
        "expected row numbers or coordinates that are values of a "
        "ragged tensor, or an argument");
  assignBuffers(op);
  SmallVector<Value> inputs, outputs;
  for (Value operand : op->getOperands())
    if (!isa<PartitionType>(operand.getType()))
      inputs.push_back(getDenseBuffer(operand));
  for (Value result : op->getResults()) {
    Value &buffer = buffers[result];
    if (!buffer)
      buffer = createTemp(LogicalType(path, {rows}, b.getI64Type()));
    outputs.push_back(buffer);
  }
  auto partition = cast<PartitionType>(
      isa<LocateOp>(op) ? cast<LocateOp>(op).getPartition().getType()
                        : cast<LinearizeOp>(op).getPartition().getType());
  HostCallOp::create(
      b, op->getLoc(), isa<LocateOp>(op) ? "locate" : "linearize",
      makeExtentsAttr(context, partition.getExtents()),
      makePathAttr(context, partition.getPath()), inputs, outputs);
  return success();
}

LogicalResult ScheduleBuilder::addReturn(func::ReturnOp op) {
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    Value buffer = buffers.lookup(value);
    auto bufferOp = buffer ? buffer.getDefiningOp<BufferOp>() : BufferOp();
    if (bufferOp && bufferOp.getKind() == "result" &&
        bufferOp.getIndex() == static_cast<int64_t>(i))
      continue;
    // An argument, or a value that is two results.
    std::optional<LogicalType> type = LogicalType::get(value);
    if (!type || !buffer)
      return op.emitOpError("does not support returning a value of type ")
             << value.getType() << " as result " << i;
    Value result = BufferOp::create(
        b, op.getLoc(), getBufferType(*type), b.getStringAttr("result"),
        b.getI64IntegerAttr(i), Value(), IntegerAttr(), IntegerAttr());
    CopyOp::create(b, op.getLoc(), buffer, result, type->getRowExtent(),
                   makePathAttr(context, type->path));
  }
  return success();
}

LogicalResult ScheduleBuilder::addStep(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return addKernel(kernel);
  if (auto loops = dyn_cast<LoopKernelOpInterface>(op))
    return addLoopKernels(loops);
  if (auto nest = dyn_cast<NestOp>(op))
    return addNest(nest);
  if (auto size = dyn_cast<BindSizeOp>(op)) {
    addBindSize(size);
    return success();
  }
  if (isa<UnnestOp, RenestOp, ReshapeOp>(op)) {
    buffers[op->getResult(0)] = getPacked(op->getOperand(0));
    return success();
  }
  if (auto barrier = dyn_cast<BarrierOp>(op)) {
    Value source = barrier.getSource();
    buffers[barrier.getResult()] = buffers[source];
    if (std::optional<int64_t> arg = getArgument(source))
      arguments[barrier.getResult()] = *arg;
    return success();
  }
  if (auto pack = dyn_cast<PackOp>(op))
    return addPack(pack);
  if (auto values = dyn_cast<ValuesOp>(op)) {
    LogicalType source = LogicalType::of(values.getSource());
    if (llvm::none_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>))
      return success();
    assignBuffers(op);
    if (Value result = buffers.lookup(values.getResult()))
      CopyOp::create(b, op->getLoc(), buffers[values.getSource()], result,
                     source.getRowExtent(), makePathAttr(context, source.path));
    return success();
  }
  if (isa<LocateOp, LinearizeOp>(op))
    return addHostCall(op);
  if (auto returnOp = dyn_cast<func::ReturnOp>(op))
    return addReturn(returnOp);
  if (isa<PartitionOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return success();

  // Structure as values: tables that are stored.
  std::optional<TableKey> key;
  bool total = false;
  auto partitionOf = [](Operation *query) {
    return cast<PartitionType>(query->getOperand(0).getType());
  };
  if (auto lengths = dyn_cast<LengthsOp>(op)) {
    PartitionType type = partitionOf(op);
    key = TableKey::makeExtent(type.getExtents()[lengths.getDim()],
                               type.getPath());
  } else if (isa<OffsetsOp, TotalOp>(op)) {
    PartitionType type = partitionOf(op);
    key = TableKey::makeOffsets(extent::product(context, type.getExtents()),
                                type.getPath());
    total = isa<TotalOp>(op);
  } else if (auto splits = dyn_cast<RowSplitsOp>(op)) {
    PartitionType type = partitionOf(op);
    key = TableKey{TableKind::RowSplits,
                   {},
                   llvm::to_vector(type.getPath()),
                   -1,
                   llvm::to_vector(type.getExtents()),
                   static_cast<int64_t>(splits.getLevel())};
  }
  if (!key)
    return op->emitOpError(
        "is not supported in compiled programs; the reference "
        "interpreter runs it");
  assignBuffers(op);
  if (Value buffer = buffers.lookup(op->getResult(0)))
    StoreTableOp::create(b, op->getLoc(), getTable(*key),
                         total ? b.getUnitAttr() : UnitAttr(), buffer);
  return success();
}

LogicalResult ScheduleBuilder::run() {
  splitChecks();
  for (BlockArgument arg : func.getArguments()) {
    if (isa<PartitionType>(arg.getType())) // Structure alone: nothing to read.
      continue;
    std::optional<LogicalType> type = LogicalType::get(arg.getType());
    if (!type)
      return func.emitError("does not support an entry argument of type ")
             << arg.getType();
    buffers[arg] = BufferOp::create(b, arg.getLoc(), getBufferType(*type),
                                    b.getStringAttr("arg"),
                                    b.getI64IntegerAttr(arg.getArgNumber()),
                                    Value(), IntegerAttr(), IntegerAttr());
    if (!type->isDense())
      arguments[arg] = arg.getArgNumber();
  }
  for (Operation &op : func.getBody().front())
    if (failed(addStep(&op)))
      return failure();
  schedule.setSignatureAttr(buildSignature());
  return success();
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

static std::string getDtypeName(Type type) {
  if (type.isUnsignedInteger())
    return "u" + std::to_string(type.getIntOrFloatBitWidth());
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

static ArrayAttr getStrings(Builder &b, ArrayRef<StringAttr> names) {
  return b.getArrayAttr(SmallVector<Attribute>(names.begin(), names.end()));
}

/// Fields of an argument or a result of this type.
static void addTypeFields(Builder &b, Type type, NamedAttrList &fields) {
  std::optional<LogicalType> logical = LogicalType::get(type);
  if (auto partition = dyn_cast<PartitionType>(type)) {
    // Structure alone: rows of no bytes.
    SmallVector<ExtentAttr> extents(partition.getExtents());
    extents.push_back(extent::constant(b.getContext(), 0));
    logical = LogicalType(partition.getPath(), extents, b.getI8Type());
  }
  if (logical && !logical->isDense()) {
    fields.set("kind", b.getStringAttr("ragged"));
    SmallVector<Attribute> extents;
    for (ExtentAttr extent : logical->extents)
      extents.push_back(b.getStringAttr(extent.str()));
    fields.set("extents", b.getArrayAttr(extents));
    fields.set("order", b.getI64ArrayAttr(logical->order));
    fields.set("path", getStrings(b, logical->path));
    fields.set("dtype", b.getStringAttr(getDtypeName(logical->elementType)));
    return;
  }
  auto dense = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape;
  for (int64_t size : dense.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  fields.set("kind", b.getStringAttr("dense"));
  fields.set("shape", b.getI64ArrayAttr(shape));
  fields.set("dtype", b.getStringAttr(getDtypeName(dense.getElementType())));
}

/// Rows of a result where its type does not say them, or not as well; null for
/// others.
DictionaryAttr ScheduleBuilder::getResultRows(Value value) {
  NamedAttrList fields;
  auto setTotal = [&](ExtentAttr extent, ArrayRef<StringAttr> path) {
    Value table = getTable(TableKey::makeOffsets(extent, path));
    fields.set("total", b.getI64IntegerAttr(getTableNumber(table)));
  };
  Operation *op = value.getDefiningOp();
  if (auto [rows, path] = getDenseRows(value); rows) {
    setTotal(rows, path);
  } else if (std::optional<LogicalType> type = LogicalType::get(value);
             type && getBound(TableKey::makeOffsets(type->getRowExtent(),
                                                    type->path))) {
    // Over chosen samples: fewer than as many of the longest.
    setTotal(type->getRowExtent(), type->path);
  } else if (isa_and_present<LengthsOp, OffsetsOp>(op)) {
    auto type = cast<PartitionType>(op->getOperand(0).getType());
    fields.set("instances", getStrings(b, type.getPath()));
    if (isa<OffsetsOp>(op))
      fields.set("plus", b.getI64IntegerAttr(1));
  } else if (auto splits = dyn_cast_or_null<RowSplitsOp>(op)) {
    PartitionType type = splits.getPartition().getType();
    setTotal(extent::product(context,
                             type.getExtents().take_front(splits.getLevel())),
             type.getPath());
    fields.set("plus", b.getI64IntegerAttr(1));
  }
  return fields.empty() ? DictionaryAttr() : fields.getDictionary(context);
}

DictionaryAttr ScheduleBuilder::buildSignature() {
  auto named = [&](const char *name, Attribute value) {
    return b.getNamedAttr(name, value);
  };
  SmallVector<Attribute> symbols, args, results;
  llvm::SmallDenseSet<StringAttr> bound;
  auto addSymbol = [&](StringAttr name, ArrayRef<StringAttr> path,
                       NamedAttrList fields) {
    if (!bound.insert(name).second)
      return;
    fields.set("name", name);
    fields.set("path", getStrings(b, path));
    symbols.push_back(fields.getDictionary(context));
  };
  for (BlockArgument arg : func.getArguments()) {
    unsigned i = arg.getArgNumber();
    auto declared = func.getArgAttrOfType<TypeAttr>(i, kDeclaredTypeAttr);
    Type type = declared ? declared.getValue() : arg.getType();
    NamedAttrList fields;
    auto name = func.getArgAttrOfType<StringAttr>(i, kNameAttr);
    fields.set("name", name ? name : b.getStringAttr("arg" + Twine(i)));
    fields.set("where", b.getStringAttr(formatLocation(arg.getLoc())));
    addTypeFields(b, type, fields);
    args.push_back(fields.getDictionary(context));
    SmallVector<StringAttr> path;
    SmallVector<ExtentAttr> extents;
    if (auto partition = dyn_cast<PartitionType>(type)) {
      path = llvm::to_vector(partition.getPath());
      extents = llvm::to_vector(partition.getExtents());
    } else {
      LogicalType logical = LogicalType::of(type);
      path = logical.path;
      extents = logical.extents;
    }
    for (size_t k = 1; k < path.size(); ++k) {
      NamedAttrList component;
      component.set("arg", b.getI64IntegerAttr(i));
      component.set("component", b.getI64IntegerAttr(k));
      addSymbol(path[k], ArrayRef(path).take_front(k), component);
    }
    for (auto [dim, extent] : llvm::enumerate(extents)) {
      if (!extent.isSymbol())
        continue;
      NamedAttrList binding;
      binding.set("arg", b.getI64IntegerAttr(i));
      binding.set("dim", b.getI64IntegerAttr(dim));
      addSymbol(extent.getName(), path, binding);
    }
  }
  for (auto bind : schedule.getOps<BindOp>()) {
    NamedAttrList fields;
    if (std::optional<ExtentAttr> upper = bind.getUpper())
      fields.set("upper", b.getStringAttr(upper->str()));
    addSymbol(bind.getSymbolAttr(), toPath(bind.getPath()), fields);
  }
  auto terminator =
      cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(terminator.getOperands())) {
    NamedAttrList fields;
    auto name = func.getResultAttrOfType<StringAttr>(i, kNameAttr);
    fields.set("name", name ? name : b.getStringAttr(Twine(i)));
    addTypeFields(b, value.getType(), fields);
    if (DictionaryAttr rows = getResultRows(value))
      fields.set("rows", rows);
    results.push_back(fields.getDictionary(context));
  }
  SmallVector<Attribute> checks;
  for (DictionaryAttr check : entryChecks) {
    NamedAttrList fields(check);
    for (const char *side : {"lhs", "rhs"})
      fields.set(side,
                 b.getStringAttr(cast<ExtentAttr>(check.get(side)).str()));
    checks.push_back(fields.getDictionary(context));
  }
  return b.getDictionaryAttr({named("symbols", b.getArrayAttr(symbols)),
                              named("args", b.getArrayAttr(args)),
                              named("results", b.getArrayAttr(results)),
                              named("checks", b.getArrayAttr(checks))});
}
