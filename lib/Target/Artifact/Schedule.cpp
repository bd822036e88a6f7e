//===- Schedule.cpp - Schedules as data for the runtime -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables and buffers are numbered in their order in the schedule, everything
// else in it is a step. A temporary lives from the first to the last step that
// uses it, under whichever name.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"
#include "nested/Dialect/Ragged/IR/RaggedBatch.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nested;
using namespace nested::ragged;
namespace json = llvm::json;

namespace {

class ScheduleExporter {
public:
  explicit ScheduleExporter(ScheduleOp schedule) : schedule(schedule) {}

  FailureOr<json::Object> run();

private:
  FailureOr<json::Value> toJson(Attribute attr);
  json::Value toJson(ExtentAttr extent);
  json::Array toJson(ArrayAttr attrs);

  LogicalResult addTable(TableOp op);
  LogicalResult addBuffer(BufferOp op);
  LogicalResult addStep(Operation *op);
  FailureOr<json::Object> exportLaunch(LaunchOp op);
  json::Object exportCheck(CheckOp op);
  json::Object exportHostCall(HostCallOp op);

  /// The number of a buffer, which is thereby in use at the current step.
  int64_t use(Value buffer);
  int64_t numberOf(Value table) { return numbers.lookup(table); }
  json::Object total(Value table) {
    return json::Object{{"total", numberOf(table)}};
  }

  /// What is known of a buffer besides its JSON.
  struct Lifetime {
    int64_t base, first = -1, last = -1;
  };

  ScheduleOp schedule;
  llvm::DenseMap<Value, int64_t> numbers;
  json::Array tables, buffers, steps;
  SmallVector<Lifetime> lifetimes;
};

json::Value ScheduleExporter::toJson(ExtentAttr extent) {
  std::string text;
  llvm::raw_string_ostream os(text);
  extent::print(extent, os);
  return text;
}

/// Names of a path, or extents.
json::Array ScheduleExporter::toJson(ArrayAttr attrs) {
  json::Array array;
  for (Attribute attr : attrs) {
    if (auto extent = dyn_cast<ExtentAttr>(attr))
      array.push_back(toJson(extent));
    else
      array.push_back(cast<StringAttr>(attr).getValue());
  }
  return array;
}

/// Any attribute of a signature.
FailureOr<json::Value> ScheduleExporter::toJson(Attribute attr) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(attr)) {
    json::Object object;
    for (NamedAttribute entry : dictionary) {
      FailureOr<json::Value> value = toJson(entry.getValue());
      if (failed(value))
        return failure();
      object[entry.getName().getValue()] = std::move(*value);
    }
    return json::Value(std::move(object));
  }
  if (auto attrs = dyn_cast<ArrayAttr>(attr)) {
    json::Array array;
    for (Attribute each : attrs) {
      FailureOr<json::Value> value = toJson(each);
      if (failed(value))
        return failure();
      array.push_back(std::move(*value));
    }
    return json::Value(std::move(array));
  }
  if (auto text = dyn_cast<StringAttr>(attr))
    return json::Value(text.getValue());
  if (auto extent = dyn_cast<ExtentAttr>(attr))
    return toJson(extent);
  if (auto flag = dyn_cast<BoolAttr>(attr))
    return json::Value(flag.getValue());
  if (isa<UnitAttr>(attr))
    return json::Value(true);
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return json::Value(number.getInt());
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attr))
    return json::Value(json::Array(numbers.asArrayRef()));
  return schedule.emitOpError("signature holds ")
         << attr << ", which the manifest cannot express";
}

LogicalResult ScheduleExporter::addTable(TableOp op) {
  numbers[op.getResult()] = tables.size();
  json::Object table{{"kind", stringifyTableKind(op.getKind())}};
  if (op.getKind() == TableKind::Base) {
    if (!op.getArg())
      return op.emitOpError("of kind base names no argument");
    table["arg"] = static_cast<int64_t>(*op.getArg());
  } else {
    table["path"] = toJson(op.getPath());
  }
  if (ExtentAttr extent = op.getExtentAttr())
    table["extent"] = toJson(extent);
  if (ArrayAttr extents = op.getExtentsAttr())
    table["extents"] = toJson(extents);
  if (op.getLevel())
    table["level"] = static_cast<int64_t>(*op.getLevel());
  if (auto bound = op->getAttrOfType<IntegerAttr>(kTableBoundAttr))
    table["bound"] = bound.getInt();
  tables.push_back(std::move(table));
  return success();
}

/// Bytes of one row; i1 takes a byte.
static int64_t getRowBytes(BufferType type) {
  int64_t count = 1;
  for (int64_t dim : type.getRowShape())
    count *= dim;
  return count *
         llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
}

LogicalResult ScheduleExporter::addBuffer(BufferOp op) {
  int64_t number = buffers.size();
  numbers[op.getResult()] = number;
  lifetimes.push_back({number});
  json::Object buffer{{"kind", op.getKind()}};
  if (op.getIndex())
    buffer["index"] = static_cast<int64_t>(*op.getIndex());
  if (op.getKind() == "temp") {
    json::Object rows;
    if (op.getTotal())
      rows = total(op.getTotal());
    if (op.getChunk())
      rows["chunks"] = static_cast<int64_t>(*op.getChunk());
    if (op.getRows())
      rows["const"] = static_cast<int64_t>(*op.getRows());
    buffer["rows"] = std::move(rows);
    buffer["row_bytes"] = getRowBytes(op.getType());
  }
  buffers.push_back(std::move(buffer));
  return success();
}

int64_t ScheduleExporter::use(Value buffer) {
  int64_t number = numbers.lookup(buffer);
  Lifetime &lifetime = lifetimes[lifetimes[number].base];
  int64_t step = steps.size();
  if (lifetime.first < 0)
    lifetime.first = step;
  lifetime.last = step;
  return number;
}

FailureOr<json::Object> ScheduleExporter::exportLaunch(LaunchOp op) {
  auto kernel =
      dyn_cast_or_null<SymbolOpInterface>(SymbolTable::lookupNearestSymbolFrom(
          schedule->getParentOp(), op.getKernelAttr()));
  if (!kernel || !kernel->hasAttr(kKernelAttr))
    return op.emitOpError("launches '")
           << op.getKernel() << "', which is not a kernel of this module";
  json::Array memrefs, scalars;
  for (Value memref : op.getMemrefs()) {
    if (isa<BufferType>(memref.getType()))
      memrefs.push_back(json::Object{{"buffer", use(memref)}});
    else
      memrefs.push_back(json::Object{{"table", numberOf(memref)}});
  }
  for (Value scalar : op.getScalars())
    scalars.push_back(total(scalar));
  json::Object units{{"kind", stringifyUnitKind(op.getUnits())},
                     {"row_table", numberOf(op.getRowTable())}};
  if (op.getUnitTable())
    units["unit_table"] = numberOf(op.getUnitTable());
  if (op.getChunk())
    units["rows"] = static_cast<int64_t>(*op.getChunk());
  json::Object step{
      {"op", "launch"},
      {"kernel", op.getKernel()},
      {"scalars", std::move(scalars)},
      {"units", std::move(units)},
      {"tile_rows", static_cast<int64_t>(op.getTileRows())},
      {"flops_per_row", static_cast<int64_t>(op.getFlopsPerRow())},
      {"bytes_per_row", static_cast<int64_t>(op.getBytesPerRow())}};
  if (op.getPerSample())
    step["per_sample"] = true;
  if (op->hasAttr(kPrepareAttr))
    step["prepare"] = true;
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kScratchBytesAttr))
    step["scratch_bytes"] = bytes.getInt();
  if (ArrayAttr errors = op.getErrorsAttr()) {
    memrefs.push_back(json::Object{{"error", 0}});
    step["errors"] = toJson(errors);
  }
  step["memrefs"] = std::move(memrefs);
  return step;
}

json::Object ScheduleExporter::exportCheck(CheckOp op) {
  json::Object step{{"op", op.getKind() == CheckKind::EQ ? "==" : "<="},
                    {"lhs", toJson(op.getLhs())},
                    {"rhs", toJson(op.getRhs())},
                    {"path", toJson(op.getPath())},
                    {"what", op.getWhat()},
                    {"where", op.getWhere()}};
  if (ArrayAttr over = op.getSumOverAttr()) {
    step["op"] = "sum==";
    step["path"] = toJson(over);
  }
  return step;
}

json::Object ScheduleExporter::exportHostCall(HostCallOp op) {
  json::Array inputs, outputs;
  for (Value input : op.getInputs())
    inputs.push_back(use(input));
  for (Value output : op.getOutputs())
    outputs.push_back(use(output));
  json::Object step{{"op", op.getFunction()},
                    {"extents", toJson(op.getExtents())},
                    {"path", toJson(op.getPath())}};
  if (op.getFunction() == "locate") {
    step["rows"] = std::move(inputs[0]);
    step["to"] = std::move(outputs);
  } else {
    step["from"] = std::move(inputs);
    step["to"] = std::move(outputs[0]);
  }
  return step;
}

LogicalResult ScheduleExporter::addStep(Operation *op) {
  FailureOr<json::Object> step =
      llvm::TypeSwitch<Operation *, FailureOr<json::Object>>(op)
          .Case<LaunchOp>([&](auto op) { return exportLaunch(op); })
          .Case<HostCallOp>([&](auto op) { return exportHostCall(op); })
          .Case<BindOp>([&](BindOp op) {
            return json::Object{{"op", "bind"},
                                {"symbol", op.getSymbol()},
                                {"buffer", use(op.getCounts())}};
          })
          .Case<CheckOp>([&](CheckOp op) {
            // The step's own name is taken by the relation.
            return json::Object{{"op", "check"}, {"check", exportCheck(op)}};
          })
          .Case<CopyOp>([&](CopyOp op) {
            return json::Object{{"op", "copy"},
                                {"from", use(op.getSource())},
                                {"to", use(op.getDest())}};
          })
          .Case<StoreTableOp>([&](StoreTableOp op) {
            json::Object step{{"op", "store_table"}, {"to", use(op.getDest())}};
            if (op.getTotal())
              step["scalar"] = total(op.getTable());
            else
              step["table"] = numberOf(op.getTable());
            return step;
          })
          .Default([](Operation *op) -> FailureOr<json::Object> {
            return op->emitOpError("has no place in the manifest");
          });
  if (failed(step))
    return failure();
  steps.push_back(std::move(*step));
  return success();
}

FailureOr<json::Object> ScheduleExporter::run() {
  FailureOr<json::Value> signature = toJson(schedule.getSignature());
  if (failed(signature))
    return failure();
  for (Operation &op : schedule.getBody().front()) {
    LogicalResult added = success();
    if (auto table = dyn_cast<TableOp>(op)) {
      added = addTable(table);
    } else if (auto buffer = dyn_cast<BufferOp>(op)) {
      added = addBuffer(buffer);
    } else if (auto alias = dyn_cast<AliasOp>(op)) {
      int64_t of = numbers.lookup(alias.getSource());
      numbers[alias.getResult()] = buffers.size();
      buffers.push_back(json::Object{{"kind", "alias"}, {"of", of}});
      lifetimes.push_back({lifetimes[of].base});
    } else {
      added = addStep(&op);
    }
    if (failed(added))
      return failure();
  }
  for (auto [buffer, lifetime] : llvm::zip_equal(buffers, lifetimes)) {
    json::Object &object = *buffer.getAsObject();
    if (object.getString("kind") != "temp")
      continue;
    object["first"] = std::max<int64_t>(lifetime.first, 0);
    object["last"] = std::max<int64_t>(lifetime.last, 0);
  }
  json::Object entry = std::move(*signature->getAsObject());
  entry["name"] = schedule.getSymName();
  entry["tables"] = std::move(tables);
  entry["buffers"] = std::move(buffers);
  entry["steps"] = std::move(steps);
  return entry;
}

} // namespace

FailureOr<json::Object> nested::exportSchedule(ScheduleOp schedule) {
  return ScheduleExporter(schedule).run();
}
