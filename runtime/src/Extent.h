//===- Extent.h - Extent expressions ----------------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_EXTENT_H
#define NESTED_RUNTIME_EXTENT_H

#include "Support.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nested::rt {

/// An extent such as "(H - 1) floordiv 2 + 1", parsed from the text that types
/// print. Symbols are numbers given by whoever parses; an extent refers to
/// them through *slots*, its own short list without repetition.
class Extent {
public:
  /// Bounds of every extent, so that evaluation needs no memory of its own.
  static constexpr size_t maxSlots = 32;
  static constexpr size_t maxStack = 32;
  static constexpr size_t maxCode = 1024;

  Extent() = default;

  /// `resolve` maps a name to its symbol number, or to -1 when there is none.
  /// On an error returns nothing and puts the reason into `error`.
  static std::optional<Extent>
  parse(std::string_view text,
        const std::function<int(std::string_view)> &resolve,
        std::string &error);

  static Extent constant(int64_t value);

  const std::string &text() const { return source; }
  const std::vector<int> &symbols() const { return slots; }
  bool isConstant() const { return slots.empty(); }
  int64_t constantValue() const { return folded; }
  /// The symbol that the extent is, -1 if it is anything else.
  int asSymbol() const;

  /// The value for the given values of the slots; false on overflow.
  bool evaluate(const int64_t *values, int64_t &result) const;

  /// Bounds of the value when slot i is anything in low[i]..high[i].
  bool evaluateBounds(const int64_t *low, const int64_t *high,
                      int64_t &lowResult, int64_t &highResult) const;

private:
  friend class ExtentParser;

  enum class Op : uint8_t {
    Constant,
    Slot,
    Add,
    Sub,
    Mul,
    FloorDiv,
    Mod,
    Min,
    Max
  };
  struct Code {
    Op op;
    int64_t operand;
  };

  static bool apply(Op op, int64_t a, int64_t b, int64_t &result);

  std::string source;
  std::vector<Code> code; // Postfix.
  std::vector<int> slots;
  int64_t folded = 0;
};

} // namespace nested::rt

#endif // NESTED_RUNTIME_EXTENT_H
