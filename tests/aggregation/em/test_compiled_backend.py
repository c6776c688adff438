"""What is compiled gives the same as what it replaces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.aggregation import (
    EBCC,
    IBCC,
    DawidSkene,
    DawidSkeneClust,
    FastDawidSkene,
    HierarchicalDawidSkene,
)
from crowdpilot.aggregation.em.backend import sum_stats
from crowdpilot.aggregation.em.in_memory_backend import InMemoryVotes
from crowdpilot.simulation import one_coin

pytest.importorskip("numba")
compiled = pytest.importorskip("crowdpilot.aggregation.em.compiled_backend")
kernels = pytest.importorskip("crowdpilot.aggregation.em.numba_kernels")

MODELS = [DawidSkene(), IBCC(), FastDawidSkene(), EBCC(M=3), DawidSkeneClust(), HierarchicalDawidSkene()]


def make(tasks=400, gold=False, weighted=False, seed=0):
    votes, truth = one_coin(tasks, [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], classes=4, votes_per_task=3, seed=seed)
    rng = np.random.default_rng(seed)
    known = np.where(rng.random(tasks) < 0.2, truth, -1).astype(np.int32) if gold else None
    weight = rng.choice([0.5, 1.0, 2.0], len(votes)) if weighted else None
    return replace(votes, gold=known, weight=weight).merged


def load_both(model, votes, threads=2):
    first = model.initial_posterior(votes)
    return InMemoryVotes(votes, first.copy()), compiled.CompiledVotes(votes, first.copy(), threads)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("gold", [False, True], ids=["blind", "gold"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_an_iteration_is_the_same(model, gold, weighted):
    votes = make(gold=gold, weighted=weighted)
    plain, quick = load_both(model, votes)
    pseudo = model.pseudo_counts(votes)
    begun = plain.initial_counts(model, 0)
    for mine, other in zip(quick.initial_counts(model, 0), begun, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)
    params = model.m_step(sum_stats([begun, pseudo]), None)
    (stats, loglik), (others, expected) = quick.iterate(model, params), plain.iterate(model, params)
    assert loglik == pytest.approx(expected, rel=1e-7)
    for mine, other in zip(stats, others, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(quick.posterior(model, params), plain.posterior(model, params), atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_fit_is_the_same_however_many_votes_there_are(model, monkeypatch):
    votes = make(gold=True, weighted=True)
    plain = model.fit(votes)
    monkeypatch.setattr("crowdpilot.aggregation.em.default_backend.COMPILED_FIT_VOTES", 0)
    monkeypatch.setattr("crowdpilot.aggregation.em.default_backend.MIN_VOTES_PER_THREAD", 100)
    monkeypatch.setattr("crowdpilot.aggregation.em.compiled_backend.MIN_VOTES_PER_SINGLE_PRECISION_SUM", 50)
    quick = model.fit(votes)
    np.testing.assert_allclose(quick.probs, plain.probs, atol=1e-5)
    np.testing.assert_array_equal(quick.codes, plain.codes)
    assert quick.trace[-1] == pytest.approx(plain.trace[-1], rel=1e-7)


@given(st.lists(st.floats(-800, 0), min_size=1, max_size=50))
@settings(max_examples=50, deadline=None)
def test_exponentials_are_exact(values):
    x = np.array(values)
    found = x.copy()
    kernels.exponentiate(found, np.empty_like(found))
    np.testing.assert_allclose(found, np.exp(np.maximum(x, -700)), rtol=4e-15)


def test_few_tasks_and_tasks_without_votes_are_no_trouble():
    votes, _ = one_coin(5, [0.9, 0.8], seed=0)
    listed = replace(votes, tasks=np.arange(9), gold=None).merged
    plain, quick = load_both(DawidSkene(), listed, threads=4)
    params = DawidSkene().m_step(
        sum_stats([plain.initial_counts(DawidSkene(), 0), DawidSkene().pseudo_counts(listed)]), None
    )
    np.testing.assert_allclose(
        quick.posterior(DawidSkene(), params), plain.posterior(DawidSkene(), params), atol=1e-12
    )
