//===- SymbolBindingsTest.cpp - Tests of who binds which symbol -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace nested::ragged;

namespace {

class SymbolBindingsTest : public ::testing::Test {
protected:
  SymbolBindingsTest() {
    context.loadDialect<RaggedDialect, func::FuncDialect>();
  }

  func::FuncOp parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return *module->getOps<func::FuncOp>().begin();
  }
  /// `error;note;...` of verifySymbols.
  std::string verify(StringRef text) {
    func::FuncOp func = parse(text);
    std::string messages;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      messages += diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        messages += ";" + note.str();
    });
    bool failed = mlir::failed(verifySymbols(func));
    EXPECT_EQ(failed, !messages.empty());
    return messages;
  }
  const SymbolBinding *lookup(const SymbolBindings &bindings, StringRef name) {
    return bindings.lookup(StringAttr::get(&context, name));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(SymbolBindingsTest, ArgumentsBindInOrder) {
  func::FuncOp func = parse(R"mlir(
    func.func @f(%a: !ragged.tensor<[N + 1, M], f32>, %b: !ragged.tensor<[N, M], f32>,
                 %c: !ragged.tensor<[T], f32, path = [B, S]>) {
      return
    })mlir");
  SymbolBindings bindings(func);
  const SymbolBinding *n = lookup(bindings, "N"), *m = lookup(bindings, "M"),
                      *s = lookup(bindings, "S"), *t = lookup(bindings, "T");
  ASSERT_TRUE(n && m && s && t);
  EXPECT_EQ(n->value, func.getArgument(1));
  EXPECT_EQ(n->dim, 0);
  EXPECT_EQ(m->value, func.getArgument(0));
  EXPECT_EQ(m->dim, 1);
  EXPECT_TRUE(s->isPathComponent());
  EXPECT_EQ(formatPath(s->path), "[B]");
  EXPECT_EQ(formatPath(t->path), "[B, S]");
  EXPECT_FALSE(t->isFromData());
  EXPECT_FALSE(lookup(bindings, "B"));
}

// One length per sample binds, even if a longer path mentions the symbol first.
TEST_F(SymbolBindingsTest, TheShortestPathBinds) {
  func::FuncOp func = parse(R"mlir(
    func.func @f(%a: !ragged.tensor<[T, N], f32, path = [B, S]>, %b: !ragged.tensor<[N], f32>) {
      return
    })mlir");
  SymbolBindings bindings(func);
  ASSERT_TRUE(lookup(bindings, "N"));
  EXPECT_EQ(lookup(bindings, "N")->value, func.getArgument(1));
  EXPECT_TRUE(succeeded(verifySymbols(func)));
}

TEST_F(SymbolBindingsTest, OpsBindFreshSymbols) {
  func::FuncOp func = parse(R"mlir(
    func.func @f(%x: !ragged.tensor<[N, 8], f32>, %m: !ragged.tensor<[N], i1>,
                 %s: !ragged.tensor<[S], i64>, %n: tensor<?xi64>) {
      %0 = ragged.masked_select %x, %m : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K, 8], f32>
      %1 = ragged.nest %x, %s : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T, 8], f32, path = [B, S]>
      %2 = ragged.with_lengths %x, %n : !ragged.tensor<[N, 8], f32>, tensor<?xi64> -> !ragged.tensor<[L, 8], f32>
      %3 = ragged.partition %n, %n : tensor<?xi64>, tensor<?xi64> -> !ragged.partition<[P, P * Q]>
      return
    })mlir");
  SymbolBindings bindings(func);
  for (StringRef name : {"K", "T", "L", "P", "Q"}) {
    ASSERT_TRUE(lookup(bindings, name)) << name.str();
    EXPECT_TRUE(lookup(bindings, name)->isFromData()) << name.str();
  }
  EXPECT_EQ(lookup(bindings, "K")->upperBound.str(), "N");
  EXPECT_EQ(formatPath(lookup(bindings, "T")->path), "[B, S]");
  EXPECT_EQ(lookup(bindings, "Q")->dim, 1);
  EXPECT_TRUE(succeeded(verifySymbols(func)));
}

TEST_F(SymbolBindingsTest, UnboundSymbol) {
  EXPECT_EQ(
      verify(R"mlir(
    func.func @f(%x: !ragged.tensor<[N * N], f32>) {
      return
    })mlir"),
      "expected symbol 'N' to be bound by an argument or an operation, but "
      "got none that binds it");
  EXPECT_EQ(
      verify(R"mlir(
    func.func @f(%x: !ragged.tensor<[N], f32>) {
      %0 = ragged.slice %x dim 0 start <M> size <1> drop : !ragged.tensor<[N], f32> -> !ragged.tensor<[], f32>
      return
    })mlir"),
      "expected symbol 'M' to be bound by an argument or an operation, but "
      "got none that binds it");
}

TEST_F(SymbolBindingsTest, BoundTwice) {
  EXPECT_EQ(
      verify(R"mlir(
    func.func @f(%x: !ragged.tensor<[N], f32>, %m: !ragged.tensor<[N], i1>, %k: !ragged.tensor<[K], f32>) {
      %0 = ragged.masked_select %x, %m : !ragged.tensor<[N], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K], f32>
      return
    })mlir"),
      "expected a fresh symbol, but got 'K', which is bound already;symbol "
      "'K' is bound here");
}

TEST_F(SymbolBindingsTest, UsedBeforeItIsBound) {
  EXPECT_EQ(verify(R"mlir(
    func.func @f(%x: !ragged.tensor<[N], f32>, %m: !ragged.tensor<[N], i1>) {
      %e = ragged.empty : !ragged.tensor<[K], f32>
      %0 = ragged.masked_select %x, %m : !ragged.tensor<[N], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K], f32>
      return
    })mlir"),
            "expected symbol 'K' to be bound before its use, but got a later "
            "binding;symbol 'K' is bound here");
}

TEST_F(SymbolBindingsTest, UsedOverAnotherPath) {
  EXPECT_EQ(verify(R"mlir(
    func.func @f(%x: !ragged.tensor<[T], f32, path = [B, S]>) {
      %e = ragged.empty : !ragged.tensor<[T], f32>
      return
    })mlir"),
            "expected symbol 'T' over a prefix of path [B], but got path [B, "
            "S];symbol 'T' is bound here");
}

TEST_F(SymbolBindingsTest, ComponentOverAnotherPath) {
  EXPECT_EQ(verify(R"mlir(
    func.func @f(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[T], f32, path = [B, S]>) {
      %e = ragged.empty : !ragged.tensor<[8], f32, path = [B, S, N]>
      return
    })mlir"),
            "expected path component 'N' over path [B, S], but got path "
            "[B];symbol 'N' is bound here");
}

// Symbols of the callee in a substitution are not the caller's.
TEST_F(SymbolBindingsTest, CallsAndKernels) {
  EXPECT_EQ(verify(R"mlir(
    func.func @f(%x: !ragged.tensor<[N], i64>) {
      %0 = ragged.call @g(%x) with {K = #ragged.extent<N>} : (!ragged.tensor<[N], i64>) -> !ragged.tensor<[N], i64>
      %1 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%0 : !ragged.tensor<[N], i64>) {
      ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N], i64>):
        %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N], i64> -> tensor<4xi64>
        ragged.tile_yield %b : tensor<4xi64>
      } -> !ragged.tensor<[N], i64>
      return
    }
    func.func private @g(!ragged.tensor<[K], i64>) -> !ragged.tensor<[K], i64>
    )mlir"),
            "");
}

} // namespace
