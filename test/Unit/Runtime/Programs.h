//===- Programs.h - Entries that tests share ---------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TEST_UNIT_RUNTIME_PROGRAMS_H
#define NESTED_TEST_UNIT_RUNTIME_PROGRAMS_H

namespace nested::test {

/// x [N, 4], w [4] -> pairs [N, N, 4] and their mean [N, 4]; a unit is a pair
/// row, with scratch.
inline const char *pairBlock = R"json({
 "name": "block",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N", "4"], "order": [0, 1], "path": ["B"], "where": "block.py:3"},
          {"name": "w", "kind": "dense", "dtype": "f32", "shape": [4], "where": "block.py:4"}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["N", "N", "4"], "path": ["B"]},
             {"name": "1", "kind": "ragged", "dtype": "f32", "extents": ["N", "4"], "path": ["B"]}],
 "tables": [{"kind": "base", "arg": 0},
            {"kind": "offsets", "extent": "N", "path": ["B"]},
            {"kind": "offsets", "extent": "N * N", "path": ["B"]}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1},
             {"kind": "result", "index": 0}, {"kind": "result", "index": 1}],
 "steps": [{"op": "launch", "kernel": "pair_block",
            "memrefs": [{"buffer": 0}, {"buffer": 1}, {"buffer": 2}, {"buffer": 3}, {"table": 0}, {"table": 1}, {"table": 2}],
            "units": {"kind": "groups", "unit_table": 1, "row_table": 2},
            "tile_rows": 4, "scratch_bytes": 16, "flops_per_row": 12, "bytes_per_row": 16}]})json";

/// x [N, 4], w [4] -> [N, 4]: pairs and their mean are temporaries, which two
/// launches per sample write and read.
inline const char *pairDiagonal = R"json({
 "name": "diagonal",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N", "4"], "path": ["B"]},
          {"name": "w", "kind": "dense", "dtype": "f32", "shape": [4]}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["N", "4"], "path": ["B"]}],
 "tables": [{"kind": "base", "arg": 0},
            {"kind": "offsets", "extent": "N", "path": ["B"]},
            {"kind": "offsets", "extent": "N * N", "path": ["B"]}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1}, {"kind": "result", "index": 0},
             {"kind": "temp", "rows": {"total": 2}, "row_bytes": 16, "first": 0, "last": 1},
             {"kind": "temp", "rows": {"total": 1}, "row_bytes": 16, "first": 0, "last": 1}],
 "steps": [{"op": "launch", "kernel": "pair_block", "per_sample": true,
            "memrefs": [{"buffer": 0}, {"buffer": 1}, {"buffer": 3}, {"buffer": 4}, {"table": 0}, {"table": 1}, {"table": 2}],
            "units": {"kind": "groups", "unit_table": 1, "row_table": 2},
            "tile_rows": 4, "scratch_bytes": 16, "flops_per_row": 12, "bytes_per_row": 16},
           {"op": "launch", "kernel": "add_diagonal", "per_sample": true,
            "memrefs": [{"buffer": 3}, {"buffer": 4}, {"buffer": 2}, {"table": 1}, {"table": 2}],
            "units": {"kind": "groups", "unit_table": 1, "row_table": 1}, "bytes_per_row": 48}]})json";

/// `pairDiagonal` of w * ones, and a copy of it that the second launch has as
/// well: both are prepared, and have more memory than they use.
inline const char *pairPrepared = R"json({
 "name": "prepared",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N", "4"], "path": ["B"]},
          {"name": "w", "kind": "dense", "dtype": "f32", "shape": [4]},
          {"name": "ones", "kind": "dense", "dtype": "f32", "shape": [4]}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["N", "4"], "path": ["B"]}],
 "tables": [{"kind": "base", "arg": 0},
            {"kind": "offsets", "extent": "N", "path": ["B"]},
            {"kind": "offsets", "extent": "N * N", "path": ["B"]},
            {"kind": "offsets", "extent": "4", "path": []}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1}, {"kind": "arg", "index": 2}, {"kind": "result", "index": 0},
             {"kind": "temp", "rows": {"total": 2}, "row_bytes": 16, "first": 1, "last": 3},
             {"kind": "temp", "rows": {"total": 1}, "row_bytes": 16, "first": 1, "last": 3},
             {"kind": "temp", "rows": {"const": 32768}, "row_bytes": 16, "first": 0, "last": 1},
             {"kind": "temp", "rows": {"const": 32768}, "row_bytes": 16, "first": 2, "last": 3}],
 "steps": [{"op": "launch", "kernel": "multiply", "prepare": true, "memrefs": [{"buffer": 1}, {"buffer": 2}, {"buffer": 6}],
            "units": {"kind": "groups", "unit_table": 3, "row_table": 3}},
           {"op": "launch", "kernel": "pair_block", "per_sample": true,
            "memrefs": [{"buffer": 0}, {"buffer": 6}, {"buffer": 4}, {"buffer": 5}, {"table": 0}, {"table": 1}, {"table": 2}],
            "units": {"kind": "groups", "unit_table": 1, "row_table": 2},
            "tile_rows": 4, "scratch_bytes": 16, "flops_per_row": 12, "bytes_per_row": 16},
           {"op": "launch", "kernel": "multiply", "prepare": true, "memrefs": [{"buffer": 1}, {"buffer": 2}, {"buffer": 7}],
            "units": {"kind": "groups", "unit_table": 3, "row_table": 3}},
           {"op": "launch", "kernel": "add_diagonal", "per_sample": true,
            "memrefs": [{"buffer": 4}, {"buffer": 5}, {"buffer": 3}, {"table": 1}, {"table": 2}, {"buffer": 7}],
            "units": {"kind": "groups", "unit_table": 1, "row_table": 1}, "bytes_per_row": 48}]})json";

/// x [N, 2] + y [M, 2], where N must be M.
inline const char *addRows = R"json({
 "name": "add",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0},
             {"name": "M", "path": ["B"], "arg": 1, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N", "2"], "path": ["B"], "where": "add.py:1"},
          {"name": "y", "kind": "ragged", "dtype": "f32", "extents": ["M", "2"], "path": ["B"], "where": "add.py:1"}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["N", "2"], "path": ["B"]}],
 "checks": [{"lhs": "N", "op": "==", "rhs": "M", "path": ["B"], "what": "x + y", "where": "add.py:2"}],
 "tables": [{"kind": "offsets", "extent": "N", "path": ["B"]}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1}, {"kind": "result", "index": 0}],
 "steps": [{"op": "launch", "kernel": "add_rows",
            "memrefs": [{"buffer": 0}, {"buffer": 1}, {"buffer": 2}], "scalars": [{"total": 0}],
            "units": {"kind": "chunks", "row_table": 0, "rows": 8}, "tile_rows": 8}]})json";

/// x [N] and y [N]: one symbol in two arguments.
inline const char *sameLengths = R"json({
 "name": "same",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"], "where": "same.py:1"},
          {"name": "y", "kind": "ragged", "dtype": "f64", "extents": ["N + 1", "N"], "path": ["B"], "where": "same.py:9"}],
 "results": []})json";

/// x [N, 4] * (w * v * w) + w: two launches of shared arguments alone, one of
/// whose results the rows need.
inline const char *scaleShared = R"json({
 "name": "scale",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N", "4"], "path": ["B"]},
          {"name": "w", "kind": "dense", "dtype": "f32", "shape": [4]},
          {"name": "v", "kind": "dense", "dtype": "f32", "shape": [4]}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["N", "4"], "path": ["B"]}],
 "tables": [{"kind": "base", "arg": 0},
            {"kind": "offsets", "extent": "N", "path": ["B"]},
            {"kind": "offsets", "extent": "4", "path": []}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1}, {"kind": "arg", "index": 2},
             {"kind": "temp", "rows": {"const": 4}, "row_bytes": 4, "first": 0, "last": 1},
             {"kind": "temp", "rows": {"const": 1}, "row_bytes": 16, "first": 1, "last": 2},
             {"kind": "result", "index": 0}],
 "steps": [{"op": "launch", "kernel": "multiply", "prepare": true, "memrefs": [{"buffer": 1}, {"buffer": 2}, {"buffer": 3}],
            "units": {"kind": "groups", "unit_table": 2, "row_table": 2}},
           {"op": "launch", "kernel": "multiply", "prepare": true, "memrefs": [{"buffer": 3}, {"buffer": 1}, {"buffer": 4}],
            "units": {"kind": "groups", "unit_table": 2, "row_table": 2}},
           {"op": "launch", "kernel": "scale_rows",
            "memrefs": [{"buffer": 0}, {"buffer": 4}, {"buffer": 1}, {"buffer": 5}],
            "units": {"kind": "groups", "unit_table": 1, "row_table": 1}, "flops_per_row": 8}]})json";

/// x [N] * table [3] at index [4], at 0: indices are checked once.
inline const char *gatherShared = R"json({
 "name": "pick",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]},
          {"name": "table", "kind": "dense", "dtype": "f32", "shape": [3]},
          {"name": "index", "kind": "dense", "dtype": "i64", "shape": [4]}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]}],
 "tables": [{"kind": "offsets", "extent": "N", "path": ["B"]}, {"kind": "offsets", "extent": "4", "path": []}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1}, {"kind": "arg", "index": 2}, {"kind": "result", "index": 0},
             {"kind": "temp", "rows": {"const": 4}, "row_bytes": 4, "first": 0, "last": 1}],
 "steps": [{"op": "launch", "kernel": "gather", "prepare": true,
            "memrefs": [{"buffer": 1}, {"buffer": 2}, {"buffer": 4}, {"error": 0}], "scalars": [{"total": 1}],
            "units": {"kind": "chunks", "row_table": 1, "rows": 4},
            "errors": ["index {value} is out of range"]},
           {"op": "launch", "kernel": "multiply", "memrefs": [{"buffer": 0}, {"buffer": 4}, {"buffer": 3}],
            "units": {"kind": "groups", "row_table": 0}}]})json";

/// The rows of x [N] that keep [N] selects: K from data.
inline const char *selectRows = R"json({
 "name": "select",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0},
             {"name": "K", "path": ["B"], "upper": "N"}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]},
          {"name": "keep", "kind": "ragged", "dtype": "i1", "extents": ["N"], "path": ["B"]}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["K"], "path": ["B"]},
             {"name": "1", "kind": "ragged", "dtype": "i64", "extents": [], "path": ["B"]}],
 "tables": [{"kind": "offsets", "extent": "N", "path": ["B"]},
            {"kind": "offsets", "extent": "K", "path": ["B"]},
            {"kind": "extent", "extent": "N - K", "path": ["B"]}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1}, {"kind": "result", "index": 0},
             {"kind": "temp", "rows": {"instances": ["B"]}, "row_bytes": 8, "first": 0, "last": 1},
             {"kind": "result", "index": 1}],
 "steps": [{"op": "launch", "kernel": "count_kept", "memrefs": [{"buffer": 1}, {"buffer": 3}, {"table": 0}],
            "units": {"kind": "groups", "row_table": 0}},
           {"op": "bind", "symbol": "K", "buffer": 3},
           {"op": "launch", "kernel": "compact", "memrefs": [{"buffer": 0}, {"buffer": 1}, {"buffer": 2}, {"table": 0}, {"table": 1}],
            "units": {"kind": "groups", "row_table": 0}},
           {"op": "store_table", "table": 2, "to": 4}]})json";

/// out [N] = table [3] at index [N].
inline const char *gatherRows = R"json({
 "name": "gather",
 "symbols": [{"name": "N", "path": ["B"], "arg": 1, "dim": 0}],
 "args": [{"name": "table", "kind": "dense", "dtype": "f32", "shape": [3]},
          {"name": "index", "kind": "ragged", "dtype": "i64", "extents": ["N"], "path": ["B"]}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]}],
 "tables": [{"kind": "offsets", "extent": "N", "path": ["B"]}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1}, {"kind": "result", "index": 0}],
 "steps": [{"op": "launch", "kernel": "gather",
            "memrefs": [{"buffer": 0}, {"buffer": 1}, {"buffer": 2}, {"error": 0}], "scalars": [{"total": 0}],
            "units": {"kind": "chunks", "row_table": 0, "rows": 4}, "flops_per_row": 1000000,
            "errors": ["index {value} is out of range for axis 0 of size 3 (row {row}) at gather.py:5"]}]})json";

/// Sums of the tokens of each sentence: x [T] of [B, S].
inline const char *sumTokens = R"json({
 "name": "tokens",
 "symbols": [{"name": "S", "path": ["B"], "arg": 0, "component": 1},
             {"name": "T", "path": ["B", "S"], "arg": 0, "dim": 0},
             {"name": "N", "path": ["B"], "arg": 1, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["T"], "path": ["B", "S"], "where": "tokens.py:1"},
          {"name": "flat", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]}],
 "results": [{"name": "sum", "kind": "ragged", "dtype": "f32", "extents": [], "path": ["B", "S"]},
             {"name": "sample", "kind": "ragged", "dtype": "f32", "extents": [], "path": ["B", "S"]}],
 "checks": [{"lhs": "T", "op": "sum==", "rhs": "N", "path": ["B", "S"], "what": "nest(flat, T)",
                  "where" : "tokens.py:2"
}],
 "tables": [{"kind": "offsets", "extent": "T", "path": ["B", "S"]}, {"kind": "parent", "path": ["B", "S"]}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "result", "index": 0}, {"kind": "result", "index": 1}],
 "steps": [{"op": "launch", "kernel": "sum_tokens",
            "memrefs": [{"buffer": 0}, {"buffer": 1}, {"buffer": 2}, {"table": 0}, {"table": 1}],
            "units": {"kind": "groups", "row_table": 0}}]
})json";

} // namespace nested::test

#endif // NESTED_TEST_UNIT_RUNTIME_PROGRAMS_H
