from __future__ import annotations

from crowdpilot.service.demo import SimulatedCrowd, compare
from crowdpilot.service.demo.cost_saving import majority_error


def test_the_saving_is_against_the_fewest_votes_with_as_few_errors() -> None:
    crowd = SimulatedCrowd([0, 1] * 200, classes=2, seed=0)
    goal = majority_error(crowd, 5, seed=0)
    saving = compare(crowd, votes=2.0, error=goal)
    assert saving.reached
    assert saving.fixed <= 5
    assert saving.share == 1 - 2 / saving.fixed


def test_an_error_rate_that_no_majority_reaches_is_not_reached() -> None:
    assert not compare(SimulatedCrowd([0, 1] * 50, classes=2, seed=0), votes=2.0, error=-1.0).reached
