# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses and distances: compiled as on plain arrays, and known values."""

import numpy as np
import pytest
from helpers import batch_of, check

import nested
from nested import nn


@pytest.fixture
def pair(rng):
    """Two batches of the same lengths."""
    lengths = (3, 0, 40)
    return [
        nested.from_list([rng.standard_normal((n, 5)).astype("f4") for n in lengths]) for _ in "xy"
    ]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_elementwise_losses(pair, reduction):
    def f(x, y):
        p, q = nn.sigmoid(x), nn.sigmoid(y)
        sign = np.where(y > 0, 1.0, -1.0).astype("f4")
        r = {"reduction": reduction}
        return (
            nn.l1_loss(x, y, **r), nn.mse_loss(x, y, **r), nn.huber_loss(x, y, delta=0.5, **r),
            nn.smooth_l1_loss(x, y, beta=2.0, **r), nn.smooth_l1_loss(x, y, beta=0, **r),
            nn.binary_cross_entropy(p, q, **r), nn.binary_cross_entropy_with_logits(x, q, **r),
            nn.binary_cross_entropy_with_logits(x, q, pos_weight=3.0, **r),
            nn.kl_div(nn.log_softmax(x), nn.softmax(y), **r), nn.poisson_nll_loss(x, q, **r),
            nn.poisson_nll_loss(p, q, log_input=False, **r), nn.gaussian_nll_loss(x, y, q, **r),
            nn.gaussian_nll_loss(x, y, q, full=True, **r), nn.hinge_embedding_loss(x, sign, **r),
            nn.margin_ranking_loss(x, y, sign, 0.1, **r), nn.soft_margin_loss(x, sign, **r),
            nn.cosine_embedding_loss(x, y, sign[:, 0], 0.1, **r), nn.triplet_margin_loss(x, y, x * 2, **r),
        )  # fmt: skip

    check(f, *pair, tolerance=3e-5)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_classes(pair, reduction, rng):
    x, lengths = pair[0], (3, 0, 40)
    labels = nested.from_list([rng.integers(0, 5, n) for n in lengths])
    spoilt = nested.from_list([np.where(np.arange(n) % 3 == 0, -100, 2) for n in lengths])

    def f(x, k, s):
        r = {"reduction": reduction}
        return (
            nn.cross_entropy(x, k, **r), nn.cross_entropy(x, s, **r), nn.nll_loss(x, k, **r),
            nn.cross_entropy(x, k, label_smoothing=0.1, **r), nn.cross_entropy(x, nn.softmax(x * 2), **r),
        )  # fmt: skip

    check(f, x, labels, spoilt)


def test_known_values():
    x = np.log(np.array([[0.2, 0.8], [0.5, 0.5]]))
    assert np.isclose(nn.cross_entropy(x, np.array([1, 0])), -(np.log(0.8) + np.log(0.5)) / 2)
    assert np.isclose(nn.cross_entropy(x, np.array([1, -100])), -np.log(0.8))
    assert np.isclose(
        nn.binary_cross_entropy_with_logits(np.array([0.0]), np.array([1.0])), np.log(2)
    )
    with pytest.raises(
        ValueError, match="reduction must be 'mean', 'sum' or 'none', but got 'max'"
    ):
        nn.mse_loss(x, x, reduction="max")


def test_distances(rng):
    x, y = (
        batch_of(rng, (3, 0, 17), 4),
        nested.from_list([rng.standard_normal((n, 4)).astype("f4") for n in (5, 2, 0)]),
    )
    check(lambda a, b: (nn.cdist(a, b), nn.cdist(a, b, ord=1)), x, y)
    check(lambda a: (nn.pairwise_distance(a, a + 1), nn.cosine_similarity(a, a + 1)), x)
