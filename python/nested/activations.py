# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations, elementwise; they are nested.nn's. Integers are computed in floating point."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._eager import enable
from ._errors import public
from ._tracer import float_function, is_traced
from .functions import erf

__all__ = ["relu", "relu6", "leaky_relu", "prelu", "elu", "selu", "celu", "sigmoid", "logsigmoid", "silu",
           "mish", "gelu", "softplus", "softsign", "softshrink", "hardshrink", "tanhshrink",
           "hardtanh", "hardsigmoid", "hardswish", "threshold", "glu"]  # fmt: skip


@public
def relu(x: Any) -> Any:
    """The larger of x and 0."""
    return np.maximum(x, 0)


@public
def relu6(x: Any) -> Any:
    """x clipped to [0, 6]."""
    return np.clip(x, 0, 6)


@public
def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """x, and ``negative_slope * x`` where x is negative."""
    return np.where(x > 0, x, x * negative_slope)


@public
def prelu(x: Any, weight: Any) -> Any:
    """leaky_relu whose slope is an array, one for all or one for each index of the last axis."""
    return np.where(x > 0, x, x * weight)


@public
def elu(x: Any, alpha: float = 1.0) -> Any:
    """x, and ``alpha * (exp(x) - 1)`` where x is negative."""
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)) * alpha)


@public
def selu(x: Any) -> Any:
    """elu, scaled so that mean 0 and variance 1 stay."""
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    return np.where(x > 0, x * scale, np.expm1(np.minimum(x, 0)) * (alpha * scale))


@public
def celu(x: Any, alpha: float = 1.0) -> Any:
    """x, and ``alpha * (exp(x / alpha) - 1)`` where x is negative."""
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0) / alpha) * alpha)


@public
def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``"""
    return float_function("sigmoid", x) if is_traced(x) else _sigmoid(np.asarray(x))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


@public
def logsigmoid(x: Any) -> Any:
    """``log(sigmoid(x))`` without overflow."""
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


@public
def silu(x: Any) -> Any:
    """``x * sigmoid(x)``"""
    return float_function("silu", x) if is_traced(x) else x * _sigmoid(np.asarray(x))


@public
def softplus(x: Any, beta: float = 1.0) -> Any:
    """``log(1 + exp(beta * x)) / beta`` without overflow."""
    y = x * beta
    return (np.maximum(y, 0) + np.log1p(np.exp(-np.abs(y)))) / beta


@public
def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))``"""
    return x * np.tanh(softplus(x))


@public
def gelu(x: Any, approximate: str = "none") -> Any:
    """``x * P(X <= x)`` for a normal X; approximate: "none" or "tanh"."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate must be 'none' or 'tanh', but got {approximate!r}")
    if is_traced(x):
        return float_function("gelu" if approximate == "none" else "gelu_tanh", x)
    x = np.asarray(x)
    if approximate == "none":
        return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


@public
def softsign(x: Any) -> Any:
    """``x / (1 + abs(x))``"""
    return x / (1 + np.abs(x))


@public
def softshrink(x: Any, lambd: float = 0.5) -> Any:
    """x moved towards 0 by lambd, and 0 within that distance."""
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0.0))


@public
def hardshrink(x: Any, lambd: float = 0.5) -> Any:
    """x, and 0 where abs(x) is at most lambd."""
    return np.where(np.abs(x) <= lambd, 0.0, x)


@public
def tanhshrink(x: Any) -> Any:
    """``x - tanh(x)``"""
    return x - np.tanh(x)


@public
def hardtanh(x: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """x clipped to [min_val, max_val]."""
    return np.clip(x, min_val, max_val)


@public
def hardsigmoid(x: Any) -> Any:
    """``x / 6 + 1 / 2`` clipped to [0, 1]."""
    return np.clip(x + 3, 0, 6) / 6


@public
def hardswish(x: Any) -> Any:
    """``x * hardsigmoid(x)``"""
    return x * np.clip(x + 3, 0, 6) / 6


@public
def threshold(x: Any, threshold: float, value: float) -> Any:
    """x where it is more than the threshold, else the value."""
    return np.where(x > threshold, x, value)


@public
def glu(x: Any) -> Any:
    """The first half of the last axis, which is static and even, times the sigmoid of the second."""
    size = x.shape[-1]
    if not isinstance(size, int) or size % 2:
        raise ValueError(f"glu: the last axis must be static and even, but has size {size}")
    return x[..., : size // 2] * sigmoid(x[..., size // 2 :])


enable(globals(), __all__)
