"""Caveats: what votes cannot tell is said in plain sentences, and nothing where there is nothing to say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdpilot.aggregation import Auto, DawidSkene, Honest, MajorityVoting
from crowdpilot.aggregation.caveats import find_caveats
from crowdpilot.calibration.experience import AccuracyEstimate, GoldCheck
from crowdpilot.votes import Votes
from tests.crowds import one_coin_votes


def caveats(votes: Votes) -> str:
    return " ".join(find_caveats(votes, None))


def test_a_usual_crowd_has_none(simulated):
    assert Auto().fit(simulated[0]).caveats == []
    assert MajorityVoting().fit(simulated[0]).caveats == []


def test_no_votes():
    assert caveats(Votes.of([], [], [], tasks=["t"], classes=["a", "b"])).startswith("There are no votes")


def test_one_vote_a_task():
    votes = Votes.of([1, 2, 3, 4], list("abab"), [0, 1, 0, 1])
    assert caveats(votes).startswith("No task has votes of two workers: only gold labels")


def test_two_votes_of_the_same_worker_are_no_overlap():
    votes = Votes.of([1, 1, 2, 3], list("aabb"), [0, 1, 0, 1], repeats="all")
    assert "No task has votes of two workers" in caveats(votes)


def test_one_worker():
    votes = Votes.of([1, 2, 3], ["a"] * 3, [0, 1, 0])
    assert caveats(votes) == "All votes come from one worker: only gold labels can tell how good they are."


def test_workers_and_classes_without_votes_do_not_count():
    votes = Votes.of([1, 2, 3], ["a"] * 3, [0, 0, 0], classes=[0, 1])
    wider = replace(votes, workers=np.array(["a", "b"]))
    assert "All votes come from one worker" in caveats(wider)
    assert "All votes are for one class" in caveats(wider)


@pytest.mark.parametrize("classes", [["yes"], ["yes", "no"]])
def test_one_class(classes):
    votes = Votes.of([1, 1, 2, 2], list("abab"), ["yes"] * 4, classes=classes)
    assert caveats(votes) == "All votes are for one class: nobody can tell whether anybody looked."


@pytest.mark.parametrize(("double", "said"), [(5, True), (20, False)])
def test_little_overlap(double, said):
    first, _ = one_coin_votes(100, [0.8] * 4, classes=2, votes_per_task=2, seed=0)
    votes = first.take((np.arange(200) % 2 == 0) | (first.task < double))
    assert ("Only 5% of the tasks have votes of two workers" in caveats(votes)) == said


def test_gold_that_is_contradicted_comes_first():
    votes = Votes.of(range(50), ["a"] * 50, [0] * 50, classes=[0, 1]).with_gold(dict.fromkeys(range(50), 0))
    check = GoldCheck(50, 12, AccuracyEstimate(0.8, 0.6, 0.95, 0.98), -40.0)
    first = find_caveats(votes, check)[0]
    assert first.startswith("The crowd contradicts its gold labels: 12 of 50 would be right, where 60% or")
    fine = check._replace(right=31)
    assert not any("contradicts" in sentence for sentence in find_caveats(votes, fine))


def test_a_majority_that_is_wrong_contradicts_even_if_a_model_can_explain_it():
    votes, truth = one_coin_votes(200, [0.9] * 5 + [0.1] * 15, classes=2, votes_per_task=20, seed=0)
    known = replace(votes, gold=np.where(np.arange(200) < 20, truth, -1))
    result = Auto().fit(known)
    assert (result.codes == truth).mean() > 0.9
    assert "0 of 20 would be right" in result.caveats[0]


def test_a_majority_that_is_tied_with_gold_does_not_contradict_it():
    votes = Votes.of(np.repeat(range(40), 2), ["a", "b"] * 40, [0, 1] * 40)
    check = GoldCheck(40, 40, AccuracyEstimate(0.8, 0.6, 0.95, 0.98), -40.0)
    (only,) = find_caveats(votes.with_gold(dict.fromkeys(range(40), 0)), check)
    assert only.startswith("1 of 2 workers contradict the gold labels")


def test_a_crowd_that_contradicts_its_gold_is_said_to_do_so():
    votes, truth = one_coin_votes(200, [0.9, 0.8, 0.8, 0.7], classes=4, votes_per_task=3, seed=0)
    wrong = (truth + np.random.default_rng(0).integers(1, 4, 200)) % 4
    first = np.arange(200) < 60
    for model in (Auto(), Honest(DawidSkene())):
        bad = model.fit(replace(votes, gold=np.where(first, wrong, -1)))
        good = model.fit(replace(votes, gold=np.where(first, truth, -1)))
        assert "contradicts its gold labels" in " ".join(bad.caveats)
        assert good.caveats == []
