//===- ExtentTest.cpp - Tests of canonical extents ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "gtest/gtest.h"
#include <limits>
#include <map>
#include <random>

using namespace mlir;
using namespace nested::ragged;

namespace {

class ExtentTest : public ::testing::Test {
protected:
  ExtentTest() { context.loadDialect<RaggedDialect>(); }

  ExtentAttr parse(StringRef text) {
    std::string error;
    ExtentAttr extent = extent::parse(&context, text, &error);
    EXPECT_TRUE(extent) << text.str() << ": " << error;
    return extent;
  }
  std::string canonical(StringRef text) { return parse(text).str(); }
  std::string error(StringRef text) {
    std::string error;
    EXPECT_FALSE(extent::parse(&context, text, &error)) << text.str();
    return error;
  }
  std::optional<int64_t>
  evaluate(ExtentAttr extent, const std::map<std::string, int64_t> &values) {
    return extent::evaluate(extent,
                            [&](StringAttr name) -> std::optional<int64_t> {
                              auto value = values.find(name.str());
                              if (value == values.end())
                                return std::nullopt;
                              return value->second;
                            });
  }

  MLIRContext context;
};

TEST_F(ExtentTest, SumsAndProductsAreMerged) {
  EXPECT_EQ(canonical("N + M"), "M + N");
  EXPECT_EQ(canonical("N + N"), "2 * N");
  EXPECT_EQ(canonical("N - N"), "0");
  EXPECT_EQ(canonical("1 + N - 2"), "N - 1");
  EXPECT_EQ(canonical("(N + 1) * (N - 1)"), "N * N - 1");
  EXPECT_EQ(canonical("M * N"), canonical("N * M"));
  EXPECT_EQ(canonical("-N + M"), "M - N");
  EXPECT_EQ(canonical("-N - 1"), "-N - 1");
  EXPECT_EQ(canonical("-3"), "-3");
}

TEST_F(ExtentTest, EqualExtentsAreOneObject) {
  EXPECT_EQ(parse("N * (M + 2)"), parse("2 * N + M * N"));
  EXPECT_EQ(parse("(H - 1) floordiv 2 + 1"), parse("(H + 1) floordiv 2"));
  EXPECT_EQ(parse("N mod 3"), parse("N - 3 * (N floordiv 3)"));
  EXPECT_EQ(parse("2 * (N floordiv 2) + N mod 2"), parse("N"));
  EXPECT_EQ(parse("(5 * N) mod 2"), parse("N mod 2"));
  EXPECT_EQ(parse("max(N, M, N, 0)"), parse("max(M, N)"));
  EXPECT_EQ(parse("min(min(N, 7), min(M, 5))"), parse("min(M, N, 5)"));
  EXPECT_NE(parse("N"), parse("M"));
  EXPECT_NE(parse("N * N"), parse("N * M"));
}

TEST_F(ExtentTest, DivisionTakesOutMultiples) {
  EXPECT_EQ(canonical("N floordiv 1"), "N");
  EXPECT_EQ(canonical("N mod 1"), "0");
  EXPECT_EQ(canonical("(4 * N + 6) floordiv 2"), "2 * N + 3");
  EXPECT_EQ(canonical("(2 * N + 1) floordiv 4"), "N floordiv 2");
  EXPECT_EQ(canonical("(6 * N) mod 3"), "0");
  EXPECT_EQ(canonical("-7 floordiv 2"), "-3");
  EXPECT_EQ(canonical("(0 - 7) floordiv 2"), "-4");
  EXPECT_EQ(canonical("(0 - 7) mod 4"), "1");
  EXPECT_EQ(canonical("(N floordiv 2 + 1) floordiv 3"), "(N + 2) floordiv 6");
  EXPECT_EQ(canonical("(N mod 4) floordiv 4"), "0");
  EXPECT_EQ(canonical("min(N, 7) floordiv 8"), "0");
}

TEST_F(ExtentTest, MinAndMaxDropBoundedOperands) {
  EXPECT_EQ(canonical("max(3, 5)"), "5");
  EXPECT_EQ(canonical("min(N)"), "N");
  EXPECT_EQ(canonical("max(N - 1, N, 0)"), "N");
  EXPECT_EQ(canonical("max(N - 1, 0)"), "max(N - 1, 0)");
  EXPECT_EQ(canonical("min(N + 1, N floordiv 2)"), "N floordiv 2");
}

TEST_F(ExtentTest, PrintsFewParentheses) {
  EXPECT_EQ(canonical("((N)) * ((M))"), "M * N");
  EXPECT_EQ(canonical("2 * (N floordiv 3)"), "2 * (N floordiv 3)");
  EXPECT_EQ(canonical("N floordiv 3 * M"), "M * (N floordiv 3)");
  EXPECT_EQ(canonical("N floordiv 3 + M"), "M + N floordiv 3");
  EXPECT_EQ(canonical("2 * (N mod 3)"), "2 * (N mod 3)");
  EXPECT_EQ(canonical("(N + M) mod 3 - 1"), "(M + N) mod 3 - 1");
}

TEST_F(ExtentTest, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(error("N +"),
            "expected an extent: a symbol, an integer, '(', 'min' or 'max'");
  EXPECT_EQ(error("N floordiv M"),
            "expected a positive constant after 'floordiv'");
  EXPECT_EQ(error("N mod 0"), "expected a positive constant after 'mod'");
  EXPECT_EQ(error("(N"), "expected ')' in extent");
  EXPECT_EQ(error("N M"), "unexpected 'M' after extent");
  EXPECT_EQ(error("99999999999999999999"), "integer value too large");
  EXPECT_EQ(error("9223372036854775807 * N + N"),
            "extent overflows 64 bits or has too many terms");
  EXPECT_EQ(error(std::string(500, '(')), "extent is nested too deeply");
}

TEST_F(ExtentTest, OverflowGivesNull) {
  int64_t most = std::numeric_limits<int64_t>::max();
  ExtentAttr large = extent::constant(&context, most);
  EXPECT_FALSE(extent::add(large, 1));
  EXPECT_FALSE(extent::mul(large, 2));
  EXPECT_FALSE(extent::add(ExtentAttr(), 1));
  EXPECT_FALSE(extent::neg(extent::add(extent::neg(large), -1)));
  EXPECT_FALSE(extent::floorDiv(large, 0));
  EXPECT_FALSE(extent::symbol(&context, "max"));
  EXPECT_FALSE(extent::symbol(&context, "a b"));
  EXPECT_EQ(evaluate(parse("N * N"), {{"N", most}}), std::nullopt);
  EXPECT_EQ(evaluate(parse("N"), {}), std::nullopt);
  // A power of a sum would be too long.
  ExtentAttr sum = parse("a + b + c + d + e + f + g"), power = sum;
  for (int i = 0; i < 20 && power; ++i)
    power = extent::mul(power, sum);
  EXPECT_FALSE(power);
}

TEST_F(ExtentTest, FactsHoldForLengths) {
  auto le = [&](StringRef lhs, StringRef rhs) {
    return extent::isKnownLE(parse(lhs), parse(rhs));
  };
  EXPECT_TRUE(le("1", "1"));
  EXPECT_TRUE(le("N - 1", "N"));
  EXPECT_TRUE(le("max(N - 1, 0)", "N"));
  EXPECT_TRUE(le("max(N - 1, 0) + 1", "N + 1"));
  EXPECT_TRUE(le("min(N, M)", "N"));
  EXPECT_TRUE(le("N", "max(N, M)"));
  EXPECT_TRUE(le("N floordiv 2", "N"));
  EXPECT_TRUE(le("2 * (N floordiv 2)", "N"));
  EXPECT_TRUE(le("(N + 1) floordiv 2", "N + 1"));
  EXPECT_TRUE(le("N mod 4", "3"));
  EXPECT_FALSE(le("N", "M"));
  EXPECT_FALSE(le("N", "N - 1"));
  EXPECT_FALSE(le("1", "N"));
  EXPECT_TRUE(extent::isKnownNonNegative(parse("N * M + 3")));
  EXPECT_TRUE(extent::isKnownNonNegative(parse("N mod 5")));
  EXPECT_FALSE(extent::isKnownNonNegative(parse("N - 1")));
  EXPECT_TRUE(extent::isKnownDifferent(parse("N"), parse("N + 1")));
  EXPECT_FALSE(extent::isKnownDifferent(parse("N"), parse("M")));
}

TEST_F(ExtentTest, Substitutes) {
  Builder builder(&context);
  auto replacements =
      builder.getDictionaryAttr({builder.getNamedAttr("N", parse("M + 1")),
                                 builder.getNamedAttr("M", parse("N"))});
  // At once, not one after the other.
  EXPECT_EQ(extent::substitute(parse("N * M"), replacements),
            parse("M * N + N"));
  EXPECT_EQ(extent::substitute(parse("max(N, K) floordiv 2"), replacements),
            parse("max(M + 1, K) floordiv 2"));
}

TEST_F(ExtentTest, OrderIsTotalAndByName) {
  // Made in another order than sorted.
  ExtentAttr z = parse("zz"), a = parse("aa");
  EXPECT_LT(extent::compare(a, z), 0);
  EXPECT_GT(extent::compare(z, a), 0);
  EXPECT_EQ(extent::compare(a, a), 0);
  std::vector<ExtentAttr> extents;
  for (StringRef text : {"N", "M", "N * N", "3", "N + 1", "N floordiv 2",
                         "max(N, M)", "min(N, M)", "2 * N", "0", "-1"})
    extents.push_back(parse(text));
  for (ExtentAttr l : extents)
    for (ExtentAttr r : extents) {
      EXPECT_EQ(extent::compare(l, r) == 0, l == r)
          << l.str() << " " << r.str();
      EXPECT_EQ(extent::compare(l, r) < 0, extent::compare(r, l) > 0)
          << l.str() << " " << r.str();
    }
}

//===----------------------------------------------------------------------===//
// Random expressions
//===----------------------------------------------------------------------===//

/// An expression as text, and its value computed without the code under test.
struct Sample {
  std::string text;
  int64_t value;
};

class RandomExtent {
public:
  RandomExtent(unsigned seed, const std::map<std::string, int64_t> &values)
      : random(seed), values(values) {}

  Sample make(int depth) {
    switch (depth == 0 ? pick(2) : pick(9)) {
    case 0: {
      auto it = std::next(values.begin(), pick(values.size()));
      return {it->first, it->second};
    }
    case 1: {
      int64_t value = pick(7);
      return {std::to_string(value), value};
    }
    case 2:
    case 3: {
      Sample l = make(depth - 1), r = make(depth - 1);
      return {"(" + l.text + " + " + r.text + ")", l.value + r.value};
    }
    case 4: {
      Sample l = make(depth - 1), r = make(depth - 1);
      return {"(" + l.text + " - " + r.text + ")", l.value - r.value};
    }
    case 5: {
      Sample l = make(depth - 1), r = make(depth > 1 ? 1 : 0);
      return {"(" + l.text + ") * (" + r.text + ")", l.value * r.value};
    }
    case 6: {
      Sample l = make(depth - 1);
      int64_t c = 1 + pick(6);
      return {"((" + l.text + ") floordiv " + std::to_string(c) + ")",
              floorDivide(l.value, c)};
    }
    case 7: {
      Sample l = make(depth - 1);
      int64_t c = 1 + pick(6);
      return {"((" + l.text + ") mod " + std::to_string(c) + ")",
              l.value - c * floorDivide(l.value, c)};
    }
    default: {
      Sample l = make(depth - 1), r = make(depth - 1);
      bool isMin = pick(2) == 0;
      return {(isMin ? "min(" : "max(") + l.text + ", " + r.text + ")",
              isMin ? std::min(l.value, r.value) : std::max(l.value, r.value)};
    }
    }
  }

private:
  size_t pick(size_t count) { return random() % count; }
  static int64_t floorDivide(int64_t value, int64_t divisor) {
    return (value - (value % divisor + divisor) % divisor) / divisor;
  }

  std::mt19937 random;
  const std::map<std::string, int64_t> &values;
};

class RandomExtentTest : public ExtentTest,
                         public ::testing::WithParamInterface<unsigned> {};

TEST_P(RandomExtentTest, CanonicalFormHasTheSameValue) {
  for (unsigned i = 0; i < 40; ++i) {
    unsigned seed = GetParam() * 1000 + i;
    std::mt19937 random(seed);
    std::map<std::string, int64_t> values = {
        {"N", random() % 6}, {"M", random() % 40}, {"K", random() % 3}};
    Sample sample = RandomExtent(seed, values).make(1 + i % 5);
    ExtentAttr extent = parse(sample.text);
    ASSERT_TRUE(extent);
    std::string printed = extent.str();
    EXPECT_EQ(evaluate(extent, values), sample.value)
        << sample.text << " became " << printed;
    EXPECT_EQ(parse(printed), extent) << sample.text << " became " << printed;
    // What is said to be known holds for these symbols.
    if (extent::isKnownNonNegative(extent)) {
      EXPECT_GE(sample.value, 0) << sample.text;
    }
    // Substitution is evaluation.
    ExtentAttr number = extent::substitute(extent, [&](StringAttr name) {
      return extent::constant(&context, values.at(name.str()));
    });
    ASSERT_TRUE(number);
    EXPECT_EQ(number.getConstant(), sample.value) << sample.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomExtentTest, ::testing::Range(0u, 50u));

} // namespace
