"""Strata hold similar items, and probabilities are updated by known losses."""

from __future__ import annotations

import numpy as np

from crowdpilot.hybrid.audit.strata import STRATA_PER_CAP, stratify, update_probabilities


def test_a_stratum_has_one_cap_and_similar_probabilities() -> None:
    rng = np.random.default_rng(0)
    cap, probability = rng.choice([1.0, 5.0], 1000), rng.random(1000)
    strata = stratify(cap, probability)
    assert len(strata.size) == 2 * STRATA_PER_CAP
    np.testing.assert_array_equal(cap, cap[strata.first][strata.code])
    assert np.abs(probability - strata.mean(probability)[strata.code]).max() < 0.1
    assert strata.size.sum() == 1000


def test_equal_items_are_never_parted() -> None:
    strata = stratify(np.ones(100), np.repeat([0.1, 0.2], 50))
    assert strata.size.tolist() == [50, 50]


def test_without_known_losses_the_probabilities_are_those_of_the_model() -> None:
    probability = np.array([0.01, 0.2, 0.5])
    np.testing.assert_allclose(update_probabilities(probability, np.zeros(3), np.zeros(3)), probability)


def test_a_model_that_is_too_confident_is_corrected() -> None:
    honest = np.linspace(0.02, 0.4, 10)
    odds = (honest / (1 - honest)) ** 3
    updated = update_probabilities(odds / (1 + odds), np.full(10, 1000.0), 1000 * honest)
    np.testing.assert_allclose(updated, honest, atol=0.01)


def test_a_model_that_is_the_wrong_way_round_gets_no_weight() -> None:
    updated = update_probabilities(np.array([0.01, 0.4]), np.full(2, 1000.0), np.array([400.0, 10.0]))
    np.testing.assert_allclose(updated[0], updated[1])
