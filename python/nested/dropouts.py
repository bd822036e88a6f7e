# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lookups in tables of weights, and dropout: part of nested.nn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._dtypes import scalar
from ._eager import enable
from ._errors import public
from ._tracer import is_traced
from .functions import max, mean, sum
from .random import uniform

__all__ = ["embedding", "embedding_bag", "dropout", "feature_dropout"]


@public
def embedding(indices: Any, table: Any) -> Any:
    """``table[indices]``: rows of a shared table ``(K, C)`` by integers; negative ones do not wrap.
    DataError where an index is not in ``[0, K)``."""
    return np.take(table, indices, axis=0)


@public
def dropout(x: Any, rate: float, key: Any, seed: Any = 0) -> Any:
    """Entries are 0 with probability rate, the others are divided by ``1 - rate``. Which ones are
    depends on seed, key (an integer for each sample, see nested.random) and their place."""
    if not 0 <= rate < 1:
        raise ValueError(f"the rate of dropout must be in [0, 1), but got {rate}")
    x = x if is_traced(x) else np.asarray(x)
    return np.where(
        uniform(key, x.shape, seed=seed) >= rate, x / scalar(1 - rate, x.dtype), scalar(0, x.dtype)
    )


@public
def embedding_bag(indices: Any, table: Any, mode: str = "mean") -> Any:
    """The sum, mean or max of ``table[indices]`` over the last axis of the indices. Of none: 0."""
    reductions = {"sum": sum, "mean": mean, "max": max}
    if mode not in reductions:
        raise ValueError(f"mode must be sum, mean or max, but got {mode!r}")
    return reductions[mode](embedding(indices, table), axis=-2)


@public
def feature_dropout(x: Any, rate: float, key: Any, seed: Any = 0) -> Any:
    """dropout of whole features, the last axis: the same ones in all places of a sample."""
    if not 0 <= rate < 1:
        raise ValueError(f"the rate of dropout must be in [0, 1), but got {rate}")
    x = x if is_traced(x) else np.asarray(x)
    keep = uniform(key, x.shape[-1:], seed=seed) >= rate
    return np.where(keep, x / scalar(1 - rate, x.dtype), scalar(0, x.dtype))


enable(globals(), __all__)
