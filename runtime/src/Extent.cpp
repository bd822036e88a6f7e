//===- Extent.cpp - Extent expressions ------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extent.h"

#include <algorithm>
#include <charconv>

using namespace nested::rt;

namespace nested::rt {
/// Recursive descent; `+ -` bind weaker than `* floordiv mod`, all to the left.
class ExtentParser {
public:
  ExtentParser(std::string_view text,
               const std::function<int(std::string_view)> &resolve,
               Extent &extent, std::string &error)
      : text(text), resolve(resolve), extent(extent), error(error) {}

  bool parse() {
    if (!parseSum(0))
      return false;
    skipSpace();
    if (pos != text.size())
      return fail("text after the end: '" + std::string(text.substr(pos)) +
                  "'");
    return true;
  }

private:
  using Op = Extent::Op;
  static constexpr int maxDepth = 64;

  bool fail(std::string message) {
    error = "extent '" + std::string(text) + "': " + std::move(message);
    return false;
  }

  void skipSpace() {
    while (pos < text.size() && (text[pos] == ' ' || text[pos] == '\t'))
      ++pos;
  }

  bool consume(char c) {
    skipSpace();
    if (pos >= text.size() || text[pos] != c)
      return false;
    ++pos;
    return true;
  }

  static bool isDigit(char c) { return c >= '0' && c <= '9'; }
  static bool isNameStart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '$' || static_cast<unsigned char>(c) >= 0x80;
  }
  static bool isName(char c) {
    return isNameStart(c) || isDigit(c) || c == '.' || c == '\'';
  }

  std::string_view peekWord() {
    skipSpace();
    size_t end = pos;
    if (end < text.size() && isNameStart(text[end]))
      while (end < text.size() && isName(text[end]))
        ++end;
    return text.substr(pos, end - pos);
  }

  bool emit(Op op, int64_t operand = 0) {
    if (op == Op::Constant || op == Op::Slot)
      ++stack;
    else
      --stack;
    if (stack > Extent::maxStack || extent.code.size() >= Extent::maxCode)
      return fail("too complicated");
    extent.code.push_back({op, operand});
    return true;
  }

  bool parseSum(int depth) {
    if (depth > maxDepth)
      return fail("too complicated");
    bool negative = consume('-');
    if (negative && !emit(Op::Constant, 0))
      return false;
    if (!parseProduct(depth))
      return false;
    if (negative && !emit(Op::Sub))
      return false;
    while (true) {
      Op op;
      if (consume('+'))
        op = Op::Add;
      else if (consume('-'))
        op = Op::Sub;
      else
        return true;
      if (!parseProduct(depth) || !emit(op))
        return false;
    }
  }

  bool parseProduct(int depth) {
    if (!parseFactor(depth))
      return false;
    while (true) {
      std::string_view word = peekWord();
      if (word == "floordiv" || word == "mod") {
        pos += word.size();
        int64_t divisor;
        skipSpace();
        if (!parseInteger(divisor))
          return false;
        if (divisor <= 0)
          return fail("the divisor must be positive");
        if (!emit(Op::Constant, divisor) ||
            !emit(word == "mod" ? Op::Mod : Op::FloorDiv))
          return false;
      } else if (consume('*')) {
        if (!parseFactor(depth) || !emit(Op::Mul))
          return false;
      } else {
        return true;
      }
    }
  }

  bool parseInteger(int64_t &value) {
    auto [end, status] =
        std::from_chars(text.data() + pos, text.data() + text.size(), value);
    if (status == std::errc::result_out_of_range)
      return fail("a number does not fit 64 bits");
    if (status != std::errc())
      return fail("expected a number at '" + std::string(text.substr(pos)) +
                  "'");
    pos = static_cast<size_t>(end - text.data());
    return true;
  }

  bool parseFactor(int depth) {
    if (depth > maxDepth)
      return fail("too complicated");
    if (consume('(')) {
      if (!parseSum(depth + 1))
        return false;
      return consume(')') || fail("expected ')'");
    }
    if (consume('-')) {
      return emit(Op::Constant, 0) && parseFactor(depth + 1) && emit(Op::Sub);
    }
    if (pos < text.size() && isDigit(text[pos])) {
      int64_t value;
      return parseInteger(value) && emit(Op::Constant, value);
    }
    std::string_view word = peekWord();
    if (word.empty())
      return fail(pos == text.size()
                      ? std::string("it ends too early")
                      : "unexpected '" + std::string(text.substr(pos)) + "'");
    pos += word.size();
    if (word == "min" || word == "max") {
      if (!consume('('))
        return fail("expected '(' after " + std::string(word));
      if (!parseSum(depth + 1))
        return false;
      if (!consume(','))
        return fail("expected ','");
      // More than two operands associate to the left.
      do {
        if (!parseSum(depth + 1) || !emit(word == "min" ? Op::Min : Op::Max))
          return false;
      } while (consume(','));
      return consume(')') || fail("expected ')'");
    }
    if (word == "floordiv" || word == "mod")
      return fail("unexpected '" + std::string(word) + "'");
    int symbol = resolve(word);
    if (symbol < 0)
      return fail("unknown symbol '" + std::string(word) + "'");
    auto it = std::find(extent.slots.begin(), extent.slots.end(), symbol);
    if (it == extent.slots.end()) {
      if (extent.slots.size() >= Extent::maxSlots)
        return fail("too complicated");
      it = extent.slots.insert(it, symbol);
    }
    return emit(Op::Slot, it - extent.slots.begin());
  }

  std::string_view text;
  const std::function<int(std::string_view)> &resolve;
  Extent &extent;
  std::string &error;
  size_t pos = 0;
  size_t stack = 0;
};
} // namespace nested::rt

std::optional<Extent>
Extent::parse(std::string_view text,
              const std::function<int(std::string_view)> &resolve,
              std::string &error) {
  Extent extent;
  extent.source = text;
  if (!ExtentParser(text, resolve, extent, error).parse())
    return std::nullopt;
  if (extent.isConstant() && !extent.evaluate(nullptr, extent.folded)) {
    error = "extent '" + extent.source + "' overflows 64 bits";
    return std::nullopt;
  }
  return extent;
}

Extent Extent::constant(int64_t value) {
  Extent extent;
  extent.source = std::to_string(value);
  extent.code.push_back({Op::Constant, value});
  extent.folded = value;
  return extent;
}

int Extent::asSymbol() const {
  return code.size() == 1 && code[0].op == Op::Slot ? slots[0] : -1;
}

bool Extent::apply(Op op, int64_t a, int64_t b, int64_t &result) {
  switch (op) {
  case Op::Add:
    return !__builtin_add_overflow(a, b, &result);
  case Op::Sub:
    return !__builtin_sub_overflow(a, b, &result);
  case Op::Mul:
    return !__builtin_mul_overflow(a, b, &result);
  // Divisors are positive constants, so nothing below overflows.
  case Op::FloorDiv:
    result = a / b - (a % b < 0);
    return true;
  case Op::Mod:
    result = a % b + (a % b < 0 ? b : 0);
    return true;
  case Op::Min:
    result = std::min(a, b);
    return true;
  case Op::Max:
    result = std::max(a, b);
    return true;
  case Op::Constant:
  case Op::Slot:
    break;
  }
  return false;
}

bool Extent::evaluate(const int64_t *values, int64_t &result) const {
  int64_t stack[maxStack];
  size_t top = 0;
  for (const Code &c : code) {
    if (c.op == Op::Constant) {
      stack[top++] = c.operand;
    } else if (c.op == Op::Slot) {
      stack[top++] = values[c.operand];
    } else {
      --top;
      if (!apply(c.op, stack[top - 1], stack[top], stack[top - 1]))
        return false;
    }
  }
  result = stack[0];
  return true;
}

bool Extent::evaluateBounds(const int64_t *low, const int64_t *high,
                            int64_t &lowResult, int64_t &highResult) const {
  int64_t lows[maxStack], highs[maxStack];
  size_t top = 0;
  for (const Code &c : code) {
    if (c.op == Op::Constant) {
      lows[top] = highs[top] = c.operand;
      ++top;
      continue;
    }
    if (c.op == Op::Slot) {
      lows[top] = low[c.operand];
      highs[top] = high[c.operand];
      ++top;
      continue;
    }
    --top;
    int64_t aLow = lows[top - 1], aHigh = highs[top - 1];
    int64_t bLow = lows[top], bHigh = highs[top];
    int64_t &rLow = lows[top - 1], &rHigh = highs[top - 1];
    bool fits = true;
    switch (c.op) {
    case Op::Sub:
      fits = apply(c.op, aLow, bHigh, rLow) && apply(c.op, aHigh, bLow, rHigh);
      break;
    case Op::Mul: {
      int64_t p[4];
      fits = apply(c.op, aLow, bLow, p[0]) && apply(c.op, aLow, bHigh, p[1]) &&
             apply(c.op, aHigh, bLow, p[2]) && apply(c.op, aHigh, bHigh, p[3]);
      if (fits) {
        rLow = *std::min_element(p, p + 4);
        rHigh = *std::max_element(p, p + 4);
      }
      break;
    }
    case Op::Mod:
      // Not monotone: exact for one value, the whole range otherwise.
      if (aLow == aHigh) {
        apply(c.op, aLow, bLow, rLow);
        rHigh = rLow;
      } else {
        rLow = 0;
        rHigh = bLow - 1;
      }
      break;
    default: // Monotone in both operands (divisors are constant).
      fits = apply(c.op, aLow, bLow, rLow) && apply(c.op, aHigh, bHigh, rHigh);
    }
    if (!fits)
      return false;
  }
  lowResult = lows[0];
  highResult = highs[0];
  return true;
}
