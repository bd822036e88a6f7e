# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers as functions, for one sample. Weights are plain arrays; (K, M) maps K to M features."""

from __future__ import annotations

from typing import Any, Mapping

from . import activations, dropouts, nn_losses, norms
from ._eager import enable
from ._errors import public
from .activations import *  # noqa: F403
from .activations import relu, silu
from .dropouts import *  # noqa: F403
from .functions import layer_norm, linear
from .nn_losses import *  # noqa: F403
from .norms import *  # noqa: F403
from .reductions import log_softmax, softmax

__all__ = [*activations.__all__, *norms.__all__, *nn_losses.__all__,
           *dropouts.__all__, "softmax", "log_softmax", "layer_norm", "linear",
           "swiglu", "mlp"]  # fmt: skip


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


enable(globals(), ["swiglu", "mlp"])
