//===- Json.h - A small strict JSON reader ----------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_JSON_H
#define NESTED_RUNTIME_JSON_H

#include "Support.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nested::rt {

/// A JSON value. Numbers without fraction and exponent are integers and must
/// fit 64 bits.
struct Json {
  enum class Kind : uint8_t {
    Null,
    Bool,
    Integer,
    Real,
    String,
    Array,
    Object
  };
  Kind kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string string;
  std::vector<Json> items;       // Array: elements. Object: values.
  std::vector<std::string> keys; // Object: keys, in the order of `items`.

  /// The value at `key`, null if there is none.
  const Json *find(std::string_view key) const;
};

/// Parses a complete text (RFC 8259, no duplicate keys, at most 64 levels).
/// Failures are NESTED_INVALID_ARTIFACT and say line, column and reason, after
/// `what`.
Json parseJson(std::string_view text, const std::string &what);

/// A value with the way that leads to it, for messages like
/// "a.so: manifest: entries[0].args[1].dtype: expected a string". A Node
/// refers to its parent, which must live longer.
class Node {
public:
  Node(const Json &json, const std::string &what) : json(&json), what(&what) {}

  /// Required and optional members of an object.
  Node at(const char *key) const;
  bool has(const char *key) const;
  /// Elements of an array.
  size_t size() const;
  Node at(size_t index) const;
  /// Calls visit for each of them; with a key, of that member if it is there.
  template <typename Function>
  void forEach(const Function &visit) const {
    for (size_t i = 0, count = size(); i < count; ++i)
      visit(at(i));
  }
  template <typename Function>
  void forEach(const char *key, const Function &visit) const {
    if (has(key))
      at(key).forEach(visit);
  }

  const std::string &asString() const;
  int64_t asInteger() const;
  int64_t asInteger(int64_t low, int64_t high) const;
  /// The number of one of `size` things.
  int asIndex(size_t size) const;
  double asNumber() const;
  bool asBool() const;
  std::vector<std::string> asStrings() const;
  void expectArray() const;
  void expectObject() const;

  bool isString() const { return json->kind == Json::Kind::String; }
  bool isNull() const { return json->kind == Json::Kind::Null; }

  /// Members with a default.
  std::string stringOr(const char *key, const char *fallback) const;
  int64_t integerOr(const char *key, int64_t fallback, int64_t low,
                    int64_t high) const;
  bool boolOr(const char *key, bool fallback) const;
  double numberOr(const char *key, double fallback) const;

  [[noreturn]] void error(const std::string &message) const;
  std::string where() const;

private:
  Node(const Json &json, const Node *parent, const char *key, size_t index)
      : json(&json), what(parent->what), parent(parent), key(key),
        index(index) {}

  const Json *json;
  const std::string *what;
  const Node *parent = nullptr;
  const char *key = nullptr;
  size_t index = 0;
};

} // namespace nested::rt

#endif // NESTED_RUNTIME_JSON_H
