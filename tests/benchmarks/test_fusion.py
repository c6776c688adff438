"""The benchmark of fusion, on small simulated crowds."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import fusion
from benchmarks.fusion_experience import Teacher
from benchmarks.fusion_sets import AssistedCrowd, classify
from benchmarks.honesty_crowds import Crowd
from crowdpilot.simulation import one_coin


def assisted(name: str, skill: float, votes_a_task: int, seed: int = 0) -> AssistedCrowd:
    """A simulated crowd with a classifier that sees the class in much noise."""
    votes, truth = one_coin(150, [skill] * 10, classes=2, votes_per_task=3, seed=seed)
    crowd = Crowd(name, votes, truth).thinned(votes_a_task)
    features = np.eye(2)[truth] + np.random.default_rng(seed).normal(0, 0.7, (150, 2))
    return AssistedCrowd(crowd, name, classify(features, crowd.votes, 0), 0)


@pytest.fixture(scope="module")
def crowds() -> list[AssistedCrowd]:
    groups = {"good": 0.9, "fair": 0.75, "poor": 0.6}
    return [
        assisted(name, skill, n, seed) for seed, (name, skill) in enumerate(groups.items()) for n in (1, 2, 3)
    ]


def test_a_task_is_predicted_by_a_classifier_that_has_not_seen_its_label():
    votes, _ = one_coin(100, [0.9] * 5, classes=2, votes_per_task=1, seed=0)
    probs = classify(np.eye(100), votes, 0)  # a column for each task: nothing to learn from the others
    np.testing.assert_allclose(probs, np.broadcast_to(probs.mean(axis=0), probs.shape), atol=0.1)


def test_experience_is_learned_from_other_groups_alone(crowds, monkeypatch):
    for name, few in (("CROWD_ACCURACY", (0.7,)), ("SKILL_VOTES", (20.0,)), ("MATRIX_VOTES", (6.0,))):
        monkeypatch.setattr(f"benchmarks.fusion_experience.{name}", few)
    others = Teacher([c for c in crowds if c.group != "poor"]).learn()
    assert Teacher(crowds).learn(without="poor") == others
    everything = Teacher(crowds).learn()
    assert everything.weights.crowd < others.weights.crowd  # votes of the poor crowd deserve less
    found = fusion.compare(crowds, dict.fromkeys(["good", "fair", "poor"], everything))
    assert found["good", 3][fusion.OURS]["accuracy"] > 0.9
    assert set(found["fair", 1]) == {fusion.OURS, *fusion.OTHERS}
