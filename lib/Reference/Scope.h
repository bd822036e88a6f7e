//===- Scope.h - Symbols and instances of a running program -----*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the symbols of a function are for the batch at hand, and from them:
// which instances a path has, what an extent is in each of them.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_REFERENCE_SCOPE_H
#define NESTED_LIB_REFERENCE_SCOPE_H

#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "nested/Reference/Reference.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <string>
#include <vector>

namespace nested::reference {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;
using Path = llvm::ArrayRef<mlir::StringAttr>;

/// The instances of a path, in order.
struct Instances {
  int64_t count = 0;
  /// ancestors[k][i]: of which instance of the first k components instance i is
  /// a part; k from 0 (the empty path, one instance) to all.
  std::vector<std::vector<int64_t>> ancestors;
};

struct SymbolValue {
  /// One length per instance of this path.
  llvm::SmallVector<mlir::StringAttr> path;
  std::vector<int64_t> lengths;
  /// Who bound it, for messages.
  std::string origin;
  mlir::Location location;
};

class Scope {
public:
  /// `maxInstances`: paths with more are not known, and an error.
  Scope(int64_t defaultSamples, int64_t maxInstances)
      : defaultSamples(defaultSamples), maxInstances(maxInstances) {}

  /// The first component of a path: a number of samples. Binding it again
  /// checks that the number is the same.
  mlir::LogicalResult bindBatch(EmitError emitError, mlir::StringAttr name,
                                int64_t samples, llvm::StringRef origin,
                                mlir::Location location);
  bool isBatchBound(mlir::StringAttr name) const {
    return batches.count(name) != 0;
  }

  /// Lengths must not be negative, and there is one per instance of the path.
  mlir::LogicalResult bind(EmitError emitError, mlir::StringAttr name,
                           SymbolValue value);
  const SymbolValue *lookup(mlir::StringAttr name) const;

  /// Null if a component is not bound (yet), or there are too many.
  const Instances *lookupInstances(Path path);
  mlir::FailureOr<const Instances *> getInstances(EmitError emitError,
                                                  Path path);

  /// The value of an extent in one instance of a path.
  mlir::FailureOr<int64_t> evaluate(EmitError emitError,
                                    ragged::ExtentAttr extent, Path path,
                                    int64_t instance);
  mlir::FailureOr<llvm::SmallVector<int64_t, 4>>
  evaluate(EmitError emitError, llvm::ArrayRef<ragged::ExtentAttr> extents,
           Path path, int64_t instance);

  /// "sample 1", "sample 1, index 2 of S".
  std::string describe(Path path, int64_t instance);
  /// A note for each symbol of the extents: who bound it, and to what in this
  /// instance.
  void attachNotes(mlir::InFlightDiagnostic &diagnostic,
                   llvm::ArrayRef<ragged::ExtentAttr> extents, Path path,
                   int64_t instance);

private:
  struct Batch {
    int64_t samples;
    std::string origin;
    mlir::Location location;
  };

  /// How many instances a path has; nullopt if a component is not bound.
  std::optional<int64_t> countInstances(Path path);

  int64_t defaultSamples, maxInstances;
  llvm::DenseMap<mlir::StringAttr, Batch> batches;
  llvm::DenseMap<mlir::StringAttr, SymbolValue> symbols;
  /// By the text of the path.
  std::map<std::string, Instances> known;
};

} // namespace nested::reference

#endif // NESTED_LIB_REFERENCE_SCOPE_H
