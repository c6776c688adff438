from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.calibration import MAPS, find_map, fit_on_votes, one_vote_each
from crowdpilot.metrics import log_loss
from crowdpilot.votes import Votes
from tests.calibration.test_fusion import crowd


def machine_of(heat, seed=0, tasks=4000, **options):
    machine, votes, logs, truth = crowd(tasks, heat=heat, seed=seed, **options)
    return machine, votes, np.exp(logs), truth


@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize("heat", [0.5, 1.0, 3.0])
def test_votes_alone_find_the_temperature_that_the_truth_finds(heat, one):
    machine, votes, confusion, truth = machine_of(heat)
    map = find_map("temperature")
    by_votes, by_truth = fit_on_votes(map, machine, votes, confusion, one=one), map.fit(machine, truth)
    assert by_votes.weights[0, 0] == pytest.approx(by_truth.weights[0, 0], rel=0.15)


@pytest.mark.parametrize("name", [name for name in MAPS if name != "none"])
def test_every_map_can_be_fitted_on_votes(name):
    machine, votes, confusion, truth = machine_of(3.0, tasks=1000)
    fitted = fit_on_votes(find_map(name), machine, votes, confusion)
    assert log_loss(truth, fitted(machine)) < log_loss(truth, machine) - 0.1


def test_when_votes_are_sure_it_is_the_fit_on_the_truth():
    machine, _, _, truth = machine_of(2.0)
    said = Votes.of(np.arange(4000), np.zeros(4000, int), truth, classes=range(3))
    perfect = np.eye(3)[None]
    map = find_map("temperature")
    found = fit_on_votes(map, machine, said, perfect)(machine)
    np.testing.assert_allclose(found, map.fit(machine, truth)(machine), atol=1e-3)


def test_one_vote_of_each_task_is_drawn_and_any_may_be():
    _, votes, _, _ = machine_of(1.0)
    drawn = [one_vote_each(votes, seed) for seed in range(2)]
    for some in drawn:
        assert some.task.tolist() == list(range(4000))
    assert 0.2 < (drawn[0].worker != drawn[1].worker).mean() < 0.9


def test_votes_that_err_together_mislead_less_if_one_of_each_task_is_heard():
    machine, votes, confusion, _ = machine_of(1.0, votes_each=1)
    copied = Votes.of(
        np.repeat(votes.task, 4),
        np.tile(np.arange(4), len(votes)),
        np.repeat(votes.label, 4),
        classes=range(3),
    )
    map, four = find_map("temperature"), confusion[:4]
    all_, one = (fit_on_votes(map, machine, copied, four, one=one).weights[0, 0] for one in (False, True))
    assert abs(one - 1) < 0.15 < abs(all_ - 1)


def test_other_shapes_are_told_in_a_sentence():
    machine, votes, confusion, _ = machine_of(1.0)
    with pytest.raises(ValueError, match="expected a row for each of 4000 tasks"):
        fit_on_votes(find_map("temperature"), machine[:10], votes, confusion)
