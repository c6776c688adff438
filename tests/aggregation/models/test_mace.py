"""MACE: spammers are found, and restarts differ."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation import MACE, MajorityVoting
from crowdpilot.simulation import HammerSpammer
from crowdpilot.votes import Votes


@pytest.mark.parametrize("variational", [True, False])
def test_spammers_are_found_out(variational):
    simulation = HammerSpammer(tasks=400, workers=20, classes=4, votes_per_task=6, ratio=0.5, seed=0).run()
    result = MACE(variational=variational).fit(simulation.votes)
    spams = np.ptp(simulation.confusion, axis=1).max(axis=1) < 1e-9
    assert result.params["honesty"][spams].max() < result.params["honesty"][~spams].min()
    right = (result.codes == simulation.truth).mean()
    assert right > (MajorityVoting().fit(simulation.votes).codes == simulation.truth).mean()


def test_it_learns_the_label_of_a_spammer(simulated):
    votes, _ = simulated
    label = np.where(votes.worker == 7, 2, votes.label)
    stuck = Votes(votes.task, votes.worker, label, votes.tasks, votes.workers, votes.classes)
    result = MACE(spam_prior=0.1).fit(stuck)
    assert result.params["spamming"][7].argmax() == 2
    assert result.params["honesty"][7] < 0.2


def test_restarts_differ_and_the_best_is_kept(simulated):
    """Restarts that share one seed all end alike; ours begin at different places."""
    votes, _ = simulated
    starts = list(MACE(restarts=4).starting_posteriors(votes.merged, votes.tally() / 5))
    assert len(starts) == 4
    gaps = [np.abs(a - b).max() for i, a in enumerate(starts) for b in starts[:i]]
    assert min(gaps) > 0.01
    assert MACE(restarts=8).fit(votes).trace[-1] >= MACE(restarts=1).fit(votes).trace[-1] - 1e-9
