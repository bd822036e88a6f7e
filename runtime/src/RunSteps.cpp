//===- RunSteps.cpp - Steps that are not kernels --------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include <algorithm>
#include <atomic>
#include <cstring>

using namespace nested::rt;

static long long ll(int64_t value) { return static_cast<long long>(value); }

/// Calls body(begin, end) for pieces of [0, rows) on the pool. The body must
/// not throw.
template <typename Function>
static void forRows(Pool &pool, int64_t rows, int64_t piece,
                    const Function &body) {
  struct Job {
    const Function *body;
    int64_t rows, piece;
  } job{&body, rows, piece};
  pool.run(
      ceilDiv(rows, piece),
      [](void *data, int64_t i, int64_t) {
        const Job &job = *static_cast<Job *>(data);
        (*job.body)(i *job.piece, std::min((i + 1) * job.piece, job.rows));
      },
      &job);
}

/// The instance that has packed row `row`.
static int64_t instanceOf(const int64_t *offsets, int64_t count, int64_t row) {
  return std::upper_bound(offsets, offsets + count + 1, row) - offsets - 1;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {
/// An array of `rank` dims with strides in bytes, copied to contiguous memory.
struct StridedCopy {
  int64_t elementBytes;
  int rank = 0;
  int64_t sizes[16], strides[16];

  char *copy(int dim, const char *from, char *to) const {
    if (dim == rank) {
      std::memcpy(to, from, static_cast<size_t>(elementBytes));
      return to + elementBytes;
    }
    if (dim == rank - 1 && strides[dim] == elementBytes) {
      int64_t bytes = sizes[dim] * elementBytes;
      std::memcpy(to, from, static_cast<size_t>(bytes));
      return to + bytes;
    }
    for (int64_t i = 0; i < sizes[dim]; ++i)
      to = copy(dim + 1, from + i * strides[dim], to);
    return to;
  }
};
} // namespace

void nested::rt::packRows(const nested_plan_t &plan, int index,
                          const void *from, void *to) {
  const PlannedArg &arg = plan.args[index];
  const Value &value = plan.entry->args[index];
  int64_t rowBytes = value.rowBytes;
  if (arg.rows == 0 || rowBytes == 0)
    return;
  auto *source = static_cast<const char *>(from);
  auto *target = static_cast<char *>(to);
  StridedCopy row{value.elementBytes, 0, {}, {}};
  int64_t rowStride = rowBytes;
  bool strided = !arg.strides.empty();
  if (strided) {
    size_t dim = 0;
    if (value.isRagged())
      rowStride = arg.strides[dim++] * value.elementBytes;
    row.rank = value.numRowDims();
    for (int i = 0; i < row.rank; ++i) {
      row.sizes[i] = value.rowDim(i);
      row.strides[i] = arg.strides[dim++] * value.elementBytes;
    }
  }
  auto copyRun = [&](int64_t first, int64_t packed, int64_t rows) {
    const char *s = source + first * rowStride;
    char *t = target + packed * rowBytes;
    if (!strided) {
      std::memcpy(t, s, static_cast<size_t>(rows * rowBytes));
      return;
    }
    for (int64_t r = 0; r < rows; ++r)
      t = row.copy(0, s + r * rowStride, t);
  };
  int64_t piece = std::max<int64_t>(1, (int64_t(1) << 18) / rowBytes);
  forRows(*plan.pool, arg.rows, piece, [&](int64_t begin, int64_t end) {
    if (arg.base.empty()) {
      copyRun(begin, begin, end - begin);
      return;
    }
    const int64_t *offsets = arg.offsets.data();
    auto count = static_cast<int64_t>(arg.offsets.size()) - 1;
    for (int64_t i = instanceOf(offsets, count, begin); begin < end; ++i) {
      int64_t stop = std::min(end, offsets[i + 1]);
      if (stop > begin)
        copyRun(arg.base[i] + begin - offsets[i], begin, stop - begin);
      begin = std::max(begin, stop);
    }
  });
}

void Run::expectRows(int buffer, int64_t rows, const char *what) const {
  const Buffer &real = entry.buffer(buffer);
  int64_t has = real.kind == Buffer::Kind::Arg ? plan.args[real.index].rows
                                               : bufferRows[buffer];
  if (has < rows)
    fail(NESTED_INTERNAL_ERROR,
         "%s: %s: buffer %d has %lld rows, %lld are needed", entry.name.c_str(),
         what, buffer, ll(has), ll(rows));
}

void Run::copy(const Step &step) {
  const Buffer &from = entry.buffer(step.from);
  int64_t rows = from.kind == Buffer::Kind::Arg ? plan.args[from.index].rows
                                                : bufferRows[step.from];
  expectRows(step.to, rows, "copy");
  if (rows == 0 || from.rowBytes == 0 || buffers[step.from] == buffers[step.to])
    return;
  auto *target = static_cast<char *>(buffers[step.to]);
  auto *source = static_cast<const char *>(buffers[step.from]);
  if (from.kind == Buffer::Kind::Arg && !plan.args[from.index].base.empty() &&
      !plan.args[from.index].staged) {
    packRows(plan, from.index, source, target);
    return;
  }
  int64_t piece = std::max<int64_t>(1, (int64_t(1) << 18) / from.rowBytes);
  forRows(*plan.pool, rows, piece, [&](int64_t begin, int64_t end) {
    std::memcpy(target + begin * from.rowBytes, source + begin * from.rowBytes,
                static_cast<size_t>((end - begin) * from.rowBytes));
  });
}

void Run::store(const Step &step) {
  bool scalar = step.op == Step::Op::StoreScalar;
  int64_t count = scalar ? 1 : structure.entries[step.table];
  expectRows(step.to, count, "store_table");
  int64_t *out = integers(step.to);
  if (scalar)
    *out = structure.rows(step.scalar);
  else
    std::copy_n(structure.tables[step.table], count, out);
}

//===----------------------------------------------------------------------===//
// Lengths from data
//===----------------------------------------------------------------------===//

void Run::bind(const Step &step, int index) {
  const Symbol &symbol = entry.symbols[step.symbol];
  int64_t count = structure.counts[symbol.path];
  expectRows(step.from, count, "bind");
  const int64_t *given = integers(step.from);
  const std::vector<int64_t> &planned = plan.values[step.symbol];
  int64_t largest = 0;
  for (int64_t bound : planned)
    largest = std::max(largest, bound);
  // The bound itself may be from data, and is then known better than planned.
  bool known = true;
  for (int s : symbol.upper.symbols())
    known &= entry.symbols[s].readyStep < index;
  bool samePath = entry.paths[symbol.path].readyStep == notFromData;
  auto *values = at<int64_t>(plan.layout.symbolValues[step.symbol]);
  for (int64_t i = 0; i < count; ++i) {
    int64_t bound = largest;
    if (symbol.upperPerInstance && known)
      bound = structure.evaluate(symbol.upper, symbol.path, i, Mode::Exact,
                                 symbol.name);
    else if (samePath)
      bound = planned[i];
    if (given[i] < 0 || given[i] > bound) {
      std::string where = structure.describe(symbol.path, i);
      fail(NESTED_DATA_ERROR,
           "%s: the data say that %s is %lld%s%s; it must be from 0 to %lld "
           "(%s)",
           entry.name.c_str(), symbol.name.c_str(), ll(given[i]),
           where.empty() ? "" : " in ", where.c_str(), ll(bound),
           symbol.upper.text().c_str());
    }
    values[i] = given[i];
  }
  structure.values[step.symbol] = values;
  finishBinds(index);
}

/// Computes what waited for the symbol that step `index` bound. Sizes above
/// those of the plan are errors: its memory was made for those.
void Run::finishBinds(int index) {
  auto exceeds = [&](const char *what, int64_t has, int64_t planned) {
    if (has > planned)
      fail(NESTED_DATA_ERROR,
           "%s: the data give %lld %s, more than the %lld that the plan "
           "allows for",
           entry.name.c_str(), ll(has), what, ll(planned));
  };
  for (size_t p = 0; p < entry.paths.size(); ++p) {
    if (entry.paths[p].readyStep != index)
      continue;
    int path = static_cast<int>(p);
    structure.counts[p] = structure.countInstances(path);
    exceeds("instances", structure.counts[p], plan.counts[p]);
    if (entry.paths[p].depth >= 2) {
      auto *parents = at<int64_t>(plan.layout.pathParents[p]);
      structure.fillParents(path, parents);
      structure.parents[p] = parents;
    }
  }
  for (size_t t = 0; t < entry.tables.size(); ++t) {
    if (entry.tables[t].readyStep != index)
      continue;
    int table = static_cast<int>(t);
    structure.measureTable(table, Mode::Exact);
    exceeds("table entries", structure.entries[t], plan.entries[t]);
    exceeds("rows", structure.totals[t], plan.totals[t]);
    auto *values = at<int64_t>(plan.layout.tableValues[t]);
    structure.fillTable(table, Mode::Exact, values);
    structure.tables[t] = values;
  }
  setBufferSizes(index);
}

//===----------------------------------------------------------------------===//
// Rows and coordinates
//===----------------------------------------------------------------------===//

void Run::fillCoordinateOffsets(const Step &step) {
  auto *offsets = at<int64_t>(plan.layout.coordinateOffsets);
  offsets[0] = 0;
  for (int64_t i = 0; i < structure.counts[step.path]; ++i)
    offsets[i + 1] = addSizes(
        offsets[i],
        structure.product(step.extents, nullptr,
                          static_cast<int>(step.extents.size()), step.path, i,
                          Mode::Exact, stepName(step.op)),
        "a number of rows");
}

/// Keeps the smallest of the positions that threads found bad.
static void noteBad(std::atomic<int64_t> &worst, int64_t position) {
  int64_t seen = worst.load(std::memory_order_relaxed);
  while (position < seen && !worst.compare_exchange_weak(
                                seen, position, std::memory_order_relaxed))
    ;
}

constexpr int64_t coordinatePiece = 4096;
constexpr int maxCoordinates = 16;

void Run::locate(const Step &step) {
  fillCoordinateOffsets(step);
  const auto *offsets = at<int64_t>(plan.layout.coordinateOffsets);
  int64_t count = structure.counts[step.path];
  const Buffer &from = entry.buffer(step.from);
  int64_t rows = from.kind == Buffer::Kind::Arg ? plan.args[from.index].rows
                                                : bufferRows[step.from];
  for (int b : step.coordinates)
    expectRows(b, rows, "locate");
  const int64_t *numbers = integers(step.from);
  auto rank = static_cast<int>(step.extents.size());
  std::atomic<int64_t> bad{rows};
  forRows(*plan.pool, rows, coordinatePiece, [&](int64_t begin, int64_t end) {
    int64_t sizes[maxCoordinates] = {}, current = -1;
    for (int64_t r = begin; r < end; ++r) {
      if (numbers[r] < 0 || numbers[r] >= offsets[count]) {
        noteBad(bad, r);
        return;
      }
      int64_t i = instanceOf(offsets, count, numbers[r]);
      if (i != current)
        for (int k = 0; k < rank; ++k)
          (void)structure.tryEvaluate(step.extents[k], step.path, i,
                                      Mode::Exact, sizes[k]);
      current = i;
      integers(step.coordinates[0])[r] = i;
      int64_t rest = numbers[r] - offsets[i];
      for (int k = rank - 1; k >= 0; --k) {
        integers(step.coordinates[k + 1])[r] = rest % sizes[k];
        rest /= sizes[k];
      }
    }
  });
  if (int64_t r = bad.load(); r < rows)
    fail(NESTED_DATA_ERROR,
         "%s: locate: the row number %lld at position %lld is out of range; "
         "there are %lld rows",
         entry.name.c_str(), ll(numbers[r]), ll(r), ll(offsets[count]));
}

void Run::linearize(const Step &step) {
  fillCoordinateOffsets(step);
  const auto *offsets = at<int64_t>(plan.layout.coordinateOffsets);
  int64_t count = structure.counts[step.path];
  int64_t rows = INT64_MAX;
  for (int b : step.coordinates) {
    const Buffer &from = entry.buffer(b);
    rows = std::min(rows, from.kind == Buffer::Kind::Arg
                              ? plan.args[from.index].rows
                              : bufferRows[b]);
  }
  expectRows(step.to, rows, "linearize");
  int64_t *out = integers(step.to);
  auto rank = static_cast<int>(step.extents.size());
  std::atomic<int64_t> bad{rows};
  forRows(*plan.pool, rows, coordinatePiece, [&](int64_t begin, int64_t end) {
    int64_t sizes[maxCoordinates] = {}, current = -1;
    for (int64_t r = begin; r < end; ++r) {
      int64_t i = integers(step.coordinates[0])[r];
      if (i < 0 || i >= count) {
        noteBad(bad, r);
        return;
      }
      if (i != current)
        for (int k = 0; k < rank; ++k)
          (void)structure.tryEvaluate(step.extents[k], step.path, i,
                                      Mode::Exact, sizes[k]);
      current = i;
      int64_t row = 0;
      for (int k = 0; k < rank; ++k) {
        int64_t c = integers(step.coordinates[k + 1])[r];
        if (c < 0 || c >= sizes[k]) {
          noteBad(bad, r);
          return;
        }
        row = row * sizes[k] + c;
      }
      out[r] = offsets[i] + row;
    }
  });
  int64_t r = bad.load();
  if (r == rows)
    return;
  std::string text;
  for (int b : step.coordinates)
    text += (text.empty() ? "" : ", ") + std::to_string(integers(b)[r]);
  fail(NESTED_DATA_ERROR,
       "%s: linearize: the coordinates (%s) at position %lld are out of range",
       entry.name.c_str(), text.c_str(), ll(r));
}
