# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers as functions, for one sample. Weights are plain arrays; (K, M) maps K to M features."""

from __future__ import annotations

import math
from typing import Any, Mapping

import numpy as np

from ._eager import enable
from ._errors import public
from ._tracer import float_function, is_traced
from .functions import erf, layer_norm, linear, softmax

__all__ = ["relu", "sigmoid", "silu", "gelu", "softmax", "layer_norm", "linear", "swiglu", "mlp"]


@public
def relu(x: Any) -> Any:
    """The larger of x and 0."""
    return np.maximum(x, 0)


@public
def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``"""
    return float_function("sigmoid", x) if is_traced(x) else _sigmoid(np.asarray(x))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


@public
def silu(x: Any) -> Any:
    """``x * sigmoid(x)``"""
    return float_function("silu", x) if is_traced(x) else x * _sigmoid(np.asarray(x))


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
def swiglu(x: Any, w: Mapping[str, Any]) -> Any:
    """``(silu(x @ w["gate"]) * (x @ w["up"])) @ w["down"]``.

    x: ``(..., K)``; gate, up: ``(K, H)``; down: ``(H, M)``.
    """
    return (silu(x @ w["gate"]) * (x @ w["up"])) @ w["down"]


@public
def mlp(x: Any, w: Mapping[str, Any], activation: Any = relu) -> Any:
    """``activation(linear(x, w["w1"], w.get("b1"))) `` through ``w["w2"]``, ``w["b2"]``."""
    hidden = activation(linear(x, w["w1"], w.get("b1")))
    return linear(hidden, w["w2"], w.get("b2"))


enable(globals(), __all__)
