"""Hard EM: few rounds, soft probabilities at the end."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation import DawidSkene, FastDawidSkene, HybridDawidSkene


def test_it_converges_in_fewer_iterations(simulated):
    votes, _ = simulated
    assert len(FastDawidSkene().fit(votes).trace) < len(DawidSkene().fit(votes).trace)


def test_the_parameters_come_from_whole_tasks(simulated):
    """Each task counts for one class: the class counts are whole numbers, up to shared ties."""
    seen = FastDawidSkene().fit(simulated[0]).params["stats"][0]
    np.testing.assert_allclose(seen * 6, np.round(seen * 6), atol=1e-9)


def test_probabilities_are_those_of_its_matrices(simulated):
    votes, _ = simulated
    result = FastDawidSkene().fit(votes)
    prior, confusion = result.params["prior"], result.params["confusion"]
    logs = np.log(prior) + votes.onehot @ np.log(confusion).swapaxes(1, 2).reshape(-1, 3)
    expected = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    np.testing.assert_allclose(result.probs, expected, atol=1e-9)


def test_the_hybrid_starts_where_soft_em_slows_down(simulated):
    votes, _ = simulated
    assert HybridDawidSkene().fit(votes).trace[0] >= FastDawidSkene().fit(votes).trace[0]
