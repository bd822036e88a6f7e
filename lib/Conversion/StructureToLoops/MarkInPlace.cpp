//===- MarkInPlace.cpp - Results in the memory of arguments ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each result, and each argument of its type that no step behind the first
// one of the result reads: if that one does not read it either, the result may
// take its memory. Windows of samples change nothing about it: launches in one
// read own samples only. Otherwise that step is a launch:
//
// 1. Collect what the kernel does with the two memrefs, through views; each
//    access has an address in elements, a linear form.
// 2. Each read must be matched by a write behind it in its block, and each
//    write by a read before it, at the same address and of the same elements.
//    An element of a result is written once (the iterations of a kernel, and
//    its units, write different ones), so what another write changes was not to
//    be read by this one. Where tiles read and write their own rows alone, it
//    is also enough that a tile, or a loop over its rows the row, is read
//    before it is written.
// 3. Or who wrote the function knows that units read elements of their own
// alone,
//    before they write them (`ragged.own_units`).
// 4. Or all reads are before all writes, in a block that runs once: that of the
//    kernel, where there is one unit; or one that writes the same elements
//    whenever it runs, of a result that is one row.
// 5. What holds is written into the signature, and the memrefs may be the same.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSteps.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include <map>

namespace nested {
#define GEN_PASS_DEF_MARKINPLACE
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::ragged;

namespace {

struct MarkInPlace : public nested::impl::MarkInPlaceBase<MarkInPlace> {
  using MarkInPlaceBase::MarkInPlaceBase;

  void runOnOperation() override;
};

/// A constant and numbers of atoms times a factor.
struct LinearForm {
  int64_t constant = 0;
  std::map<unsigned, int64_t> terms;

  bool operator==(const LinearForm &other) const {
    return constant == other.constant && terms == other.terms;
  }
  void add(const LinearForm &other, int64_t factor) {
    constant += other.constant * factor;
    for (auto [atom, count] : other.terms)
      if ((terms[atom] += count * factor) == 0)
        terms.erase(atom);
  }
};

/// A read or a write of some elements.
struct Access {
  Operation *op;
  bool isWrite;
  LinearForm address;
  Type element;
  /// Sizes and strides of the dims of a vector, but for those of one element.
  SmallVector<std::pair<int64_t, int64_t>> dims;
  Value mask;
  /// Whether its memory is one row, so that the address is that in the row.
  bool isOneRow;
  /// Of memory of which tiles access their own rows alone.
  bool isOwn;
  /// If it is, the number of the row, if it is one.
  std::optional<LinearForm> row;
  /// Where that was found in a table: the block that fills it for each tile.
  Block *tile;

  bool isOf(const Access &other) const {
    return address == other.address && element == other.element &&
           dims == other.dims && mask == other.mask;
  }
};

/// What one kernel does with memory.
class KernelAccesses {
public:
  KernelAccesses(func::FuncOp kernel, LaunchOp launch, ScheduleOp schedule)
      : kernel(kernel), launch(launch), schedule(schedule) {}

  /// Of a buffer, through all its memrefs; failure if something else is done
  /// with it.
  LogicalResult collect(BufferOp buffer, SmallVectorImpl<Access> &accesses);
  /// Whether an op of the block writes the same whenever the block runs.
  bool isSameInEachRun(const Access &write, Block *block) const;
  bool isReadFirst(const Access &read, const Access &write) const;

private:
  /// What is known of the rows of a memref.
  struct Rows {
    bool areOne = false, areOwn = false;
    /// As in an access.
    std::optional<LinearForm> row;
    Block *tile = nullptr;
    void areSeveral() {
      row.reset();
      tile = nullptr;
    }
  };
  LogicalResult collect(Value memref, LinearForm base, Rows rows,
                        SmallVectorImpl<Access> &accesses);
  /// `rows` becomes what is known of the row.
  std::optional<LinearForm> getAddress(LinearForm base, Value memref,
                                       ArrayRef<OpFoldResult> indices,
                                       Rows &rows);
  LinearForm getForm(Value value);
  LinearForm getForm(OpFoldResult value);
  /// Whether it is the sum of what two loops count.
  bool isSum(const LinearForm &form, scf::ForOp inner, scf::ForOp outer) const;
  /// A name for entries of tables that are the same table.
  std::string getTableName(Value memref);
  unsigned getAtom(const std::string &name, Value value) {
    auto [entry, isNew] = atoms.try_emplace(name, atoms.size());
    if (isNew)
      values.push_back(value);
    return entry->second;
  }

  func::FuncOp kernel;
  LaunchOp launch;
  ScheduleOp schedule;
  std::map<std::string, unsigned> atoms;
  /// One that each atom is.
  SmallVector<Value> values;
};

class ScheduleMarker {
public:
  ScheduleMarker(ScheduleOp schedule, SymbolTable &kernels)
      : schedule(schedule), kernels(kernels) {}

  void run();

private:
  bool worksInPlace(LaunchOp launch, BufferOp argument, BufferOp result);

  ScheduleOp schedule;
  SymbolTable &kernels;
};

} // namespace

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// A name for one object.
static std::string nameObject(const void *object) {
  return std::to_string(reinterpret_cast<uintptr_t>(object));
}

std::string KernelAccesses::getTableName(Value memref) {
  auto argument = dyn_cast<BlockArgument>(memref);
  if (!argument || argument.getOwner() != &kernel.getBody().front() ||
      argument.getArgNumber() >= launch.getMemrefs().size())
    return {};
  auto table =
      launch.getMemrefs()[argument.getArgNumber()].getDefiningOp<TableOp>();
  if (!table)
    return {};
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << "path " << table.getPath();
  // First rows of an argument without gaps are the sums of its rows.
  if (table.getKind() == TableKind::Base) {
    auto args = schedule.getSignature().getAs<ArrayAttr>("args");
    auto arg = cast<DictionaryAttr>(args[*table.getArg()]);
    auto extents = arg.getAs<ArrayAttr>("extents");
    auto order = arg.getAs<ArrayAttr>("order");
    if (!extents || !order)
      return {};
    // All dims up to the last ragged one in the order of storage.
    SmallVector<ExtentAttr> stored, rows;
    for (auto dim : order.getAsRange<IntegerAttr>()) {
      StringRef text = cast<StringAttr>(extents[dim.getInt()]).getValue();
      stored.push_back(dyn_cast_or_null<ExtentAttr>(parseAttribute(
          ("#ragged.extent<" + text + ">").str(), schedule.getContext())));
      if (!stored.back())
        return {};
      if (!stored.back().isStatic())
        rows = stored;
    }
    ExtentAttr product = extent::product(schedule.getContext(), rows);
    if (!product)
      return {};
    stream << " offsets " << product;
    return name;
  }
  if (table.getKind() == TableKind::Offsets && table.getExtentAttr()) {
    stream << " offsets " << table.getExtentAttr();
    return name;
  }
  return nameObject(table.getOperation());
}

LinearForm KernelAccesses::getForm(Value value) {
  LinearForm form;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    form.constant = constant.getSExtValue();
    return form;
  }
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    return getForm(cast.getIn());
  if (auto add = value.getDefiningOp<arith::AddIOp>()) {
    form = getForm(add.getLhs());
    form.add(getForm(add.getRhs()), 1);
    return form;
  }
  if (auto sub = value.getDefiningOp<arith::SubIOp>()) {
    form = getForm(sub.getLhs());
    form.add(getForm(sub.getRhs()), -1);
    return form;
  }
  if (auto mul = value.getDefiningOp<arith::MulIOp>())
    if (matchPattern(mul.getRhs(), m_ConstantInt(&constant))) {
      form.add(getForm(mul.getLhs()), constant.getSExtValue());
      return form;
    }
  std::string name = nameObject(value.getAsOpaquePointer());
  if (auto load = value.getDefiningOp<memref::LoadOp>())
    if (std::string table = getTableName(load.getMemref()); !table.empty()) {
      name = table;
      for (Value index : load.getIndices()) {
        LinearForm place = getForm(index);
        name += " at " + std::to_string(place.constant);
        for (auto [atom, factor] : place.terms)
          name += " + " + std::to_string(factor) + "*" + std::to_string(atom);
      }
    }
  form.terms[getAtom(name, value)] = 1;
  return form;
}

LinearForm KernelAccesses::getForm(OpFoldResult value) {
  if (std::optional<int64_t> number = getConstantIntValue(value)) {
    LinearForm form;
    form.constant = *number;
    return form;
  }
  return getForm(cast<Value>(value));
}

bool KernelAccesses::isSum(const LinearForm &form, scf::ForOp inner,
                           scf::ForOp outer) const {
  return form.constant == 0 && form.terms.size() == 2 &&
         llvm::all_of(form.terms, [&](const auto &term) {
           Value value = values[term.first];
           return term.second == 1 && (value == inner.getInductionVar() ||
                                       value == outer.getInductionVar());
         });
}

/// The body of the loop over tiles that fills the table, entry after entry in a
/// loop of its own; null if it is not filled like that.
static Block *getTile(Value table) {
  Block *tile = nullptr;
  for (Operation *user : table.getUsers()) {
    if (isa<memref::LoadOp>(user))
      continue;
    auto store = dyn_cast<memref::StoreOp>(user);
    auto fill = store ? dyn_cast<scf::ForOp>(store->getParentOp()) : nullptr;
    if (!fill || store.getMemref() != table ||
        store.getIndices()[0] != fill.getInductionVar() ||
        getConstantIntValue(fill.getLowerBound()) != 0 ||
        getConstantIntValue(fill.getStep()) != 1)
      return nullptr;
    Block *block = fill->getBlock();
    if (!isa<scf::ForOp>(block->getParentOp()) || (tile && tile != block))
      return nullptr;
    tile = block;
  }
  return tile;
}

std::optional<LinearForm>
KernelAccesses::getAddress(LinearForm base, Value memref,
                           ArrayRef<OpFoldResult> indices, Rows &rows) {
  auto type = cast<MemRefType>(memref.getType());
  bool isWhole = isa<BlockArgument>(memref);
  // The number of the only row is 0.
  bool skipsFirst = rows.areOne && isWhole;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      strides.size() != indices.size() ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return std::nullopt;
  for (auto [k, index] : llvm::enumerate(indices)) {
    if (k == 0 && skipsFirst)
      continue;
    LinearForm place = getForm(index);
    if (k == 0 && isWhole && rows.areOwn) {
      auto entry = dyn_cast<Value>(index);
      auto load = entry ? entry.getDefiningOp<memref::LoadOp>() : nullptr;
      // The row of the tile whose number is in the table.
      if (load && load.getType().isIndex() &&
          load.getMemRefType().getRank() == 1)
        rows.tile = getTile(load.getMemref());
      if (rows.tile) {
        auto tiles = cast<scf::ForOp>(rows.tile->getParentOp());
        place = getForm(load.getIndices()[0]);
        place.add(getForm(tiles.getInductionVar()), 1);
      }
      rows.row = place;
    }
    base.add(place, strides[k]);
  }
  return base;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

LogicalResult KernelAccesses::collect(BufferOp buffer,
                                      SmallVectorImpl<Access> &accesses) {
  // Elements of a dense value are known: is a row all of them?
  const char *list = buffer.getKind() == "arg" ? "args" : "results";
  auto value = cast<DictionaryAttr>(
      schedule.getSignature().getAs<ArrayAttr>(list)[*buffer.getIndex()]);
  int64_t elements = -1;
  if (auto shape = value.getAs<ArrayAttr>("shape")) {
    elements = 1;
    for (auto size : shape.getAsRange<IntegerAttr>())
      elements *= size.getInt();
  }
  for (auto [i, operand] : llvm::enumerate(launch.getMemrefs())) {
    if (getBuffer(operand) != buffer)
      continue;
    Value memref = kernel.getArgument(i);
    auto type = cast<MemRefType>(memref.getType());
    Rows rows;
    rows.areOwn = bool(kernel.getArgAttr(i, kOwnRowsAttr));
    if (type.getRank() > 0 && type.isDynamicDim(0)) {
      int64_t row = 1;
      for (int64_t size : type.getShape().drop_front())
        row *= size;
      rows.areOne = row == elements;
    }
    if (failed(collect(memref, {}, rows, accesses)))
      return failure();
  }
  return success();
}

LogicalResult KernelAccesses::collect(Value memref, LinearForm base, Rows rows,
                                      SmallVectorImpl<Access> &accesses) {
  auto type = cast<MemRefType>(memref.getType());
  auto add = [&](Operation *op, bool isWrite, OperandRange indices,
                 Type accessed, Value mask = {}) -> LogicalResult {
    Rows found = rows;
    std::optional<LinearForm> address =
        getAddress(base, memref, getAsOpFoldResult(indices), found);
    if (!address)
      return failure();
    auto vector = dyn_cast<VectorType>(accessed);
    if (vector && vector.getRank() == type.getRank() && vector.getRank() > 0 &&
        vector.getDimSize(0) != 1 && isa<BlockArgument>(memref))
      found.areSeveral();
    Access access{
        op,        isWrite,   *address,     getElementTypeOrSelf(accessed),
        {},        mask,      found.areOne, found.areOwn,
        found.row, found.tile};
    if (vector) {
      int64_t offset;
      SmallVector<int64_t> strides;
      if (failed(type.getStridesAndOffset(strides, offset)) ||
          vector.getRank() > type.getRank())
        return failure();
      for (auto [size, stride] :
           llvm::zip_equal(vector.getShape(),
                           ArrayRef(strides).take_back(vector.getRank())))
        if (size != 1)
          access.dims.push_back({size, stride});
    }
    accesses.push_back(std::move(access));
    return success();
  };
  auto isPlain = [](VectorTransferOpInterface op) {
    return !op.hasOutOfBoundsDim() && !op.getMask() &&
           op.getPermutationMap().isMinorIdentity();
  };
  for (OpOperand &use : memref.getUses()) {
    Operation *user = use.getOwner();
    LogicalResult found = failure();
    if (auto load = dyn_cast<memref::LoadOp>(user)) {
      found = add(load, false, load.getIndices(), load.getType());
    } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
      found = add(store, true, store.getIndices(), store.getValue().getType());
    } else if (auto load = dyn_cast<vector::LoadOp>(user)) {
      found = add(load, false, load.getIndices(), load.getVectorType());
    } else if (auto store = dyn_cast<vector::StoreOp>(user)) {
      found = add(store, true, store.getIndices(), store.getVectorType());
    } else if (auto load = dyn_cast<vector::MaskedLoadOp>(user)) {
      found = add(load, false, load.getIndices(), load.getVectorType(),
                  load.getMask());
    } else if (auto store = dyn_cast<vector::MaskedStoreOp>(user)) {
      found = add(store, true, store.getIndices(), store.getVectorType(),
                  store.getMask());
    } else if (auto read = dyn_cast<vector::TransferReadOp>(user)) {
      if (isPlain(cast<VectorTransferOpInterface>(user)))
        found = add(read, false, read.getIndices(), read.getVectorType());
    } else if (auto write = dyn_cast<vector::TransferWriteOp>(user)) {
      if (isPlain(cast<VectorTransferOpInterface>(user)))
        found = add(write, true, write.getIndices(), write.getVectorType());
    } else if (auto view = dyn_cast<memref::SubViewOp>(user)) {
      auto isOne = [](OpFoldResult step) {
        return isConstantIntValue(step, 1);
      };
      Rows viewed = rows;
      std::optional<LinearForm> first =
          getAddress(base, memref, view.getMixedOffsets(), viewed);
      if (isa<BlockArgument>(memref) && type.getRank() > 0 &&
          !isOne(view.getMixedSizes()[0]))
        viewed.areSeveral();
      if (first && llvm::all_of(view.getMixedStrides(), isOne))
        found = collect(view.getResult(), *first, viewed, accesses);
    } else if (isa<memref::PrefetchOp, memref::DimOp>(user)) {
      found = success();
    }
    if (failed(found))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What is legal
//===----------------------------------------------------------------------===//

/// Whether a tile reads before it writes, its own rows both times: all of them,
/// or, in one loop over them, the same one.
bool KernelAccesses::isReadFirst(const Access &read,
                                 const Access &write) const {
  if (!read.tile || !write.isOwn)
    return false;
  auto find = [&](Block *block) {
    return std::pair(block->findAncestorOpInBlock(*read.op),
                     block->findAncestorOpInBlock(*write.op));
  };
  auto [before, after] = find(read.tile);
  auto loop = dyn_cast_or_null<scf::ForOp>(before);
  if (loop && before == after && read.row == write.row &&
      isSum(*read.row, loop, cast<scf::ForOp>(read.tile->getParentOp())))
    std::tie(before, after) = find(loop.getBody());
  return before && after && before->isBeforeInBlock(after);
}

/// 2. in the comment at the top.
static bool areMatched(const KernelAccesses &accesses, ArrayRef<Access> reads,
                       ArrayRef<Access> writes) {
  auto match = [](const Access &read, const Access &write) {
    return read.op->getBlock() == write.op->getBlock() && write.isOf(read);
  };
  for (const Access &read : reads) {
    bool isMatched = false, isFirst = true;
    for (const Access &write : writes) {
      isFirst &= accesses.isReadFirst(read, write);
      if (!match(read, write))
        continue;
      if (write.op->isBeforeInBlock(read.op))
        return false;
      isMatched = true;
    }
    if (!isMatched && !isFirst)
      return false;
  }
  return llvm::all_of(writes, [&](const Access &write) {
    return llvm::any_of(
               reads, [&](const Access &read) { return match(read, write); }) ||
           llvm::all_of(reads, [&](const Access &read) {
             return accesses.isReadFirst(read, write);
           });
  });
}

/// Through loops of constant ranges, at an address that their numbers alone
/// say.
bool KernelAccesses::isSameInEachRun(const Access &write, Block *block) const {
  llvm::SmallDenseSet<Value> numbers;
  for (Block *inner = write.op->getBlock(); inner != block;
       inner = inner->getParentOp()->getBlock()) {
    auto loop = dyn_cast<scf::ForOp>(inner->getParentOp());
    if (!loop)
      return false;
    std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
    std::optional<int64_t> to = getConstantIntValue(loop.getUpperBound());
    if (!from || !to || *from >= *to || !getConstantIntValue(loop.getStep()))
      return false;
    numbers.insert(loop.getInductionVar());
  }
  return llvm::all_of(write.address.terms, [&](const auto &term) {
    return numbers.contains(values[term.first]);
  });
}

/// 4. there.
static bool areReadFirst(LaunchOp launch, const KernelAccesses &accesses,
                         ArrayRef<Access> reads, ArrayRef<Access> writes) {
  // The block that all of them are in.
  Block *block = writes.front().op->getBlock();
  auto holdsAll = [&](ArrayRef<Access> list) {
    return llvm::all_of(list, [&](const Access &access) {
      return block->findAncestorOpInBlock(*access.op) != nullptr;
    });
  };
  while (!holdsAll(reads) || !holdsAll(writes))
    block = block->getParentOp()->getBlock();
  auto rows = launch.getRowTable().getDefiningOp<TableOp>();
  bool hasOneUnit = launch.getUnits() == UnitKind::Single ||
                    (launch.getUnits() == UnitKind::Groups &&
                     !launch.getUnitTable() && rows && rows.getPath().empty());
  bool isKernel = isa<func::FuncOp>(block->getParentOp());
  if (!(isKernel && hasOneUnit) &&
      !llvm::all_of(writes, [&](const Access &write) {
        return write.isOneRow && accesses.isSameInEachRun(write, block);
      }))
    return false;
  return llvm::all_of(reads, [&](const Access &read) {
    Operation *before = block->findAncestorOpInBlock(*read.op);
    return llvm::all_of(writes, [&](const Access &write) {
      Operation *after = block->findAncestorOpInBlock(*write.op);
      return before->isBeforeInBlock(after);
    });
  });
}

bool ScheduleMarker::worksInPlace(LaunchOp launch, BufferOp argument,
                                  BufferOp result) {
  auto kernel = kernels.lookup<func::FuncOp>(launch.getKernel());
  if (!kernel || !llvm::hasSingleElement(kernel.getBody()))
    return false;
  auto isOwnUnits = [&](BufferOp buffer) {
    bool isRead = false, areOwn = true;
    for (auto [i, operand] : llvm::enumerate(launch.getMemrefs()))
      if (getBuffer(operand) == buffer) {
        isRead = true;
        areOwn &= bool(kernel.getArgAttr(i, kOwnUnitsAttr));
      }
    return isRead && areOwn;
  };
  if (isOwnUnits(argument) && isOwnUnits(result))
    return true;
  KernelAccesses accesses(kernel, launch, schedule);
  SmallVector<Access> reads, writes;
  if (failed(accesses.collect(argument, reads)) ||
      failed(accesses.collect(result, writes)))
    return false;
  // A result that is read has no elements that are written once.
  if (writes.empty() ||
      llvm::any_of(reads, [](const Access &read) { return read.isWrite; }) ||
      llvm::any_of(writes, [](const Access &write) { return !write.isWrite; }))
    return false;
  return areMatched(accesses, reads, writes) ||
         areReadFirst(launch, accesses, reads, writes);
}

void ScheduleMarker::run() {
  // The first step that uses each result, and the last one of each argument.
  Block &body = schedule.getBody().front();
  llvm::MapVector<Operation *, SmallVector<Operation *>> users;
  for (Operation &op : body) {
    if (isDeclaration(&op))
      continue;
    for (Value operand : op.getOperands())
      if (BufferOp buffer = getBuffer(operand))
        if (SmallVector<Operation *> &steps = users[buffer];
            steps.empty() || steps.back() != &op)
          steps.push_back(&op);
  }
  DictionaryAttr signature = schedule.getSignature();
  auto args = signature.getAs<ArrayAttr>("args");
  auto results = signature.getAs<ArrayAttr>("results");
  if (!args || !results)
    return;
  auto isSame = [&](DictionaryAttr arg, DictionaryAttr result) {
    return !arg.get("mutable") &&
           llvm::all_of(
               ArrayRef<StringRef>{"kind", "dtype", "shape", "extents", "order",
                                   "path"},
               [&](StringRef key) { return arg.get(key) == result.get(key); });
  };
  SmallVector<SmallVector<int64_t>> found(results.size());
  for (auto &[resultOp, steps] : users) {
    auto result = cast<BufferOp>(resultOp);
    Operation *first = steps.front();
    auto launch = dyn_cast<LaunchOp>(first);
    if (result.getKind() != "result")
      continue;
    auto resultFields = cast<DictionaryAttr>(results[*result.getIndex()]);
    for (auto &[argumentOp, readers] : users) {
      auto argument = cast<BufferOp>(argumentOp);
      if (argument.getKind() != "arg" ||
          argument.getType() != result.getType() ||
          !isSame(cast<DictionaryAttr>(args[*argument.getIndex()]),
                  resultFields))
        continue;
      bool isRead = !readers.back()->isBeforeInBlock(first);
      if (isRead && (!launch || readers.back() != launch ||
                     !worksInPlace(launch, argument, result)))
        continue;
      found[*result.getIndex()].push_back(*argument.getIndex());
      if (!isRead)
        continue;
      auto kernel = kernels.lookup<func::FuncOp>(launch.getKernel());
      for (auto [i, operand] : llvm::enumerate(launch.getMemrefs()))
        if (BufferOp buffer = getBuffer(operand);
            buffer == argument || buffer == result)
          kernel.setArgAttr(i, kMayAliasAttr,
                            UnitAttr::get(schedule.getContext()));
    }
  }
  Builder b(schedule.getContext());
  SmallVector<Attribute> marked;
  for (auto [fields, list] :
       llvm::zip_equal(results.getAsRange<DictionaryAttr>(), found)) {
    NamedAttrList all(fields);
    llvm::sort(list);
    if (!list.empty())
      all.set("in_place_of", b.getI64ArrayAttr(list));
    marked.push_back(all.getDictionary(schedule.getContext()));
  }
  NamedAttrList all(signature);
  all.set("results", b.getArrayAttr(marked));
  schedule.setSignatureAttr(all.getDictionary(schedule.getContext()));
}

void MarkInPlace::runOnOperation() {
  SymbolTable kernels(getOperation());
  for (auto schedule : getOperation().getOps<ScheduleOp>())
    ScheduleMarker(schedule, kernels).run();
}
