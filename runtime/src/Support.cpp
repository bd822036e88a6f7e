//===- Support.cpp - Errors and checked arithmetic ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <cstdio>
#include <exception>
#include <new>

using namespace nested::rt;

/// The message of this thread.
static std::string &threadError() {
  static thread_local std::string text;
  return text;
}

static std::string formatList(const char *text, va_list list) {
  va_list copy;
  va_copy(copy, list);
  int length = std::vsnprintf(nullptr, 0, text, copy);
  va_end(copy);
  if (length < 0)
    return text;
  std::string result(static_cast<size_t>(length), '\0');
  std::vsnprintf(result.data(), result.size() + 1, text, list);
  return result;
}

std::string nested::rt::format(const char *text, ...) {
  va_list list;
  va_start(list, text);
  std::string result = formatList(text, list);
  va_end(list);
  return result;
}

void nested::rt::fail(nested_status status, const char *text, ...) {
  va_list list;
  va_start(list, text);
  std::string message;
  try {
    message = formatList(text, list);
  } catch (...) {
    va_end(list);
    throw;
  }
  va_end(list);
  throw Failure{status, std::move(message)};
}

std::string nested::rt::describeBytes(int64_t bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return format("%lld bytes", static_cast<long long>(bytes));
  double value = static_cast<double>(bytes) / 1024;
  int unit = 0;
  while (value >= 1024 && unit < 5) {
    value /= 1024;
    ++unit;
  }
  return format("%lld bytes (%.2f %s)", static_cast<long long>(bytes), value,
                units[unit]);
}

void nested::rt::setLastError(const char *text) noexcept {
  try {
    threadError() = text;
  } catch (...) {
    // Without memory for the message the old one must not be taken for it.
    threadError().clear();
  }
}

const char *nested::rt::lastError() noexcept { return threadError().c_str(); }

int64_t nested::rt::addSizes(int64_t a, int64_t b, const char *what) {
  int64_t result;
  if (addOverflows(a, b, result))
    fail(NESTED_INVALID_ARGUMENT, "%s overflows 64 bits (%lld + %lld)", what,
         static_cast<long long>(a), static_cast<long long>(b));
  return result;
}

int64_t nested::rt::mulSizes(int64_t a, int64_t b, const char *what) {
  int64_t result;
  if (mulOverflows(a, b, result))
    fail(NESTED_INVALID_ARGUMENT, "%s overflows 64 bits (%lld * %lld)", what,
         static_cast<long long>(a), static_cast<long long>(b));
  return result;
}

int64_t nested::rt::alignSize(int64_t bytes) {
  return addSizes(bytes, alignment - 1, "a buffer size") & ~(alignment - 1);
}

nested_status nested::rt::currentFailure() noexcept {
  try {
    throw;
  } catch (const Failure &failure) {
    setLastError(failure.message.c_str());
    return failure.status;
  } catch (const std::bad_alloc &) {
    setLastError("out of memory for the runtime's own tables");
    return NESTED_OUT_OF_MEMORY;
  } catch (const std::exception &error) {
    setLastError(error.what());
    return NESTED_INTERNAL_ERROR;
  } catch (...) {
    setLastError("unknown internal error");
    return NESTED_INTERNAL_ERROR;
  }
}
