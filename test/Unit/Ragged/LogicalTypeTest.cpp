//===- LogicalTypeTest.cpp - Tests of the view of ragged and dense types --===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/AsmParser/AsmParser.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace nested::ragged;

namespace {

class LogicalTypeTest : public ::testing::Test {
protected:
  LogicalTypeTest() { context.loadDialect<RaggedDialect>(); }
  LogicalType get(StringRef text) {
    return LogicalType::of(parseType(text, &context));
  }
  SmallVector<StringAttr> path(ArrayRef<StringRef> names) {
    SmallVector<StringAttr> path;
    for (StringRef name : names)
      path.push_back(StringAttr::get(&context, name));
    return path;
  }
  MLIRContext context;
};

TEST_F(LogicalTypeTest, ToTypeIsTheInverse) {
  for (StringRef text :
       {"tensor<128x512xf32>", "tensor<f32>", "!ragged.tensor<[N, 8], f32>",
        "!ragged.tensor<[3, N], i1, path = [B, S]>",
        "!ragged.tensor<[N, M], f64, order = [1, 0]>"}) {
    Type type = parseType(text, &context);
    ASSERT_TRUE(type) << text.str();
    EXPECT_EQ(LogicalType::of(type).toType(), type) << text.str();
  }
}

TEST_F(LogicalTypeTest, OtherTypesHaveNone) {
  EXPECT_FALSE(LogicalType::get(parseType("tensor<?xf32>", &context)));
  EXPECT_FALSE(LogicalType::get(parseType("tensor<*xf32>", &context)));
  EXPECT_FALSE(LogicalType::get(parseType("memref<4xf32>", &context)));
  EXPECT_FALSE(LogicalType::get(parseType("!ragged.partition<[N]>", &context)));
  // A dense tensor has no symbols.
  LogicalType dense = get("!ragged.tensor<[N], f32>");
  dense.path.clear();
  EXPECT_FALSE(dense.toType());
}

TEST_F(LogicalTypeTest, PackedOrder) {
  LogicalType type = get("!ragged.tensor<[3, N, 8, M], f32>");
  EXPECT_EQ(type.order, (SmallVector<int64_t>{1, 3, 0, 2}));
  EXPECT_TRUE(type.hasDefaultOrder());
  EXPECT_EQ(type.getRaggedDims(), (SmallVector<int64_t>{1, 3}));
  EXPECT_EQ(type.getStaticDims(), (SmallVector<int64_t>{0, 2}));
  EXPECT_EQ(type.getRowShape(), (SmallVector<int64_t>{3, 8}));
  EXPECT_EQ(type.getRowExtent().str(), "M * N");
  EXPECT_FALSE(type.areTrailingStatic(1));

  LogicalType columns =
      get("!ragged.tensor<[N, M, 8], f32, order = [1, 0, 2]>");
  EXPECT_FALSE(columns.hasDefaultOrder());
  EXPECT_EQ(formatExtents(columns.getRaggedExtents()), "[M, N]");
  EXPECT_TRUE(columns.areTrailingStatic(1));
  EXPECT_FALSE(columns.areTrailingStatic(2));
}

TEST_F(LogicalTypeTest, ValuesAndPartition) {
  auto type = cast<RaggedTensorType>(
      parseType("!ragged.tensor<[3, N, N], bf16, path = [B, S]>", &context));
  EXPECT_EQ(type.getValuesType(), parseType("tensor<?x3xbf16>", &context));
  EXPECT_EQ(getPartitionType(type),
            parseType("!ragged.partition<[N, N], path = [B, S]>", &context));
}

TEST_F(LogicalTypeTest, Paths) {
  EXPECT_TRUE(isPathPrefix({}, path({"B"})));
  EXPECT_TRUE(isPathPrefix(path({"B"}), path({"B", "S"})));
  EXPECT_FALSE(isPathPrefix(path({"S"}), path({"B", "S"})));
  EXPECT_FALSE(isPathPrefix(path({"B", "S"}), path({"B"})));
  EXPECT_EQ(joinPaths(path({"B"}), path({"B", "S"})), path({"B", "S"}));
  EXPECT_EQ(joinPaths(path({"B", "S"}), {}), path({"B", "S"}));
  EXPECT_FALSE(joinPaths(path({"B"}), path({"C"})));
}

TEST_F(LogicalTypeTest, Substitution) {
  Builder builder(&context);
  auto substitute = [&](StringRef type, StringRef name, StringRef extent) {
    return substituteSymbols(parseType(type, &context),
                             builder.getDictionaryAttr(builder.getNamedAttr(
                                 name, extent::parse(&context, extent))));
  };
  EXPECT_EQ(substitute("!ragged.tensor<[K, 8], f32>", "K", "N * N"),
            parseType("!ragged.tensor<[N * N, 8], f32>", &context));
  EXPECT_EQ(substitute("!ragged.tensor<[T], f32, path = [B, S]>", "S", "R"),
            parseType("!ragged.tensor<[T], f32, path = [B, R]>", &context));
  // A dim that becomes static moves behind the ragged ones.
  EXPECT_EQ(substitute("!ragged.tensor<[K, N], f32>", "K", "3"),
            parseType("!ragged.tensor<[3, N], f32>", &context));
  // Here it must stay where it is, and cannot.
  EXPECT_FALSE(
      substitute("!ragged.tensor<[N, K], f32, order = [1, 0]>", "K", "3"));
  EXPECT_FALSE(substitute("!ragged.tensor<[K], f32>", "K", "-1"));
  EXPECT_EQ(substitute("tensor<4xf32>", "K", "3"),
            parseType("tensor<4xf32>", &context));
}

} // namespace
