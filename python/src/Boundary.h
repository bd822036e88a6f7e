//===- Boundary.h - Functions that hide frames of the package ---*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_PYTHON_BOUNDARY_H
#define NESTED_PYTHON_BOUNDARY_H

#include <nanobind/nanobind.h>

/// Adds `boundary` and `boundary_method` to the module: they wrap a Python
/// function in a C function, which has no frame of its own, and give exceptions
/// to a Python function that takes frames out of their tracebacks before the
/// caller sees them.
void bindBoundary(nanobind::module_ &m);

#endif // NESTED_PYTHON_BOUNDARY_H
