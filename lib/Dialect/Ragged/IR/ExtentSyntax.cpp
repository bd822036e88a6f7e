//===- ExtentSyntax.cpp - Parser and printer of extents -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   sum     ::= ['-'] product (('+' | '-') product)*
//   product ::= primary (('*' primary) | ('floordiv' | 'mod') integer)*
//   primary ::= integer | identifier | '(' sum ')'
//             | ('min' | 'max') '(' sum (',' sum)* ')'
//
// One grammar over two sources of tokens: an AsmParser and a string.
//
//===----------------------------------------------------------------------===//

#include "ExtentTerms.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nested::ragged;
using namespace nested::ragged::extent;

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

namespace {

/// Tokens of an AsmParser.
class AsmTokens {
public:
  explicit AsmTokens(AsmParser &parser) : parser(parser) {}

  MLIRContext *getContext() { return parser.getContext(); }
  bool consume(char c) {
    switch (c) {
    case '+':
      return succeeded(parser.parseOptionalPlus());
    case '-':
      return succeeded(parser.parseOptionalMinus());
    case '*':
      return succeeded(parser.parseOptionalStar());
    case '(':
      return succeeded(parser.parseOptionalLParen());
    case ')':
      return succeeded(parser.parseOptionalRParen());
    case ',':
      return succeeded(parser.parseOptionalComma());
    }
    return false;
  }
  bool consumeKeyword(StringRef word) {
    return succeeded(parser.parseOptionalKeyword(word));
  }
  std::optional<StringRef> identifier() {
    StringRef name;
    if (failed(parser.parseOptionalKeyword(&name)))
      return std::nullopt;
    return name;
  }
  /// Nullopt if there is none; failure if it does not fit.
  OptionalParseResult integer(int64_t &value) {
    return parser.parseOptionalInteger(value);
  }
  ParseResult error(const Twine &message) {
    return parser.emitError(parser.getCurrentLocation(), message);
  }

private:
  AsmParser &parser;
};

/// Tokens of a string.
class StringTokens {
public:
  StringTokens(MLIRContext *context, StringRef text, std::string *message)
      : context(context), text(text), message(message) {}

  MLIRContext *getContext() { return context; }
  bool consume(char c) {
    text = text.ltrim();
    return text.consume_front(StringRef(&c, 1));
  }
  bool consumeKeyword(StringRef word) {
    StringRef saved = text;
    if (identifier() == word)
      return true;
    text = saved;
    return false;
  }
  std::optional<StringRef> identifier() {
    text = text.ltrim();
    if (text.empty() || !(llvm::isAlpha(text[0]) || text[0] == '_'))
      return std::nullopt;
    StringRef name = text.take_while([](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
    });
    text = text.drop_front(name.size());
    return name;
  }
  OptionalParseResult integer(int64_t &value) {
    text = text.ltrim();
    StringRef digits = text.take_while(llvm::isDigit);
    if (digits.empty())
      return std::nullopt;
    text = text.drop_front(digits.size());
    if (digits.getAsInteger(10, value))
      return error("integer value too large");
    return ParseResult(success());
  }
  ParseResult error(const Twine &text) {
    if (message && message->empty())
      *message = text.str();
    return failure();
  }
  bool isAtEnd() { return text.trim().empty(); }
  StringRef rest() { return text.trim(); }

private:
  MLIRContext *context;
  StringRef text;
  std::string *message;
};

template <typename Tokens>
class ExtentParser {
public:
  explicit ExtentParser(Tokens &tokens) : tokens(tokens) {}

  ParseResult parseSum(ExtentAttr &result) {
    // Bounds the stack.
    if (++depth > 128)
      return tokens.error("extent is nested too deeply");
    bool isNegative = tokens.consume('-');
    if (parseProduct(result) ||
        check(result, isNegative ? neg(result) : result))
      return failure();
    while (true) {
      bool isPlus = tokens.consume('+');
      if (!isPlus && !tokens.consume('-'))
        break;
      ExtentAttr rhs;
      if (parseProduct(rhs) ||
          check(result, isPlus ? add(result, rhs) : sub(result, rhs)))
        return failure();
    }
    --depth;
    return success();
  }

private:
  ParseResult check(ExtentAttr &result, ExtentAttr value) {
    if (!value)
      return tokens.error("extent overflows 64 bits or has too many terms");
    result = value;
    return success();
  }

  ParseResult parseDivisor(int64_t &divisor, StringRef what) {
    OptionalParseResult parsed = tokens.integer(divisor);
    if (parsed.has_value() && failed(*parsed))
      return failure();
    if (!parsed.has_value() || divisor <= 0)
      return tokens.error("expected a positive constant after '" + what + "'");
    return success();
  }

  ParseResult parseProduct(ExtentAttr &result) {
    if (parsePrimary(result))
      return failure();
    while (true) {
      int64_t divisor;
      ExtentAttr rhs;
      if (tokens.consume('*')) {
        if (parsePrimary(rhs) || check(result, mul(result, rhs)))
          return failure();
      } else if (tokens.consumeKeyword("floordiv")) {
        if (parseDivisor(divisor, "floordiv") ||
            check(result, floorDiv(result, divisor)))
          return failure();
      } else if (tokens.consumeKeyword("mod")) {
        if (parseDivisor(divisor, "mod") || check(result, mod(result, divisor)))
          return failure();
      } else {
        return success();
      }
    }
  }

  ParseResult parsePrimary(ExtentAttr &result) {
    int64_t value;
    if (tokens.consume('(')) {
      if (parseSum(result))
        return failure();
      return tokens.consume(')') ? ParseResult(success())
                                 : tokens.error("expected ')' in extent");
    }
    OptionalParseResult parsed = tokens.integer(value);
    if (parsed.has_value()) {
      result = constant(tokens.getContext(), value);
      return *parsed;
    }
    std::optional<StringRef> name = tokens.identifier();
    if (!name)
      return tokens.error(
          "expected an extent: a symbol, an integer, '(', 'min' or 'max'");
    if (*name == "min" || *name == "max")
      return parseMinMax(*name == "min", result);
    result = symbol(tokens.getContext(), *name);
    if (!result)
      return tokens.error("'" + *name + "' cannot be a symbol");
    return success();
  }

  ParseResult parseMinMax(bool isMin, ExtentAttr &result) {
    StringRef name = isMin ? "min" : "max";
    if (!tokens.consume('('))
      return tokens.error("expected '(' after '" + name + "'");
    SmallVector<ExtentAttr> operands;
    do {
      if (parseSum(operands.emplace_back()))
        return failure();
    } while (tokens.consume(','));
    if (!tokens.consume(')'))
      return tokens.error("expected ',' or ')' in '" + name + "'");
    return check(result, isMin ? min(operands) : max(operands));
  }

  Tokens &tokens;
  unsigned depth = 0;
};

} // namespace

FailureOr<ExtentAttr> extent::parse(AsmParser &parser) {
  AsmTokens tokens(parser);
  ExtentAttr result;
  if (ExtentParser<AsmTokens>(tokens).parseSum(result))
    return failure();
  return result;
}

ExtentAttr extent::parse(MLIRContext *context, StringRef text,
                         std::string *error) {
  if (error)
    error->clear();
  StringTokens tokens(context, text, error);
  ExtentAttr result;
  if (ExtentParser<StringTokens>(tokens).parseSum(result))
    return {};
  if (!tokens.isAtEnd()) {
    (void)tokens.error("unexpected '" + tokens.rest() + "' after extent");
    return {};
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Printer
//===----------------------------------------------------------------------===//

static void printSum(ExtentAttr extent, raw_ostream &os);

/// An atom as an operand of `*` and `floordiv`, which are left-associative.
static void printAtom(ExtentAttr atom, bool isFirst, raw_ostream &os) {
  switch (atom.getKind()) {
  case ExtentKind::Symbol:
    os << atom.getName().getValue();
    return;
  case ExtentKind::FloorDiv: {
    if (!isFirst)
      os << '(';
    ExtentAttr numerator = atom.getOperands()[0];
    bool isPlain = numerator.isSymbol() ||
                   numerator.getKind() == ExtentKind::Min ||
                   numerator.getKind() == ExtentKind::Max;
    if (!isPlain)
      os << '(';
    printSum(numerator, os);
    if (!isPlain)
      os << ')';
    os << " floordiv " << *atom.getOperands()[1].getConstant();
    if (!isFirst)
      os << ')';
    return;
  }
  default:
    os << (atom.getKind() == ExtentKind::Min ? "min(" : "max(");
    llvm::interleaveComma(atom.getOperands(), os,
                          [&](ExtentAttr operand) { printSum(operand, os); });
    os << ')';
  }
}

namespace {
/// A printed term: a sign and what follows it.
struct PrintedTerm {
  bool isNegative;
  std::string text;
};
} // namespace

static PrintedTerm printTerm(const Term &term) {
  PrintedTerm printed{term.coefficient < 0, {}};
  llvm::raw_string_ostream os(printed.text);
  uint64_t magnitude = printed.isNegative ? 0 - uint64_t(term.coefficient)
                                          : uint64_t(term.coefficient);
  bool isFirst = true;
  if (magnitude != 1 || term.atoms.empty()) {
    os << magnitude;
    isFirst = false;
  }
  for (ExtentAttr atom : term.atoms) {
    if (!isFirst)
      os << " * ";
    printAtom(atom, isFirst, os);
    isFirst = false;
  }
  return printed;
}

/// Takes `k * (a mod c)` out of a sum, where that makes it shorter.
static std::optional<PrintedTerm> takeMod(MLIRContext *context, Terms &terms) {
  for (const Term &term : terms) {
    ExtentAttr atom = term.getSingleAtom();
    if (!atom || atom.getKind() != ExtentKind::FloorDiv)
      continue;
    ExtentAttr numerator = atom.getOperands()[0];
    int64_t divisor = *atom.getOperands()[1].getConstant();
    if (term.coefficient % divisor)
      continue;
    int64_t factor = -(term.coefficient / divisor);
    ExtentAttr rest = sub(build(context, terms),
                          mul(sub(numerator, mul(atom, divisor)), factor));
    if (!rest)
      continue;
    Terms restTerms = *getTerms(rest);
    if (restTerms.size() + 1 >= terms.size())
      continue;
    PrintedTerm printed{factor < 0, {}};
    llvm::raw_string_ostream os(printed.text);
    uint64_t magnitude = factor < 0 ? 0 - uint64_t(factor) : uint64_t(factor);
    if (magnitude != 1)
      os << magnitude << " * (";
    bool isPlain = numerator.isSymbol() ||
                   numerator.getKind() == ExtentKind::Min ||
                   numerator.getKind() == ExtentKind::Max;
    os << (isPlain ? "" : "(");
    printSum(numerator, os);
    os << (isPlain ? "" : ")") << " mod " << divisor;
    if (magnitude != 1)
      os << ')';
    terms = std::move(restTerms);
    return printed;
  }
  return std::nullopt;
}

static void printSum(ExtentAttr extent, raw_ostream &os) {
  Terms terms = *getTerms(extent);
  SmallVector<PrintedTerm> printed;
  while (std::optional<PrintedTerm> mod = takeMod(extent.getContext(), terms))
    printed.push_back(std::move(*mod));
  for (const Term &term : terms)
    printed.push_back(printTerm(term));
  if (printed.empty()) {
    os << '0';
    return;
  }
  // `M - N`, not `-N + M`.
  auto *positive = llvm::find_if(
      printed, [](const PrintedTerm &t) { return !t.isNegative; });
  if (positive != printed.end())
    std::rotate(printed.begin(), positive, positive + 1);
  for (auto [i, term] : llvm::enumerate(printed)) {
    if (i == 0)
      os << (term.isNegative ? "-" : "");
    else
      os << (term.isNegative ? " - " : " + ");
    os << term.text;
  }
}

void extent::print(ExtentAttr extent, raw_ostream &os) { printSum(extent, os); }

std::string ExtentAttr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  extent::print(*this, os);
  return text;
}
