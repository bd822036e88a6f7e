//===- Diagnostics.h - Diagnostics and remarks as text ----------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_COMPILER_DIAGNOSTICS_H
#define NESTED_LIB_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <string>

namespace nested {

/// While it lives, collects the diagnostics of a context as text, with the
/// source line and the notes of each.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, llvm::StringRef text,
                      llvm::StringRef fileName);

  llvm::SourceMgr &getSources() { return sources; }
  const std::string &getText() const { return text; }

private:
  std::string text;
  llvm::raw_string_ostream stream;
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler;
};

/// Sends the optimization remarks of a context to a function, a line each.
void enableRemarks(mlir::MLIRContext *context,
                   std::function<void(llvm::StringRef)> onRemark);

} // namespace nested

#endif // NESTED_LIB_COMPILER_DIAGNOSTICS_H
