# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions over the samples of a batch.

``axis`` names axes of a sample that are reduced too: none by default, all with None. Ragged
axes must be among them. Every entry weighs the same; for samples to weigh the same, reduce per
sample first. The result is one array for the batch. On plain arrays they see a batch of one.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _contract, _functions
from ._eager import enable
from ._errors import public
from ._tracer import is_traced
from .functions import empty_as_zero

__all__ = ["sum", "mean", "max", "min", "prod", "einsum"]


def _reduction(kind: str, function: Callable, doc: str) -> Callable:
    def reduction(x: Any, axis: Any = (), keepdims: bool = False) -> Any:
        if is_traced(x):
            return _functions.reduce(kind, x, axis, None, keepdims, batch=True)
        array = np.asarray(x)
        axes = axis if axis is None or isinstance(axis, tuple) else tuple(np.atleast_1d(axis))
        return empty_as_zero(kind, function, array, axes, keepdims)

    reduction.__name__, reduction.__doc__ = kind, doc
    return public(reduction)


sum = _reduction("sum", np.sum, "Sum over samples and axes. Of nothing: 0.")
mean = _reduction("mean", np.mean, "Mean over samples and axes. Of nothing: 0.")
prod = _reduction("prod", np.prod, "Product over samples and axes. Of nothing: 1.")
max = _reduction("max", np.max, "Largest over samples and axes. Of nothing: 0.")
min = _reduction("min", np.min, "Smallest over samples and axes. Of nothing: 0.")


@public
def einsum(subscripts: str, *operands: Any) -> Any:
    """np.einsum, summed over the samples too: ``batch.einsum("nk,nm->km", x, dy)`` is a weight
    gradient. Ragged axes must be summed over. Of nothing: 0. One array for the batch."""
    if any(is_traced(x) for x in operands):
        return _contract.einsum(subscripts, *operands, batch=True)
    return np.einsum(subscripts, *operands)


enable(globals(), __all__)
