# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Twins of NumPy's functions that also have defined results for empty samples.

On traced values they record; on plain arrays they are NumPy. Reductions of nothing: sum 0,
mean 0, product 1, any false, all true; max and min give 0, or their identity on request.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable

import numpy as np

from . import _contract, _functions  # noqa: F401  (registers products)
from ._dims import Dim
from ._dtypes import as_dtype, convert, filled, is_float
from ._eager import enable
from ._errors import public
from ._tracer import any_traced, float_function, is_traced

_UFUNCS = """add subtract multiply divide true_divide floor_divide remainder power negative positive
absolute sign square sqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos
arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh floor ceil trunc rint maximum minimum fmax fmin
equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not logical_xor
bitwise_and bitwise_or bitwise_xor invert isnan isinf isfinite logaddexp matmul vecdot matvec vecmat cbrt copysign signbit hypot nextafter
logaddexp2 left_shift right_shift fmod float_power fabs heaviside deg2rad rad2deg degrees radians divmod
modf""".split()
_ARRAY = """where clip round transpose swapaxes moveaxis expand_dims squeeze take broadcast_to
zeros_like permute_dims matrix_transpose dot inner outer einsum tensordot trace nan_to_num
isclose isin fix""".split()

for _name in _UFUNCS + _ARRAY:
    globals()[_name] = getattr(np, _name)
# The array API's names.
abs = np.absolute
pow = np.power
mod = np.remainder
acos, acosh, asin, asinh = np.arccos, np.arccosh, np.arcsin, np.arcsinh
atan, atan2, atanh = np.arctan, np.arctan2, np.arctanh
bitwise_left_shift, bitwise_right_shift = np.left_shift, np.right_shift
bitwise_invert = np.invert

__all__ = [*_UFUNCS, *_ARRAY, "abs", "pow", "mod", "acos", "acosh", "asin", "asinh", "atan", "atan2",
           "atanh", "bitwise_left_shift", "bitwise_right_shift", "bitwise_invert", "sum", "mean", "max", "min", "prod", "any", "all",
           "var", "std", "layer_norm", "rsqrt", "erf", "zeros", "ones", "full", "arange",
           "linear", "astype", "full_like", "ones_like"]  # fmt: skip


def _plain(x: Any) -> np.ndarray:
    return np.asarray(x)


def _reduction(kind: str, function: Callable, doc: str) -> Callable:
    def reduction(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if is_traced(x):
            return _functions.reduce(kind, x, axis, None, keepdims)
        return empty_as_zero(kind, function, _plain(x), axis, keepdims)

    def extreme(x: Any, axis: Any = None, keepdims: bool = False, empty: str = "zero") -> Any:
        if is_traced(x):
            return _functions.reduce(kind, x, axis, None, keepdims, empty=empty)
        return empty_as_zero(kind, function, _plain(x), axis, keepdims, empty)

    chosen = extreme if kind in ("max", "min") else reduction
    chosen.__name__, chosen.__doc__ = kind, doc
    return public(chosen)


def empty_as_zero(
    kind: str, function: Callable, x: np.ndarray, axis: Any, keepdims: bool, empty: str = "zero"
) -> Any:
    """A reduction of a plain array that is defined for nothing."""
    axes = axis if axis is None or isinstance(axis, tuple) else tuple(np.atleast_1d(axis).tolist())
    count = x.size if axes is None else math.prod(x.shape[a] for a in axes)
    if count > 0 or kind in ("sum", "prod"):
        return function(x, axis=axes, keepdims=keepdims)
    like = np.sum(x, axis=axes, keepdims=keepdims)
    dtype = _functions.reduction_dtype(kind, x.dtype)
    if kind == "mean" or empty == "zero":
        return np.zeros_like(like, dtype)
    if is_float(dtype):
        return np.full_like(like, -np.inf if kind == "max" else np.inf, dtype)
    info = np.iinfo(dtype)
    return np.full_like(like, info.min if kind == "max" else info.max, dtype)


sum = _reduction("sum", np.sum, """Sum over axes (None: all). Of nothing: 0.""")
mean = _reduction("mean", np.mean, """Mean over axes (None: all). Of nothing: 0.""")
prod = _reduction("prod", np.prod, """Product over axes (None: all). Of nothing: 1.""")
max = _reduction(
    "max",
    np.max,
    """Largest over axes (None: all). Of nothing: 0, or with
empty="identity" -inf (the smallest integer).""",
)
min = _reduction(
    "min",
    np.min,
    """Smallest over axes (None: all). Of nothing: 0, or with
empty="identity" inf (the largest integer).""",
)


@public
def any(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether one entry is true (not zero; NaN is true), over axes (None: all). Of nothing: false."""
    return np.any(x, axis=axis, keepdims=keepdims)


@public
def all(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether every entry is true, over axes (None: all). Of nothing: true."""
    return np.all(x, axis=axis, keepdims=keepdims)


@public
def var(x: Any, axis: Any = None, keepdims: bool = False, correction: float = 0) -> Any:
    """Variance over axes (None: all), two-pass. Of nothing: 0. The squares are divided by the
    number of entries less ``correction``."""
    if is_traced(x):
        return _functions.var(x, axis, keepdims=keepdims, ddof=correction)
    with np.errstate(all="ignore"):
        function = functools.partial(np.var, ddof=correction)
        return empty_as_zero("mean", function, _plain(x), axis, keepdims)


@public
def std(x: Any, axis: Any = None, keepdims: bool = False, correction: float = 0) -> Any:
    """Standard deviation over axes (None: all). Of nothing: 0. See var."""
    return np.sqrt(var(x, axis, keepdims, correction))


def scaled(x: Any, scale: Any, offset: Any) -> Any:
    """x * scale + offset, as far as there are any."""
    x = x if scale is None else x * scale
    return x if offset is None else x + offset


def standard(x: Any, axes: tuple, eps: float) -> Any:
    """(x - mean) / sqrt(var + eps) of a plain array."""
    centred = x - mean(x, axis=axes, keepdims=True)
    centred = centred - mean(centred, axis=axes, keepdims=True)  # what the mean was rounded by
    return centred / np.sqrt(mean(centred * centred, axis=axes, keepdims=True) + x.dtype.type(eps))


@public
def layer_norm(x: Any, scale: Any = None, offset: Any = None, eps: float = 1e-5) -> Any:
    """``(x - mean) / sqrt(variance + eps) * scale + offset`` over the last axis, which is
    static. scale, offset: shared, of the size of that axis. Floating-point dtypes."""
    if any_traced((x, scale, offset)):
        return _functions.normalize("layer", x, scale, offset, eps)
    x = _plain(x)
    return scaled(standard(x, -1, eps), scale, offset)


@public
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """``x @ weight + bias``. x: ``(..., K)``; weight: shared ``(K, M)``; bias: ``(M,)``."""
    if any_traced((x, weight, bias)):
        return _functions.linear(x, weight, bias)
    result = np.matmul(x, weight)
    return result if bias is None else result + bias


@public
def rsqrt(x: Any) -> Any:
    """``1 / sqrt(x)``, elementwise."""
    return float_function("rsqrt", x) if is_traced(x) else 1 / np.sqrt(x)


_erf = np.frompyfunc(math.erf, 1, 1)


@public
def erf(x: Any) -> Any:
    """The error function, elementwise."""
    if is_traced(x):
        return float_function("erf", x)
    x = _plain(x)
    dtype = x.dtype if is_float(x.dtype) else np.float64
    return np.asarray(_erf(x.astype(np.float64)), np.float64).astype(dtype)


def _static(shape: Any) -> bool:
    dims = shape if isinstance(shape, (tuple, list)) else (shape,)
    return not any_traced(dims)


@public
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """An array of one number. shape: sizes, some of which may be Dims (``x.shape[0]``)."""
    if _static(shape) and not is_traced(fill_value):
        if dtype is None:
            return np.full(shape, fill_value)
        return filled(shape, fill_value, as_dtype(dtype))
    return _functions.full(shape, fill_value, dtype)


@public
def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One number in the shape of x, and in its dtype unless said."""
    if is_traced(x) or is_traced(fill_value):
        return np.full_like(x, fill_value, dtype)
    wanted = _plain(x).dtype if dtype is None else as_dtype(dtype)
    return filled(np.shape(x), fill_value, wanted)


@public
def ones_like(x: Any, dtype: Any = None) -> Any:
    """Ones in the shape of x, and in its dtype unless said."""
    return full_like(x, 1, dtype)


@public
def astype(x: Any, dtype: Any, copy: bool = True) -> Any:
    """x with entries of another dtype. Python makes bfloat16 arrays with it: ``nested.astype(x,
    nested.bfloat16)``, whether there is a package for them or not."""
    if is_traced(x):
        return np.astype(x, as_dtype(dtype))
    x, dtype = _plain(x), as_dtype(dtype)
    return x if x.dtype == dtype and not copy else convert(x, dtype)


@public
def zeros(shape: Any, dtype: Any = np.float32) -> Any:
    """As full, with zeros; float32 unless said."""
    return full(shape, 0, dtype)


@public
def ones(shape: Any, dtype: Any = np.float32) -> Any:
    """As full, with ones; float32 unless said."""
    return full(shape, 1, dtype)


@public
def arange(count: Any, dtype: Any = np.int64) -> Any:
    """0, 1, ... up to count, an integer or a Dim. int64 unless said."""
    if isinstance(count, Dim):
        return _functions.arange(count, as_dtype(dtype))
    return np.arange(count, dtype=as_dtype(dtype))


enable(globals(), __all__)
