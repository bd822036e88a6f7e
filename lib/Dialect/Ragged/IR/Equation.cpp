//===- Equation.cpp - Einsum equations
//--------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Equation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace nested::ragged;

std::optional<Equation> Equation::parse(StringRef text, std::string &error) {
  auto [left, right] = text.split("->");
  if (!text.contains("->")) {
    error = "an equation with '->'";
    return std::nullopt;
  }
  Equation equation;
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  for (StringRef term : terms)
    equation.inputs.push_back(term.str());
  equation.output = right.str();
  auto areLetters = [](StringRef term) { return all_of(term, isAlpha); };
  if (!areLetters(right) || !all_of(terms, areLetters)) {
    error = "letters separated by ',' and one '->'";
    return std::nullopt;
  }
  return equation;
}
