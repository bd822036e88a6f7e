//===- SymbolBindings.cpp - Which value binds each symbol -----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/SymbolBindings.h"
