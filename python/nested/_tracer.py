# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traced values: what a function compiled by ``nested.jit`` sees in place of arrays."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, Sequence

import numpy as np

from . import _dims, _emit, _special, _ufuncs  # noqa: F401
from ._dims import Dim, Extent
from ._dtypes import (
    as_dtype,
    bfloat16,
    is_float,
    is_int,
    loop_dtypes,
    name_of,
    result_type,
    text_of,
)
from ._emit import Scalar
from ._errors import ShapeError, TraceError, at_user
from ._ir import Trace, Value, shape_text

_current: list[Trace] = []  # innermost last; traces are made under a lock


class Tracer:
    """One sample of an argument, or what is computed from it.

    Behaves like a NumPy array of ``shape`` and ``dtype``, without numbers. Sizes that differ
    from sample to sample are :class:`nested.Dim` in ``shape``. What needs numbers (``if``,
    ``float``, loops over a ragged axis) raises TraceError.
    """

    __slots__ = ("_trace", "_value", "_weak", "_argument", "_shared")
    __array_priority__ = 1000

    def __init__(self, trace: Trace, value: Value, weak: str | None = None, argument: str = ""):
        self._trace, self._value, self._weak, self._argument = trace, value, weak, argument
        self._shared = False  # a view of it, or it of another, exists

    # -- what it is --

    @property
    def shape(self) -> tuple[Extent, ...]:
        """Sizes of the axes: integers and Dims."""
        return self._trace.current_dims(self._value.dims)

    @property
    def dtype(self) -> np.dtype:
        return self._value.dtype

    @property
    def ndim(self) -> int:
        return len(self._value.dims)

    @property
    def size(self) -> Extent:
        """Product of the sizes."""
        total: Extent = 1
        for d in self.shape:
            total = _dims.mul(total, d)
        return total

    def __repr__(self) -> str:
        return f"Tracer(shape={shape_text(self.shape)}, dtype={text_of(self.dtype)})"

    def _unknown(self, what: str, instead: str) -> TraceError:
        return at_user(TraceError(
            f"the numbers of {shape_text(self.shape)} {text_of(self.dtype)} are not known while tracing: "
            f"{what}; {instead}"
        ))  # fmt: skip

    def __bool__(self) -> bool:
        raise self._unknown(
            "Python's if, while, and, or, not can't depend on them",
            "use np.where(condition, a, b), & and |, or a static Python argument",
        )

    def __int__(self) -> int:
        raise self._unknown("int() can't be taken", "use .astype(np.int64)")

    def __index__(self) -> int:
        raise self._unknown(
            "they can't be used as an index of a plain array or list",
            "index a traced array, or use nested.take(table, indices)",
        )

    def __float__(self) -> float:
        raise self._unknown("float() can't be taken", "use .astype(np.float64)")

    def __complex__(self) -> complex:
        raise self._unknown("complex() can't be taken", "complex numbers are not supported")

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise self._unknown(
            "the function called turns its argument into a plain array",
            "use functions of NumPy that dispatch on their arguments, or of nested; "
            "nested.take(table, indices) for plain_array[indices]",
        )

    def __len__(self) -> int:
        if self._value.dims and isinstance(self._value.dims[0], int):
            return self._value.dims[0]
        raise self._unknown("len() can't be taken", "use x.shape[0], which is symbolic")

    def __iter__(self) -> Iterator[Tracer]:
        if not self._value.dims:
            raise at_user(TraceError("iteration over a traced number"))
        size = self.shape[0]
        if isinstance(size, Dim):
            raise self._unknown(
                f"a Python loop over an axis of {size} entries can't be unrolled",
                "write it for the whole axis, as in NumPy",
            )
        return iter([self[k] for k in range(size)])

    def __contains__(self, item: Any) -> bool:
        raise self._unknown("`in` can't be decided", "use np.any(x == item)")

    def __hash__(self) -> int:
        return id(self)

    def __setitem__(self, key: Any, item: Any) -> None:
        raise at_user(TraceError(
            "assignment into a traced array is not supported; build the new array with np.where"
        ))  # fmt: skip

    # -- NumPy's protocols --

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return dispatch_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from ._functions import dispatch_function

        return dispatch_function(function, args, kwargs)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        """The array API's namespace: this package's functions."""
        import nested

        return nested

    # -- methods of arrays --

    def astype(self, dtype: Any, copy: bool = True) -> Tracer:
        return Tracer(self._trace, _emit.cast(self._trace, value_of(self), as_dtype(dtype)))

    def copy(self) -> Tracer:
        return Tracer(self._trace, self._value)

    @property
    def T(self) -> Tracer:
        return self.transpose()

    @property
    def mT(self) -> Tracer:
        return self.swapaxes(-1, -2)

    def transpose(self, *axes: Any) -> Tracer:
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = tuple(axes[0] or ())
        order = list(axes) or list(range(self.ndim))[::-1]
        order = [normalized(a, self.ndim) for a in order]
        if sorted(order) != list(range(self.ndim)):
            raise at_user(ShapeError(
                f"transpose of {shape_text(self.shape)} by {axes}: expected each of its {self.ndim} axes once"
            ))  # fmt: skip
        return self._view(_emit.transpose(self._trace, value_of(self), order))

    def swapaxes(self, axis1: int, axis2: int) -> Tracer:
        order = list(range(self.ndim))
        a, b = normalized(axis1, self.ndim), normalized(axis2, self.ndim)
        order[a], order[b] = order[b], order[a]
        return self.transpose(*order)

    def __getitem__(self, key: Any) -> Tracer:
        from ._indexing import index

        return index(self, key)

    def __getattr__(self, name: str) -> Any:
        from ._functions import method

        found = method(name)
        if found is None:
            if name.startswith("__") or not hasattr(np.ndarray, name):
                raise AttributeError(f"'Tracer' object has no attribute '{name}'")
            raise at_user(TraceError(f"the array attribute .{name} is not supported by nested"))
        return lambda *args, **kwargs: found(self, *args, **kwargs)

    def _view(self, value: Value) -> Tracer:
        """A result that in NumPy would share memory with this array."""
        self._shared = True
        result = Tracer(self._trace, value, self._weak, self._argument)
        result._shared = True
        return result

    def _update(self, ufunc: Any, other: Any) -> Tracer:
        """``x += y``: NumPy writes into x's memory, so every name of x sees it."""
        symbol = _ufuncs.SYMBOLS[ufunc.__name__]
        if self._argument or self._shared:
            what = f"argument `{self._argument}`" if self._argument else "an array with views"
            raise at_user(TraceError(
                f"`{symbol}=` would change {what} in place; write x = x {symbol} y instead"
            ))  # fmt: skip
        result = apply(ufunc, [self, other], operator=True)
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            raise at_user(TraceError(
                f"`{symbol}=` gives {text_of(result.dtype)}, which {text_of(self.dtype)} can't hold"
            ))  # fmt: skip
        if len(result.shape) != self.ndim or not all(map(_dims.same, result.shape, self.shape)):
            raise at_user(ShapeError(
                f"`{symbol}=` of {shape_text(self.shape)} gives {shape_text(result.shape)}"
            ))  # fmt: skip
        self._value = _emit.cast(self._trace, value_of(result), self.dtype)
        return self


OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "divmod": np.divmod, "lshift": np.left_shift,
    "rshift": np.right_shift, "matmul": np.matmul,
}  # fmt: skip
COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
               "gt": np.greater, "ge": np.greater_equal}  # fmt: skip
UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}


def _install(name: str, ufunc: Any) -> None:
    def forward(self: Tracer, other: Any) -> Any:
        return apply(ufunc, [self, other], operator=True)

    def backward(self: Tracer, other: Any) -> Any:
        return apply(ufunc, [other, self], operator=True)

    def update(self: Tracer, other: Any) -> Any:
        return self._update(ufunc, other)

    for method, function in (("", forward), ("r", backward), ("i", update)):
        function.__name__ = f"__{method}{name}__"
        setattr(Tracer, function.__name__, function)


for _name, _ufunc in OPERATORS.items():
    _install(_name, _ufunc)
for _name, _ufunc in COMPARISONS.items():

    def _compare(self: Tracer, other: Any, ufunc: Any = _ufunc) -> Any:
        return apply(ufunc, [self, other], operator=True)

    setattr(Tracer, f"__{_name}__", _compare)
for _name, _ufunc in UNARY.items():

    def _unary(self: Tracer, ufunc: Any = _ufunc) -> Any:
        return apply(ufunc, [self], operator=True)

    setattr(Tracer, f"__{_name}__", _unary)


# ---------------------------------------------------------------------------
# Operands
# ---------------------------------------------------------------------------


def is_traced(x: Any) -> bool:
    """True for traced values and sizes."""
    return isinstance(x, (Tracer, Dim))


def any_traced(operands: Iterable[Any]) -> bool:
    """Whether one of them is a traced value or size."""
    return any(is_traced(x) for x in operands)


def trace_of(operands: Sequence[Any]) -> Trace:
    """The trace that operands belong to."""
    trace = _current[-1] if _current else None
    for x in operands:
        if isinstance(x, Tracer):
            if not x._trace.open:
                raise at_user(TraceError(
                    f"{x!r} belongs to a traced call that is over; return it instead of storing it"
                ))  # fmt: skip
            if trace is not None and x._trace is not trace:
                raise at_user(TraceError("a value of another traced function is used here"))
            trace = x._trace
    if trace is None:
        raise at_user(TraceError("a symbolic size is used outside of the function it belongs to"))
    return trace


def value_of(x: Tracer) -> Value:
    return x._trace.aligned(x._value)


def lift(trace: Trace, x: Any) -> tuple[Value | Scalar, str | None]:
    """An operand as a Value or Scalar, and its kind if it is a weak (Python) number."""
    if isinstance(x, Tracer):
        return value_of(x), x._weak
    if isinstance(x, Dim):
        return _emit.extent(trace, x), "int"
    if isinstance(x, (bool, int, float)) and not isinstance(x, np.generic):
        kind = "bool" if isinstance(x, bool) else "int" if isinstance(x, int) else "float"
        dtype = np.dtype({"bool": "?", "int": "i8", "float": "f8"}[kind])
        return Scalar(x, dtype, kind if kind != "bool" else None), kind if kind != "bool" else None
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0):
        array = np.asarray(x)
        name_of(array.dtype)
        return Scalar(array[()], array.dtype, None), None
    from ._tensor import NestedTensor

    if isinstance(x, NestedTensor):
        raise at_user(TraceError(
            "a NestedTensor from outside the function can't be used in it; pass it as an argument"
        ))  # fmt: skip
    if isinstance(x, (list, tuple)) and any_traced(x):
        raise at_user(
            TraceError("a list of traced values is not an array; np.stack is not supported")
        )
    try:
        array = np.asarray(x)
        name_of(array.dtype)
    except (TypeError, ValueError) as error:
        raise at_user(
            TraceError(f"{type(x).__name__} can't be used in a traced function")
        ) from error
    return (
        trace.constant_array(array) if array.ndim else Scalar(array[()], array.dtype, None)
    ), None


def as_tracer(x: Any, trace: Trace | None = None) -> Tracer:
    """x as a Tracer; numbers become filled traced values."""
    if isinstance(x, Tracer):
        return x
    trace = trace or trace_of([x])
    value, weak = lift(trace, x)
    if isinstance(value, Scalar):
        value = _emit.full(trace, (), value.value, value.dtype)
    return Tracer(trace, value, weak)


def normalized(axis: Any, rank: int) -> int:
    """An axis as a number from 0; ShapeError where there is none."""
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise at_user(ShapeError(f"an axis must be an integer, but got {axis!r}"))
    if not -rank <= axis < rank:
        raise at_user(ShapeError(f"axis {axis} is out of bounds for an array of {rank} axes"))
    return int(axis) % rank


# ---------------------------------------------------------------------------
# Elementwise functions
# ---------------------------------------------------------------------------


def dispatch_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: dict) -> Any:
    """``__array_ufunc__`` of Tracer and Dim."""
    from ._tensor import NestedTensor

    if any(isinstance(x, NestedTensor) for x in inputs):
        return NotImplemented
    if method == "reduce":
        from ._functions import reduce_ufunc

        return reduce_ufunc(ufunc, inputs, kwargs)
    if method == "accumulate":
        from ._ordered import accumulate_ufunc

        return accumulate_ufunc(ufunc, inputs, kwargs)
    if method != "__call__":
        raise at_user(TraceError(f"np.{ufunc.__name__}.{method} is not supported on traced values"))
    dtype = kwargs.pop("dtype", None)
    for name, given in kwargs.items():
        if given is not None and (name, given) not in (("casting", "same_kind"), ("where", True)):
            raise at_user(TraceError(
                f"np.{ufunc.__name__}(..., {name}=) is not supported on traced values"
            ))  # fmt: skip
    result = apply(ufunc, inputs)
    return result if dtype is None else result.astype(dtype)


def apply(ufunc: Any, inputs: Sequence[Any], operator: bool = False) -> Tracer:
    """A ufunc on traced operands. ``operator``: Python numbers give Python numbers."""
    name = ufunc.__name__
    if name in ("matmul", "vecdot", "matvec", "vecmat"):
        from ._contract import UFUNCS

        return UFUNCS[name](*inputs)
    if name in ("maximum", "minimum") and all(map(_dims.is_extent, inputs)):
        return getattr(_dims, name)(*inputs)
    trace = trace_of(inputs)
    symbol = _ufuncs.SYMBOLS.get(name, f"and, in np.{name},")
    if ufunc.nout == 2 and f"{name}.0" in _ufuncs.BODIES:
        return _pair(ufunc, trace, symbol, inputs)
    if name not in _ufuncs.BODIES:
        raise unsupported(f"np.{name}")
    if name == "power" and isinstance(inputs[0], Tracer):
        cheap = _ufuncs.small_power(inputs[1])
        if cheap is not None:
            ufunc_dtype = resolve(ufunc, trace, inputs)[0]
            operand, weak = lift(trace, inputs[0])
            return Tracer(trace, _emit.elementwise(
                trace, symbol, [operand], [ufunc_dtype[0]], ufunc_dtype[-1],
                lambda b, x: cheap(b, ufunc_dtype[0], x)), weak if operator else None)  # fmt: skip
    dtypes, operands, weak = resolve(ufunc, trace, inputs)
    if name == "power" and is_int(dtypes[-1]):
        exponent = operands[1]
        if isinstance(exponent, Scalar) and exponent.value < 0:
            raise at_user(TraceError(  # As NumPy. R11 is for exponents that are computed.
                f"integers to the negative integer power {exponent.value} are not integers; use "
                f"x ** {float(exponent.value)}"
            ))  # fmt: skip
    body = _ufuncs.BODIES[name]
    value = _emit.elementwise(trace, symbol, operands, dtypes[:-1], dtypes[-1],
                              lambda b, *scalars: body(b, dtypes[0], *scalars))  # fmt: skip
    if weak is not None and operator:
        weak = "float" if is_float(dtypes[-1]) else "int" if is_int(dtypes[-1]) else None
        return Tracer(trace, value, weak)
    return Tracer(trace, value)


def _pair(ufunc: Any, trace: Trace, symbol: str, inputs: Sequence[Any]) -> Any:
    """The two results of divmod and modf."""
    dtypes, operands, _ = resolve(ufunc, trace, inputs)
    ins, outs = dtypes[: ufunc.nin], dtypes[ufunc.nin :]

    def result(k: int) -> Tracer:
        body = _ufuncs.BODIES[f"{ufunc.__name__}.{k}"]
        return Tracer(trace, _emit.elementwise(trace, symbol, operands, ins, outs[k],
                                               lambda b, *s: body(b, ins[0], *s)))  # fmt: skip

    return result(0), result(1)


def resolve(ufunc: Any, trace: Trace, inputs: Sequence[Any]) -> tuple:
    """Loop dtypes by NumPy's promotion, the operands, and the kind if all are weak."""
    lifted = [lift(trace, x) for x in inputs]
    strong = [o.dtype for o, weak in lifted if weak is None]
    given: list[Any] = []
    for operand, weak in lifted:
        if weak is None or not strong:
            given.append(operand.dtype)
        elif any(d == bfloat16 for d in strong):
            given.append(bfloat16)
        else:
            given.append({"int": int, "float": float}[weak])
    try:
        dtypes = loop_dtypes(ufunc, (*given, *[None] * ufunc.nout))
    except TypeError as error:
        names = ", ".join(text_of(o.dtype) for o, _ in lifted)
        raise at_user(
            TraceError(f"np.{ufunc.__name__} is not defined for {names}: {error}")
        ) from None
    for dtype in dtypes:
        name_of(dtype)
    return dtypes, [o for o, _ in lifted], None if strong else lifted[0][1]


def float_function(name: str, x: Any) -> Tracer:
    """One of our own scalar functions (sigmoid, gelu, ...): computes in floating point."""
    tracer = as_tracer(x)
    dtype = tracer.dtype if is_float(tracer.dtype) else result_type(tracer.dtype, np.float32)
    body: Callable = _ufuncs.BODIES[name]
    return Tracer(tracer._trace, _emit.elementwise(
        tracer._trace, name, [value_of(tracer)], [dtype], dtype,
        lambda b, s: body(b, dtype, s)))  # fmt: skip


def extent_arithmetic(a: Any, method: str, b: Any) -> Any:
    """``Dim / float`` and the like: traced numbers, one per sample."""
    if not all(isinstance(x, (bool, int, float, np.generic, Dim)) for x in (a, b)):
        return NotImplemented
    return apply(OPERATORS[method.strip("_")], [a, b], operator=True)


def unsupported(name: str, hint: str = "") -> TraceError:
    """The error of a function that is not supported, with what to do instead."""
    text = f"{name} is not supported on traced values"
    return at_user(TraceError(text + (f": {hint}" if hint else "")))
