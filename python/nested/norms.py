# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalisation; the functions are nested.nn's. The last axis, static, holds the channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _functions, batch
from ._dtypes import is_float
from ._eager import enable
from ._errors import public
from ._tracer import is_traced
from .functions import mean, scaled, standard
from .reductions import vector_norm

__all__ = ["rms_norm", "group_norm", "instance_norm", "batch_norm", "normalize"]


def _floating(name: str, x: Any) -> np.ndarray:
    x = np.asarray(x)
    if not is_float(x.dtype):
        raise TypeError(f"{name} of {x.dtype}: expected a floating-point dtype")
    return x


@public
def rms_norm(x: Any, scale: Any = None, offset: Any = None, eps: float = 1e-5) -> Any:
    """``x / sqrt(mean(x * x) + eps) * scale + offset`` over the last axis. scale, offset: shared,
    of the size of that axis. Floating-point dtypes."""
    if is_traced(x):
        return _functions.normalize("rms", x, scale, offset, eps)
    x = _floating("rms_norm", x)
    root = np.sqrt(mean(x * x, axis=-1, keepdims=True) + x.dtype.type(eps))
    return scaled(x / root, scale, offset)


@public
def group_norm(
    x: Any, groups: int, scale: Any = None, offset: Any = None, eps: float = 1e-5
) -> Any:
    """Each of ``groups`` runs of equally many channels less its mean, divided by
    ``sqrt(variance + eps)``, over the whole sample, ragged axes included. Floating-point dtypes."""
    if is_traced(x):
        return _functions.normalize("group", x, scale, offset, eps, groups)
    x = _floating("group_norm", x)
    if groups < 1 or x.shape[-1] % groups:
        raise ValueError(f"group_norm: {groups} groups do not divide {x.shape[-1]} channels")
    parts = x.reshape(*x.shape[:-1], groups, x.shape[-1] // groups)
    axes = (*range(x.ndim - 1), x.ndim)
    return scaled(standard(parts, axes, eps).reshape(x.shape), scale, offset)


@public
def instance_norm(x: Any, scale: Any = None, offset: Any = None, eps: float = 1e-5) -> Any:
    """Each channel less its mean, divided by ``sqrt(variance + eps)``, over the whole sample,
    ragged axes included. Floating-point dtypes."""
    if is_traced(x):
        return _functions.normalize("instance", x, scale, offset, eps)
    x = _floating("instance_norm", x)
    return scaled(standard(x, tuple(range(x.ndim - 1)), eps), scale, offset)


@public
def batch_norm(
    x: Any, running_mean: Any, running_var: Any, scale: Any = None, offset: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each channel less its mean, divided by ``sqrt(variance + eps)``, ``* scale + offset``.

    running_mean, running_var: shared, of the size of the last axis. They are the statistics unless
    ``training``; then these are taken over all entries of all samples, and the result is a tuple of
    the normalised batch and the statistics to go on with, ``(1 - momentum) * running + momentum *
    new``, the new variance divided by the number of entries less one."""
    if not training:
        return scaled((x - running_mean) / np.sqrt(running_var + eps), scale, offset)
    axes = tuple(range(x.ndim - 1))
    found = batch.mean(x, axis=axes)
    centred = x - found
    squares = batch.sum(centred * centred, axis=axes)
    count = batch.sum(np.ones_like(x), axis=axes)
    variance = squares / np.maximum(count, 1)
    result = scaled(centred / np.sqrt(variance + eps), scale, offset)
    unbiased = squares / np.maximum(count - 1, 1)
    new_mean = running_mean * (1 - momentum) + found * momentum
    return result, new_mean, running_var * (1 - momentum) + unbiased * momentum


@public
def normalize(x: Any, axis: Any = -1, ord: float = 2, eps: float = 1e-12) -> Any:
    """x divided by its norm over an axis, or by eps where the norm is smaller."""
    return x / np.maximum(vector_norm(x, axis=axis, keepdims=True, ord=ord), eps)


enable(globals(), __all__)
