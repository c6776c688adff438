from __future__ import annotations

import numpy as np

from crowdpilot.simulation import HammerSpammer


def test_hammers_never_err_and_spammers_answer_at_random() -> None:
    votes, truth = HammerSpammer(tasks=2000, workers=10, classes=4, ratio=0.3).run()
    skill = votes.worker_mean(votes.label == truth[votes.task])
    np.testing.assert_array_equal(skill[:7], 1)
    np.testing.assert_allclose(skill[7:], 0.25, atol=0.04)


def test_spammers_are_three_times_as_fast() -> None:
    simulation = HammerSpammer(tasks=100, workers=600, ratio=0.5, seconds=9.0).run()
    pace = simulation.votes.worker_mean(np.log(simulation.votes.seconds))
    assert abs(pace[:300].mean() - pace[300:].mean() - np.log(3)) < 0.15
