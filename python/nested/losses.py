# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses as functions: of one sample, reduced over the batch.

Every loss takes ``reduction``: "entries" (the default), the mean over all entries of the batch, so that
a sample weighs as much as it has entries; "samples", the mean over samples of the mean over the
entries of each; "sum"; or "none", the losses themselves. ``where``: a boolean mask of the shape of
the losses; entries where it is false count for nothing and have gradient 0, whatever is there. The mean of
nothing is 0, with gradient 0. On plain arrays there is a batch of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _emit, batch, functions
from ._dtypes import is_int, scalar
from ._errors import ShapeError, TraceError, at_user, public
from ._gradient import stop_gradient
from ._tracer import Tracer, is_traced

__all__ = ["bce_with_logits", "cross_entropy", "mse", "smooth_l1", "weighted_squares"]

_REDUCTIONS = ("entries", "samples", "sum", "none")


def _reduced(losses: Any, where: Any, reduction: str) -> Any:
    if reduction not in _REDUCTIONS:
        raise ValueError(
            f"reduction must be one of {', '.join(_REDUCTIONS)}, but got {reduction!r}"
        )
    if where is not None:
        losses = np.where(where, losses, scalar(0, losses.dtype))
    if reduction == "none":
        return losses
    if reduction == "sum":
        return batch.sum(losses, axis=None)
    if where is None:
        if reduction == "entries":
            return batch.mean(losses, axis=None)
        return batch.mean(functions.mean(losses))
    # A mask may have fewer entries than the losses: it repeats.
    counted = np.where(where, functions.ones_like(losses), scalar(0, losses.dtype))
    if reduction == "entries":
        total, count = batch.sum(losses, axis=None), batch.sum(counted, axis=None)
        return total / np.maximum(count, 1)
    return batch.mean(functions.sum(losses) / np.maximum(functions.sum(counted), 1))


@public
def mse(prediction: Any, target: Any, where: Any = None, reduction: str = "entries") -> Any:
    """``(prediction - target) ** 2``; arrays of shapes that broadcast."""
    difference = prediction - target
    return _reduced(difference * difference, where, reduction)


@public
def smooth_l1(
    prediction: Any, target: Any, beta: float = 1.0, where: Any = None, reduction: str = "entries"
) -> Any:
    """``d ** 2 / (2 beta)`` where ``d = abs(prediction - target)`` is below beta, else ``d - beta /
    2``. beta: above 0."""
    if not beta > 0:
        raise ValueError(f"beta must be above 0, but got {beta!r}")
    distance = np.abs(prediction - target)
    near = distance * distance * (0.5 / beta)
    return _reduced(np.where(distance < beta, near, distance - 0.5 * beta), where, reduction)


@public
def bce_with_logits(
    logits: Any, target: Any, pos_weight: Any = None, where: Any = None, reduction: str = "entries"
) -> Any:
    """Binary cross entropy of ``sigmoid(logits)`` and targets from 0 to 1; finite for every logit.
    pos_weight: how much the positive part weighs, a number or an array that broadcasts."""
    tail = np.log1p(np.exp(-np.abs(logits)))
    if pos_weight is None:
        losses = np.maximum(logits, 0) - logits * target + tail
    else:
        weight = 1 + (pos_weight - 1) * target
        losses = (1 - target) * logits + weight * (tail + np.maximum(-logits, 0))
    return _reduced(losses, where, reduction)


@public
def cross_entropy(
    logits: Any, labels: Any, ignore_index: int | None = None, label_smoothing: float = 0.0,
    where: Any = None, reduction: str = "entries",
) -> Any:  # fmt: skip
    """Cross entropy of ``softmax(logits)`` and integer labels.

    logits: ``(..., C)``, with C static; labels: ``(...)``, from 0 to C - 1; another one is an error (DataError
    at run time, IndexError on plain arrays). Entries with the label ignore_index do not count.
    label_smoothing: how much of the target is spread evenly over the classes, from 0 to 1.
    """
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing must be from 0 to 1, but got {label_smoothing!r}")
    if not is_int(labels.dtype):
        raise at_user(TraceError(f"cross_entropy needs integer labels, but got {labels.dtype}"))
    classes = logits.shape[-1] if logits.shape else None
    if not isinstance(classes, (int, np.integer)) or len(labels.shape) != len(logits.shape) - 1:
        raise at_user(ShapeError(
            f"cross_entropy of logits {logits.shape} and labels {labels.shape}: expected a static "
            "last axis of classes, which the labels do not have"
        ))  # fmt: skip
    if ignore_index is not None:
        valid = labels != ignore_index
        labels = np.where(valid, labels, 0)
        where = valid if where is None else valid & where
    # Looked up, so that a label that is no class is found out.
    numbers = _arange(int(classes), logits, labels)
    label = np.take(numbers, labels, axis=0)
    shift = stop_gradient(functions.max(logits, axis=-1, keepdims=True))
    shifted = logits - shift
    total = np.log(functions.sum(np.exp(shifted), axis=-1))
    hit = label[..., None] == numbers
    zero = scalar(0, logits.dtype)
    losses = total - functions.sum(np.where(hit, shifted, zero), axis=-1)
    if label_smoothing:
        spread = total - functions.mean(shifted, axis=-1)
        losses = (1 - label_smoothing) * losses + label_smoothing * spread
    return _reduced(losses, where, reduction)


def _arange(count: int, *others: Any) -> Any:
    """0 to count - 1, as part of the program where there is one."""
    traced = next((x for x in others if isinstance(x, Tracer)), None)
    if traced is None:
        return np.arange(count)
    return Tracer(traced._trace, _emit.iota(traced._trace, (count,), 0))


@public
def weighted_squares(x: Any, weights: Any) -> Any:
    """``sum_i weights_i * |x_i| ** 2`` over the samples i, divided by the entries of all samples.

    weights: one number for every sample. For a program with two results it is added up:
    ``weighted_squares(single, a) + weighted_squares(pair, b)``. Sums are in at least float32.
    """
    if np.ndim(weights):
        raise at_user(ShapeError("weighted_squares needs one weight for every sample"))
    narrow = np.dtype(x.dtype).itemsize < 4
    x = x.astype(np.float32) if narrow else x
    total = batch.sum(weights * functions.sum(x * x))
    entries = batch.sum(x.size) if is_traced(x.size) else _entries(x, weights)
    return total / np.maximum(entries, 1).astype(total.dtype)


def _entries(x: Any, weights: Any) -> Any:
    """Entries of all samples of a static shape."""
    ones = weights * 0 + 1 if is_traced(weights) else np.float64(1)
    return batch.sum(ones) * x.size
