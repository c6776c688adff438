"""A population of workers: newcomers are like the others."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation import DawidSkene, HierarchicalDawidSkene
from crowdpilot.simulation import IndependentConfusion
from crowdpilot.votes import Votes


def test_a_worker_with_one_vote_is_shrunk_to_the_population():
    """Everybody takes class 2 for class 1 half the time; so does the newcomer, says the population."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 400)
    task, worker = np.repeat(np.arange(400), 6), np.tile(np.arange(6), 400)
    said = np.where((truth[task] == 2) & (rng.random(len(task)) < 0.5), 1, truth[task])
    votes = Votes(
        np.r_[task, 0], np.r_[worker, 6], np.r_[said, truth[0]], np.arange(400), np.arange(7), np.arange(3)
    )
    newcomer = HierarchicalDawidSkene().fit(votes).params["confusion"][6]
    assert newcomer[2, 1] > 3 * newcomer[2, 0]
    assert DawidSkene().fit(votes).params["confusion"][6][2, 1] < newcomer[2, 1]


def test_with_many_votes_it_is_dawid_and_skene():
    votes, _ = IndependentConfusion(tasks=4000, workers=8, classes=3, seed=0).run()
    mine = HierarchicalDawidSkene().fit(votes).params["confusion"]
    np.testing.assert_allclose(mine, DawidSkene().fit(votes).params["confusion"], atol=0.02)
