"""Shares of classes are right on average, and intervals hold them."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid.audit.prevalence import prevalence


def predictions(seed: int, size: int = 2000) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Predictions that are far too confident, and the truth."""
    rng = np.random.default_rng(seed)
    honest = rng.dirichlet([0.2, 0.3, 0.8], size)
    truth = (rng.random(size)[:, None] > honest.cumsum(axis=1)).sum(axis=1)
    sure = honest**3 + 1e-9
    return sure / sure.sum(axis=1, keepdims=True), np.minimum(truth, 2), rng


def test_intervals_hold_the_share_as_often_as_they_say_and_are_narrower() -> None:
    probs, truth, rng = predictions(0)
    shares = np.bincount(truth, minlength=3) / len(truth)
    held, held_plain, widths = [], [], []
    for _ in range(400):
        sample = rng.permutation(len(truth))[:150]
        found = prevalence(probs, sample, truth[sample], level=0.9)
        held.append((found.low <= shares) & (shares <= found.high))
        held_plain.append((found.classical_low <= shares) & (shares <= found.classical_high))
        widths.append((found.high - found.low) / (found.classical_high - found.classical_low))
    assert np.mean(held) > 0.87
    assert np.mean(held_plain) > 0.87
    assert np.mean(widths) < 0.8


def test_the_estimate_has_no_bias_although_the_classifier_has() -> None:
    probs, truth, rng = predictions(1)
    biased = probs * [1, 1, 3] / (probs * [1, 1, 3]).sum(axis=1, keepdims=True)
    samples = [rng.permutation(len(truth))[:100] for _ in range(500)]
    mean = np.mean([prevalence(biased, s, truth[s]).share for s in samples], axis=0)
    np.testing.assert_allclose(mean, np.bincount(truth) / len(truth), atol=0.01)


def test_useless_predictions_get_no_weight() -> None:
    _, truth, rng = predictions(2)
    found = prevalence(rng.dirichlet(np.ones(3), len(truth)), np.arange(1000), truth[:1000])
    assert (found.prediction_weight < 0.1).all()
    np.testing.assert_allclose(found.share, found.classical, atol=0.01)


def test_the_whole_pool_has_no_interval_left() -> None:
    probs, truth, _ = predictions(3, 50)
    found = prevalence(probs, np.arange(50), truth)
    np.testing.assert_allclose(found.low, found.high)
    np.testing.assert_allclose(found.share, np.bincount(truth, minlength=3) / 50)


def test_samples_that_are_none_are_refused() -> None:
    probs = np.full((4, 2), 0.5)
    for items, truths, message in [
        ([0], [1], "two or more"),
        ([0, 4], [0, 1], "item of the sample"),
        ([0, 1], [0, 2], "truth of the sample"),
        ([0, 0], [0, 1], "twice"),
    ]:
        with pytest.raises(ValueError, match=message):
            prevalence(probs, items, truths)
