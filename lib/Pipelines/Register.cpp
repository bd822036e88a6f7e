//===- Register.cpp - Registration of dialects, passes, pipelines ---------===//
//
// The only file that includes upstream's InitAll headers.
//
//===----------------------------------------------------------------------===//

#include "nested/Pipelines/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

using namespace mlir;

void nested::registerCompilerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
}

void nested::registerAllNested(DialectRegistry &registry) {
  registerCompilerDialects(registry);
  registerAllPasses();
}
