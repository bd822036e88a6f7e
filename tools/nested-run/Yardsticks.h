//===- Yardsticks.h - What this machine reaches -----------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TOOLS_NESTED_RUN_YARDSTICKS_H
#define NESTED_TOOLS_NESTED_RUN_YARDSTICKS_H

#include <cstdint>

namespace nested::run {

/// f32 operations per second of multiply-adds in registers, two a multiply-add,
/// on so many threads at once.
double measureMultiplyAdds(int64_t threads);

/// Bytes per second that memcpy of large arrays reads and writes.
double measureCopies(int64_t threads);

} // namespace nested::run

#endif // NESTED_TOOLS_NESTED_RUN_YARDSTICKS_H
