//===- Json.cpp - A small strict JSON reader ------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

using namespace nested::rt;

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

namespace {
class Parser {
public:
  Parser(std::string_view text, const std::string &what)
      : text(text), what(what) {}

  Json parse() {
    Json value = parseValue(0);
    skipSpace();
    if (pos != text.size())
      error("text after the end of the value");
    return value;
  }

private:
  static constexpr int maxDepth = 64;
  static constexpr size_t maxKeys = 4096;

  [[noreturn]] void error(const char *message) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < pos && i < text.size(); ++i) {
      ++column;
      if (text[i] == '\n') {
        ++line;
        column = 1;
      }
    }
    fail(NESTED_INVALID_ARTIFACT, "%s: line %zu, column %zu: %s", what.c_str(),
         line, column, message);
  }

  char peek() const { return pos < text.size() ? text[pos] : '\0'; }

  void skipSpace() {
    while (pos < text.size() && (text[pos] == ' ' || text[pos] == '\t' ||
                                 text[pos] == '\n' || text[pos] == '\r'))
      ++pos;
  }

  bool consume(char c) {
    if (pos >= text.size() || text[pos] != c)
      return false;
    ++pos;
    return true;
  }

  void expectWord(const char *word) {
    size_t length = std::strlen(word);
    if (text.substr(pos, length) != word)
      error("expected a value");
    pos += length;
  }

  Json parseValue(int depth) {
    if (depth > maxDepth)
      error("more than 64 levels");
    skipSpace();
    Json value;
    switch (peek()) {
    case '{':
      parseObject(value, depth);
      break;
    case '[':
      parseArray(value, depth);
      break;
    case '"':
      value.kind = Json::Kind::String;
      value.string = parseString();
      break;
    case 't':
      expectWord("true");
      value.kind = Json::Kind::Bool;
      value.boolean = true;
      break;
    case 'f':
      expectWord("false");
      value.kind = Json::Kind::Bool;
      break;
    case 'n':
      expectWord("null");
      break;
    default:
      parseNumber(value);
    }
    return value;
  }

  void parseObject(Json &value, int depth) {
    value.kind = Json::Kind::Object;
    ++pos;
    skipSpace();
    if (consume('}'))
      return;
    do {
      skipSpace();
      if (peek() != '"')
        error("expected a key in quotes");
      std::string key = parseString();
      if (value.keys.size() >= maxKeys)
        error("more than 4096 keys in an object");
      if (value.find(key))
        error("the same key twice");
      skipSpace();
      if (!consume(':'))
        error("expected ':'");
      value.items.push_back(parseValue(depth + 1));
      value.keys.push_back(std::move(key));
      skipSpace();
    } while (consume(','));
    if (!consume('}'))
      error("expected ',' or '}'");
  }

  void parseArray(Json &value, int depth) {
    value.kind = Json::Kind::Array;
    ++pos;
    skipSpace();
    if (consume(']'))
      return;
    do {
      value.items.push_back(parseValue(depth + 1));
      skipSpace();
    } while (consume(','));
    if (!consume(']'))
      error("expected ',' or ']'");
  }

  static bool isDigit(char c) { return c >= '0' && c <= '9'; }

  void parseNumber(Json &value) {
    size_t begin = pos;
    bool real = false;
    consume('-');
    if (!isDigit(peek()))
      error("expected a value");
    if (!consume('0'))
      while (isDigit(peek()))
        ++pos;
    if (consume('.')) {
      real = true;
      if (!isDigit(peek()))
        error("expected a digit");
      while (isDigit(peek()))
        ++pos;
    }
    if (peek() == 'e' || peek() == 'E') {
      real = true;
      ++pos;
      if (!consume('+'))
        consume('-');
      if (!isDigit(peek()))
        error("expected a digit");
      while (isDigit(peek()))
        ++pos;
    }
    std::string digits(text.substr(begin, pos - begin));
    if (real) {
      value.kind = Json::Kind::Real;
      // Unlike strtod, from_chars does not follow the locale's decimal point.
      auto [end, status] = std::from_chars(
          digits.data(), digits.data() + digits.size(), value.real);
      if (status != std::errc() || end != digits.data() + digits.size())
        error("the number is out of range");
      return;
    }
    errno = 0;
    value.kind = Json::Kind::Integer;
    value.integer = std::strtoll(digits.c_str(), nullptr, 10);
    if (errno == ERANGE)
      error("the integer does not fit 64 bits");
  }

  unsigned parseHex() {
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
      char c = peek();
      unsigned digit;
      if (isDigit(c))
        digit = static_cast<unsigned>(c - '0');
      else if (c >= 'a' && c <= 'f')
        digit = static_cast<unsigned>(c - 'a') + 10;
      else if (c >= 'A' && c <= 'F')
        digit = static_cast<unsigned>(c - 'A') + 10;
      else
        error("expected four hexadecimal digits");
      result = result * 16 + digit;
      ++pos;
    }
    return result;
  }

  static void appendUtf8(std::string &out, unsigned code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xC0 | (code >> 6));
      out += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      out += static_cast<char>(0xE0 | (code >> 12));
      out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      out += static_cast<char>(0xF0 | (code >> 18));
      out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
      out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      out += static_cast<char>(0x80 | (code & 0x3F));
    }
  }

  void parseEscape(std::string &out) {
    char c = peek();
    ++pos;
    switch (c) {
    case '"':
    case '\\':
    case '/':
      out += c;
      return;
    case 'b':
      out += '\b';
      return;
    case 'f':
      out += '\f';
      return;
    case 'n':
      out += '\n';
      return;
    case 'r':
      out += '\r';
      return;
    case 't':
      out += '\t';
      return;
    case 'u': {
      unsigned code = parseHex();
      if (code >= 0xDC00 && code < 0xE000)
        error("half of a surrogate pair");
      if (code >= 0xD800 && code < 0xDC00) {
        if (!consume('\\') || !consume('u'))
          error("half of a surrogate pair");
        unsigned low = parseHex();
        if (low < 0xDC00 || low >= 0xE000)
          error("half of a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      }
      if (code == 0)
        error("a zero character in a string");
      appendUtf8(out, code);
      return;
    }
    default:
      error("unknown escape");
    }
  }

  /// Copies one character of more than one byte, checked.
  void parseMultibyte(std::string &out) {
    auto first = static_cast<unsigned char>(text[pos]);
    int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    if (first < 0xC2 || first > 0xF4 ||
        text.size() - pos <= static_cast<size_t>(more))
      error("not UTF-8");
    unsigned code = first & (0x3F >> more);
    for (int i = 1; i <= more; ++i) {
      auto next = static_cast<unsigned char>(text[pos + i]);
      if ((next & 0xC0) != 0x80)
        error("not UTF-8");
      code = (code << 6) | (next & 0x3F);
    }
    static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    if (code < least[more] || code > 0x10FFFF ||
        (code >= 0xD800 && code < 0xE000))
      error("not UTF-8");
    out.append(text, pos, static_cast<size_t>(more) + 1);
    pos += static_cast<size_t>(more) + 1;
  }

  std::string parseString() {
    std::string out;
    ++pos;
    while (true) {
      if (pos >= text.size())
        error("the text ends inside a string");
      auto c = static_cast<unsigned char>(text[pos]);
      if (c == '"') {
        ++pos;
        return out;
      }
      if (c < 0x20)
        error("a control character in a string");
      if (c >= 0x80) {
        parseMultibyte(out);
        continue;
      }
      ++pos;
      if (c == '\\')
        parseEscape(out);
      else
        out += static_cast<char>(c);
    }
  }

  std::string_view text;
  const std::string &what;
  size_t pos = 0;
};
} // namespace

const Json *Json::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key)
      return &items[i];
  return nullptr;
}

Json nested::rt::parseJson(std::string_view text, const std::string &what) {
  return Parser(text, what).parse();
}

//===----------------------------------------------------------------------===//
// Node
//===----------------------------------------------------------------------===//

std::string Node::where() const {
  if (!parent)
    return "";
  std::string path = parent->where();
  if (!key)
    return path + '[' + std::to_string(index) + ']';
  return path.empty() ? key : path + '.' + key;
}

void Node::error(const std::string &message) const {
  std::string path = where();
  fail(NESTED_INVALID_ARTIFACT, "%s: %s%s%s", what->c_str(), path.c_str(),
       path.empty() ? "" : ": ", message.c_str());
}

void Node::expectObject() const {
  if (json->kind != Json::Kind::Object)
    error("expected an object");
}

void Node::expectArray() const {
  if (json->kind != Json::Kind::Array)
    error("expected an array");
}

Node Node::at(const char *name) const {
  expectObject();
  const Json *member = json->find(name);
  if (!member)
    error(format("'%s' is missing", name));
  return Node(*member, this, name, 0);
}

bool Node::has(const char *name) const {
  expectObject();
  const Json *member = json->find(name);
  return member && member->kind != Json::Kind::Null;
}

size_t Node::size() const {
  expectArray();
  return json->items.size();
}

Node Node::at(size_t i) const {
  expectArray();
  return Node(json->items.at(i), this, nullptr, i);
}

const std::string &Node::asString() const {
  if (json->kind != Json::Kind::String)
    error("expected a string");
  return json->string;
}

int64_t Node::asInteger() const {
  if (json->kind != Json::Kind::Integer)
    error("expected an integer");
  return json->integer;
}

int64_t Node::asInteger(int64_t low, int64_t high) const {
  int64_t value = asInteger();
  if (value < low || value > high)
    error(format("%lld is out of range (%lld to %lld)",
                 static_cast<long long>(value), static_cast<long long>(low),
                 static_cast<long long>(high)));
  return value;
}

int Node::asIndex(size_t size) const {
  return static_cast<int>(asInteger(0, static_cast<int64_t>(size) - 1));
}

std::vector<std::string> Node::asStrings() const {
  std::vector<std::string> strings;
  forEach([&](const Node &n) { strings.push_back(n.asString()); });
  return strings;
}

double Node::asNumber() const {
  if (json->kind == Json::Kind::Integer)
    return static_cast<double>(json->integer);
  if (json->kind != Json::Kind::Real)
    error("expected a number");
  return json->real;
}

bool Node::asBool() const {
  if (json->kind != Json::Kind::Bool)
    error("expected true or false");
  return json->boolean;
}

std::string Node::stringOr(const char *name, const char *fallback) const {
  return has(name) ? at(name).asString() : fallback;
}

int64_t Node::integerOr(const char *name, int64_t fallback, int64_t low,
                        int64_t high) const {
  return has(name) ? at(name).asInteger(low, high) : fallback;
}

bool Node::boolOr(const char *name, bool fallback) const {
  return has(name) ? at(name).asBool() : fallback;
}

double Node::numberOr(const char *name, double fallback) const {
  return has(name) ? at(name).asNumber() : fallback;
}
