"""GLAD: abilities and difficulties are found where they are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm, spearmanr

from crowdpilot.aggregation import GLAD
from crowdpilot.simulation import DiscreteDifficulty
from crowdpilot.votes import Votes


@pytest.fixture(scope="module")
def drawn() -> tuple[Votes, np.ndarray, np.ndarray, np.ndarray]:
    """Votes drawn from the model itself, with abilities and easiness."""
    rng = np.random.default_rng(0)
    ability, easiness = rng.normal(1, 1, 30), np.exp(rng.normal(1, 1, 500))
    truth = rng.integers(0, 3, 500)
    task, worker = np.repeat(np.arange(500), 30), np.tile(np.arange(30), 500)
    right = rng.random(len(task)) < expit(ability[worker] * easiness[task])
    label = np.where(right, truth[task], (truth[task] + rng.integers(1, 3, len(task))) % 3)
    return Votes(task, worker, label, np.arange(500), np.arange(30), np.arange(3)), truth, ability, easiness


def test_it_finds_abilities_difficulties_and_labels(drawn):
    votes, truth, ability, easiness = drawn
    result = GLAD().fit(votes)
    assert np.corrcoef(result.params["ability"], ability)[0, 1] > 0.97
    assert spearmanr(result.params["difficulty"], 1 / easiness)[0] > 0.9
    assert (result.codes == truth).mean() > 0.99


def test_the_likelihood_is_the_integral_over_easiness():
    """One task and one worker: against the integral on a fine grid."""
    votes = Votes.of([1], ["x"], ["a"], classes=["a", "b"])
    result = GLAD(points=31, tol=0, max_iter=50).fit(votes)
    x = np.linspace(-7, 9, 20001)
    right = np.trapezoid(norm.pdf(x, 1) * expit(result.params["ability"][0] * np.exp(x)), x)
    assert result.probs[0, 0] == pytest.approx(right, abs=0.002)


def test_hard_tasks_come_out_as_hard():
    simulation = DiscreteDifficulty(tasks=300, workers=40, classes=4, votes_per_task=10, seed=0).run()
    difficulty = GLAD().fit(simulation.votes).params["difficulty"]
    hard = simulation.difficulty == "hard"
    assert difficulty[hard].mean() > 2 * difficulty[~hard].mean()


def test_who_is_always_wrong_has_a_negative_ability(drawn):
    votes, truth, _, _ = drawn
    label = np.where(votes.worker == 0, (truth[votes.task] + 1) % 3, votes.label)
    liar = Votes(votes.task, votes.worker, label, votes.tasks, votes.workers, votes.classes)
    assert GLAD().fit(liar).params["ability"][0] < 0


def test_two_workers_who_agree_outvote_one() -> None:
    """A test input of crowd-kit; an M-step that overshoots makes the third worker the only able one."""
    votes = Votes.of(["t1", "t2"] * 3, np.repeat(["w1", "w2", "w3"], 2), np.repeat(["yes", "yes", "no"], 2))
    assert GLAD().fit(votes).labels.tolist() == ["yes", "yes"]
