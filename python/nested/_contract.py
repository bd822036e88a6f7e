# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of products on traced values: einsum and what it makes up. One ``ragged.contract`` each."""

from __future__ import annotations

import string
from typing import Any, Sequence

import numpy as np

from . import _dims, _emit
from ._dims import Dim
from ._dtypes import result_type
from ._errors import ShapeError, TraceError, at_user
from ._functions import implements
from ._ir import Trace, Value, mismatch, shape_text
from ._tracer import Tracer, as_tracer, normalized, trace_of, unsupported, value_of


def contract(trace: Trace, terms: Sequence[str], output: str, values: Sequence[Value],
             symbol: str, batch: bool = False) -> Value:  # fmt: skip
    """The op. A letter has one extent: symbols of ours are unified where they have to be, and
    axes of size 1 repeat."""
    sizes: dict[str, tuple] = {}  # letter -> its size, and where it was seen
    for k, (term, value) in enumerate(zip(terms, values)):
        for axis, letter in enumerate(term):
            size = value.dims[axis]
            known = sizes.get(letter)
            if known is None or (_dims.same(known[0], 1) and not _dims.same(size, 1)):
                sizes[letter] = (size, k, axis)
            elif not _dims.same(size, 1) and not trace.unify(known[0], size):
                other = values[known[1]]
                raise at_user(mismatch(
                    trace, other.dims, value.dims, symbol, known[2], known[2], axis
                ))  # fmt: skip
    terms = list(terms)
    operands = []
    dtype = _dtype(values)
    for k, value in enumerate(values):
        value = trace.aligned(_emit.cast(trace, trace.aligned(value), dtype))
        for axis in reversed(range(len(value.dims))):
            letter = terms[k][axis]
            if _dims.same(value.dims[axis], 1) and not _dims.same(sizes[letter][0], 1):
                value = _emit.slice_axis(trace, value, axis, 0, 1, drop=True)
                terms[k] = terms[k][:axis] + terms[k][axis + 1 :]
        operands.append(value)
    equation = f"{','.join(terms)}->{output}"
    types = ", ".join(v.type for v in operands)
    words = " batch" if batch else ""

    def render(names: list[str], result: str) -> str:
        return f'ragged.contract "{equation}" {", ".join(names)}{words} : {types} -> {result}'

    dims = [trace.current(sizes[letter][0]) for letter in output]
    batched = any(v.batched for v in operands) and not batch
    return trace.emit(render, operands, dims, dtype, batched)


def _dtype(values: Sequence[Value]) -> np.dtype:
    return result_type(*(v.dtype for v in values))


def _letters(count: int, used: str = "") -> str:
    """Letters that are not used yet."""
    free = [letter for letter in string.ascii_letters if letter not in used]
    return "".join(free[:count])


# ---------------------------------------------------------------------------
# einsum
# ---------------------------------------------------------------------------


def _parse(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Letters of the operands and of the result; "..." becomes letters too."""
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    terms = left.split(",")
    allowed = set(string.ascii_letters) | set(".,->")
    wrong = sorted(set(text) - allowed)
    if wrong:
        raise at_user(ShapeError(f"einsum {subscripts!r}: {wrong[0]!r} is not a letter"))
    if len(terms) != len(ranks):
        raise at_user(ShapeError(
            f"einsum {subscripts!r} has {len(terms)} terms, but got {len(ranks)} operands"
        ))  # fmt: skip
    named = [t.replace("...", "") for t in terms]
    rest = [rank - len(name) for rank, name in zip(ranks, named)]
    for term, name, rank, more in zip(terms, named, ranks, rest):
        if "." in name or more < 0 or (more > 0 and "..." not in term):
            raise at_user(ShapeError(
                f"einsum {subscripts!r}: term {term!r} has {len(name)} axes, but got an operand "
                f"with {rank}"
            ))  # fmt: skip
    widest = max((r for r, t in zip(rest, terms) if "..." in t), default=0)
    dots = _letters(widest, text)
    terms = [t.replace("...", dots[len(dots) - r :] if r else "") for t, r in zip(terms, rest)]
    if not arrow:
        once = sorted(c for c in set("".join(named)) if "".join(named).count(c) == 1)
        return terms, dots + "".join(once)
    output = output.replace("...", dots)
    for letter in output:
        if output.count(letter) > 1 or not any(letter in t for t in terms):
            what = "twice in" if output.count(letter) > 1 else "in no operand but in"
            raise at_user(ShapeError(f"einsum {subscripts!r}: {letter!r} is {what} the result"))
    return terms, output


@implements(np.einsum)
def einsum(
    subscripts: Any, *operands: Any, out: Any = None, optimize: Any = False, batch: bool = False
) -> Tracer:
    if not isinstance(subscripts, str):
        raise unsupported("np.einsum of lists of axes", 'write a string, "ij,jk->ik"')
    if out is not None:
        raise unsupported("np.einsum(..., out=)")
    trace = trace_of(operands)
    values = [value_of(as_tracer(x, trace)) for x in operands]
    if batch and not any(v.batched for v in values):
        raise at_user(TraceError("nested.batch.einsum: no operand has samples"))
    terms, output = _parse(subscripts, [len(v.dims) for v in values])
    kept = [c for t, v in zip(terms, values) for c, d in zip(t, v.dims)
            if c in output and isinstance(d, Dim)]  # fmt: skip
    if batch and kept:
        raise at_user(ShapeError(
            f"nested.batch.einsum {subscripts!r}: {kept[0]!r} is ragged, it differs from sample to "
            "sample and must be summed over too"
        ))  # fmt: skip
    return Tracer(trace, contract(trace, terms, output, values, f"and, in {subscripts!r},", batch))


# ---------------------------------------------------------------------------
# Products of vectors and matrices
# ---------------------------------------------------------------------------


def _operands(a: Any, b: Any, name: str, ranks: tuple[int, int] = (1, 1)) -> tuple:
    trace = trace_of([a, b])
    x, y = as_tracer(a, trace), as_tracer(b, trace)
    for tracer, least in ((x, ranks[0]), (y, ranks[1])):
        if tracer.ndim < least:
            raise at_user(ShapeError(
                f"{name} of {shape_text(x.shape)} and {shape_text(y.shape)}: expected at least "
                f"{least} {'axis' if least == 1 else 'axes'}"
                + ("; use * for numbers" if tracer.ndim == 0 else "")
            ))  # fmt: skip
    return trace, x, y, value_of(x), value_of(y)


def _product(a: Any, b: Any, name: str, left: str, right: str, output: str) -> Tracer:
    """A product of the last axes; axes before them are aligned at the last one and repeat."""
    trace, x, y, lhs, rhs = _operands(a, b, name, (len(left), len(right)))
    more = [len(lhs.dims) - len(left), len(rhs.dims) - len(right)]
    rank = max(more)
    dots = _letters(rank, left + right)
    terms = [dots[rank - more[0] :] + left, dots[rank - more[1] :] + right]
    return Tracer(trace, contract(trace, terms, dots + output, [lhs, rhs], name))


def matmul(a: Any, b: Any) -> Tracer:
    """``a @ b``: the last axis of a times the last but one of b."""
    trace, x, y, left, right = _operands(a, b, "@")
    if y.ndim == 2 and not right.batched and not isinstance(left.dims[-1], Dim):
        return Tracer(trace, _emit.linear(trace, left, right, None, "@"))
    rows, columns = ("" if x.ndim == 1 else "i"), ("" if y.ndim == 1 else "k")
    return _product(x, y, "@", rows + "j", "j" + columns, rows + columns)


def vecdot(a: Any, b: Any) -> Tracer:
    return _product(a, b, "vecdot", "i", "i", "")


def matvec(a: Any, b: Any) -> Tracer:
    return _product(a, b, "matvec", "ij", "j", "i")


def vecmat(a: Any, b: Any) -> Tracer:
    return _product(a, b, "vecmat", "i", "ij", "j")


UFUNCS = {"matmul": matmul, "vecdot": vecdot, "matvec": matvec, "vecmat": vecmat}


@implements(np.linalg.matmul)
def linalg_matmul(x1: Any, x2: Any) -> Tracer:
    return matmul(x1, x2)


@implements(np.linalg.vecdot)
def linalg_vecdot(x1: Any, x2: Any, axis: int = -1) -> Tracer:
    if axis != -1:
        x1, x2 = (np.moveaxis(as_tracer(x), axis, -1) for x in (x1, x2))
    return vecdot(x1, x2)


@implements(np.dot, method="dot")
def dot(a: Any, b: Any, out: Any = None) -> Any:
    if out is not None:
        raise unsupported("np.dot(..., out=)")
    trace = trace_of([a, b])
    x, y = as_tracer(a, trace), as_tracer(b, trace)
    if x.ndim == 0 or y.ndim == 0:
        return a * b
    if y.ndim <= 2:
        return matmul(x, y)
    letters = _letters(x.ndim + y.ndim - 1)
    left, right = letters[: x.ndim], letters[x.ndim :]
    terms = [left, right[:-1] + left[-1] + right[-1]]
    return Tracer(trace, contract(
        trace, terms, left[:-1] + right, [value_of(x), value_of(y)], "np.dot"
    ))  # fmt: skip


@implements(np.inner)
def inner(a: Any, b: Any) -> Any:
    trace = trace_of([a, b])
    x, y = as_tracer(a, trace), as_tracer(b, trace)
    if x.ndim == 0 or y.ndim == 0:
        return a * b
    return tensordot(x, y, axes=([-1], [-1]))


@implements(np.linalg.outer)
def outer(a: Any, b: Any, out: Any = None) -> Tracer:
    if out is not None:
        raise unsupported("np.linalg.outer(..., out=)")
    trace = trace_of([a, b])
    x, y = as_tracer(a, trace), as_tracer(b, trace)
    if x.ndim != 1 or y.ndim != 1:
        raise at_user(ShapeError(
            f"np.linalg.outer of {shape_text(x.shape)} and {shape_text(y.shape)}: expected one axis each; "
            "use * with axes added by None"
        ))  # fmt: skip
    return Tracer(
        trace, contract(trace, ["i", "j"], "ij", [value_of(x), value_of(y)], "np.linalg.outer")
    )


@implements(np.tensordot, np.linalg.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tracer:
    trace = trace_of([a, b])
    x, y = as_tracer(a, trace), as_tracer(b, trace)
    if isinstance(axes, (int, np.integer)):
        pairs = [list(range(x.ndim - axes, x.ndim)), list(range(axes))]
        if axes < 0 or axes > min(x.ndim, y.ndim):
            raise at_user(ShapeError(
                f"np.tensordot over {axes} axes of {shape_text(x.shape)} and {shape_text(y.shape)}"
            ))  # fmt: skip
    else:
        pairs = [list(p) if isinstance(p, (tuple, list)) else [p] for p in axes]
    first = [normalized(k, x.ndim) for k in pairs[0]]
    second = [normalized(k, y.ndim) for k in pairs[1]]
    if len(first) != len(second):
        raise at_user(ShapeError(
            f"np.tensordot: expected as many axes of both, but got {len(first)} and {len(second)}"
        ))  # fmt: skip
    letters = _letters(x.ndim + y.ndim)
    left, right = letters[: x.ndim], list(letters[x.ndim :])
    for i, j in zip(first, second):
        right[j] = left[i]
    output = [c for k, c in enumerate(left) if k not in first]
    output += [c for k, c in enumerate(right) if k not in second]
    return Tracer(trace, contract(
        trace, [left, "".join(right)], "".join(output), [value_of(x), value_of(y)], "np.tensordot"
    ))  # fmt: skip


@implements(np.trace, method="trace")
def trace_(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None,
           out: Any = None) -> Tracer:  # fmt: skip
    if dtype is not None or out is not None:
        raise unsupported("np.trace with dtype= or out=")
    x = as_tracer(a)
    axis1, axis2 = normalized(axis1, x.ndim), normalized(axis2, x.ndim)
    if axis1 == axis2:
        raise at_user(ShapeError(f"np.trace needs two axes, but got {axis1} twice"))
    if offset != 0 or not _dims.same(x.shape[axis1], x.shape[axis2]):
        return np.sum(np.diagonal(x, offset, axis1, axis2), axis=-1)
    letters = list(_letters(x.ndim))
    letters[axis2] = letters[axis1]
    output = "".join(c for k, c in enumerate(letters) if k not in (axis1, axis2))
    return einsum("".join(letters) + "->" + output, x)
