//===- Diagnostics.cpp - Diagnostics and remarks as text ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace nested;

/// The text becomes the main file before the handler looks for one.
static llvm::SourceMgr &addText(llvm::SourceMgr &sources, StringRef text,
                                StringRef fileName) {
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, fileName), llvm::SMLoc());
  return sources;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, StringRef source,
                                         StringRef fileName)
    : stream(text),
      handler(addText(sources, source, fileName), context, stream) {}

namespace {
class RemarkPrinter final : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkPrinter(std::function<void(StringRef)> onRemark)
      : onRemark(std::move(onRemark)) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string line;
    llvm::raw_string_ostream os(line);
    if (auto file = remark.getLocation()->findInstanceOf<FileLineColLoc>())
      os << file.getFilename().getValue() << ":" << file.getLine() << ":"
         << file.getColumn() << ": ";
    os << "remark: ";
    remark.print(os);
    onRemark(StringRef(line).trim());
  }

private:
  std::function<void(StringRef)> onRemark;
};
} // namespace

void nested::enableRemarks(MLIRContext *context,
                           std::function<void(StringRef)> onRemark) {
  remark::RemarkCategories everything;
  // `all` alone lets nothing through.
  everything.passed = everything.missed = everything.failed =
      everything.analysis = ".*";
  (void)remark::enableOptimizationRemarks(
      *context, std::make_unique<RemarkPrinter>(std::move(onRemark)),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), everything);
}
