//===- RaggedGeneralizeGeneric.cpp - Generics that kernels can be ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Each output is a generic of its own, with what its value is computed from.
// 2. The last of several components of the path is reduced in two steps, as
//    `reduce` and `contract` do: within each member, from the neutral element
//    of the combiner, and over the members as a dim, from the init.
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "nested/Dialect/Ragged/IR/GenericRegion.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
class OutputSplitter {
public:
  OutputSplitter(GenericOp op, RewriterBase &rewriter)
      : op(op), body(op.getBody().front()), numInputs(op.getInputs().size()),
        builder(rewriter, op.getLoc()) {}
  FailureOr<Value> split(unsigned output);

private:
  Value compute(unsigned output, Value init, Value yielded, bool batch);
  FailureOr<Value> reduceMembers(unsigned output);

  GenericOp op;
  Block &body;
  unsigned numInputs;
  GenericBuilder builder;
};
} // namespace

/// `yielded`, a value of the region, at every point.
Value OutputSplitter::compute(unsigned output, Value init, Value yielded,
                              bool batch) {
  DenseSet<Value> needed = {yielded};
  SmallVector<Operation *> ops;
  for (Operation &inner : llvm::reverse(body.without_terminator()))
    if (llvm::any_of(inner.getResults(),
                     [&](Value result) { return needed.contains(result); })) {
      ops.push_back(&inner);
      needed.insert(inner.operand_begin(), inner.operand_end());
    }
  GenericBuilder::Spec spec(op);
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < numInputs; ++i)
    if (needed.contains(body.getArgument(i))) {
      spec.addInput(op, i);
      arguments.push_back(body.getArgument(i));
    }
  arguments.push_back(body.getArgument(numInputs + output));
  spec.init = init;
  spec.outputMap = op.getOutputMap(output);
  spec.batchReduced = batch;
  return builder.build(spec, [&](OpBuilder &b, Location, ValueRange x) {
    IRMapping mapping;
    mapping.map(arguments, x);
    for (Operation *inner : llvm::reverse(ops))
      b.clone(*inner, mapping);
    return mapping.lookupOrDefault(yielded);
  });
}

FailureOr<Value> OutputSplitter::reduceMembers(unsigned output) {
  Value element, init = op.getInits()[output];
  Operation *combiner = matchCombiner(op, output, element);
  std::optional<TypedAttr> neutral =
      combiner ? arith::getNeutralElement(combiner) : std::nullopt;
  if (!neutral) {
    InFlightDiagnostic diagnostic =
        op.emitOpError("does not support reducing the last component of the "
                       "path ")
        << formatPath(op.getPathNames()) << " into output " << output
        << ": expected its accumulator to be combined with one value by one "
           "op with a neutral element";
    if (combiner)
      diagnostic << ", but got '" << combiner->getName() << "'";
    return diagnostic;
  }
  LogicalType type = LogicalType::of(init);
  type.path = op.getPathNames();
  bool folds = llvm::is_contained(GenericBuilder::Spec(op).reduction, true);
  Value folded =
      folds ? compute(output, builder.fill(type, *neutral),
                      combiner->getResult(0), /*batch=*/false)
            : compute(output, builder.empty(type), element, /*batch=*/false);
  Value acc = body.getArgument(numInputs + output);
  return builder.reduceMembers(
      folded, init, [&](OpBuilder &b, Location, ValueRange x) {
        IRMapping mapping;
        mapping.map(element, x[0]);
        mapping.map(acc, x[1]);
        return b.clone(*combiner, mapping)->getResult(0);
      });
}

FailureOr<Value> OutputSplitter::split(unsigned output) {
  if (op.getBatchReduced() && op.getPath().size() > 1)
    return reduceMembers(output);
  Value yielded = body.getTerminator()->getOperand(output);
  if (readsAccumulator(op, yielded, output))
    return op.emitOpError("does not support that output ")
           << output << " is computed from what another output accumulates";
  return compute(output, op.getInits()[output], yielded, op.getBatchReduced());
}

FailureOr<SmallVector<Value>>
nested::ragged::splitOutputs(GenericOp op, RewriterBase &rewriter) {
  OutputSplitter splitter(op, rewriter);
  SmallVector<Value> results;
  for (unsigned output = 0; output < op.getInits().size(); ++output) {
    FailureOr<Value> result = splitter.split(output);
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  return results;
}
