//===- Error.h - Whose mistake an error is ----------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TARGET_ERROR_H
#define NESTED_TARGET_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <system_error>

namespace nested {

/// The program, a file or an option is wrong.
inline llvm::Error makeUserError(const llvm::Twine &message) {
  return llvm::createStringError(
      std::make_error_code(std::errc::invalid_argument), message);
}

/// The machine is in the way: a full disk, a missing file, a foreign processor.
inline llvm::Error makeEnvironmentError(const llvm::Twine &message) {
  return llvm::createStringError(std::make_error_code(std::errc::io_error),
                                 message);
}

/// The compiler is wrong.
inline llvm::Error makeInternalError(const llvm::Twine &message) {
  return llvm::createStringError(
      std::make_error_code(std::errc::state_not_recoverable), message);
}

} // namespace nested

#endif // NESTED_TARGET_ERROR_H
