"""Dawid and Skene's model against their own figures, and each of its settings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from crowdpilot.aggregation import DawidSkene, NotConverged
from crowdpilot.datasets import load
from crowdpilot.votes import Votes

PLAIN = DawidSkene(smoothing=1e-9, diagonal=0, class_smoothing=1e-9, tol=1e-12, max_iter=5000)


def test_it_reproduces_the_figures_of_1979():
    """Prevalences and error rates of Dawid and Skene, Applied Statistics 28(1), 1979, Tables 2 and 3."""
    result = PLAIN.fit(load("anesthesia"))
    np.testing.assert_allclose(result.params["prior"], [0.40, 0.42, 0.11, 0.07], atol=0.005)
    published = [
        [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]],
        [[0.83, 0.17, 0, 0], [0.05, 0.63, 0.31, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        [[1, 0, 0, 0], [0.11, 0.79, 0.11, 0], [0, 0.40, 0.20, 0.40], [0, 0, 0.67, 0.33]],
        [[0.94, 0.06, 0, 0], [0.05, 0.84, 0.10, 0], [0, 0, 0.80, 0.20], [0, 0, 0.33, 0.67]],
        [[1, 0, 0, 0], [0.16, 0.73, 0.11, 0], [0, 0.21, 0.79, 0], [0, 0, 0.33, 0.67]],
    ]
    np.testing.assert_allclose(result.params["confusion"], published, atol=0.01)


def test_the_objective_is_the_penalised_log_likelihood(simulated):
    """Computed here vote by vote, from the parameters alone."""
    votes, _ = simulated
    model = DawidSkene(tol=1e-13, max_iter=5000)
    result = model.fit(votes)
    prior, confusion = result.params["prior"], result.params["confusion"]
    log_joint = np.tile(np.log(prior), (len(votes.tasks), 1))
    for task, worker, label in zip(votes.task, votes.worker, votes.label, strict=True):
        log_joint[task] += np.log(confusion[worker, :, label])
    penalty = model.class_smoothing * np.log(prior).sum()
    penalty += model.smoothing * np.log(confusion).sum()
    penalty += model.diagonal * np.log(np.einsum("jkk->jk", confusion)).sum()
    assert result.trace[-1] == pytest.approx(logsumexp(log_joint, axis=1).sum() + penalty)
    np.testing.assert_allclose(
        result.probs, np.exp(log_joint - logsumexp(log_joint, axis=1)[:, None]), atol=1e-6
    )


@pytest.mark.parametrize("smoothing", [1e-6, 0.1, 2])
@pytest.mark.parametrize("variational", [False, True])
def test_the_objective_never_falls(simulated, smoothing, variational):
    votes, _ = simulated
    model = DawidSkene(smoothing=smoothing, variational=variational, tol=-np.inf, max_iter=60)
    with pytest.warns(NotConverged, match="did not converge in 60 iterations"):
        trace = model.fit(votes).trace
    assert np.diff(trace).min() > -1e-9


def test_parts_in_threads_give_the_same_answer(simulated, monkeypatch):
    votes, _ = simulated
    whole = DawidSkene().fit(votes)
    monkeypatch.setattr("crowdpilot.aggregation.em.default_backend.MIN_VOTES_PER_THREAD", 100)
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    parts = DawidSkene().fit(votes)
    np.testing.assert_allclose(parts.probs, whole.probs, atol=1e-10)
    np.testing.assert_allclose(parts.trace, whole.trace)


def test_votes_of_a_thousand_workers_on_one_task_do_not_underflow():
    """A product of a thousand probabilities is zero; a sum of their logs is not."""
    worker = np.arange(3000)
    label = (worker % 3 == 0).astype(int)
    votes = Votes(np.zeros(3000), worker, label, ["task"], worker, ["a", "b"])
    result = DawidSkene().fit(votes)
    assert np.isfinite(result.probs).all()
    assert result.labels[0] == "a"


def test_history_counts_like_the_votes_it_came_from(simulated):
    """Known tasks first, others with their history: the matrices are those of all votes together."""
    votes, truth = simulated
    gold = replace(votes, gold=truth)
    first, second = gold.take(gold.task < 75), gold.take(gold.task >= 75)
    together = PLAIN.fit(gold).params["confusion"]
    model = replace(PLAIN, prior="uniform")
    in_turn = model.fit(second, history=model.fit(first)).params["confusion"]
    np.testing.assert_allclose(in_turn, together, atol=1e-6)
