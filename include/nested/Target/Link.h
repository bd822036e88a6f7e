//===- Link.h - From an object file to a shared object ----------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TARGET_LINK_H
#define NESTED_TARGET_LINK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace nested {

/// Links an ELF object into a shared object with LLD, in this process. A symbol
/// that it needs from elsewhere is an error, but for memcpy, memmove, memset
/// and memcmp. Safe to call from several threads; they wait for each other.
llvm::Expected<llvm::SmallVector<char, 0>>
linkSharedObject(llvm::ArrayRef<char> object);

} // namespace nested

#endif // NESTED_TARGET_LINK_H
