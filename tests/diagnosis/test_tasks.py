"""Which tasks are hard, and how many votes they still need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy as nats

from crowdpilot.aggregation import Aggregate, DawidSkene, MajorityVoting
from crowdpilot.arrays import softmax
from crowdpilot.diagnosis import entropy, leave_one_out_posteriors, more_votes
from crowdpilot.diagnosis.tasks import task_table
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes


def table(result: Aggregate, changed: list[bool] | None = None, **options):
    tasks = len(result.votes.tasks)
    moved = np.zeros(tasks, bool) if changed is None else np.array(changed)
    return task_table(result, leave_one_out_posteriors(result), np.full(tasks, 0.5), moved, **options)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda p: sum(p) > 0.01))
def test_entropy_is_that_of_scipy_as_a_share_of_the_most(weights: list[float]) -> None:
    probs = np.array(weights) / sum(weights)
    assert entropy(probs[None])[0] == pytest.approx(nats(probs) / np.log(len(probs)), abs=1e-12)


def test_entropy_by_hand() -> None:
    found = entropy(np.array([[1.0, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0]]))
    np.testing.assert_allclose(found, [0, 1, 0.5])
    assert entropy(np.ones((2, 1))).tolist() == [0, 0]


def test_the_columns_by_hand() -> None:
    votes = Votes.of(
        [1, 1, 1, 1, 2], list("wxyzw"), list("aabba"), classes=list("abc"), tasks=[3], weight=[1, 1, 1, 2, 1]
    )
    probs = np.array([[0.3, 0.6, 0.1], [0.9, 0.1, 0.0], [0.2, 0.2, 0.6]])
    found = table(Aggregate(votes, probs, np.zeros(4)))
    assert found["task"].tolist() == [1, 2, 3]
    assert found["label"].tolist() == ["b", "a", "c"]
    assert found["majority"].tolist()[:2] == ["b", "a"]
    assert found["votes"].tolist() == [4, 1, 0]
    np.testing.assert_allclose(found["confidence"], [0.6, 0.9, 0.6])
    np.testing.assert_allclose(found["margin"], [0.3, 0.8, 0.4])
    np.testing.assert_allclose(found["expected_accuracy"], [0.45, 0.9, np.nan])
    np.testing.assert_allclose(found["vote_entropy"], [nats([0.4, 0.6]) / np.log(3), 0, np.nan])
    np.testing.assert_allclose(found["entropy"], nats(probs, axis=1) / np.log(3))
    assert found["review"].tolist() == [2, 3, 1]  # of equals the one with the most even votes first


def test_review_begins_with_the_least_sure(simulated) -> None:
    votes, truth = simulated
    found = table(DawidSkene().fit(votes))
    order = np.argsort(found["review"])
    assert sorted(found["review"]) == list(range(1, 151))
    assert (np.diff(found["confidence"][order]) >= 0).all()
    wrong = found["label"] != truth
    assert found["review"][wrong].mean() < found["review"][~wrong].mean() / 2


def test_further_scores_plug_in(simulated) -> None:
    result = MajorityVoting().fit(simulated[0])
    assert table(result, scores={"aum": np.arange(150)})["aum"].tolist() == list(range(150))
    for wrong in (np.zeros(149), np.zeros((150, 1)), 3.0):
        with pytest.raises(ValueError, match=r"waum has shape \(.*\), expected \(150,\)"):
            table(result, scores={"waum": wrong})


def test_the_reason_for_a_look_is_in_words() -> None:
    said = {1: "aab", 2: "ab", 3: "a", 4: "aaa", 5: "aabbc", 6: "aabcd", 7: "aaab", 8: "aab", 9: "bba"}
    rows = [(t, w, v) for t, text in said.items() for w, v in enumerate(text)]
    votes = Votes.of(*zip(*rows, strict=True), tasks=[10], gold={8: "a"}, classes=list("abcd"))
    probs = np.eye(4)[[0, 0, 0, 0, 0, 0, 0, 0, 0, 1]]
    result = Aggregate(votes, probs, np.zeros(len(votes.workers)))
    found = table(result, [t == 7 for t in range(1, 11)])
    assert found["why"].tolist() == [
        "votes differ",
        "votes are tied",
        "only one vote",
        "",
        "votes are tied",
        "no label has half of the votes",
        "label depends on flagged workers",
        "known class",
        "label is not the majority's",
        "no vote",
    ]


CROWDS = {
    "coin": np.array([[0.8, 0.2], [0.2, 0.8]]),
    "bad coin": np.array([[0.65, 0.35], [0.35, 0.65]]),
    "biased": np.array([[0.9, 0.1], [0.4, 0.6]]),
    "four classes": 0.7 * np.eye(4) + 0.1 * (1 - np.eye(4)),
    "ten classes": 0.6 * np.eye(10) + 0.4 / 9 * (1 - np.eye(10)),
}


def ask_on(probs: np.ndarray, crowd: np.ndarray, target: float, seed: int) -> np.ndarray:
    """How many votes of typical workers it takes, for many tasks that start at this posterior."""
    rng, K, many = np.random.default_rng(seed), len(crowd), 2000
    truth = rng.choice(K, many, p=probs)
    log_joint, asked, open_ = np.tile(np.log(probs), (many, 1)), np.zeros(many), np.ones(many, bool)
    while open_.any():
        label = (rng.random(many)[:, None] > crowd[truth].cumsum(axis=1)).sum(axis=1)
        log_joint[open_] += np.log(crowd[:, label]).T[open_]
        asked += open_
        open_ &= softmax(log_joint).max(axis=1) < target
    return asked


@pytest.mark.parametrize("kind", CROWDS)
@pytest.mark.parametrize("sure", [0.51, 0.7, 0.85])
@pytest.mark.parametrize("target", [0.9, 0.95, 0.99])
def test_so_many_votes_are_needed_on_average_when_they_are_asked_one_by_one(kind, sure, target) -> None:
    """A little less, since the first class is taken to be right and steps are taken for a line."""
    crowd = CROWDS[kind]
    probs = np.append(sure, np.full(len(crowd) - 1, (1 - sure) / (len(crowd) - 1)))
    needed = ask_on(probs, crowd, target, seed=0).mean()
    assert more_votes(probs[None], crowd, target)[0] == pytest.approx(needed, abs=2.2, rel=0.3)


def test_after_so_many_votes_tasks_are_about_as_sure_as_the_target() -> None:
    rng = np.random.default_rng(0)
    crowd, truth = CROWDS["four classes"], rng.integers(4, size=3000)
    probs = np.eye(4)[truth] * 0.4 + 0.15  # a posterior of .55 of the right class, more often than not
    probs = np.where((rng.random(3000) < 0.55)[:, None], probs, np.roll(probs, 1, axis=1))
    log_joint, needed = np.log(probs), more_votes(probs, crowd, 0.95)
    for n in range(int(needed.max())):
        label = (rng.random(3000)[:, None] > crowd[truth].cumsum(axis=1)).sum(axis=1)
        log_joint += np.where((n < needed)[:, None], np.log(crowd[:, label]).T, 0)
    assert 0.8 < softmax(log_joint).max(axis=1).mean() < 0.97


def test_a_task_that_is_sure_enough_needs_none() -> None:
    probs = np.array([[0.96, 0.04], [1.0, 0.0], [0.94, 0.06], [0.5, 0.5]])
    found = more_votes(probs, CROWDS["coin"], 0.95)
    assert found.tolist()[:2] == [0, 0]
    assert 0 < found[2] <= found[3]


def test_better_workers_and_lower_targets_need_fewer() -> None:
    probs = np.array([[0.6, 0.4]])
    by_skill = [
        more_votes(probs, s * np.eye(2) + (1 - s) * (1 - np.eye(2)), 0.95)[0] for s in (0.6, 0.8, 0.9)
    ]
    assert by_skill == sorted(by_skill, reverse=True)
    by_target = [more_votes(probs, CROWDS["coin"], target)[0] for target in (0.7, 0.9, 0.99)]
    assert by_target == sorted(by_target)


def test_workers_who_cannot_tell_two_classes_apart_are_not_asked_in_vain() -> None:
    """999 says so, also where little is missing."""
    crowd = np.array([[0.5, 0.4, 0.1], [0.5, 0.4, 0.1], [0.1, 0.1, 0.8]])
    probs = np.array([[0.94, 0.05, 0.01], [0.5, 0.5, 0.0], [0.5, 0.01, 0.49]])
    found = more_votes(probs, crowd, 0.95)
    assert found.tolist()[:2] == [999, 999]
    assert found[2] < 20


def test_workers_who_never_err_need_one_vote() -> None:
    assert more_votes(np.array([[0.5, 0.5], [0.99, 0.01]]), np.eye(2), 0.95).tolist() == [1, 0]


def test_one_class_needs_no_votes() -> None:
    found = table(MajorityVoting().fit(Votes.of([1, 2], ["x", "y"], ["a", "a"], tasks=[3])))
    assert found["more_votes"].tolist() == [0, 0, 0]
    assert found["margin"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("K", [2, 100])
def test_every_task_of_a_simulated_crowd_has_finite_numbers(K: int) -> None:
    made = one_coin(tasks=50, skill=[0.9, 0.8, 0.7, 0.6], classes=K, votes_per_task=2, seed=K)
    votes = replace(made.votes, tasks=np.arange(52))
    found = table(DawidSkene().fit(votes))
    for name in ("confidence", "entropy", "margin", "more_votes", "review"):
        assert np.isfinite(found[name]).all()
    assert (found["more_votes"] >= 0).all()
    assert np.isnan(found["vote_entropy"][50:]).all()
    assert found["why"][50:].tolist() == ["no vote", "no vote"]
