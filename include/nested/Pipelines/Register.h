//===- Register.h - Registration of dialects, passes, pipelines -*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that says what nested's tools know.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_PIPELINES_REGISTER_H
#define NESTED_PIPELINES_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace nested {

/// Adds what compiling a program needs, from the first phase to the last: our
/// dialects, the upstream dialects that they lower to, and the interfaces that
/// the phases use.
void registerCompilerDialects(mlir::DialectRegistry &registry);

/// Adds every dialect that a test may name, upstream's included, and makes all
/// passes and pipelines known to the command line.
void registerAllNested(mlir::DialectRegistry &registry);

} // namespace nested

#endif // NESTED_PIPELINES_REGISTER_H
