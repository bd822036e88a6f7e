//===- TileGraph.cpp - Stages of a tile program ---------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages, over the flat list of ops:
//
//   stage(contraction group) = 1 + max(stage of its producers)
//   stage(row op) = max(stage of producers that are row ops,
//                       1 + stage of producers that are not)
//
// Row ops of one stage share a loop. Within a stage no group needs another.
//
//===----------------------------------------------------------------------===//

#include "TileGraph.h"

#include "nested/Dialect/Ragged/IR/Ragged.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

/// More accumulators than this do not fit into registers.
static constexpr unsigned kMaxJoined = 4;

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// Passes an input on.
static bool isBroadcast(linalg::GenericOp op) {
  return op.getNumDpsInits() == 1 && llvm::hasSingleElement(*op.getBody()) &&
         llvm::all_of(op.getIteratorTypesArray(), linalg::isParallelIterator) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
}

/// May run on rows that hold arbitrary values.
static bool isSpeculatable(linalg::GenericOp op) {
  return llvm::all_of(*op.getBody(), [](Operation &inner) {
    return inner.hasTrait<OpTrait::IsTerminator>() ||
           (inner.getNumRegions() == 0 && isPure(&inner) &&
            isa<arith::ArithDialect, linalg::LinalgDialect>(
                inner.getDialect())) ||
           inner.getDialect()->getNamespace() == "math";
  });
}

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

Operation *TileGraph::definingNode(Value value) const {
  Operation *op = value.getDefiningOp();
  return op ? body->findAncestorOpInBlock(*op) : nullptr;
}

bool TileGraph::isFree(Operation *op) const {
  NodeKind kind = kindOf(op);
  return kind == NodeKind::Load || kind == NodeKind::View ||
         kind == NodeKind::Splat || kind == NodeKind::Summand ||
         kind == NodeKind::Prologue;
}

void TileGraph::addProducers(Value value,
                             llvm::SetVector<Operation *> &set) const {
  Operation *op = definingNode(value);
  if (!op)
    return;
  if (!isFree(op)) {
    set.insert(op);
    return;
  }
  if (kindOf(op) != NodeKind::Prologue)
    set.insert_range(producersOf(op));
}

llvm::SetVector<Operation *> TileGraph::producersOf(Operation *op) const {
  llvm::SetVector<Operation *> set;
  for (Value operand : op->getOperands())
    addProducers(operand, set);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    addProducers(value, set);
  set.remove(op);
  return set;
}

bool TileGraph::dependsOn(Operation *op,
                          const llvm::SetVector<Operation *> &targets) const {
  SmallVector<Operation *> work{op};
  DenseSet<Operation *> seen;
  while (!work.empty()) {
    Operation *next = work.pop_back_val();
    if (targets.contains(next))
      return true;
    if (!seen.insert(next).second)
      continue;
    // A member of another group stands for all of it.
    auto group = contractionOf.find(next);
    if (group != contractionOf.end()) {
      for (Operation *member : contractions[group->second])
        if (seen.insert(member).second)
          llvm::append_range(work, producersOf(member));
    }
    llvm::append_range(work, producersOf(next));
  }
  return false;
}

bool TileGraph::usesLoadedValue(Value value) const {
  Operation *op = definingNode(value);
  if (!op)
    return false;
  NodeKind kind = kindOf(op);
  if (kind == NodeKind::Load)
    return true;
  return kind == NodeKind::View && usesLoadedValue(op->getOperand(0));
}

bool TileGraph::isBuffered(Value value) const {
  Operation *producer = value.getDefiningOp();
  auto group = groupOf.find(producer);
  if (group == groupOf.end())
    return false;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      Operation *node = body->findAncestorOpInBlock(*user);
      auto userGroup = groupOf.find(node);
      if (userGroup != groupOf.end()) {
        if (userGroup->second != group->second)
          return true;
      } else if (isFree(node) && !node->hasTrait<OpTrait::IsTerminator>()) {
        llvm::append_range(work, node->getResults());
      } else {
        return true;
      }
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

/// Whether the operand's dim 0 is the rows of the tile.
bool TileGraph::isTileOperand(OpOperand &operand) const {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || type.getRank() == 0 || type.getDimSize(0) != rows)
    return false;
  if (auto generic = dyn_cast<linalg::GenericOp>(operand.getOwner())) {
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(0));
    return dim && dim.getPosition() == 0;
  }
  return isa<ragged::TileStoreOp, ragged::TileFoldOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp, tensor::ExtractSliceOp,
             tensor::InsertSliceOp>(operand.getOwner());
}

LogicalResult TileGraph::classifyGeneric(linalg::GenericOp op) {
  if (isSplat(op)) {
    kinds[op] = NodeKind::Splat;
    return success();
  }
  // Its operands must be in memory as a whole.
  if (matchOuterProduct(op) && llvm::all_of(op.getInputs(), [&](Value input) {
        Operation *node = definingNode(input);
        return node && (kindOf(node) == NodeKind::Row ||
                        kindOf(node) == NodeKind::Contraction);
      })) {
    kinds[op] = NodeKind::Summand;
    return success();
  }
  auto isTile = [&](Value value) {
    Operation *node = definingNode(value);
    NodeKind kind = node ? kindOf(node) : NodeKind::Prologue;
    return kind == NodeKind::Load || kind == NodeKind::View ||
           kind == NodeKind::Row || kind == NodeKind::Contraction;
  };
  bool usesTile = llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    if (op.isDpsInit(&operand) && !op.payloadUsesValueFromOperand(&operand))
      return false;
    return isTile(operand.get()) ||
           (isTileOperand(operand) && definingNode(operand.get()));
  });
  bool usedAsTile = llvm::any_of(
      op->getUses(), [&](OpOperand &use) { return isTileOperand(use); });
  if (!usesTile && !usedAsTile) {
    kinds[op] = NodeKind::Other;
    return success();
  }
  if (!usesTile && isBroadcast(op)) {
    kinds[op] = NodeKind::Splat;
    return success();
  }

  // Row independence.
  if (!linalg::isParallelIterator(op.getIteratorTypesArray()[0]))
    return op.emitOpError("reduces over the rows of a tile; only "
                          "'ragged.tile_fold' may do that");
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool tile = isTileOperand(operand);
    for (unsigned i = tile ? 1 : 0, e = map.getNumResults(); i != e; ++i)
      if (map.getResult(i).isFunctionOfDim(0))
        return op.emitOpError("is not row-independent: the rows of the tile "
                              "must be dim 0 of operand ")
               << operand.getOperandNumber();
    if (!tile && op.isDpsInit(&operand))
      return op.emitOpError("has a result without rows");
    if (!tile && isTile(operand.get()))
      return op.emitOpError("is not row-independent: operand ")
             << operand.getOperandNumber() << " is a tile but not read by row";
  }
  kinds[op] = matchRowContraction(op) ? NodeKind::Contraction : NodeKind::Row;
  return success();
}

LogicalResult TileGraph::classify() {
  for (Operation &op : body->without_terminator()) {
    order.push_back(&op);
    if (isa<ragged::TileLoadOp, ragged::TileGatherOp>(op)) {
      kinds[&op] = NodeKind::Load;
    } else if (isa<ragged::TileStoreOp, ragged::TileFoldOp>(op)) {
      Operation *made = op.getOperand(0).getDefiningOp();
      kinds[&op] = made && kinds.lookup(made) == NodeKind::Summand
                       ? NodeKind::BlockFold
                       : NodeKind::Row;
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (failed(classifyGeneric(generic)))
        return failure();
    } else {
      Operation *source =
          op.getNumOperands() ? definingNode(op.getOperand(0)) : nullptr;
      bool ofTile = source && source->getNumResults() == 1 &&
                    (!isFree(source) || kindOf(source) != NodeKind::Prologue) &&
                    isTileOperand(op.getOpOperand(0));
      if (ofTile && isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                        tensor::ExtractSliceOp>(op)) {
        auto type = cast<RankedTensorType>(op.getResult(0).getType());
        if (type.getRank() == 0 || type.getDimSize(0) != rows)
          return op.emitOpError("changes the rows of a tile");
        kinds[&op] = NodeKind::View;
        continue;
      }
      if (ofTile && isa<tensor::InsertSliceOp>(op)) {
        kinds[&op] = NodeKind::Row;
        continue;
      }
      // What does not depend on tiles stays in front of the loops.
      llvm::SetVector<Value> values;
      getUsedValuesDefinedAbove(op.getRegions(), values);
      values.insert_range(op.getOperands());
      bool prologue = llvm::all_of(values, [&](Value value) {
        Operation *node = definingNode(value);
        return !node || node == &op || kindOf(node) == NodeKind::Prologue;
      });
      kinds[&op] = prologue ? NodeKind::Prologue : NodeKind::Other;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Adds an elementwise op to the group of the contractions that it reads, or
/// joins several of them, when nothing else in between needs one of them.
bool TileGraph::joinEpilogue(linalg::GenericOp op) {
  if (!llvm::all_of(op.getIteratorTypesArray(), linalg::isParallelIterator) ||
      !isSpeculatable(op))
    return false;
  ArrayRef<int64_t> shape;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    if (!op.getMatchingIndexingMap(&init).isIdentity() ||
        op.payloadUsesValueFromOperand(&init))
      return false;
    shape = cast<RankedTensorType>(init.get().getType()).getShape();
  }
  llvm::SetVector<Operation *> joined, others;
  llvm::SmallSetVector<unsigned, 4> indices;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    Operation *producer = operand->get().getDefiningOp();
    auto group = contractionOf.find(producer);
    bool sameShape =
        map.isIdentity() && isa<RankedTensorType>(operand->get().getType());
    if (group != contractionOf.end() && sameShape) {
      auto lead = cast<linalg::GenericOp>(contractions[group->second].front());
      if (cast<RankedTensorType>(lead.getResult(0).getType()).getShape() ==
          shape) {
        if (indices.insert(group->second))
          joined.insert_range(contractions[group->second]);
        continue;
      }
    }
    if (usesLoadedValue(operand->get()) || !map.isProjectedPermutation())
      return false;
    addProducers(operand->get(), others);
  }
  if (indices.empty() ||
      llvm::any_of(others,
                   [&](Operation *other) { return joined.contains(other); }) ||
      llvm::count_if(joined, [&](Operation *member) {
        return kindOf(member) == NodeKind::Contraction;
      }) > kMaxJoined)
    return false;

  joined.insert(op);
  for (Operation *member : joined)
    for (Operation *producer : producersOf(member))
      if (!joined.contains(producer) && dependsOn(producer, joined))
        return false;

  unsigned target = indices.front();
  for (unsigned index : indices)
    if (index != target)
      contractions[index].clear();
  contractions[target] = std::move(joined);
  for (Operation *member : contractions[target])
    contractionOf[member] = target;
  return true;
}

/// Results of a group are stored from registers.
void TileGraph::joinStore(Operation *op) {
  auto store = dyn_cast<ragged::TileStoreOp>(op);
  if (!store)
    return;
  auto group = contractionOf.find(store.getValue().getDefiningOp());
  if (group == contractionOf.end())
    return;
  unsigned index = group->second;
  contractions[index].insert(op);
  contractionOf[op] = index;
}

/// What only the epilogue of a contraction needs, and is made of buffers that
/// the epilogue reads anyway, is computed there: it then needs no buffer, and
/// shares what it computes with the epilogue.
void TileGraph::pullIntoEpilogue(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || kindOf(op) != NodeKind::Row || contractionOf.count(op) ||
      generic.getNumDpsInits() != 1 || !isSpeculatable(generic) ||
      !llvm::all_of(generic.getIteratorTypesArray(),
                    linalg::isParallelIterator) ||
      generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0)) ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }) ||
      op->use_empty())
    return;
  std::optional<unsigned> group;
  for (Operation *user : op->getUsers()) {
    auto member = contractionOf.find(user);
    if (member == contractionOf.end() ||
        kindOf(user) == NodeKind::Contraction ||
        (group && *group != member->second))
      return;
    group = member->second;
  }
  auto &members = contractions[*group];
  if (members.front()->getResult(0).getType() != op->getResult(0).getType())
    return;
  for (Value input : generic.getInputs()) {
    Operation *producer = definingNode(input);
    bool isRead = llvm::any_of(input.getUsers(), [&](Operation *user) {
      return members.contains(user) && kindOf(user) == NodeKind::Row;
    });
    if (!producer || kindOf(producer) != NodeKind::Row || !isRead)
      return;
  }
  members.insert(op);
  contractionOf[op] = *group;
}

/// The one operand of the elementwise op that has its dims, if it is a few
/// operations on that and on numbers of rows: what can as well be computed
/// where it is used. Null otherwise.
Operation *TileGraph::matchLittleWork(Operation *op) const {
  constexpr int64_t fewOps = 6;
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || kindOf(op) != NodeKind::Row ||
      generic.getNumParallelLoops() != generic.getNumLoops() ||
      !op->hasOneUse() || generic.getNumDpsInits() != 1 ||
      !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0))
           .isIdentity() ||
      llvm::range_size(*generic.getBody()) > fewOps ||
      !llvm::all_of(*generic.getBody(), [](Operation &inner) {
        return isa<arith::ExtFOp, arith::MulFOp, arith::AddFOp, arith::CmpFOp,
                   arith::SelectOp, arith::ConstantOp, linalg::YieldOp>(inner);
      }))
    return nullptr;
  Operation *source = nullptr;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(operand);
    if (map.isIdentity() && !source)
      source = operand->get().getDefiningOp();
    else if (map.getNumResults() == map.getNumDims() ||
             (map.getNumResults() != 0 &&
              map != AffineMap::getMultiDimIdentityMap(map.getNumDims(),
                                                       op->getContext())
                         .getMajorSubMap(map.getNumResults())))
      return nullptr;
  }
  return source;
}

/// A sum over rows of what a contraction group computes reads a buffer: of few
/// columns at a time, in registers, and of the type that is in the buffer.
void TileGraph::formBlockFold(Operation *op) {
  auto fold = dyn_cast<ragged::TileFoldOp>(op);
  if (!fold || fold.getInputs().size() != 1 || !isSum(fold.getCombine()) ||
      cast<RankedTensorType>(fold.getAcc()[0].getType()).getRank() == 0)
    return;
  SmallVector<Operation *> summands;
  Operation *source = fold.getInputs()[0].getDefiningOp();
  if (std::optional<RowSum> sum = matchRowSum(source);
      sum && source->hasOneUse()) {
    summands.push_back(source);
    source = sum->source.getDefiningOp();
  }
  while (Operation *next = matchLittleWork(source)) {
    summands.push_back(source);
    source = next;
  }
  if (!contractionOf.contains(source))
    return;
  kinds[op] = NodeKind::BlockFold;
  for (Operation *summand : summands) {
    if (auto group = contractionOf.find(summand);
        group != contractionOf.end()) {
      contractions[group->second].remove(summand);
      contractionOf.erase(group);
    }
    kinds[summand] = NodeKind::Summand;
  }
}

void TileGraph::formContractionGroups(bool registerBlocks) {
  for (Operation *op : order) {
    if (kindOf(op) == NodeKind::Contraction) {
      contractionOf[op] = contractions.size();
      contractions.emplace_back();
      contractions.back().insert(op);
    } else if (kindOf(op) == NodeKind::Row) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        joinEpilogue(generic);
    }
  }
  if (!registerBlocks)
    return;
  for (Operation *op : llvm::reverse(order))
    pullIntoEpilogue(op);
  for (Operation *op : order) {
    formBlockFold(op);
    joinStore(op);
  }
}

void TileGraph::assignStages() {
  auto memberStage = [&](Operation *op) {
    bool row = kindOf(op) == NodeKind::Row && !contractionOf.count(op);
    int64_t stage = row ? 0 : 1;
    for (Operation *producer : producersOf(op)) {
      bool rowProducer =
          kindOf(producer) == NodeKind::Row && !contractionOf.count(producer);
      bool sameGroup = contractionOf.count(op) &&
                       contractionOf.count(producer) &&
                       contractionOf[op] == contractionOf[producer];
      if (!sameGroup)
        stage = std::max(stage, stages.lookup(producer) +
                                    (row && rowProducer ? 0 : 1));
    }
    return stage;
  };
  // Groups may join ops that are far apart, so one pass is not enough; there
  // are no cycles.
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : order) {
      if (isFree(op))
        continue;
      int64_t stage = memberStage(op);
      ArrayRef<Operation *> members = op;
      auto group = contractionOf.find(op);
      if (group != contractionOf.end()) {
        members = contractions[group->second].getArrayRef();
        for (Operation *member : members)
          stage = std::max(stage, memberStage(member));
      }
      for (Operation *member : members) {
        auto [entry, isNew] = stages.try_emplace(member, stage);
        changed |= isNew || entry->second != stage;
        entry->second = stage;
      }
    }
  }
}

/// Elementwise on loads only.
bool TileGraph::isMadeOfLoads(Operation *op) const {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || kindOf(op) != NodeKind::Row || contractionOf.count(op) ||
      !llvm::all_of(generic.getIteratorTypesArray(),
                    linalg::isParallelIterator))
    return false;
  return llvm::all_of(producersOf(op), [&](Operation *producer) {
    return isMadeOfLoads(producer);
  });
}

/// What is made of loads and needed late is computed late: it then needs no
/// buffer.
void TileGraph::delayLoadedValues() {
  for (Operation *op : llvm::reverse(order)) {
    if (!isMadeOfLoads(op))
      continue;
    std::optional<int64_t> earliest;
    bool movable = true;
    SmallVector<Value> work(op->getResults());
    while (!work.empty() && movable)
      for (Operation *user : work.pop_back_val().getUsers()) {
        Operation *node = body->findAncestorOpInBlock(*user);
        if (kindOf(node) == NodeKind::View || kindOf(node) == NodeKind::Splat) {
          llvm::append_range(work, node->getResults());
        } else if (kindOf(node) == NodeKind::Row &&
                   !contractionOf.count(node)) {
          earliest = std::min(earliest.value_or(INT64_MAX), stages[node]);
        } else {
          movable = false;
        }
      }
    if (movable && earliest)
      stages[op] = std::max(stages[op], *earliest);
  }
}

void TileGraph::collectGroups() {
  DenseMap<int64_t, unsigned> rowGroups;
  DenseMap<unsigned, unsigned> contractionGroups;
  auto open = [&](TileGroup::Kind kind, int64_t stage) {
    groups.push_back({kind, stage, {}});
    return static_cast<unsigned>(groups.size() - 1);
  };
  DenseMap<Operation *, unsigned> index;
  for (Operation *op : order) {
    if (isFree(op))
      continue;
    auto contraction = contractionOf.find(op);
    unsigned group;
    if (contraction != contractionOf.end()) {
      auto [entry, isNew] =
          contractionGroups.try_emplace(contraction->second, 0);
      if (isNew)
        entry->second = open(TileGroup::Kind::Contraction, stages[op]);
      group = entry->second;
    } else if (kindOf(op) == NodeKind::Row) {
      auto [entry, isNew] = rowGroups.try_emplace(stages[op], 0);
      if (isNew)
        entry->second = open(TileGroup::Kind::Rows, stages[op]);
      group = entry->second;
    } else {
      group =
          open(kindOf(op) == NodeKind::BlockFold ? TileGroup::Kind::BlockFold
                                                 : TileGroup::Kind::Other,
               stages[op]);
    }
    groups[group].ops.push_back(op);
  }
  llvm::sort(groups, [&](const TileGroup &a, const TileGroup &b) {
    if (a.stage != b.stage)
      return a.stage < b.stage;
    return a.ops.front()->isBeforeInBlock(b.ops.front());
  });
  for (auto [i, group] : llvm::enumerate(groups))
    for (Operation *op : group.ops)
      groupOf[op] = i;
}

FailureOr<TileGraph> TileGraph::build(scf::ForOp loop, int64_t rows,
                                      bool registerBlocks) {
  TileGraph graph(loop.getBody(), rows);
  if (failed(graph.classify()))
    return failure();
  graph.formContractionGroups(registerBlocks);
  graph.assignStages();
  graph.delayLoadedValues();
  graph.collectGroups();
  return graph;
}
