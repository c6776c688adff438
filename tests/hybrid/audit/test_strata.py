"""Strata hold like items, and chances are learnt from what is found."""

from __future__ import annotations

import numpy as np

from crowdpilot.hybrid.audit.strata import BANDS, learn_chances, stratify


def test_a_stratum_has_one_cap_and_like_chances() -> None:
    rng = np.random.default_rng(0)
    cap, chance = rng.choice([1.0, 5.0], 1000), rng.random(1000)
    strata = stratify(cap, chance)
    assert len(strata.size) == 2 * BANDS
    np.testing.assert_array_equal(cap, cap[strata.first][strata.code])
    assert np.abs(chance - strata.mean(chance)[strata.code]).max() < 0.1
    assert strata.size.sum() == 1000


def test_equal_items_are_never_parted() -> None:
    strata = stratify(np.ones(100), np.repeat([0.1, 0.2], 50))
    assert strata.size.tolist() == [50, 50]


def test_nothing_found_leaves_the_chances_of_the_model() -> None:
    chance = np.array([0.01, 0.2, 0.5])
    np.testing.assert_allclose(learn_chances(chance, np.zeros(3), np.zeros(3)), chance)


def test_a_model_that_is_too_sure_is_corrected() -> None:
    honest = np.linspace(0.02, 0.4, 10)
    odds = (honest / (1 - honest)) ** 3
    learnt = learn_chances(odds / (1 + odds), np.full(10, 1000.0), 1000 * honest)
    np.testing.assert_allclose(learnt, honest, atol=0.01)


def test_a_model_that_is_the_wrong_way_round_is_not_believed() -> None:
    learnt = learn_chances(np.array([0.01, 0.4]), np.full(2, 1000.0), np.array([400.0, 10.0]))
    np.testing.assert_allclose(learnt[0], learnt[1])
