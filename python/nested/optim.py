# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimisers as pure functions on nests of arrays.

    optimizer = nested.optim.adamw(weight_decay=0.01)
    state = optimizer.init(params)

    @nested.jit
    def step(params, state, batch, targets, rate):
        loss, grads = nested.value_and_grad(loss_fn)(params, batch, targets)
        params, state = optimizer.update(grads, state, params, rate)
        return loss, params, state

The learning rate is an argument, a number at run time (``np.float32(1e-3)``): another one does not compile
again. State is a nest of arrays like any other: it can be saved. Everything works on plain arrays
too. Parameters keep their dtypes; what is computed for them has their dtype.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from . import _tree
from ._dtypes import scalar
from ._errors import public

__all__ = ["Optimizer", "adam", "adamw", "clip_by_global_norm", "global_norm", "sgd"]


class Optimizer(NamedTuple):
    """``init(params) -> state``, and ``update(grads, state, params, rate) -> (params, state)``."""

    init: Callable
    update: Callable


def _map(function: Callable, tree: Any, *others: Any) -> Any:
    """A nest of what the function gives for leaves in the same place."""
    named, structure = _tree.flatten(tree)
    columns = [[leaf for _, leaf in named]]
    for other in others:
        leaves, shape = _tree.flatten(other)
        if _tree.signature(shape) != _tree.signature(structure):
            raise TypeError(
                f"nests of parameters differ: expected {_names(named)}, but got {_names(leaves)}"
            )
        columns.append([leaf for _, leaf in leaves])
    return _tree.unflatten(structure, [function(*row) for row in zip(*columns)])


def _names(leaves: Any) -> str:
    return ", ".join(name or "one array" for name, _ in leaves) or "nothing"


def _like(x: Any, parameter: Any) -> Any:
    """A number in the dtype of a parameter."""
    return x.astype(parameter.dtype) if hasattr(x, "astype") else scalar(x, parameter.dtype)


def _zeros(params: Any) -> Any:
    return _map(np.zeros_like, params)


def _not_negative(**numbers: float) -> None:
    for name, value in numbers.items():
        if not value >= 0:
            raise ValueError(f"{name} must be at least 0, but got {value!r}")


@public
def sgd(momentum: float = 0.0, nesterov: bool = False, weight_decay: float = 0.0) -> Optimizer:
    """``v = momentum * v + g; p = p - rate * v``; with nesterov ``p - rate * (g + momentum * v)``.
    weight_decay adds ``weight_decay * p`` to the gradient."""
    _not_negative(momentum=momentum, weight_decay=weight_decay)
    if nesterov and momentum == 0:
        raise ValueError("nesterov needs a momentum above 0")

    def init(params: Any) -> Any:
        return {"velocity": _zeros(params)} if momentum else {}

    def decayed(p: Any, g: Any) -> Any:
        return g + _like(weight_decay, p) * p if weight_decay else g

    def update(grads: Any, state: Any, params: Any, rate: Any) -> tuple[Any, Any]:
        grads = _map(decayed, params, grads)
        if not momentum:
            return _map(lambda p, g: p - _like(rate, p) * g, params, grads), state
        velocity = _map(lambda v, g: _like(momentum, v) * v + g, state["velocity"], grads)
        steps = velocity
        if nesterov:
            steps = _map(lambda g, v: g + _like(momentum, v) * v, grads, velocity)
        params = _map(lambda p, s: p - _like(rate, p) * s, params, steps)
        return params, {"velocity": velocity}

    return Optimizer(init, update)


@public
def adam(b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Optimizer:
    """Adam, with the means corrected for where they started."""
    return adamw(b1, b2, eps, weight_decay=0.0)


@public
def adamw(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, weight_decay: float = 0.01
) -> Optimizer:
    """Adam, whose decay ``p * (1 - rate * weight_decay)`` does not go through the means."""
    _not_negative(b1=b1, b2=b2, eps=eps, weight_decay=weight_decay)
    if b1 >= 1 or b2 >= 1:
        raise ValueError(f"b1 and b2 must be below 1, but got {b1!r} and {b2!r}")

    def init(params: Any) -> Any:
        return {"step": np.float32(0), "mean": _zeros(params), "square": _zeros(params)}

    def update(grads: Any, state: Any, params: Any, rate: Any) -> tuple[Any, Any]:
        _map(lambda p, g: None, params, grads)  # nests that differ are found before use
        step = state["step"] + np.float32(1)
        mean = _map(lambda m, g: _like(b1, m) * m + _like(1 - b1, m) * g, state["mean"], grads)
        square = _map(
            lambda s, g: _like(b2, s) * s + _like(1 - b2, s) * g * g, state["square"], grads
        )

        def moved(p: Any, m: Any, s: Any) -> Any:
            t = _like(step, p)
            first = 1 - _like(b1, p) ** t
            second = 1 - _like(b2, p) ** t
            change = (m / first) / (np.sqrt(s / second) + _like(eps, p))
            if weight_decay:
                change = change + _like(weight_decay, p) * p
            return p - _like(rate, p) * change

        params = _map(moved, params, mean, square)
        return params, {"step": step, "mean": mean, "square": square}

    return Optimizer(init, update)


@public
def global_norm(tree: Any) -> Any:
    """The root of the sum of the squares of all entries of a nest."""
    total: Any = np.float32(0)
    for leaf in _tree.leaves_of(tree):
        total = total + np.sum(leaf * leaf)
    return np.sqrt(total)


@public
def clip_by_global_norm(grads: Any, limit: float) -> tuple[Any, Any]:
    """The nest scaled down so that its global norm is at most limit, and the norm it had."""
    if not limit > 0:
        raise ValueError(f"limit must be above 0, but got {limit!r}")
    norm = global_norm(grads)
    scale = _like(limit, norm) / np.maximum(norm, _like(limit, norm))
    return _map(lambda g: g * _like(scale, g), grads), norm
