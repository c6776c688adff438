from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.calibration import MAPS, find_map, fit_on_votes, sample_one_vote_per_task
from crowdpilot.metrics import log_loss
from crowdpilot.votes import Votes
from tests.calibration.test_fusion import classifier_and_votes


def overconfident(sharpness, seed=0, tasks=4000, **options):
    probs, votes, log_confusion, truth = classifier_and_votes(
        tasks, sharpness=sharpness, seed=seed, **options
    )
    return probs, votes, np.exp(log_confusion), truth


@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize("sharpness", [0.5, 1.0, 3.0])
def test_votes_alone_find_the_temperature_that_the_truth_finds(sharpness, one):
    probs, votes, confusion, truth = overconfident(sharpness)
    map = find_map("temperature")
    by_votes, by_truth = (
        fit_on_votes(map, probs, votes, confusion, one_vote_per_task=one),
        map.fit(probs, truth),
    )
    assert by_votes.weights[0, 0] == pytest.approx(by_truth.weights[0, 0], rel=0.15)


@pytest.mark.parametrize("name", [name for name in MAPS if name != "none"])
def test_every_map_can_be_fitted_on_votes(name):
    probs, votes, confusion, truth = overconfident(3.0, tasks=1000)
    fitted = fit_on_votes(find_map(name), probs, votes, confusion)
    assert log_loss(truth, fitted(probs)) < log_loss(truth, probs) - 0.1


def test_with_perfect_workers_it_is_the_fit_on_the_truth():
    probs, _, _, truth = overconfident(2.0)
    said = Votes.of(np.arange(4000), np.zeros(4000, int), truth, classes=range(3))
    perfect = np.eye(3)[None]
    map = find_map("temperature")
    found = fit_on_votes(map, probs, said, perfect)(probs)
    np.testing.assert_allclose(found, map.fit(probs, truth)(probs), atol=1e-3)


def test_one_vote_of_each_task_is_drawn_and_any_may_be():
    _, votes, _, _ = overconfident(1.0)
    drawn = [sample_one_vote_per_task(votes, seed) for seed in range(2)]
    for some in drawn:
        assert some.task.tolist() == list(range(4000))
    assert 0.2 < (drawn[0].worker != drawn[1].worker).mean() < 0.9


def test_dependent_votes_mislead_less_if_one_of_each_task_is_used():
    probs, votes, confusion, _ = overconfident(1.0, votes_each=1)
    copied = Votes.of(
        np.repeat(votes.task, 4),
        np.tile(np.arange(4), len(votes)),
        np.repeat(votes.label, 4),
        classes=range(3),
    )
    map, four = find_map("temperature"), confusion[:4]
    all_, one = (
        fit_on_votes(map, probs, copied, four, one_vote_per_task=one).weights[0, 0] for one in (False, True)
    )
    assert abs(one - 1) < 0.15 < abs(all_ - 1)


def test_other_shapes_are_refused():
    probs, votes, confusion, _ = overconfident(1.0)
    with pytest.raises(ValueError, match="expected a row for each of 4000 tasks"):
        fit_on_votes(find_map("temperature"), probs[:10], votes, confusion)
