# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses and distances; the functions are nested.nn's.

They are compositions for one sample. ``reduction``: "mean" or "sum" over all entries of the
sample (of nothing: 0), or "none", which keeps one number for each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._eager import enable
from ._errors import public
from .activations import logsigmoid
from .elementwise import xlogy
from .functions import mean, sum
from .reductions import log_softmax, vector_norm

__all__ = ["l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
           "binary_cross_entropy_with_logits", "cross_entropy", "nll_loss", "kl_div",
           "poisson_nll_loss", "gaussian_nll_loss", "hinge_embedding_loss", "margin_ranking_loss",
           "soft_margin_loss", "cosine_embedding_loss", "triplet_margin_loss", "cosine_similarity",
           "pairwise_distance", "cdist"]  # fmt: skip


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction must be 'mean', 'sum' or 'none', but got {reduction!r}")
    return loss if reduction == "none" else (mean if reduction == "mean" else sum)(loss)


@public
def l1_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """``abs(x - target)``"""
    return _reduced(np.abs(x - target), reduction)


@public
def mse_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """``(x - target) ** 2``"""
    return _reduced((x - target) ** 2, reduction)


@public
def huber_loss(x: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Half the square of the difference, linear beyond delta."""
    size = np.abs(x - target)
    return _reduced(
        np.where(size <= delta, size * size * 0.5, (size - 0.5 * delta) * delta), reduction
    )


@public
def smooth_l1_loss(x: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """huber_loss divided by beta; with beta 0 l1_loss."""
    if beta == 0:
        return l1_loss(x, target, reduction)
    return huber_loss(x, target, reduction, beta) / beta


@public
def binary_cross_entropy(x: Any, target: Any, reduction: str = "mean") -> Any:
    """``-(target * log(x) + (1 - target) * log(1 - x))``, logarithms of at least -100."""
    yes, no = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return _reduced(-(target * yes + (1 - target) * no), reduction)


@public
def binary_cross_entropy_with_logits(
    x: Any, target: Any, reduction: str = "mean", pos_weight: Any = 1.0
) -> Any:
    """binary_cross_entropy of sigmoid(x), without overflow. pos_weight: of positive targets."""
    loss = (1 - target) * x - logsigmoid(x) * (1 + (pos_weight - 1) * target)
    return _reduced(loss, reduction)


def _picked(log_p: Any, labels: Any) -> Any:
    """The entry of the last axis that each label says; 0 for labels that say none."""
    classes = np.arange(log_p.shape[-1])
    return np.sum(np.where(labels[..., None] == classes, log_p, 0.0), axis=-1)


def _labelled(loss: Any, labels: Any, classes: int, reduction: str) -> Any:
    if reduction != "mean":
        return _reduced(loss, reduction)
    counted = np.logical_and(labels >= 0, labels < classes)
    count = sum(counted)
    return sum(loss) / np.maximum(count, 1).astype(loss.dtype)


@public
def nll_loss(log_p: Any, labels: Any, reduction: str = "mean") -> Any:
    """``-log_p[..., labels]``. log_p: ``(..., C)``, C static; labels: integers ``(...)``. Labels
    that are no class, such as -100, do not count."""
    return _labelled(-_picked(log_p, labels), labels, log_p.shape[-1], reduction)


@public
def cross_entropy(
    x: Any, labels: Any, reduction: str = "mean", label_smoothing: float = 0.0
) -> Any:
    """nll_loss of log_softmax(x) over the last axis; of labels, or of probabilities ``(..., C)``."""
    log_p = log_softmax(x)
    if labels.ndim == x.ndim:
        if label_smoothing:
            labels = labels * (1 - label_smoothing) + label_smoothing / x.shape[-1]
        loss = -np.sum(log_p * labels, axis=-1)
        return _reduced(loss, reduction)
    loss = -_picked(log_p, labels)
    if label_smoothing:
        counted = np.logical_and(labels >= 0, labels < x.shape[-1])
        smooth = np.where(counted, -mean(log_p, axis=-1), 0.0)
        loss = loss * (1 - label_smoothing) + smooth * label_smoothing
    return _labelled(loss, labels, x.shape[-1], reduction)


@public
def kl_div(log_p: Any, target: Any, reduction: str = "mean") -> Any:
    """``target * (log(target) - log_p)``, and 0 where the target is 0."""
    return _reduced(xlogy(target, target) - target * log_p, reduction)


@public
def poisson_nll_loss(
    x: Any, target: Any, log_input: bool = True, reduction: str = "mean", eps: float = 1e-8
) -> Any:
    """``exp(x) - target * x``, or ``x - target * log(x + eps)`` without log_input."""
    loss = np.exp(x) - target * x if log_input else x - target * np.log(x + eps)
    return _reduced(loss, reduction)


@public
def gaussian_nll_loss(
    x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """``(log(var) + (x - target) ** 2 / var) / 2``, var at least eps; full: with its constant."""
    var = np.maximum(var, eps)
    loss = (np.log(var) + (x - target) ** 2 / var) * 0.5
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@public
def hinge_embedding_loss(x: Any, target: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    """x where the target is 1, ``max(0, margin - x)`` where it is -1."""
    loss = np.where(target == 1, x, 0.0) + np.where(target == -1, np.maximum(margin - x, 0), 0.0)
    return _reduced(loss, reduction)


@public
def margin_ranking_loss(
    a: Any, b: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """``max(0, -target * (a - b) + margin)``"""
    return _reduced(np.maximum(-target * (a - b) + margin, 0), reduction)


@public
def soft_margin_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """``log(1 + exp(-target * x))``"""
    return _reduced(-logsigmoid(target * x), reduction)


@public
def cosine_similarity(a: Any, b: Any, axis: int = -1, eps: float = 1e-8) -> Any:
    """``sum(a * b) / (norm(a) * norm(b))`` along an axis, each norm at least eps."""
    norms = [np.maximum(vector_norm(x, axis=axis), eps) for x in (a, b)]
    return np.sum(a * b, axis=axis) / (norms[0] * norms[1])


@public
def cosine_embedding_loss(
    a: Any, b: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """``1 - cosine_similarity`` where the target is 1, ``max(0, it - margin)`` where it is -1."""
    cosine = cosine_similarity(a, b)
    return _reduced(np.where(target == 1, 1 - cosine, np.maximum(cosine - margin, 0)), reduction)


@public
def pairwise_distance(a: Any, b: Any, ord: float = 2, eps: float = 1e-6) -> Any:
    """``norm(a - b + eps)`` along the last axis."""
    return vector_norm(a - b + eps, axis=-1, ord=ord)


@public
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, ord: float = 2,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """``max(0, distance(anchor, positive) - distance(anchor, negative) + margin)``"""
    near, far = (pairwise_distance(anchor, x, ord) for x in (positive, negative))
    return _reduced(np.maximum(near - far + margin, 0), reduction)


@public
def cdist(a: Any, b: Any, ord: float = 2) -> Any:
    """Distances of all pairs of rows. a: ``(N, K)``; b: ``(M, K)``; the result is ``(N, M)``."""
    return vector_norm(a[:, None, :] - b[None, :, :], axis=-1, ord=ord)


enable(globals(), __all__)
