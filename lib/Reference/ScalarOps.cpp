//===- ScalarOps.cpp - What arith and math ops mean -----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace nested;
using namespace nested::reference;
using Call = ScalarCall;

static unsigned getWidth(DType dtype) {
  return dtype == DType::I1 ? 1 : 8 * static_cast<unsigned>(getSize(dtype));
}

static uint64_t toUnsigned(DType dtype, int64_t value) {
  unsigned width = getWidth(dtype);
  auto bits = static_cast<uint64_t>(value);
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

uint64_t ScalarCall::u(unsigned k) const {
  return toUnsigned(operandType, slots[operands[k]].i);
}

double reference::maximum(double lhs, double rhs) {
  if (std::isnan(lhs))
    return lhs;
  if (std::isnan(rhs))
    return rhs;
  if (lhs == rhs)
    return std::signbit(lhs) ? rhs : lhs;
  return lhs > rhs ? lhs : rhs;
}

double reference::minimum(double lhs, double rhs) {
  return -maximum(-lhs, -rhs);
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static bool compareFloats(int64_t predicate, double lhs, double rhs) {
  using P = mlir::arith::CmpFPredicate;
  bool unordered = std::isnan(lhs) || std::isnan(rhs);
  switch (static_cast<P>(predicate)) {
  case P::AlwaysFalse:
    return false;
  case P::OEQ:
    return !unordered && lhs == rhs;
  case P::OGT:
    return !unordered && lhs > rhs;
  case P::OGE:
    return !unordered && lhs >= rhs;
  case P::OLT:
    return !unordered && lhs < rhs;
  case P::OLE:
    return !unordered && lhs <= rhs;
  case P::ONE:
    return !unordered && lhs != rhs;
  case P::ORD:
    return !unordered;
  case P::UEQ:
    return unordered || lhs == rhs;
  case P::UGT:
    return unordered || lhs > rhs;
  case P::UGE:
    return unordered || lhs >= rhs;
  case P::ULT:
    return unordered || lhs < rhs;
  case P::ULE:
    return unordered || lhs <= rhs;
  case P::UNE:
    return unordered || lhs != rhs;
  case P::UNO:
    return unordered;
  case P::AlwaysTrue:
    return true;
  }
  llvm_unreachable("covered switch");
}

static bool compareIntegers(const Call &c) {
  using P = mlir::arith::CmpIPredicate;
  switch (static_cast<P>(c.attribute)) {
  case P::eq:
    return c.s(0) == c.s(1);
  case P::ne:
    return c.s(0) != c.s(1);
  case P::slt:
    return c.s(0) < c.s(1);
  case P::sle:
    return c.s(0) <= c.s(1);
  case P::sgt:
    return c.s(0) > c.s(1);
  case P::sge:
    return c.s(0) >= c.s(1);
  case P::ult:
    return c.u(0) < c.u(1);
  case P::ule:
    return c.u(0) <= c.u(1);
  case P::ugt:
    return c.u(0) > c.u(1);
  case P::uge:
    return c.u(0) >= c.u(1);
  }
  llvm_unreachable("covered switch");
}

//===----------------------------------------------------------------------===//
// Division, shifts, powers
//===----------------------------------------------------------------------===//

// R11 says what the dialects leave undefined: 0 for divisions by zero and for
// bits that a shift moves out.

/// Signed quotient and remainder, rounded to zero; wraps for the least number
/// by -1.
struct Quotient {
  int64_t quotient = 0, remainder = 0;
};
static Quotient divideSigned(const Call &c) {
  int64_t lhs = c.s(0), rhs = c.s(1);
  if (rhs == 0)
    return {};
  if (rhs == -1)
    return {static_cast<int64_t>(-static_cast<uint64_t>(lhs)), 0};
  return {lhs / rhs, lhs % rhs};
}

/// Unsigned.
static Quotient divide(const Call &c) {
  uint64_t lhs = c.u(0), rhs = c.u(1);
  if (rhs == 0)
    return {};
  return {static_cast<int64_t>(lhs / rhs), static_cast<int64_t>(lhs % rhs)};
}

static bool isShiftInside(const Call &c) {
  return c.u(1) < getWidth(c.operandType);
}

static int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    // As 1 / base ** -exponent, rounded to zero.
    if (base == 1)
      return 1;
    if (base == -1)
      return exponent % 2 ? -1 : 1;
    return 0;
  }
  uint64_t result = 1, factor = base;
  for (; exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return result;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static int64_t toSigned(DType dtype, double value) {
  if (std::isnan(value))
    return 0;
  unsigned width = getWidth(dtype);
  double limit = std::ldexp(1.0, width - 1);
  auto most = static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1);
  if (value >= limit)
    return most;
  if (value < -limit)
    return -most - 1;
  return static_cast<int64_t>(value);
}

static int64_t toUnsigned(DType dtype, double value) {
  if (std::isnan(value) || value <= 0)
    return 0;
  if (value >= std::ldexp(1.0, getWidth(dtype)))
    return -1;
  return static_cast<int64_t>(static_cast<uint64_t>(value));
}

static void bitcast(Call &c) {
  char memory[8] = {};
  Number number = c.slots[c.operands[0]];
  writeNumber(c.operandType, number, memory);
  c.slots[c.results[0]] = readNumber(c.resultType, memory);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static llvm::StringMap<ScalarFunction> makeTable() {
  llvm::StringMap<ScalarFunction> table;
  auto arith = [&](const char *name, ScalarFunction function) {
    table[("arith." + llvm::Twine(name)).str()] = function;
  };
  auto math = [&](const char *name, ScalarFunction function) {
    table[("math." + llvm::Twine(name)).str()] = function;
  };

  table["ragged.index"] = [](Call &c) { c.setI(c.coordinates[c.attribute]); };
  table["linalg.index"] = table["ragged.index"];

  // Floats.
  arith("addf", [](Call &c) { c.setF(c.f(0) + c.f(1)); });
  arith("subf", [](Call &c) { c.setF(c.f(0) - c.f(1)); });
  arith("mulf", [](Call &c) { c.setF(c.f(0) * c.f(1)); });
  arith("divf", [](Call &c) { c.setF(c.f(0) / c.f(1)); });
  arith("remf", [](Call &c) { c.setF(std::fmod(c.f(0), c.f(1))); });
  arith("negf", [](Call &c) { c.setF(-c.f(0)); });
  arith("maximumf", [](Call &c) { c.setF(maximum(c.f(0), c.f(1))); });
  arith("minimumf", [](Call &c) { c.setF(minimum(c.f(0), c.f(1))); });
  arith("maxnumf", [](Call &c) { c.setF(std::fmax(c.f(0), c.f(1))); });
  arith("minnumf", [](Call &c) { c.setF(std::fmin(c.f(0), c.f(1))); });
  arith("cmpf",
        [](Call &c) { c.setI(compareFloats(c.attribute, c.f(0), c.f(1))); });

  // Integers: addition and the like are the same signed and unsigned; unsigned
  // C++ arithmetic wraps.
  arith("addi", [](Call &c) { c.setI(c.u(0) + c.u(1)); });
  arith("subi", [](Call &c) { c.setI(c.u(0) - c.u(1)); });
  arith("muli", [](Call &c) { c.setI(c.u(0) * c.u(1)); });
  arith("divsi", [](Call &c) { c.setI(divideSigned(c).quotient); });
  arith("remsi", [](Call &c) { c.setI(divideSigned(c).remainder); });
  arith("floordivsi", [](Call &c) {
    Quotient q = divideSigned(c);
    c.setI(q.quotient - (q.remainder && (q.remainder < 0) != (c.s(1) < 0)));
  });
  arith("ceildivsi", [](Call &c) {
    Quotient q = divideSigned(c);
    c.setI(q.quotient + (q.remainder && (q.remainder < 0) == (c.s(1) < 0)));
  });
  arith("divui", [](Call &c) { c.setI(divide(c).quotient); });
  arith("remui", [](Call &c) { c.setI(divide(c).remainder); });
  arith("ceildivui", [](Call &c) {
    Quotient q = divide(c);
    c.setI(q.quotient + (q.remainder != 0));
  });
  arith("andi", [](Call &c) { c.setI(c.u(0) & c.u(1)); });
  arith("ori", [](Call &c) { c.setI(c.u(0) | c.u(1)); });
  arith("xori", [](Call &c) { c.setI(c.u(0) ^ c.u(1)); });
  arith("shli",
        [](Call &c) { c.setI(isShiftInside(c) ? c.u(0) << c.u(1) : 0); });
  arith("shrui",
        [](Call &c) { c.setI(isShiftInside(c) ? c.u(0) >> c.u(1) : 0); });
  arith("shrsi", [](Call &c) {
    c.setI(isShiftInside(c) ? c.s(0) >> c.u(1) : -(c.s(0) < 0));
  });
  arith("maxsi", [](Call &c) { c.setI(std::max(c.s(0), c.s(1))); });
  arith("minsi", [](Call &c) { c.setI(std::min(c.s(0), c.s(1))); });
  arith("maxui", [](Call &c) { c.setI(std::max(c.u(0), c.u(1))); });
  arith("minui", [](Call &c) { c.setI(std::min(c.u(0), c.u(1))); });
  arith("cmpi", [](Call &c) { c.setI(compareIntegers(c)); });
  arith("select", [](Call &c) {
    c.slots[c.results[0]] = c.slots[c.operands[c.u(0) ? 1 : 2]];
  });

  // Conversions.
  arith("extsi", [](Call &c) { c.setI(c.s(0)); });
  arith("extui", [](Call &c) { c.setI(c.u(0)); });
  arith("trunci", [](Call &c) { c.setI(c.u(0)); });
  arith("index_cast", [](Call &c) { c.setI(c.s(0)); });
  arith("index_castui", [](Call &c) { c.setI(c.u(0)); });
  arith("sitofp", [](Call &c) { c.setF(static_cast<double>(c.s(0))); });
  arith("uitofp", [](Call &c) { c.setF(static_cast<double>(c.u(0))); });
  arith("fptosi", [](Call &c) { c.setI(toSigned(c.resultType, c.f(0))); });
  arith("fptoui", [](Call &c) { c.setI(toUnsigned(c.resultType, c.f(0))); });
  arith("extf", [](Call &c) { c.setF(c.f(0)); });
  // A value may be kept wider than its type (R6): only `roundEach` rounds.
  arith("truncf", [](Call &c) { c.setF(c.f(0)); });
  arith("bitcast", bitcast);

  math("absf", [](Call &c) { c.setF(std::fabs(c.f(0))); });
  math("absi", [](Call &c) { c.setI(c.s(0) < 0 ? -c.u(0) : c.u(0)); });
  math("acos", [](Call &c) { c.setF(std::acos(c.f(0))); });
  math("acosh", [](Call &c) { c.setF(std::acosh(c.f(0))); });
  math("asin", [](Call &c) { c.setF(std::asin(c.f(0))); });
  math("asinh", [](Call &c) { c.setF(std::asinh(c.f(0))); });
  math("atan", [](Call &c) { c.setF(std::atan(c.f(0))); });
  math("atanh", [](Call &c) { c.setF(std::atanh(c.f(0))); });
  math("atan2", [](Call &c) { c.setF(std::atan2(c.f(0), c.f(1))); });
  math("cbrt", [](Call &c) { c.setF(std::cbrt(c.f(0))); });
  math("ceil", [](Call &c) { c.setF(std::ceil(c.f(0))); });
  math("clampf",
       [](Call &c) { c.setF(maximum(minimum(c.f(0), c.f(2)), c.f(1))); });
  math("copysign", [](Call &c) { c.setF(std::copysign(c.f(0), c.f(1))); });
  math("cos", [](Call &c) { c.setF(std::cos(c.f(0))); });
  math("cosh", [](Call &c) { c.setF(std::cosh(c.f(0))); });
  math("sin", [](Call &c) { c.setF(std::sin(c.f(0))); });
  math("sinh", [](Call &c) { c.setF(std::sinh(c.f(0))); });
  math("sincos", [](Call &c) {
    double x = c.f(0);
    c.setF(std::sin(x), 0);
    c.setF(std::cos(x), 1);
  });
  math("ctlz", [](Call &c) {
    unsigned width = getWidth(c.operandType), count = 0;
    while (count < width && !(c.u(0) >> (width - 1 - count) & 1))
      ++count;
    c.setI(count);
  });
  math("cttz", [](Call &c) {
    unsigned width = getWidth(c.operandType), count = 0;
    while (count < width && !(c.u(0) >> count & 1))
      ++count;
    c.setI(count);
  });
  math("ctpop", [](Call &c) { c.setI(llvm::popcount(c.u(0))); });
  math("erf", [](Call &c) { c.setF(std::erf(c.f(0))); });
  math("erfc", [](Call &c) { c.setF(std::erfc(c.f(0))); });
  math("exp", [](Call &c) { c.setF(std::exp(c.f(0))); });
  math("exp2", [](Call &c) { c.setF(std::exp2(c.f(0))); });
  math("expm1", [](Call &c) { c.setF(std::expm1(c.f(0))); });
  math("floor", [](Call &c) { c.setF(std::floor(c.f(0))); });
  math("fma", [](Call &c) { c.setF(std::fma(c.f(0), c.f(1), c.f(2))); });
  math("fpowi", [](Call &c) {
    c.setF(std::pow(c.f(0), static_cast<double>(c.slots[c.operands[1]].i)));
  });
  math("ipowi", [](Call &c) { c.setI(power(c.s(0), c.s(1))); });
  math("isfinite", [](Call &c) { c.setI(std::isfinite(c.f(0))); });
  math("isinf", [](Call &c) { c.setI(std::isinf(c.f(0))); });
  math("isnan", [](Call &c) { c.setI(std::isnan(c.f(0))); });
  math("log", [](Call &c) { c.setF(std::log(c.f(0))); });
  math("log10", [](Call &c) { c.setF(std::log10(c.f(0))); });
  math("log1p", [](Call &c) { c.setF(std::log1p(c.f(0))); });
  math("log2", [](Call &c) { c.setF(std::log2(c.f(0))); });
  math("powf", [](Call &c) { c.setF(std::pow(c.f(0), c.f(1))); });
  math("round", [](Call &c) { c.setF(std::round(c.f(0))); });
  math("roundeven", [](Call &c) { c.setF(std::nearbyint(c.f(0))); });
  math("rsqrt", [](Call &c) { c.setF(1 / std::sqrt(c.f(0))); });
  math("sqrt", [](Call &c) { c.setF(std::sqrt(c.f(0))); });
  math("tan", [](Call &c) { c.setF(std::tan(c.f(0))); });
  math("tanh", [](Call &c) { c.setF(std::tanh(c.f(0))); });
  math("trunc", [](Call &c) { c.setF(std::trunc(c.f(0))); });
  return table;
}

ScalarFunction reference::lookupScalarFunction(llvm::StringRef opName) {
  static const llvm::StringMap<ScalarFunction> table = makeTable();
  return table.lookup(opName);
}
