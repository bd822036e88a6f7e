//===- Structure.cpp - Lengths, offsets and sizes of a batch --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Structure.h"

#include <algorithm>

using namespace nested::rt;

int64_t Structure::ancestorOf(int path, int64_t i, int ancestor) const {
  const std::vector<Path> &paths = entry->paths;
  while (path != ancestor) {
    // All samples have the one instance of the empty path as their parent.
    i = paths[path].depth >= 2 ? parents[path][i] : 0;
    path = paths[path].parent;
  }
  return i;
}

std::string Structure::describe(int path, int64_t i) const {
  const Path *p = &entry->paths[path];
  if (p->depth == 0)
    return "";
  if (p->depth == 1)
    return "sample " + std::to_string(i);
  int64_t parent = parents[path][i];
  int64_t first = i;
  while (first > 0 && parents[path][first - 1] == parent)
    --first;
  return describe(p->parent, parent) + ", " + p->names.back() + " " +
         std::to_string(i - first);
}

/// " in sample 3", or nothing.
static std::string inInstance(const Structure &s, int path, int64_t i) {
  std::string text = s.describe(path, i);
  return text.empty() ? text : " in " + text;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

bool Structure::tryEvaluate(const Extent &extent, int path, int64_t i,
                            Mode mode, int64_t &result) const {
  if (extent.isConstant()) {
    result = extent.constantValue();
    return true;
  }
  int64_t low[Extent::maxSlots], high[Extent::maxSlots];
  const std::vector<int> &symbols = extent.symbols();
  bool exact = true;
  for (size_t k = 0; k < symbols.size(); ++k) {
    const Symbol &symbol = entry->symbols[symbols[k]];
    high[k] = values[symbols[k]][ancestorOf(path, i, symbol.path)];
    bool bound = mode == Mode::Upper && symbol.readyStep != notFromData;
    low[k] = bound ? 0 : high[k];
    exact &= !bound;
  }
  if (exact)
    return extent.evaluate(high, result);
  int64_t least;
  if (!extent.evaluateBounds(low, high, least, result))
    return false;
  result = std::max<int64_t>(result, 0);
  return true;
}

int64_t Structure::evaluate(const Extent &extent, int path, int64_t i,
                            Mode mode, const std::string &what) const {
  int64_t result;
  if (tryEvaluate(extent, path, i, mode, result))
    return result;
  std::string values;
  for (int s : extent.symbols()) {
    const Symbol &symbol = entry->symbols[s];
    values += values.empty() ? "" : ", ";
    values += symbol.name + " = " +
              std::to_string(this->values[s][ancestorOf(path, i, symbol.path)]);
  }
  fail(NESTED_INVALID_ARGUMENT, "%s: %s: %s overflows 64 bits%s (%s)",
       entry->name.c_str(), what.c_str(), extent.text().c_str(),
       inInstance(*this, path, i).c_str(), values.c_str());
}

int64_t Structure::size(const Extent &extent, int path, int64_t i, Mode mode,
                        const std::string &what) const {
  int64_t result = evaluate(extent, path, i, mode, what);
  if (result < 0)
    fail(NESTED_INVALID_ARGUMENT, "%s: %s: the size %s is %lld%s",
         entry->name.c_str(), what.c_str(), extent.text().c_str(),
         static_cast<long long>(result), inInstance(*this, path, i).c_str());
  return result;
}

int64_t Structure::product(const std::vector<Extent> &extents,
                           const int32_t *order, int count, int path, int64_t i,
                           Mode mode, const std::string &what) const {
  // A zero anywhere wins over an overflow of the rest.
  int64_t result = 1;
  bool overflow = false, zero = false;
  for (int k = 0; k < count; ++k) {
    int64_t n = size(extents[order ? order[k] : k], path, i, mode, what);
    zero |= n == 0;
    overflow |= mulOverflows(result, n, result);
  }
  if (zero)
    return 0;
  if (overflow) {
    std::string shape;
    for (int k = 0; k < count; ++k)
      shape +=
          (k ? " x " : "") + std::to_string(size(extents[order ? order[k] : k],
                                                 path, i, mode, what));
    fail(NESTED_INVALID_ARGUMENT,
         "%s: %s: the number of rows overflows 64 bits%s (%s)",
         entry->name.c_str(), what.c_str(), inInstance(*this, path, i).c_str(),
         shape.c_str());
  }
  return result;
}

int64_t Structure::rows(const Value &value, int64_t i, Mode mode,
                        const std::string &what) const {
  return product(value.extents, value.order.data(), value.rowRank, value.path,
                 i, mode, what);
}

int64_t Structure::rows(const Rows &rows) const {
  int64_t result = rows.number;
  switch (rows.kind) {
  case Rows::Kind::Const:
    break;
  case Rows::Kind::Total:
    result = totals[rows.table];
    break;
  case Rows::Kind::Chunks:
    result = ceilDiv(totals[rows.table], rows.number);
    break;
  case Rows::Kind::Instances:
    result = counts[rows.path];
    break;
  }
  return addSizes(result, rows.plus, "a number of rows");
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

int64_t Structure::countInstances(int path) const {
  const Path &p = entry->paths[path];
  if (p.depth == 0)
    return 1;
  const int64_t *lengths = values[p.component];
  int64_t count = 0;
  for (int64_t i = 0; i < counts[p.parent]; ++i)
    if (addOverflows(count, lengths[i], count))
      fail(NESTED_INVALID_ARGUMENT, "%s: the sum of %s overflows 64 bits at %s",
           entry->name.c_str(), p.names.back().c_str(),
           describe(p.parent, i).c_str());
  return count;
}

void Structure::fillParents(int path, int64_t *out) const {
  const Path &p = entry->paths[path];
  const int64_t *lengths = values[p.component];
  for (int64_t i = 0; i < counts[p.parent]; ++i) {
    std::fill(out, out + lengths[i], i);
    out += lengths[i];
  }
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void Structure::measureTable(int index, Mode mode) {
  const Table &table = entry->tables[index];
  int64_t count = counts[table.path];
  int64_t total = 0;
  std::string what = "table " + std::to_string(index);
  switch (table.kind) {
  case Table::Kind::Extent:
  case Table::Kind::Base:
  case Table::Kind::Parent:
    entries[index] = count;
    return;
  case Table::Kind::Offsets:
    for (int64_t i = 0; i < count; ++i)
      if (addOverflows(total, size(table.extents[0], table.path, i, mode, what),
                       total))
        fail(NESTED_INVALID_ARGUMENT,
             "%s: the total of %s over the batch overflows 64 bits%s",
             entry->name.c_str(), table.extents[0].text().c_str(),
             inInstance(*this, table.path, i).c_str());
    if (table.bound >= 0 && mode == Mode::Upper)
      total = std::min(total, totals[table.bound]);
    entries[index] = addSizes(count, 1, "the entries of a table");
    totals[index] = total;
    return;
  case Table::Kind::RowSplits:
    for (int64_t i = 0; i < count; ++i)
      total = addSizes(total,
                       product(table.extents, nullptr,
                               static_cast<int>(table.extents.size()) - 1,
                               table.path, i, mode, what),
                       "the entries of a table");
    entries[index] = addSizes(total, 1, "the entries of a table");
    // The splits themselves must not overflow either.
    total = 0;
    for (int64_t i = 0; i < count; ++i)
      total = addSizes(total,
                       product(table.extents, nullptr,
                               static_cast<int>(table.extents.size()),
                               table.path, i, mode, what),
                       "the last entry of a table");
    totals[index] = total;
    return;
  }
}

void Structure::fillTable(int index, Mode mode, int64_t *out) const {
  const Table &table = entry->tables[index];
  int64_t count = counts[table.path];
  const std::string what = "a table"; // measureTable had its chance to fail.
  switch (table.kind) {
  case Table::Kind::Extent:
    for (int64_t i = 0; i < count; ++i)
      out[i] = evaluate(table.extents[0], table.path, i, mode, what);
    return;
  case Table::Kind::Base:
    return; // The plan has it with the argument.
  case Table::Kind::Parent:
    std::copy_n(parents[table.path], count, out);
    return;
  case Table::Kind::Offsets: {
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i) {
      out[i] = total;
      total += size(table.extents[0], table.path, i, mode, what);
    }
    out[count] = total;
    return;
  }
  case Table::Kind::RowSplits: {
    int level = static_cast<int>(table.extents.size()) - 1;
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i) {
      int64_t rows =
          product(table.extents, nullptr, level, table.path, i, mode, what);
      if (rows == 0)
        continue;
      int64_t n = size(table.extents[level], table.path, i, mode, what);
      for (int64_t r = 0; r < rows; ++r) {
        *out++ = total;
        total += n;
      }
    }
    *out = total;
    return;
  }
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Who needs a check: "; x + y at block.py:7 needs it".
static std::string demand(const Check &check) {
  if (check.what.empty() && check.where.empty())
    return "";
  std::string text =
      "; needed by " + (check.what.empty() ? std::string("the program")
                                           : "'" + check.what + "'");
  return check.where.empty() ? text : text + " at " + check.where;
}

void Structure::check(const Check &check, const std::string &entryName,
                      nested_status status) const {
  auto compare = [&](int64_t lhs, int64_t rhs, int path, int64_t i) {
    bool holds = check.op == Check::Op::LessEqual ? lhs <= rhs : lhs == rhs;
    if (holds)
      return;
    std::string left = check.lhs.text();
    if (check.op == Check::Op::SumEqual)
      left = "sum(" + left + ")";
    fail(status, "%s: %s %s %s does not hold%s: %lld and %lld%s",
         entryName.c_str(), left.c_str(),
         check.op == Check::Op::LessEqual ? "<=" : "==",
         check.rhs.text().c_str(), inInstance(*this, path, i).c_str(),
         static_cast<long long>(lhs), static_cast<long long>(rhs),
         demand(check).c_str());
  };
  const std::string what = "a check";
  int64_t count = counts[check.path];
  if (check.op != Check::Op::SumEqual) {
    for (int64_t i = 0; i < count; ++i)
      compare(evaluate(check.lhs, check.path, i, Mode::Exact, what),
              evaluate(check.rhs, check.path, i, Mode::Exact, what), check.path,
              i);
    return;
  }
  const Path &path = entry->paths[check.path];
  const int64_t *lengths = values[path.component];
  int64_t next = 0;
  for (int64_t i = 0; i < counts[path.parent]; ++i) {
    int64_t sum = 0;
    for (int64_t k = 0; k < lengths[i]; ++k)
      sum = addSizes(sum,
                     evaluate(check.lhs, check.path, next++, Mode::Exact, what),
                     "a sum of lengths");
    compare(sum, evaluate(check.rhs, path.parent, i, Mode::Exact, what),
            path.parent, i);
  }
}
