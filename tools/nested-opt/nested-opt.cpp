//===- nested-opt.cpp - Runs passes on MLIR text --------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The testing tool: `nested-opt FILE --some-pass` prints what the pass made.
//
//===----------------------------------------------------------------------===//

#include "nested/Pipelines/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/PrettyStackTrace.h"

int main(int argc, char **argv) {
  llvm::setBugReportMsg("nested-opt crashed; please report this with the "
                        "input and the command line\n");
  mlir::DialectRegistry registry;
  nested::registerAllNested(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "nested pass driver\n", registry));
}
