//===- Grains.cpp - Cutting work into grains ------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grains.h"
#include "Plan.h"

#include <algorithm>

using namespace nested::rt;

Grains::Grains(const Step &step, const Structure &structure)
    : step(step), kind(step.units.kind) {
  const Units &units = step.units;
  if (units.rowTable >= 0) {
    numRows = structure.totals[units.rowTable];
    rowOffsets = structure.tables[units.rowTable];
    lastInstance = structure.entries[units.rowTable] - 1;
  }
  switch (kind) {
  case Units::Kind::Single:
    break;
  case Units::Kind::Chunks:
    numUnits = ceilDiv(numRows, units.rows);
    break;
  case Units::Kind::Groups:
    numUnits = lastInstance;
    if (units.unitTable >= 0) {
      numUnits = structure.totals[units.unitTable];
      unitOffsets = structure.tables[units.unitTable];
    }
    break;
  }
}

Grains::Grains(const Step &step, const Structure &structure, int64_t begin,
               int64_t end)
    : Grains(step, structure) {
  firstInstance = begin;
  lastInstance = end;
  firstUnit = unitsBefore(begin);
  numUnits = unitsBefore(end) - firstUnit;
  numRows = rowOffsets[end] - rowOffsets[begin];
}

/// Units of the instances before `i`, where units are groups.
int64_t Grains::unitsBefore(int64_t i) const {
  return unitOffsets ? unitOffsets[i] : i;
}

/// Whether units are rows.
bool Grains::isRowMap() const {
  return kind == Units::Kind::Groups && step.units.unitTable >= 0 &&
         step.units.unitTable == step.units.rowTable;
}

/// Operations that a row takes as long as.
double Grains::rowCost() const {
  return std::max(step.flopsPerRow + 4 * step.bytesPerRow, 16.0);
}

bool Grains::isSmall() const {
  // At 10^11 operations a second, of which finding a row takes some hundreds:
  // 60 microseconds.
  return static_cast<double>(numRows) * (rowCost() + 300) < 6e6;
}

int64_t Grains::count(int64_t threads) const {
  if (numUnits <= 1 || threads <= 1)
    return std::min<int64_t>(numUnits, 1);
  double weight = static_cast<double>(numRows) + static_cast<double>(numUnits);
  double scratch = static_cast<double>(step.scratchBytes);
  auto grains = [&](double worthwhile, double most) {
    double rows =
        std::max(static_cast<double>(step.tileRows), worthwhile / rowCost());
    return std::min({weight / rows, most, static_cast<double>(numUnits)});
  };
  // Handing out costs microseconds; a kernel that has scratch fills it in each
  // call (with sums of matrices, say), which should be little beside its work.
  // A thread that would have nothing to do may spend a third on it.
  double parts = static_cast<double>(threads);
  double count = std::max(grains(std::max(5e5, 128 * scratch), 8 * parts),
                          grains(std::max(5e5, 32 * scratch), parts));
  // A tile that is not whole takes nearly as long as one that is. Rows cost the
  // same, so where tiles are few each thread gets one grain of them.
  if (isRowMap() && weight < 32.0 * parts * static_cast<double>(step.tileRows))
    count = std::min(count, parts);
  return std::max<int64_t>(1, static_cast<int64_t>(count));
}

/// floor(total * part / parts) without overflow; part <= parts.
static int64_t share(int64_t total, int64_t part, int64_t parts) {
  return total / parts * part + total % parts * part / parts;
}

int64_t Grains::boundary(int64_t grain, int64_t count) const {
  if (grain >= count || numUnits == 0)
    return firstUnit + numUnits;
  // Units that are rows: whole tiles, or quarters of them where tiles are few.
  if (isRowMap()) {
    bool few = numUnits / count < 4 * step.tileRows;
    int64_t rows =
        few ? std::max<int64_t>(1, step.tileRows / 4) : step.tileRows;
    int64_t unit = share(ceilDiv(numUnits, rows), grain, count) * rows;
    return firstUnit + std::min(numUnits, unit);
  }
  if (kind != Units::Kind::Groups)
    return share(numUnits, grain, count);
  // The weight of a unit is its rows and one more, so that units without rows
  // count too. Offsets of units and rows together are then offsets of weight.
  auto weightBefore = [&](int64_t i) { return rowOffsets[i] + unitsBefore(i); };
  int64_t before = weightBefore(firstInstance);
  int64_t target =
      before + share(weightBefore(lastInstance) - before, grain, count);
  // weightBefore(low) <= target < weightBefore(high)
  int64_t low = firstInstance, high = lastInstance;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (weightBefore(middle) <= target)
      low = middle;
    else
      high = middle;
  }
  int64_t units = unitsBefore(low + 1) - unitsBefore(low);
  if (units == 0)
    return unitsBefore(low);
  int64_t weight = (rowOffsets[low + 1] - rowOffsets[low]) / units + 1;
  int64_t inside = (target - weightBefore(low)) / weight;
  return unitsBefore(low) + std::min(inside, units);
}

void nested::rt::planSteps(nested_plan_t &plan) {
  const Entry &entry = *plan.entry;
  plan.steps.resize(entry.steps.size());
  for (size_t s = 0; s < entry.steps.size(); ++s) {
    const Step &step = entry.steps[s];
    PlannedStep &planned = plan.steps[s];
    if (plan.skips(step))
      continue;
    planned.grains = 1;
    if (step.op == Step::Op::Launch) {
      Grains grains(step, plan.structure);
      planned.rows = grains.rows();
      planned.units = grains.units();
      // Totals from data are bounds here; a run may use fewer grains.
      planned.grains = grains.count(plan.workers());
      planned.flops = step.flopsPerRow * static_cast<double>(planned.rows);
      planned.bytes = step.bytesPerRow * static_cast<double>(planned.rows);
    } else if (step.op == Step::Op::Copy) {
      const Buffer &from = entry.buffer(step.from);
      planned.rows = from.kind == Buffer::Kind::Arg ? plan.args[from.index].rows
                     : from.kind == Buffer::Kind::Result
                         ? plan.results[from.index].rows
                         : plan.structure.rows(from.rows);
      planned.bytes = 2.0 * static_cast<double>(planned.rows) *
                      static_cast<double>(from.rowBytes);
    }
    plan.flops += planned.flops;
    plan.bytesMoved += planned.bytes;
  }
}
