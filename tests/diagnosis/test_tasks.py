"""Which tasks are hard, and how many votes they still need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy as nats

from crowdpilot.aggregation import Aggregate, Auto, DawidSkene, MajorityVoting
from crowdpilot.aggregation.honest import make_honest
from crowdpilot.diagnosis import entropy, more_votes
from crowdpilot.diagnosis.tasks import task_table
from crowdpilot.diagnosis.votes_needed import confidence_after
from crowdpilot.simulation import Simulation, one_coin
from crowdpilot.votes import Votes


def table(result: Aggregate, changed: list[bool] | None = None, **options):
    tasks = len(result.votes.tasks)
    moved = np.zeros(tasks, bool) if changed is None else np.array(changed)
    return task_table(result, np.full(tasks, 0.5), moved, **options)


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


def crowd_of(seed: int, votes_per_task: int = 3, skill: float = 0.85, **options) -> Simulation:
    return one_coin(
        tasks=300, skill=[skill] * 30, classes=3, votes_per_task=votes_per_task, seed=seed, **options
    )


def test_a_task_that_is_sure_enough_needs_none() -> None:
    result = Auto().fit(crowd_of(0).votes)
    needed = more_votes(result, 0.85)
    assert ((needed == 0) == (result.confidence >= 0.85)).all()
    assert 0 < (needed == 0).mean() < 1


def test_after_so_many_votes_tasks_are_as_sure_as_it_says() -> None:
    """Votes of the same workers are added to a crowd with three votes a task."""
    for seed in range(3):
        many = crowd_of(seed, votes_per_task=8).votes
        rank = np.arange(len(many)) - np.searchsorted(many.task, many.task)  # votes are sorted by task
        few = many.take(rank < 3)
        expected = confidence_after(Auto().fit(few), 5).mean()
        assert expected == pytest.approx(Auto().fit(many).confidence.mean(), abs=0.03)


def test_better_crowds_and_lower_targets_need_fewer() -> None:
    by_skill = [more_votes(Auto().fit(crowd_of(1, skill=s).votes), 0.85).mean() for s in (0.6, 0.75, 0.9)]
    assert by_skill == sorted(by_skill, reverse=True)
    result = Auto().fit(crowd_of(1).votes)
    by_target = [more_votes(result, target).mean() for target in (0.7, 0.85, 0.99)]
    assert by_target == sorted(by_target)
    assert by_target[0] < by_target[2]


def test_crowds_that_cannot_get_there_are_not_asked_in_vain() -> None:
    """999 says so: more votes of the same crowd never make anybody sure of all labels."""
    assert (more_votes(Auto().fit(crowd_of(2).votes), 0.999) == 999).all()


def test_gold_labels_make_more_of_it_possible() -> None:
    """A crowd that is always right on gold tasks can be trusted more than any crowd without."""
    made = one_coin(tasks=300, skill=[0.97] * 30, votes_per_task=5, seed=3)
    known = made.votes.with_gold(dict(enumerate(made.truth[:100].tolist())))
    plain, checked = (more_votes(Auto().fit(v), 0.95)[100:] for v in (made.votes, known))
    assert checked.mean() < plain.mean()


def test_the_same_numbers_for_a_model_and_its_honest_result() -> None:
    result = DawidSkene().fit(crowd_of(4).votes)
    np.testing.assert_array_equal(more_votes(result, 0.9), more_votes(make_honest(result), 0.9))


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
