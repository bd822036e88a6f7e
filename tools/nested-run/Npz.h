//===- Npz.h - Files of NumPy arrays ----------------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TOOLS_NESTED_RUN_NPZ_H
#define NESTED_TOOLS_NESTED_RUN_NPZ_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nested::run {

/// One array. `kind` and `itemBytes` are NumPy's type code: "f" and 4 for
/// float32; "V" and 2 is how bfloat16 comes out of ml_dtypes.
struct NpyArray {
  char kind = 'f';
  int64_t itemBytes = 4;
  std::vector<int64_t> shape;
  bool fortranOrder = false;
  std::vector<char> bytes;

  int64_t size() const;
};

/// By name, without the ".npy" of the archive.
using NpzFile = std::map<std::string, NpyArray>;

/// Reads an .npz (stored or deflated members). Every size in the file is
/// checked against what is there before it is used.
NpzFile readNpz(const std::string &path);

/// Writes an .npz, complete or not at all: a temporary file beside it is
/// renamed.
void writeNpz(const std::string &path, const NpzFile &arrays);

/// The two halves, for tests: a member's bytes.
NpyArray parseNpy(const std::string &bytes, const std::string &name);
std::string formatNpyHeader(const NpyArray &array);

} // namespace nested::run

#endif // NESTED_TOOLS_NESTED_RUN_NPZ_H
