# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Extents: integer polynomials over symbols, with floordiv, mod, min and max.

``x.shape[0]`` of a traced value is a :class:`Dim`. Equal extents have one
canonical form, and its text is what the compiler parses.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, Union

from ._errors import TraceError, at_user

Extent = Union[int, "Dim"]
Atom = tuple  # ("symbol", name) | ("floordiv" | "mod", Dim, int) | ("min" | "max", Dim...)
Monomial = tuple  # of atoms, sorted by text


def _atom_text(atom: Atom, alone: bool) -> str:
    kind = atom[0]
    if kind == "symbol":
        return atom[1]
    if kind in ("min", "max"):
        # The compiler's min and max take two operands.
        text = str(atom[-1])
        for operand in reversed(atom[1:-1]):
            text = f"{kind}({operand}, {text})"
        return text
    inner = str(atom[1])
    if not inner.isidentifier():
        inner = f"({inner})"
    text = f"{inner} {kind} {atom[2]}"
    return text if alone else f"({text})"


def _monomial_text(monomial: Monomial, coefficient: int) -> str:
    alone = len(monomial) == 1 and coefficient == 1
    factors = [_atom_text(atom, alone) for atom in monomial]
    if coefficient != 1 or not factors:
        factors.insert(0, str(coefficient))
    return " * ".join(factors)


class Dim:
    """The size of an axis, as an expression over lengths that are not yet known.

    Supports ``+ - * // %`` with integers and other Dims, and may be used as a number in
    traced arithmetic (``x / x.shape[0]``). Comparing Dims whose order depends on lengths
    raises TraceError.
    """

    __slots__ = ("_terms", "_key")
    _terms: tuple[tuple[Monomial, int], ...]
    _key: str

    def __init__(self, terms: Mapping[Monomial, int]):
        ordered = [(m, c) for m, c in terms.items() if c != 0]
        ordered.sort(key=lambda term: (-len(term[0]), [_atom_text(a, False) for a in term[0]]))
        self._terms = tuple(ordered)
        text = ""
        for monomial, coefficient in ordered:
            if text:
                text += " + " if coefficient > 0 else " - "
                coefficient = abs(coefficient)
            text += _monomial_text(monomial, coefficient)
        self._key = text or "0"

    # -- text and identity --

    def __repr__(self) -> str:
        return self._key

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(self._key, spec)

    def __hash__(self) -> int:
        return hash(self._key)

    # -- arithmetic --

    def __add__(self, other: Any) -> Any:
        return _binary(self, other, add, "__add__")

    def __radd__(self, other: Any) -> Any:
        return _binary(other, self, add, "__add__")

    def __sub__(self, other: Any) -> Any:
        return _binary(self, other, lambda a, b: add(a, mul(b, -1)), "__sub__")

    def __rsub__(self, other: Any) -> Any:
        return _binary(other, self, lambda a, b: add(a, mul(b, -1)), "__sub__")

    def __mul__(self, other: Any) -> Any:
        return _binary(self, other, mul, "__mul__")

    def __rmul__(self, other: Any) -> Any:
        return _binary(other, self, mul, "__mul__")

    def __floordiv__(self, other: Any) -> Any:
        return _binary(self, other, floordiv, "__floordiv__", divisor=True)

    def __rfloordiv__(self, other: Any) -> Any:
        return _as_number(other, "__floordiv__", self)

    def __mod__(self, other: Any) -> Any:
        return _binary(self, other, mod, "__mod__", divisor=True)

    def __rmod__(self, other: Any) -> Any:
        return _as_number(other, "__mod__", self)

    def __truediv__(self, other: Any) -> Any:
        return _as_number(self, "__truediv__", other)

    def __rtruediv__(self, other: Any) -> Any:
        return _as_number(other, "__truediv__", self)

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, int) and not isinstance(other, bool) and 0 <= other <= 8:
            result: Extent = 1
            for _ in range(other):
                result = mul(result, self)
            return result
        return _as_number(self, "__pow__", other)

    def __neg__(self) -> Any:
        return mul(self, -1)

    def __pos__(self) -> Any:
        return self

    # -- comparisons: decided on the form, never guessed --

    def __eq__(self, other: Any) -> bool:  # type: ignore[override]
        if not is_extent(other):
            return NotImplemented
        if same(self, other):
            return True
        if never_equal(self, other):
            return False
        raise _undecided(self, "==", other)

    def __ne__(self, other: Any) -> bool:  # type: ignore[override]
        result = self.__eq__(other)
        return result if result is NotImplemented else not result

    def __le__(self, other: Any) -> bool:
        return _compare(self, "<=", other, sub(other, self), sub(sub(self, other), 1))

    def __lt__(self, other: Any) -> bool:
        return _compare(self, "<", other, sub(sub(other, self), 1), sub(self, other))

    def __ge__(self, other: Any) -> bool:
        return _compare(self, ">=", other, sub(self, other), sub(sub(other, self), 1))

    def __gt__(self, other: Any) -> bool:
        return _compare(self, ">", other, sub(sub(self, other), 1), sub(other, self))

    def _unknown(self, what: str) -> TraceError:
        return at_user(
            TraceError(
                f"the size {self} is another number in every sample: {what}; "
                "compute with it as it is (x / x.shape[0]), or with nested.arange, nested.where"
            )
        )

    def __bool__(self) -> bool:
        if nonnegative(sub(self, 1)):
            return True
        raise self._unknown("it is neither true nor false while tracing")

    def __int__(self) -> int:
        raise self._unknown("it can't be made an int")

    def __index__(self) -> int:
        raise self._unknown("it can't be used where Python or NumPy needs an int")

    def __float__(self) -> float:
        raise self._unknown("it can't be made a float")

    # -- as a number in traced computation --

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from ._tracer import dispatch_ufunc

        return dispatch_ufunc(ufunc, method, inputs, kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._unknown("it can't be made an array")


def _undecided(a: Extent, relation: str, b: Extent) -> TraceError:
    return at_user(
        TraceError(f"whether {a} {relation} {b} depends on the lengths, which differ by sample")
    )


def _compare(a: Extent, relation: str, b: Any, yes: Extent, no: Extent) -> bool:
    if not is_extent(b):
        return NotImplemented
    if nonnegative(yes):
        return True
    if nonnegative(no):
        return False
    raise _undecided(a, relation, b)


def _as_number(a: Any, method: str, b: Any) -> Any:
    """Arithmetic that leaves the extents: on traced numbers, one per sample."""
    from ._tracer import extent_arithmetic

    return extent_arithmetic(a, method, b)


def _binary(a: Any, b: Any, op: Callable, method: str, divisor: bool = False) -> Any:
    if is_extent(a) and is_extent(b):
        if not divisor or (isinstance(b, int) and b > 0):
            return op(a, b)
        if isinstance(b, int) and b == 0:
            raise ZeroDivisionError("division of a size by zero")
    return _as_number(a, method, b)


def is_extent(value: Any) -> bool:
    """True for Python integers and Dims, not for bools."""
    return isinstance(value, Dim) or (isinstance(value, int) and not isinstance(value, bool))


def symbol(name: str) -> Dim:
    """The extent that is one symbol."""
    return Dim({(("symbol", name),): 1})


def _terms(value: Extent) -> dict:
    if isinstance(value, Dim):
        return dict(value._terms)
    return {(): value} if value else {}


def _make(terms: Mapping[Monomial, int]) -> Extent:
    kept = {m: c for m, c in terms.items() if c != 0}
    if not kept:
        return 0
    if list(kept) == [()]:
        return kept[()]
    return Dim(kept)


def add(a: Extent, b: Extent) -> Extent:
    """a + b"""
    terms = _terms(a)
    for monomial, coefficient in _terms(b).items():
        terms[monomial] = terms.get(monomial, 0) + coefficient
    return _make(terms)


def sub(a: Extent, b: Extent) -> Extent:
    """a - b"""
    return add(a, mul(b, -1))


def mul(a: Extent, b: Extent) -> Extent:
    """a * b, expanded"""
    terms: dict = {}
    for m1, c1 in _terms(a).items():
        for m2, c2 in _terms(b).items():
            monomial = tuple(sorted(m1 + m2, key=lambda atom: _atom_text(atom, False)))
            terms[monomial] = terms.get(monomial, 0) + c1 * c2
    return _make(terms)


def _divide(a: Extent, b: int) -> tuple[Extent, Extent]:
    """q, r with a == q * b + r, where r has no part that b divides."""
    quotient, rest = {}, {}
    for monomial, c in _terms(a).items():
        q, r = (c // b, c % b) if not monomial else ((c // b, 0) if c % b == 0 else (0, c))
        quotient[monomial], rest[monomial] = q, r
    return _make(quotient), _make(rest)


def floordiv(a: Extent, b: int) -> Extent:
    """a // b for b > 0"""
    quotient, rest = _divide(a, b)
    if isinstance(rest, int):
        return add(quotient, rest // b)
    return add(quotient, Dim({(("floordiv", rest, b),): 1}))


def mod(a: Extent, b: int) -> Extent:
    """a % b for b > 0"""
    rest = _divide(a, b)[1]
    return rest % b if isinstance(rest, int) else Dim({(("mod", rest, b),): 1})


def _extreme(kind: str, operands: Iterable[Extent]) -> Extent:
    kept: list[Extent] = []
    for a in operands:
        better = (lambda x, y: sub(x, y)) if kind == "max" else (lambda x, y: sub(y, x))
        if any(nonnegative(better(b, a)) for b in kept):
            continue
        kept = [b for b in kept if not nonnegative(better(a, b))] + [a]
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda e: (isinstance(e, int), str(e)))
    return Dim({((kind, *kept),): 1})


def maximum(*operands: Extent) -> Extent:
    """The largest of the extents."""
    return _extreme("max", operands)


def minimum(*operands: Extent) -> Extent:
    """The smallest of the extents."""
    return _extreme("min", operands)


def same(a: Extent, b: Extent) -> bool:
    """True if the canonical forms are equal."""
    if isinstance(a, Dim) and isinstance(b, Dim):
        return a._key == b._key
    return not isinstance(a, Dim) and not isinstance(b, Dim) and a == b


def nonnegative(a: Extent) -> bool:
    """True if provably ``a >= 0`` for all lengths."""
    return _nonnegative(a, 6)


def _nonnegative(a: Extent, fuel: int) -> bool:
    if isinstance(a, int):
        return a >= 0
    if all(c > 0 and all(_atom_nonnegative(x, fuel) for x in m) for m, c in a._terms):
        return True
    if fuel == 0:
        return False
    # Replace a part by something that is not larger (or, where it is subtracted, not smaller).
    for monomial, c in a._terms:
        if len(monomial) != 1:
            continue
        atom = monomial[0]
        rest = sub(a, Dim({monomial: c}))
        bounds: list[Extent] = []
        if (atom[0] == "max" and c > 0) or (atom[0] == "min" and c < 0):
            bounds = list(atom[1:])
        elif atom[0] in ("min", "max"):
            return all(_nonnegative(add(rest, mul(e, c)), fuel - 1) for e in atom[1:])
        elif atom[0] == "floordiv" and c < 0 and _nonnegative(atom[1], fuel - 1):
            bounds = [atom[1]]
        elif atom[0] == "mod":
            bounds = [atom[2] - 1] if c < 0 else [0]
        if any(_nonnegative(add(rest, mul(bound, c)), fuel - 1) for bound in bounds):
            return True
    return False


def _atom_nonnegative(atom: Atom, fuel: int) -> bool:
    kind = atom[0]
    if kind in ("symbol", "mod"):
        return True
    if fuel == 0:
        return False
    if kind == "floordiv":
        return _nonnegative(atom[1], fuel - 1)
    return (any if kind == "max" else all)(_nonnegative(e, fuel - 1) for e in atom[1:])


def never_equal(a: Extent, b: Extent) -> bool:
    """True if a and b differ whatever the lengths are."""
    return nonnegative(sub(sub(a, b), 1)) or nonnegative(sub(sub(b, a), 1))


def symbols(a: Extent) -> list[str]:
    """Names of the symbols that occur, in order of first occurrence."""
    found: dict[str, None] = {}
    if isinstance(a, Dim):
        for monomial, _ in a._terms:
            for atom in monomial:
                if atom[0] == "symbol":
                    found[atom[1]] = None
                else:
                    for operand in atom[1:]:
                        found.update(dict.fromkeys(symbols(operand)))
    return list(found)


def substitute(a: Extent, replacement: Mapping[str, Extent]) -> Extent:
    """a with symbols replaced by extents."""
    if not isinstance(a, Dim) or not any(s in replacement for s in symbols(a)):
        return a
    result: Extent = 0
    for monomial, coefficient in a._terms:
        product: Extent = coefficient
        for atom in monomial:
            kind = atom[0]
            if kind == "symbol":
                factor = replacement.get(atom[1], None)
                factor = symbol(atom[1]) if factor is None else factor
            elif kind in ("floordiv", "mod"):
                inner = substitute(atom[1], replacement)
                factor = (floordiv if kind == "floordiv" else mod)(inner, atom[2])
            else:
                factor = _extreme(kind, [substitute(e, replacement) for e in atom[1:]])
            product = mul(product, factor)
        result = add(result, product)
    return result


def solve(difference: Extent, candidates: Iterable[str]) -> tuple[str, Extent] | None:
    """A symbol and the extent that make ``difference`` zero, if there is such a form.

    The symbol is the first of the candidates that occurs linearly with factor 1 or -1 and
    nowhere else.
    """
    if not isinstance(difference, Dim):
        return None
    present = symbols(difference)
    for name in (s for s in candidates if s in present):
        monomial = (("symbol", name),)
        coefficient = dict(difference._terms).get(monomial, 0)
        rest = sub(difference, Dim({monomial: coefficient})) if coefficient else difference
        if coefficient in (1, -1) and name not in symbols(rest):
            return name, mul(rest, -coefficient)
    return None


def corresponding(a: Extent, b: Extent) -> list[tuple[Extent, Extent]] | None:
    """Pairs of parts whose equality makes two extents of the same form equal."""
    if not isinstance(a, Dim) or not isinstance(b, Dim) or len(a._terms) != 1 or len(b._terms) != 1:
        return None
    (first, c1), (second, c2) = a._terms[0], b._terms[0]
    if c1 != c2 or len(first) != 1 or len(second) != 1 or first[0][0] != second[0][0]:
        return None
    x, y = first[0], second[0]
    if x[0] in ("floordiv", "mod"):
        return [(x[1], y[1])] if x[2] == y[2] else None
    return list(zip(x[1:], y[1:])) if x[0] in ("min", "max") and len(x) == len(y) else None


def evaluate(a: Extent, lengths: Mapping[str, int]) -> int:
    """The number that an extent is for given lengths."""
    value = substitute(a, lengths)
    if isinstance(value, Dim):
        missing = ", ".join(symbols(value))
        raise KeyError(f"no length given for {missing}")
    return value


def parse(text: str) -> Extent:
    """The inverse of ``str``: reads extents from a manifest. Raises ValueError."""
    import re

    tokens = re.findall(r"\d+|[A-Za-z_]\w*|[-+*(),]|\S", text)
    position = 0

    def take(expected: str | None = None) -> str:
        nonlocal position
        if position >= len(tokens) or (expected and tokens[position] != expected):
            raise ValueError(f"can't read the extent '{text}'")
        position += 1
        return tokens[position - 1]

    def peek() -> str:
        return tokens[position] if position < len(tokens) else ""

    def primary() -> Extent:
        token = take()
        if token == "(":
            value = total()
            take(")")
            return value
        if token == "-":
            return mul(primary(), -1)
        if token.isdigit():
            return int(token)
        if token in ("min", "max"):
            take("(")
            operands = [total()]
            while peek() == ",":
                take()
                operands.append(total())
            take(")")
            return _extreme(token, operands)
        if not token.isidentifier():
            raise ValueError(f"can't read the extent '{text}'")
        return symbol(token)

    def product() -> Extent:
        value = primary()
        while peek() in ("*", "floordiv", "mod"):
            token = take()
            right = primary()
            if token == "*":
                value = mul(value, right)
            elif isinstance(right, int) and right > 0:
                value = (floordiv if token == "floordiv" else mod)(value, right)
            else:
                raise ValueError(f"can't read the extent '{text}'")
        return value

    def total() -> Extent:
        value = product()
        while peek() in ("+", "-"):
            value = add(value, product()) if take() == "+" else sub(value, product())
        return value

    result = total()
    if position != len(tokens):
        raise ValueError(f"can't read the extent '{text}'")
    return result
