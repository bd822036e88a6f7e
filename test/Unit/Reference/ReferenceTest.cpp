//===- ReferenceTest.cpp - Numbers of the reference interpreter -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Reference/Reference.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace nested;
using namespace nested::reference;

namespace {
class ReferenceTest : public testing::Test {
protected:
  ReferenceTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// The results of the only entry; none, and `errors`, if it fails.
  std::vector<RaggedValue> run(StringRef text, ArrayRef<Argument> arguments,
                               const Options &options = {},
                               bool roundResults = true) {
    errors.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return {};
    func::FuncOp entry = findEntry(*module, "");
    if (!entry)
      return {};
    auto results = reference::run(entry, arguments, options, roundResults);
    return succeeded(results) ? std::move(*results)
                              : std::vector<RaggedValue>();
  }

  /// Applies a body to the numbers, one at a time; it yields %r.
  std::vector<double> mapFloats(StringRef body, std::vector<double> x,
                                StringRef type = "f64",
                                const Options &options = {},
                                bool roundResults = true) {
    std::string text =
        ("func.func @f(%x: tensor<" + Twine(x.size()) + "xf64>) -> tensor<" +
         Twine(x.size()) + "x" + type + "> { %y = ragged.map ins(%x : tensor<" +
         Twine(x.size()) + "xf64>) { ^bb0(%a: f64): " + body +
         " ragged.yield %r : " + type + " } -> tensor<" + Twine(x.size()) +
         "x" + type + "> return %y : tensor<" + Twine(x.size()) + "x" + type +
         "> }")
            .str();
    Argument argument;
    argument.dtype = DType::F64;
    argument.data = x.data();
    auto results = run(text, argument, options, roundResults);
    std::vector<double> numbers;
    for (const RaggedValue &result : results)
      for (Number number : result.instances[0].data)
        numbers.push_back(isFloat(result.instances[0].dtype)
                              ? number.f
                              : static_cast<double>(number.i));
    return numbers;
  }

  /// The same for two integers of a type and one result.
  int64_t mapIntegers(StringRef type, int64_t a, int64_t b, StringRef body,
                      StringRef resultType = "") {
    if (resultType.empty())
      resultType = type;
    std::string text =
        ("func.func @f(%x: tensor<i64>, %y: tensor<i64>) -> tensor<" +
         resultType +
         "> { %z = ragged.map ins(%x, %y : tensor<i64>, tensor<i64>) { "
         "^bb0(%wa: i64, %wb: i64): " +
         (type == "i64" ? Twine("%zero = arith.constant 0 : i64 "
                                "%a = arith.addi %wa, %zero : i64 "
                                "%b = arith.addi %wb, %zero : i64 ")
                        : "%a = arith.trunci %wa : i64 to " + Twine(type) +
                              " %b = arith.trunci %wb : i64 to " + type + " ") +
         body + " ragged.yield %r : " + resultType + " } -> tensor<" +
         resultType + "> return %z : tensor<" + resultType + "> }")
            .str();
    Argument arguments[2];
    arguments[0].dtype = arguments[1].dtype = DType::I64;
    arguments[0].data = &a;
    arguments[1].data = &b;
    auto results = run(text, arguments);
    return results.empty() ? 987654321 : results[0].instances[0].data[0].i;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string errors;
};
} // namespace

static double nan_() { return std::numeric_limits<double>::quiet_NaN(); }

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

TEST_F(ReferenceTest, FloatArithmetic) {
  using V = std::vector<double>;
  auto unary = [&](StringRef op, V x) {
    return mapFloats(("%r = " + op + " %a : f64").str(), x);
  };
  EXPECT_EQ(unary("arith.negf", {1, -2}), (V{-1, 2})) << errors;
  EXPECT_EQ(unary("math.absf", {1, -2}), (V{1, 2})) << errors;
  EXPECT_EQ(unary("math.sqrt", {4, 9}), (V{2, 3})) << errors;
  EXPECT_EQ(unary("math.rsqrt", {4}), (V{0.5})) << errors;
  EXPECT_EQ(unary("math.floor", {-1.5, 1.5}), (V{-2, 1})) << errors;
  EXPECT_EQ(unary("math.ceil", {-1.5, 1.5}), (V{-1, 2})) << errors;
  EXPECT_EQ(unary("math.trunc", {-1.5, 1.5}), (V{-1, 1})) << errors;
  EXPECT_EQ(unary("math.round", {0.5, 1.5, -2.5}), (V{1, 2, -3})) << errors;
  EXPECT_EQ(unary("math.roundeven", {0.5, 1.5, -2.5}), (V{0, 2, -2})) << errors;
  EXPECT_DOUBLE_EQ(unary("math.exp", {1})[0], std::exp(1.0));
  EXPECT_DOUBLE_EQ(unary("math.log1p", {1e-10})[0], std::log1p(1e-10));
  EXPECT_DOUBLE_EQ(unary("math.erf", {0.5})[0], std::erf(0.5));
  EXPECT_DOUBLE_EQ(unary("math.tanh", {0.5})[0], std::tanh(0.5));
  auto two = [&](StringRef op, double a, double b) {
    return mapFloats(("%c = arith.constant " + std::to_string(b) +
                      " : f64 %r = " + op + " %a, %c : f64")
                         .str(),
                     {a})[0];
  };
  EXPECT_EQ(two("arith.subf", 1, 3), -2);
  EXPECT_EQ(two("arith.divf", 1, 4), 0.25);
  EXPECT_EQ(two("arith.remf", -7, 4), -3);
  EXPECT_EQ(two("math.powf", 2, 10), 1024);
  EXPECT_EQ(two("math.copysign", 2, -1), -2);
}

// R10: NaN propagates through maximum and minimum; the other pair ignores it.
TEST_F(ReferenceTest, NaNAndZero) {
  auto two = [&](StringRef op, double a) {
    return mapFloats(
        ("%c = arith.constant 1.0 : f64 %r = " + op + " %c, %a : f64").str(),
        {a})[0];
  };
  EXPECT_TRUE(std::isnan(two("arith.maximumf", nan_())));
  EXPECT_TRUE(std::isnan(two("arith.minimumf", nan_())));
  EXPECT_EQ(two("arith.maxnumf", nan_()), 1);
  EXPECT_EQ(two("arith.minnumf", nan_()), 1);
  auto zero = mapFloats("%c = arith.constant 0.0 : f64 "
                        "%r = arith.maximumf %a, %c : f64",
                        {-0.0});
  EXPECT_FALSE(std::signbit(zero[0]));
  auto compare = [&](StringRef predicate, double a) {
    return mapFloats(("%c = arith.constant 1.0 : f64 %r = arith.cmpf " +
                      predicate + ", %a, %c : f64")
                         .str(),
                     {a}, "i1")[0];
  };
  EXPECT_EQ(compare("olt", 0.5), 1);
  EXPECT_EQ(compare("olt", nan_()), 0);
  EXPECT_EQ(compare("ult", nan_()), 1);
  EXPECT_EQ(compare("one", nan_()), 0);
  EXPECT_EQ(compare("une", nan_()), 1);
  EXPECT_EQ(compare("uno", nan_()), 1);
  EXPECT_EQ(compare("oeq", 1), 1);
}

TEST_F(ReferenceTest, FloatConversions) {
  using V = std::vector<double>;
  EXPECT_EQ(mapFloats("%r = arith.fptosi %a : f64 to i8",
                      {1.9, -1.9, 300, -300, nan_()}, "i8"),
            (V{1, -1, 127, -128, 0}));
  EXPECT_EQ(mapFloats("%r = arith.fptoui %a : f64 to i32", {1.9, -1.9}, "i32"),
            (V{1, 0}));
  EXPECT_EQ(mapFloats("%f = arith.truncf %a : f64 to f32 "
                      "%r = arith.bitcast %f : f32 to i32",
                      {1}, "i32"),
            (V{0x3f800000}));
}

// Values stay wide unless each is to be rounded; results are always rounded.
TEST_F(ReferenceTest, Rounding) {
  double x = 1.0 + 0x1p-30;
  StringRef body = "%f = arith.truncf %a : f64 to f32 "
                   "%o = arith.constant 1.0 : f32 "
                   "%s = arith.subf %f, %o : f32 "
                   "%r = arith.extf %s : f32 to f64";
  EXPECT_EQ(mapFloats(body, {x})[0], 0x1p-30);
  Options each;
  each.roundEach = true;
  EXPECT_EQ(mapFloats(body, {x}, "f64", each)[0], 0);
  EXPECT_EQ(mapFloats("%r = arith.truncf %a : f64 to f32", {x}, "f32")[0], 1);
  EXPECT_EQ(mapFloats("%r = arith.truncf %a : f64 to f32", {x}, "f32", {},
                      /*roundResults=*/false)[0],
            x);
}

TEST_F(ReferenceTest, RoundTo) {
  EXPECT_EQ(roundTo(DType::BF16, 1.0 + 0x1p-8), 1.0); // A tie: even.
  EXPECT_EQ(roundTo(DType::BF16, 1.0 + 0x1.8p-7), 1 + 0x1p-6);
  EXPECT_EQ(roundTo(DType::F16, 65520.0),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(roundTo(DType::F16, 0x1p-24), 0x1p-24); // Subnormal.
  EXPECT_EQ(roundTo(DType::F16, 0x1p-26), 0);
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    EXPECT_TRUE(std::isnan(roundTo(dtype, nan_())));
    char memory[8];
    Number number;
    number.f = -2.5;
    writeNumber(dtype, number, memory);
    EXPECT_EQ(readNumber(dtype, memory).f, -2.5);
  }
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

TEST_F(ReferenceTest, IntegersWrap) {
  EXPECT_EQ(mapIntegers("i8", 100, 100, "%r = arith.addi %a, %b : i8"), -56)
      << errors;
  EXPECT_EQ(mapIntegers("i8", -128, 1, "%r = arith.subi %a, %b : i8"), 127);
  EXPECT_EQ(mapIntegers("i16", 300, 300, "%r = arith.muli %a, %b : i16"),
            int16_t(90000));
  EXPECT_EQ(mapIntegers("i64", INT64_MAX, 1, "%r = arith.addi %a, %b : i64"),
            INT64_MIN);
  EXPECT_EQ(mapIntegers("i64", INT64_MIN, -1, "%r = arith.divsi %a, %b : i64"),
            INT64_MIN);
  EXPECT_EQ(mapIntegers("i1", 1, 1, "%r = arith.addi %a, %b : i1"), 0);
}

TEST_F(ReferenceTest, IntegerDivision) {
  auto apply = [&](StringRef op, int64_t a, int64_t b) {
    return mapIntegers("i32", a, b, ("%r = " + op + " %a, %b : i32").str());
  };
  EXPECT_EQ(apply("arith.divsi", -7, 2), -3) << errors;
  EXPECT_EQ(apply("arith.remsi", -7, 2), -1);
  EXPECT_EQ(apply("arith.floordivsi", -7, 2), -4);
  EXPECT_EQ(apply("arith.floordivsi", 7, -2), -4);
  EXPECT_EQ(apply("arith.floordivsi", 7, 2), 3);
  EXPECT_EQ(apply("arith.ceildivsi", -7, 2), -3);
  EXPECT_EQ(apply("arith.ceildivsi", 7, 2), 4);
  EXPECT_EQ(apply("arith.divui", -1, 2), 0x7fffffff);
  EXPECT_EQ(apply("arith.remui", -1, 16), 15);
  EXPECT_EQ(apply("arith.divsi", 1, 0), 0); // R11
}

TEST_F(ReferenceTest, IntegerBits) {
  auto apply = [&](StringRef op, int64_t a, int64_t b) {
    return mapIntegers("i8", a, b, ("%r = " + op + " %a, %b : i8").str());
  };
  EXPECT_EQ(apply("arith.shli", 1, 7), -128) << errors;
  EXPECT_EQ(apply("arith.shrsi", -128, 7), -1);
  EXPECT_EQ(apply("arith.shrui", -128, 7), 1);
  EXPECT_EQ(apply("arith.maxui", -1, 1), -1);
  EXPECT_EQ(apply("arith.maxsi", -1, 1), 1);
  EXPECT_EQ(apply("arith.xori", -1, 1), -2);
  EXPECT_EQ(apply("math.ipowi", 3, 4), 81);
  EXPECT_EQ(apply("math.ipowi", 3, -1), 0);
  EXPECT_EQ(apply("math.ipowi", -1, -3), -1);
  EXPECT_EQ(apply("arith.shli", 1, 8), 0); // R11
  EXPECT_EQ(mapIntegers("i8", 4, 0, "%r = math.ctlz %a : i8"), 5);
  EXPECT_EQ(mapIntegers("i8", 4, 0, "%r = math.cttz %a : i8"), 2);
  EXPECT_EQ(mapIntegers("i8", -1, 0, "%r = math.ctpop %a : i8"), 8);
  EXPECT_EQ(mapIntegers("i1", 1, 0, "%r = arith.extsi %a : i1 to i32", "i32"),
            -1);
  EXPECT_EQ(mapIntegers("i1", 1, 0, "%r = arith.extui %a : i1 to i32", "i32"),
            1);
  EXPECT_EQ(mapIntegers("i8", -1, 1, "%r = arith.cmpi ult, %a, %b : i8", "i1"),
            0);
  EXPECT_EQ(mapIntegers("i8", -1, 1, "%r = arith.cmpi slt, %a, %b : i8", "i1"),
            1);
}

TEST_F(ReferenceTest, IntegerReductionsWrap) {
  int8_t data[] = {100, 100, -128, 2};
  Argument x;
  x.dtype = DType::I8;
  x.data = data;
  x.lengths = {std::vector<int64_t>{2, 0, 2}};
  auto results = run(R"(
    func.func @f(%x: !ragged.tensor<[N], i8>) -> (
        !ragged.tensor<[], i8>, !ragged.tensor<[], i8>, !ragged.tensor<[], i8>) {
      %0 = ragged.reduce sum %x dims [0] : !ragged.tensor<[N], i8> -> !ragged.tensor<[], i8>
      %1 = ragged.reduce prod %x dims [0] : !ragged.tensor<[N], i8> -> !ragged.tensor<[], i8>
      %2 = ragged.reduce max %x dims [0] empty identity : !ragged.tensor<[N], i8> -> !ragged.tensor<[], i8>
      return %0, %1, %2 : !ragged.tensor<[], i8>, !ragged.tensor<[], i8>, !ragged.tensor<[], i8>
    })",
                     x);
  ASSERT_EQ(results.size(), 3u) << errors;
  auto numbers = [](const RaggedValue &value) {
    std::vector<int64_t> list;
    for (const Array &array : value.instances)
      list.push_back(array.data[0].i);
    return list;
  };
  EXPECT_EQ(numbers(results[0]), (std::vector<int64_t>{-56, 0, -126}));
  EXPECT_EQ(numbers(results[1]), (std::vector<int64_t>{16, 1, 0}));
  EXPECT_EQ(numbers(results[2]), (std::vector<int64_t>{100, -128, 2}));
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

TEST_F(ReferenceTest, StridesBaseAndPacking) {
  // Rows of [N, 2] that lie 3 apart, stored with columns 1 apart; sample 0
  // begins at row 1, sample 1 at row 3.
  std::vector<float> data(18);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(i);
  Argument x;
  x.data = data.data();
  x.strides = {3, 1};
  x.lengths = {std::vector<int64_t>{1, 2}};
  x.base = {1, 3};
  x.rowCapacity = 6;
  auto results = run("func.func @f(%x: !ragged.tensor<[N, 2], f32>) -> "
                     "!ragged.tensor<[N, 2], f32> { return %x : "
                     "!ragged.tensor<[N, 2], f32> }",
                     x);
  ASSERT_EQ(results.size(), 1u) << errors;
  std::vector<char> bytes = results[0].getPackedBytes();
  std::vector<float> packed(bytes.size() / 4);
  std::memcpy(packed.data(), bytes.data(), bytes.size());
  EXPECT_EQ(packed, (std::vector<float>{3, 4, 9, 10, 12, 13}));
  EXPECT_EQ(results[0].getRows(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(results[0].numSamples, 2);
}

// Lengths that one argument leaves out come from another, later one.
TEST_F(ReferenceTest, LengthsOfOthers) {
  float data[] = {1, 2, 3, 4, 5};
  Argument arguments[2];
  arguments[0].data = data;
  arguments[0].lengths = {std::nullopt, std::nullopt};
  arguments[1].data = data;
  arguments[1].lengths = {std::vector<int64_t>{2, 1}};
  auto results = run(
      "func.func @f(%x: !ragged.tensor<[N, N], f32>, %y: !ragged.tensor<[N], "
      "f32>) -> !ragged.tensor<[N, N], f32> { return %x : "
      "!ragged.tensor<[N, N], f32> }",
      arguments);
  ASSERT_EQ(results.size(), 1u) << errors;
  EXPECT_EQ(results[0].getLengths(1), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(results[0].instances[1].data[0].f, 5);
}

TEST_F(ReferenceTest, EmptyBatch) {
  Argument x;
  x.lengths = {std::vector<int64_t>{}};
  auto results = run(R"(
    func.func @f(%x: !ragged.tensor<[N, 2], f32>) -> (!ragged.tensor<[N, N, 2], f32>, tensor<2xf32>) {
      %0 = ragged.broadcast %x dims [0, 2] : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[N, N, 2], f32>
      %1 = ragged.reduce mean %x dims [0] batch : !ragged.tensor<[N, 2], f32> -> tensor<2xf32>
      return %0, %1 : !ragged.tensor<[N, N, 2], f32>, tensor<2xf32>
    })",
                     x);
  ASSERT_EQ(results.size(), 2u) << errors;
  EXPECT_EQ(results[0].numSamples, 0);
  EXPECT_EQ(results[0].getPacked().shape,
            (llvm::SmallVector<int64_t, 4>{0, 2}));
  EXPECT_EQ(results[1].instances[0].data[0].f, 0);
}

// [3, N, 8] through ops: broadcast over its static dim, transposed, reduced.
TEST_F(ReferenceTest, StaticDimBeforeRaggedDim) {
  std::vector<float> data(3 * 3 * 2); // 3 rows of [3, 2].
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(i);
  Argument x;
  x.data = data.data();
  x.lengths = {std::vector<int64_t>{2, 1}};
  auto results = run(R"(
    func.func @f(%x: !ragged.tensor<[3, N, 2], f32>)
        -> (!ragged.tensor<[N, 2], f32>, !ragged.tensor<[3, 2], f32>, !ragged.tensor<[2, N, 3], f32>) {
      %0 = ragged.reduce sum %x dims [0] : !ragged.tensor<[3, N, 2], f32> -> !ragged.tensor<[N, 2], f32>
      %1 = ragged.reduce sum %x dims [1] : !ragged.tensor<[3, N, 2], f32> -> !ragged.tensor<[3, 2], f32>
      %2 = ragged.transpose %x permutation [2, 1, 0] : !ragged.tensor<[3, N, 2], f32> -> !ragged.tensor<[2, N, 3], f32>
      return %0, %1, %2 : !ragged.tensor<[N, 2], f32>, !ragged.tensor<[3, 2], f32>, !ragged.tensor<[2, N, 3], f32>
    })",
                     x);
  ASSERT_EQ(results.size(), 3u) << errors;
  // x[a, n, c] = 6 * row(n) + 2 * a + c.
  EXPECT_EQ(results[0].instances[0].data[3].f, 7 + 9 + 11); // n = 1, c = 1
  EXPECT_EQ(results[1].instances[0].data[3].f, 3 + 9);      // a = 1, c = 1
  EXPECT_EQ(results[1].instances[1].data[3].f, 12 + 3);     // of sample 1
  EXPECT_EQ(results[2].instances[0].data[1 * 6 + 1 * 3 + 2].f, 11);
  // Packed again: row by row, [2, 3] each.
  EXPECT_EQ(results[2].getPacked().data[1].f, 2); // row 0, c = 0, a = 1
}
