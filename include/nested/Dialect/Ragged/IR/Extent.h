//===- Extent.h - Canonical integer expressions over symbols ----*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Construction, printing and simple facts of extents (`#ragged.extent`). The
// functions below are the only way to build one: they keep the canonical form.
//
//   extent ::= sum of terms, highest degree first, a constant last
//   term   ::= atom | Mul(coefficient != 1, atom...) | Mul(atom, atom...)
//   atom   ::= Symbol | FloorDiv(extent, constant) | Min(extents) |
//   Max(extents)
//
// * products are distributed over sums, like terms merged, zeros dropped;
// * in `a floordiv c` the coefficients of `a` lie in [0, c) and have no divisor
//   in common with `c`: whole multiples are taken out;
// * `a mod c` is `a - c * (a floordiv c)`: one spelling of one value. The
//   printer shows it as `mod` again;
// * operands of min and max are flattened, sorted, free of duplicates and of
//   operands that another one is known to bound.
//
// Terms and operands are ordered by degree, structure and name of symbols,
// never by address, so that the printed form is the same in every run.
//
// Symbols are lengths: they are at least 0. Coefficients are 64-bit; where one
// would overflow, or where a product would have more than `maxTerms` terms, the
// result is the null attribute. A null operand gives a null result, so that one
// check after several steps is enough.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_EXTENT_H
#define NESTED_DIALECT_RAGGED_IR_EXTENT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace nested::ragged {

class ExtentAttr;

namespace extent {

constexpr unsigned maxTerms = 1024;

/// Whether `name` can be a symbol: an identifier that is no word of the
/// grammar.
bool isValidSymbolName(llvm::StringRef name);

ExtentAttr constant(mlir::MLIRContext *context, int64_t value);
/// Null if `name` is not a valid symbol name.
ExtentAttr symbol(mlir::StringAttr name);
ExtentAttr symbol(mlir::MLIRContext *context, llvm::StringRef name);

ExtentAttr add(ExtentAttr lhs, ExtentAttr rhs);
ExtentAttr add(ExtentAttr lhs, int64_t rhs);
ExtentAttr sub(ExtentAttr lhs, ExtentAttr rhs);
ExtentAttr neg(ExtentAttr operand);
ExtentAttr mul(ExtentAttr lhs, ExtentAttr rhs);
ExtentAttr mul(ExtentAttr lhs, int64_t rhs);
/// Rounds to minus infinity. Null unless the divisor is positive.
ExtentAttr floorDiv(ExtentAttr lhs, int64_t divisor);
/// Rounds to plus infinity. Null unless the divisor is positive.
ExtentAttr ceilDiv(ExtentAttr lhs, int64_t divisor);
/// In [0, divisor). Null unless the divisor is positive.
ExtentAttr mod(ExtentAttr lhs, int64_t divisor);
/// Null if there are no operands.
ExtentAttr min(llvm::ArrayRef<ExtentAttr> operands);
ExtentAttr max(llvm::ArrayRef<ExtentAttr> operands);
ExtentAttr min(ExtentAttr lhs, ExtentAttr rhs);
ExtentAttr max(ExtentAttr lhs, ExtentAttr rhs);
/// 1 if there are no operands.
ExtentAttr product(mlir::MLIRContext *context,
                   llvm::ArrayRef<ExtentAttr> operands);

/// A total order that does not depend on addresses: negative, 0 or positive.
int compare(ExtentAttr lhs, ExtentAttr rhs);

/// Replaces symbols; one for which `replacement` is null stays.
ExtentAttr
substitute(ExtentAttr extent,
           llvm::function_ref<ExtentAttr(mlir::StringAttr)> replacement);
/// Replaces the symbols that are keys; the values are extents.
ExtentAttr substitute(ExtentAttr extent, mlir::DictionaryAttr replacements);

/// The value for given symbols; nullopt if a symbol has none or if a step
/// overflows 64 bits.
std::optional<int64_t>
evaluate(ExtentAttr extent,
         llvm::function_ref<std::optional<int64_t>(mlir::StringAttr)> value);

/// Whether the form alone proves it, for all symbols that are at least 0. False
/// means "not known".
bool isKnownNonNegative(ExtentAttr extent);
bool isKnownLE(ExtentAttr lhs, ExtentAttr rhs);
/// Whether the two are different for all symbols; only for those whose
/// difference is a constant.
bool isKnownDifferent(ExtentAttr lhs, ExtentAttr rhs);

/// Reads all of `text`; on failure null, and `error` (if given) says why.
ExtentAttr parse(mlir::MLIRContext *context, llvm::StringRef text,
                 std::string *error = nullptr);
/// Reads one extent, without enclosing `<>`.
mlir::FailureOr<ExtentAttr> parse(mlir::AsmParser &parser);
/// Prints with the fewest parentheses that read back as the same object.
void print(ExtentAttr extent, llvm::raw_ostream &os);

} // namespace extent
} // namespace nested::ragged

#endif // NESTED_DIALECT_RAGGED_IR_EXTENT_H
