"""EBCC: mistakes made together are not counted as agreement."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation import EBCC, IBCC
from crowdpilot.votes import Votes


def test_kinds_explain_workers_who_err_together_and_no_others(simulated):
    """Four workers always say the same, right in 65 of 100 tasks; five others are right in 75, alone.

    The bound on the evidence is higher with kinds for them, and lower for independent workers.
    """
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    alone = rng.random((600, 5)) < 0.75
    together = np.repeat(rng.random((600, 1)) < 0.65, 4, axis=1)
    right = np.hstack([alone, together]).ravel()
    task, worker = np.repeat(np.arange(600), 9), np.tile(np.arange(9), 600)
    label = np.where(right, truth[task], 1 - truth[task])
    votes = Votes(task, worker, label, np.arange(600), np.arange(9), np.arange(2))
    assert EBCC(M=3).fit(votes).trace[-1] > EBCC(M=1).fit(votes).trace[-1] + 30
    assert EBCC(M=3).fit(simulated[0]).trace[-1] < EBCC(M=1).fit(simulated[0]).trace[-1]


def test_with_one_kind_it_is_ibcc(simulated):
    votes, _ = simulated
    one = EBCC(M=1, kind_prior=1.0, tol=1e-10, max_iter=1000).fit(votes)
    ibcc = IBCC(smoothing=1.0, diagonal=3.0, class_smoothing=1.0, tol=1e-10, max_iter=1000).fit(votes)
    np.testing.assert_allclose(one.probs, ibcc.probs, atol=1e-6)
    np.testing.assert_allclose(one.params["confusion"], ibcc.params["confusion"], atol=1e-6)


def test_kinds_that_are_not_needed_stay_empty(simulated):
    share = EBCC(M=10).fit(simulated[0]).params["kinds"]
    assert (share.max(axis=1) > 0.3).all()
