//===- LinearForm.cpp - Values as sums of smaller values ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nested::ragged;

/// More terms than this are not worth the search.
static constexpr size_t maxTerms = 16;

bool nested::ragged::variesAlong(const Placed &placed, const LogicalType &whole,
                                 int64_t dim) {
  LogicalType type = LogicalType::of(placed.value);
  for (auto [k, at] : llvm::enumerate(placed.dims))
    if (at == dim)
      return type.extents[k] == whole.extents[dim];
  return false;
}

/// The dims of an input of a map: trailing ones of the result.
static Placed placeInput(Value input, const LogicalType &whole) {
  int64_t rank = LogicalType::of(input).getRank();
  Placed placed{input, {}};
  for (int64_t dim = 0; dim < rank; ++dim)
    placed.dims.push_back(whole.getRank() - rank + dim);
  return placed;
}

/// Dims of an inner whole are dims `dims` of an outer one.
static void replace(Placed &placed, ArrayRef<int64_t> dims) {
  for (int64_t &dim : placed.dims)
    dim = dims[dim];
}
static void replace(Term &term, ArrayRef<int64_t> dims) {
  replace(term.source, dims);
  for (Placed &scale : term.scales)
    replace(scale, dims);
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

namespace {
/// A product of inputs of a map, of which at most one is `main`: the others are
/// scales or gains.
struct Monomial {
  double factor = 1;
  std::optional<unsigned> main;
  SmallVector<unsigned> scales, gains;
};
using Sum = SmallVector<Monomial>;
enum class InputKind { Full, Scale, Gain };
} // namespace

/// Sets `placed` to what a broadcast input repeats.
static InputKind classify(Value input, const LogicalType &whole,
                          Placed &placed) {
  placed = placeInput(input, whole);
  LogicalType type = LogicalType::of(input);
  while (auto broadcast = placed.value.getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> dims(placed.dims);
    placed = {broadcast.getSource(), SmallVector<int64_t>(broadcast.getDims())};
    replace(placed, dims);
  }
  int64_t last = whole.getRank() - 1;
  if (!variesAlong(placed, whole, last) &&
      whole.extents[last].getConstant() != 1)
    return InputKind::Scale;
  if (type.isDense() && type.getRank() == 1)
    return InputKind::Gain;
  return InputKind::Full;
}

/// Sum of products of what the region yields; nullopt if it is not one.
static std::optional<Sum> interpret(Value value, MapOp op,
                                    ArrayRef<InputKind> kinds) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Monomial monomial;
    monomial.main = arg.getArgNumber();
    return Sum{monomial};
  }
  auto inner = [&](Value operand) { return interpret(operand, op, kinds); };
  auto constant = [](Value operand) -> std::optional<double> {
    if (auto number = operand.getDefiningOp<arith::ConstantOp>())
      if (auto attr = dyn_cast<FloatAttr>(number.getValue()))
        return attr.getValueAsDouble();
    return std::nullopt;
  };
  auto scaled = [](std::optional<Sum> sum, double factor) {
    if (sum)
      for (Monomial &monomial : *sum)
        monomial.factor *= factor;
    return sum;
  };
  auto sumOf = [](std::optional<Sum> x,
                  std::optional<Sum> y) -> std::optional<Sum> {
    if (!x || !y || x->size() + y->size() > maxTerms)
      return std::nullopt;
    llvm::append_range(*x, *y);
    return x;
  };
  // One factor must be a scale or a gain alone.
  auto product = [&](std::optional<Sum> x,
                     std::optional<Sum> y) -> std::optional<Sum> {
    if (!x || !y)
      return std::nullopt;
    auto isFactor = [&](const Sum &sum) {
      return sum.size() == 1 && sum[0].main && sum[0].scales.empty() &&
             sum[0].gains.empty() && kinds[*sum[0].main] != InputKind::Full;
    };
    if (!isFactor(*y))
      std::swap(x, y);
    if (!isFactor(*y))
      return std::nullopt;
    const Monomial &by = y->front();
    for (Monomial &monomial : *x) {
      monomial.factor *= by.factor;
      auto &list = kinds[*by.main] == InputKind::Scale ? monomial.scales
                                                       : monomial.gains;
      list.push_back(*by.main);
    }
    return x;
  };
  Operation *def = value.getDefiningOp();
  return llvm::TypeSwitch<Operation *, std::optional<Sum>>(def)
      .Case([&](arith::AddFOp add) {
        return sumOf(inner(add.getLhs()), inner(add.getRhs()));
      })
      .Case([&](arith::SubFOp sub) {
        return sumOf(inner(sub.getLhs()), scaled(inner(sub.getRhs()), -1));
      })
      .Case([&](arith::NegFOp neg) {
        return scaled(inner(neg.getOperand()), -1);
      })
      .Case([&](arith::MulFOp mul) {
        if (std::optional<double> factor = constant(mul.getRhs()))
          return scaled(inner(mul.getLhs()), *factor);
        if (std::optional<double> factor = constant(mul.getLhs()))
          return scaled(inner(mul.getRhs()), *factor);
        return product(inner(mul.getLhs()), inner(mul.getRhs()));
      })
      .Case([&](arith::DivFOp div) -> std::optional<Sum> {
        std::optional<double> factor = constant(div.getRhs());
        if (!factor || *factor == 0)
          return std::nullopt;
        return scaled(inner(div.getLhs()), 1 / *factor);
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<LinearForm> LinearForms::findMap(MapOp op) {
  LinearForm form;
  form.type = LogicalType::of(op.getResult());
  if (form.type.getRank() == 0 || !isa<FloatType>(form.type.elementType))
    return std::nullopt;
  SmallVector<InputKind> kinds;
  SmallVector<Placed> repeated(op.getInputs().size());
  for (auto [input, placed] : llvm::zip(op.getInputs(), repeated)) {
    if (LogicalType::of(input).elementType != form.type.elementType)
      return std::nullopt;
    kinds.push_back(classify(input, form.type, placed));
  }
  std::optional<Sum> sum =
      interpret(op.getBody().front().getTerminator()->getOperand(0), op, kinds);
  if (!sum)
    return std::nullopt;
  for (const Monomial &monomial : *sum) {
    Placed main = placeInput(op.getInputs()[*monomial.main], form.type);
    SmallVector<Term> terms = get(main.value).terms;
    if (form.terms.size() + terms.size() > maxTerms)
      return std::nullopt;
    for (Term &term : terms) {
      replace(term, main.dims);
      term.factor *= monomial.factor;
      for (unsigned scale : monomial.scales)
        term.scales.push_back(repeated[scale]);
      for (unsigned gain : monomial.gains)
        term.gains.push_back(op.getInputs()[gain]);
      form.terms.push_back(std::move(term));
    }
  }
  return form;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

std::optional<LinearForm> LinearForms::findNormalize(NormalizeOp op) {
  if (!normalize || op.getKind() != NormalizeKind::Layer || op.getDims() != 1)
    return std::nullopt;
  LinearForm form = get(op.getSource());
  int64_t last = form.type.getRank() - 1;
  for (Term &term : form.terms) {
    // Smaller than the whole: else nothing is gained by looking inside.
    bool smaller = false;
    for (int64_t dim = 0; dim < last; ++dim)
      smaller |= !variesAlong(term.source, form.type, dim) &&
                 form.type.extents[dim].getConstant() != 1;
    if (!smaller || !term.scales.empty() || !term.gains.empty() || term.norm ||
        !variesAlong(term.source, form.type, last) ||
        !LogicalType::of(term.source.value).areTrailingStatic(1) ||
        term.source.dims.back() != last)
      return std::nullopt;
    term.norm = op;
    if (op.getScale())
      term.gains.push_back(op.getScale());
  }
  if (op.getOffset()) {
    Term offset;
    offset.source = {op.getOffset(), {last}};
    form.terms.push_back(offset);
  }
  return form;
}

LinearForm LinearForms::find(Value value) {
  LinearForm opaque;
  opaque.type = LogicalType::of(value);
  Term term;
  term.source.value = value;
  for (int64_t dim = 0; dim < opaque.type.getRank(); ++dim)
    term.source.dims.push_back(dim);
  opaque.terms.push_back(term);

  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
    LinearForm form = get(broadcast.getSource());
    // Gains and scales are told apart by the last dim.
    int64_t innerLast = form.type.getRank() - 1,
            last = opaque.type.getRank() - 1;
    bool plain = llvm::all_of(form.terms, [](const Term &t) {
      return t.scales.empty() && t.gains.empty() && !t.norm;
    });
    if (!plain && broadcast.getDims()[innerLast] != last)
      return opaque;
    for (Term &each : form.terms)
      replace(each, broadcast.getDims());
    form.type = opaque.type;
    return form;
  }
  if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
    LinearForm form = get(transpose.getSource());
    int64_t last = opaque.type.getRank() - 1;
    if (last < 0 || transpose.getPermutation()[last] != last)
      return opaque;
    SmallVector<int64_t> dims(opaque.type.getRank());
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      dims[from] = to;
    for (Term &each : form.terms)
      replace(each, dims);
    form.type = opaque.type;
    return form;
  }
  std::optional<LinearForm> form;
  if (auto map = dyn_cast_or_null<MapOp>(op))
    form = findMap(map);
  else if (auto norm = dyn_cast_or_null<NormalizeOp>(op))
    form = findNormalize(norm);
  return form ? *form : opaque;
}

const LinearForm &LinearForms::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return *it->second;
  auto form = std::make_unique<LinearForm>(find(value));
  return *(known[value] = std::move(form));
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

void Cost::add(const LogicalType &type, int64_t perElement) {
  // Paths behind the first component multiply by how many there are, which has
  // no symbol in general: more than one.
  constexpr int64_t perComponent = 16;
  for (size_t k = 1; k < type.path.size(); ++k)
    perElement *= perComponent;
  MLIRContext *context = type.getContext();
  formula = extent::add(
      formula, extent::mul(extent::product(context, type.extents), perElement));
}

void Cost::add(const Cost &other) {
  formula = extent::add(formula, other.formula);
}

std::optional<double> Cost::evaluate(int64_t length) const {
  if (!formula)
    return std::nullopt;
  std::optional<int64_t> value = extent::evaluate(
      formula, [&](StringAttr) { return std::optional<int64_t>(length); });
  return value ? std::optional<double>(*value) : std::nullopt;
}

bool Cost::isLess(const Cost &other) const {
  constexpr int64_t lengths[] = {8, 64, 512};
  for (int64_t length : lengths) {
    std::optional<double> mine = evaluate(length), its = other.evaluate(length);
    if (!mine || !its || *mine >= *its)
      return false;
  }
  return true;
}

std::string Cost::str() const { return formula ? formula.str() : "too large"; }

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value TermBuilder::broadcast(const Placed &placed, const LogicalType &whole) {
  LogicalType type = LogicalType::of(placed.value), result = whole;
  // Dense and trailing: aligned as it is (R2).
  if (type.isDense() && placed == placeInput(placed.value, whole))
    return placed.value;
  result.elementType = type.elementType;
  result.order = RaggedTensorType::getDefaultOrder(result.extents);
  if (type == result && placed == placeInput(placed.value, whole))
    return placed.value;
  return TensorBuilder::broadcast(placed.value, placed.dims, result.toType());
}

Value TermBuilder::sum(const LogicalType &whole, ArrayRef<Term> terms) {
  SmallVector<Value> inputs;
  auto add = [&](const Placed &placed) {
    inputs.push_back(convertFloat(broadcast(placed, whole), whole.elementType));
  };
  int64_t last = whole.getRank() - 1;
  for (const Term &term : terms) {
    add(term.source);
    for (const Placed &scale : term.scales)
      add(scale);
    for (Value gain : term.gains)
      add({gain, {last}});
  }
  return map(whole, inputs, [&](OpBuilder &b, Location l, ValueRange x) {
    Value sum;
    unsigned next = 0;
    for (const Term &term : terms) {
      Value value = x[next++];
      for (size_t k = 0; k < term.scales.size() + term.gains.size(); ++k)
        value = makeMul(b, l, value, x[next++]);
      if (term.factor != 1)
        value = makeMul(b, l, value,
                        makeNumber(b, l, value.getType(), term.factor));
      sum = sum ? makeAdd(b, l, sum, value) : value;
    }
    return sum;
  });
}

void nested::ragged::eraseDeadOps(func::FuncOp func) {
  // Users stand behind what they read.
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa_and_present<RaggedDialect>(op->getDialect()) &&
        op->getParentOp() == func)
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}
