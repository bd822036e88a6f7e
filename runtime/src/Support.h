//===- Support.h - Errors and checked arithmetic ----------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_SUPPORT_H
#define NESTED_RUNTIME_SUPPORT_H

#include "nested/runtime.h"

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string>

namespace nested::rt {

/// What is thrown inside the runtime; the C functions turn it into a status and
/// the message of nested_last_error.
struct Failure {
  nested_status status;
  std::string message;
};

__attribute__((format(printf, 1, 2))) std::string format(const char *text, ...);

[[noreturn]] __attribute__((format(printf, 2, 3))) void
fail(nested_status status, const char *text, ...);

/// "1234567890 bytes (1.15 GiB)".
std::string describeBytes(int64_t bytes);

/// Set and read the message of this thread.
void setLastError(const char *text) noexcept;
const char *lastError() noexcept;

/// True when the result does not fit; `out` is then undefined.
inline bool addOverflows(int64_t a, int64_t b, int64_t &out) {
  return __builtin_add_overflow(a, b, &out);
}
inline bool mulOverflows(int64_t a, int64_t b, int64_t &out) {
  return __builtin_mul_overflow(a, b, &out);
}

/// Sums and products of sizes, which must fit 63 bits: `what` names the size.
int64_t addSizes(int64_t a, int64_t b, const char *what);
int64_t mulSizes(int64_t a, int64_t b, const char *what);

inline int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// Rounds a size up to a multiple of 64, the alignment of everything that the
/// runtime places in memory.
constexpr int64_t alignment = 64;
int64_t alignSize(int64_t bytes);

/// Runs `body` for a C function: 0 or the status of what it threw.
template <typename Body>
nested_status guard(Body &&body) noexcept;

/// The status of the exception in flight; sets the thread's message.
nested_status currentFailure() noexcept;

template <typename Body>
nested_status guard(Body &&body) noexcept {
  try {
    body();
    return NESTED_OK;
  } catch (...) {
    return currentFailure();
  }
}

} // namespace nested::rt

#endif // NESTED_RUNTIME_SUPPORT_H
