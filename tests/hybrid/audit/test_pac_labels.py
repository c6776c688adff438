"""The classifier labels as many items as it may, and errs no more often than the bound says."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid.audit.pac_labels import pac_labels


def classifier(seed: int, size: int = 1000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidences that are too high, whether labels are right, and a uniform sample."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.5, 1, size)
    right = rng.random(size) < confidence**1.5
    return confidence, right, rng.permutation(size)[: size // 5]


def test_too_many_errors_are_no_more_frequent_than_allowed() -> None:
    failed, shares = 0, []
    for seed in range(100):
        confidence, right, sample = classifier(seed)
        found = pac_labels(confidence, sample, right[sample], epsilon=0.1, level=0.9)
        failed += (found.mask & ~right).mean() > 0.1
        shares.append(found.share)
    assert failed <= 10
    assert np.median(shares) > 0.15


def test_the_mask_is_that_of_the_threshold() -> None:
    confidence, right, sample = classifier(0)
    found = pac_labels(confidence, sample, right[sample], epsilon=0.1)
    np.testing.assert_array_equal(found.mask, confidence >= found.threshold)
    assert found.share == found.mask.mean() > 0
    assert found.bound <= 0.1


def test_a_classifier_that_is_always_right_labels_all_and_one_that_is_never_right_nearly_none() -> None:
    confidence, _, sample = classifier(0)
    assert pac_labels(confidence, sample, np.ones(200, bool), epsilon=0.05).share == 1
    worst = pac_labels(confidence, sample, np.zeros(200, bool), epsilon=0.05)
    assert worst.share <= 0.05


def test_no_sample_proves_nothing_beyond_what_may_be_wrong_anyway() -> None:
    found = pac_labels(np.linspace(0, 1, 100), np.zeros(0, int), [], epsilon=0.1)
    assert found.share <= 0.1


def test_samples_that_are_none_are_refused() -> None:
    for items, right, message in [
        ([0, 0], [True, True], "twice"),
        ([0, 9], [True, True], "indices of the 3 items"),
        ([0], [True, True], "1 items and 2 answers"),
    ]:
        with pytest.raises(ValueError, match=message):
            pac_labels([0.5, 0.6, 0.7], items, right)
    with pytest.raises(ValueError, match="epsilon is 0"):
        pac_labels([0.5], [0], [True], epsilon=0)
