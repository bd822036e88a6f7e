//===- Padding.cpp - Packed rows in padded arrays ---------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of the padded array are cut into pieces of equal bytes, wherever
// samples end. A line is the rows along the last ragged axis: its front is one
// copy, the rest is filled.
//
//===----------------------------------------------------------------------===//

#include "Pool.h"
#include "Support.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace nested::rt;

namespace {
/// Pieces of fewer bytes are not worth a helper.
constexpr int64_t kPieceBytes = 1 << 18;

struct Padding {
  int64_t numSamples, numRagged;
  const int64_t *lengths, *sizes;
  int64_t rowBytes;

  /// Rows of the padded array, and of one line of it.
  int64_t rows, lineRows, linesPerSample;
  /// First packed row of each sample.
  std::vector<int64_t> offsets;

  Padding(int64_t numSamples, int32_t numRagged, const int64_t *lengths,
          const int64_t *sizes, int64_t rowBytes);
  /// `body(first row of the padded array, packed row, copied rows, filled
  /// rows)` for the lines of the rows [begin, end).
  template <typename Body>
  void forLines(int64_t begin, int64_t end, Body body) const;
  /// Calls `body(begin, end)` for pieces of the rows, on the default pool.
  template <typename Body>
  void forPieces(Body body) const;
};
} // namespace

Padding::Padding(int64_t numSamples, int32_t numRagged, const int64_t *lengths,
                 const int64_t *sizes, int64_t rowBytes)
    : numSamples(numSamples), numRagged(numRagged), lengths(lengths),
      sizes(sizes), rowBytes(rowBytes) {
  auto ll = [](int64_t value) { return static_cast<long long>(value); };
  if (numSamples < 0 || numRagged < 0 || rowBytes < 0)
    fail(NESTED_INVALID_ARGUMENT,
         "%lld samples of %lld ragged axes in rows of %lld bytes; expected "
         "nothing below 0",
         ll(numSamples), ll(numRagged), ll(rowBytes));
  if ((numRagged && !sizes) || (numRagged && numSamples && !lengths))
    fail(NESTED_INVALID_ARGUMENT, "lengths and sizes must not be null");
  linesPerSample = 1;
  lineRows = 1;
  for (int64_t k = 0; k < numRagged; ++k) {
    if (sizes[k] < 0)
      fail(NESTED_INVALID_ARGUMENT, "size %lld is %lld", ll(k), ll(sizes[k]));
    if (k + 1 < numRagged)
      linesPerSample = mulSizes(linesPerSample, sizes[k], "padded rows");
    else
      lineRows = sizes[k];
  }
  rows = mulSizes(mulSizes(numSamples, linesPerSample, "padded rows"), lineRows,
                  "padded rows");
  mulSizes(rows, rowBytes, "padded bytes");
  offsets.reserve(static_cast<size_t>(numSamples));
  int64_t first = 0;
  for (int64_t sample = 0; sample < numSamples; ++sample) {
    offsets.push_back(first);
    int64_t count = 1;
    for (int64_t k = 0; k < numRagged; ++k) {
      int64_t length = lengths[sample * numRagged + k];
      if (length < 0 || length > sizes[k])
        fail(NESTED_INVALID_ARGUMENT,
             "sample %lld has length %lld along ragged axis %lld; expected 0 "
             "to %lld",
             ll(sample), ll(length), ll(k), ll(sizes[k]));
      count *= length;
    }
    first += count;
  }
}

template <typename Body>
void Padding::forLines(int64_t begin, int64_t end, Body body) const {
  for (int64_t at = begin; at < end;) {
    int64_t line = at / lineRows, sample = line / linesPerSample;
    const int64_t *length = lengths + sample * numRagged;
    // The packed number of the line in its sample, from its coordinates.
    int64_t rest = line % linesPerSample, scale = 1, packed = 0;
    int64_t live = numRagged ? length[numRagged - 1] : 1;
    for (int64_t k = numRagged - 1; k-- > 0;) {
      int64_t coordinate = rest % sizes[k];
      rest /= sizes[k];
      if (coordinate >= length[k])
        live = 0;
      packed += coordinate * scale;
      scale *= length[k];
    }
    int64_t in = at - line * lineRows;
    int64_t count = std::min(lineRows - in, end - at);
    int64_t copied = std::clamp<int64_t>(live - in, 0, count);
    body(at, offsets[static_cast<size_t>(sample)] + packed * live + in, copied,
         count - copied);
    at += count;
  }
}

template <typename Body>
void Padding::forPieces(Body body) const {
  if (rows == 0 || rowBytes == 0)
    return;
  struct Job {
    const Padding &padding;
    Body &body;
    int64_t pieces;
  };
  std::shared_ptr<Pool> pool = defaultPool();
  int64_t most = std::min(4 * pool->threads(), rows);
  Job job{*this, body,
          std::clamp<int64_t>(rows * rowBytes / kPieceBytes, 1, most)};
  pool->run(
      job.pieces,
      [](void *data, int64_t piece, int64_t) {
        Job &job = *static_cast<Job *>(data);
        // Rows times pieces may not fit.
        int64_t rows = job.padding.rows, each = rows / job.pieces,
                more = rows % job.pieces;
        auto start = [&](int64_t i) { return i * each + std::min(i, more); };
        job.body(start(piece), start(piece + 1));
      },
      &job);
}

/// Repeats a row `count` times.
static void fillRows(char *to, const char *row, int64_t rowBytes,
                     int64_t count) {
  size_t bytes = static_cast<size_t>(rowBytes * count);
  if (!row) {
    std::memset(to, 0, bytes);
    return;
  }
  if (bytes == 0)
    return;
  size_t done = static_cast<size_t>(rowBytes);
  std::memcpy(to, row, done);
  // What is there already is copied behind itself.
  for (; done < bytes; done *= 2)
    std::memcpy(to + done, to, std::min(done, bytes - done));
}

nested_status nested_pad(void *padded, const void *packed, int64_t num_samples,
                         int32_t num_ragged, const int64_t *lengths,
                         const int64_t *sizes, int64_t row_bytes,
                         const void *fill_row) noexcept {
  return guard([&] {
    Padding padding(num_samples, num_ragged, lengths, sizes, row_bytes);
    auto *to = static_cast<char *>(padded);
    const auto *from = static_cast<const char *>(packed);
    const auto *fill = static_cast<const char *>(fill_row);
    padding.forPieces([&](int64_t begin, int64_t end) {
      padding.forLines(
          begin, end,
          [&](int64_t at, int64_t row, int64_t copied, int64_t filled) {
            char *line = to + at * row_bytes;
            if (copied)
              std::memcpy(line, from + row * row_bytes,
                          static_cast<size_t>(copied * row_bytes));
            if (filled)
              fillRows(line + copied * row_bytes, fill, row_bytes, filled);
          });
    });
  });
}

nested_status nested_unpad(void *packed, const void *padded,
                           int64_t num_samples, int32_t num_ragged,
                           const int64_t *lengths, const int64_t *sizes,
                           int64_t row_bytes) noexcept {
  return guard([&] {
    Padding padding(num_samples, num_ragged, lengths, sizes, row_bytes);
    auto *to = static_cast<char *>(packed);
    const auto *from = static_cast<const char *>(padded);
    padding.forPieces([&](int64_t begin, int64_t end) {
      padding.forLines(
          begin, end, [&](int64_t at, int64_t row, int64_t copied, int64_t) {
            if (copied)
              std::memcpy(to + row * row_bytes, from + at * row_bytes,
                          static_cast<size_t>(copied * row_bytes));
          });
    });
  });
}
