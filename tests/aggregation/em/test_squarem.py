"""SQUAREM acceleration: the objective never falls, and ends as high."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdpilot.aggregation import EBCC, GLAD, IBCC, MACE, DawidSkene, OneCoin
from crowdpilot.aggregation.em.squarem import Squarem
from crowdpilot.simulation import one_coin

MODELS = [DawidSkene(), IBCC(), OneCoin(), GLAD(), MACE(restarts=2), EBCC(M=3)]


def hard_votes(seed=0):
    """A crowd that is hardly better than chance: EM converges slowly."""
    return one_coin(300, [0.6, 0.55, 0.5, 0.5, 0.45, 0.4] * 3, classes=3, votes_per_task=4, seed=seed).votes


def at_ends(model, votes):
    plain = replace(model, tol=1e-9, max_iter=3000).fit(votes)
    return plain, replace(model, tol=1e-9, max_iter=3000, accelerate=True).fit(votes)


@pytest.mark.filterwarnings("ignore::crowdpilot.aggregation.NotConverged")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_objective_never_falls(model):
    trace = replace(model, accelerate=True, tol=-np.inf, max_iter=60).fit(hard_votes()).trace
    assert np.diff(trace).min() > -1e-9 * abs(trace[-1])


@pytest.mark.parametrize("model", [DawidSkene(), IBCC(), OneCoin(), GLAD()], ids=str)
def test_the_end_is_as_high_and_comes_sooner(model):
    plain, accelerated = at_ends(model, hard_votes())
    assert accelerated.trace[-1] > plain.trace[-1] - 1e-6 * len(plain.votes)
    assert len(accelerated.trace) < len(plain.trace)


def test_an_extrapolation_keeps_the_sums_and_no_count_vanishes():
    s0 = np.array([10.0, 5.0, 1.0])
    s1, s2 = np.array([11.0, 4.5, 0.5]), np.array([11.8, 4.05, 0.15])
    squarem = Squarem((s0,), accelerate=True)
    squarem.accept((s1,))
    squarem.accept((s2,))
    assert squarem.extrapolated
    (counts,) = squarem.counts
    assert (counts > 0).all()
    assert counts[0] > s2[0]
    assert counts.sum() >= s0.sum() - 1e-12


def test_a_rejected_extrapolation_goes_on_from_the_counts_before_it():
    squarem = Squarem((np.array([0.0]),), accelerate=True)
    squarem.accept((np.array([1.0]),))
    squarem.accept((np.array([1.9]),))
    assert squarem.extrapolated
    squarem.reject()
    assert not squarem.extrapolated
    np.testing.assert_array_equal(squarem.counts[0], [1.9])
