"""Gold labels outweigh a coalition: many workers who answer inversely, and a few honest ones."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation import Auto
from crowdpilot.diagnosis import skill_interval
from crowdpilot.votes import Votes

HONEST, SKILL = 10, 0.85
SEEDS = range(3)


def coalition(
    seed: int, inverse: int, *, gold: int = 0, tasks: int = 100, classes: int = 2, share: float = 1.0
) -> tuple[Votes, np.ndarray]:
    """Ten honest workers and some who say what they take to be wrong, on a share of all tasks."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    shape = HONEST + inverse, tasks
    another = (truth + rng.integers(1, classes, shape)) % classes
    sees = np.where(rng.random(shape) < SKILL, truth, another)
    lies = (sees + rng.integers(1, classes, shape)) % classes
    said = np.where(np.arange(shape[0])[:, None] < HONEST, sees, lies)
    worker, task = np.nonzero(rng.random(shape) < share)
    votes = Votes(
        task, worker, said[worker, task], np.arange(tasks), np.arange(shape[0]), np.arange(classes)
    ).merged
    known = rng.permutation(tasks)[:gold]
    return (votes.with_gold({t: truth[t] for t in known.tolist()}) if gold else votes), truth


def measure(votes: Votes, truth: np.ndarray) -> tuple[float, float]:
    """Accuracy and mean confidence of the labels of tasks that have no gold label."""
    result = Auto().fit(votes)
    rest = np.ones(len(truth), bool) if votes.gold is None else votes.gold < 0
    return float((result.codes == truth)[rest].mean()), float(result.confidence[rest].mean())


@pytest.mark.parametrize("gold", [10, 20])
@pytest.mark.parametrize("inverse", [0, 10, 30])
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="every worker on every task"),
        pytest.param({"share": 0.4}, id="on four of ten", marks=pytest.mark.thorough),
        pytest.param({"tasks": 300, "share": 0.2}, id="on two of ten", marks=pytest.mark.thorough),
        pytest.param({"classes": 4}, id="four classes", marks=pytest.mark.thorough),
    ],
)
def test_a_few_gold_labels_outweigh_a_coalition(options: dict, inverse: int, gold: int) -> None:
    for seed in SEEDS:
        right, confidence = measure(*coalition(seed, inverse, gold=gold, **options))
        assert right > (0.75 if options.get("share", 1) < 0.3 else 0.88)
        assert confidence - 0.06 < right  # never too sure


@pytest.mark.parametrize("inverse", [5, 10, 20, 30])
def test_a_crowd_that_contradicts_its_gold_is_said_to_do_so(inverse: int) -> None:
    for seed in SEEDS:
        result = Auto().fit(coalition(seed, inverse, gold=20)[0])
        crowd, workers = "The crowd contradicts its gold labels", "workers contradict the gold labels"
        assert crowd in result.caveats[0] or workers in result.caveats[0]
        assert crowd in result.caveats[0] or inverse < 30
        assert result.params["gold_check"].tasks == 20


def test_an_honest_crowd_is_not() -> None:
    for seed in SEEDS:
        assert Auto().fit(coalition(seed, 0, gold=20)[0]).caveats == []


@pytest.mark.parametrize("inverse", [10, 30])
def test_without_gold_the_two_sides_are_said_to_oppose_each_other(inverse: int) -> None:
    """Which of them is right cannot be known; the labels are those of the larger side."""
    for seed in SEEDS:
        votes, _ = coalition(seed, inverse)
        assert "only gold labels can tell" in " ".join(Auto().fit(votes).caveats)


def test_gold_tells_who_answers_inversely() -> None:
    votes, _ = coalition(0, 30, gold=20)
    skill, low, high = skill_interval(Auto().fit(votes))
    assert skill[:HONEST].min() > 0.7
    assert skill[HONEST:].max() < 0.35
    assert (high[HONEST:] < 0.5).all()
    assert (low[:HONEST] > 0.5).all()


def test_gold_labels_that_are_few_and_wrong_are_said_to_be_contradicted() -> None:
    """Twenty inverted gold labels of an honest crowd look the same as a coalition: that is said."""
    votes, truth = coalition(1, 0)
    inverted = votes.with_gold({t: 1 - truth[t] for t in range(20)})
    assert "check the gold labels and the workers" in Auto().fit(inverted).caveats[0]
