"""Fusion of votes and a classifier, on simulated crowds whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdpilot as cp
from crowdpilot.aggregation import Crowdlab
from crowdpilot.aggregation.fusion import (
    EXPERIENCE,
    Evidence,
    Fusion,
    choose_weights,
    collect_evidence,
)
from crowdpilot.arrays import softmax, to_probs
from crowdpilot.calibration import FusionWeights, Vector
from crowdpilot.metrics import ece
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes


def assisted(tasks=600, K=3, votes_each=1, skill=0.7, workers=12, sharpness=1.0, seed=0):
    """Votes of workers around one skill, and a classifier that knows as much as its probabilities say."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.5, (tasks, K))
    honest = softmax(logits)
    truth = (honest.cumsum(axis=1) < rng.random((tasks, 1))).sum(axis=1)
    right = np.clip(skill + rng.normal(0, 0.1, workers), 0.05, 0.98)
    task = np.repeat(np.arange(tasks), votes_each)
    worker = np.concatenate([rng.permutation(workers)[:votes_each] for _ in range(tasks)])
    wrong = (truth[task] + rng.integers(1, K, len(task))) % K
    label = np.where(rng.random(len(task)) < right[worker], truth[task], wrong)
    votes = Votes.of(task, worker, label, classes=range(K), tasks=range(tasks))
    return votes, softmax(sharpness * logits), truth


def share_right(result, truth):
    return (result.codes == truth).mean()


@pytest.mark.parametrize("votes_each", [1, 2, 3])
@pytest.mark.parametrize("K", [2, 3, 10])
def test_both_together_know_more_than_either(votes_each, K):
    votes, probs, truth = assisted(2000, K, votes_each)
    found = share_right(Fusion().fit(votes, probs), truth)
    assert found > (probs.argmax(axis=1) == truth).mean() + 0.005
    assert found > share_right(cp.MajorityVoting().fit(votes), truth) + 0.01


def test_with_one_vote_a_task_it_is_nearly_as_sure_as_it_is_right():
    votes, probs, truth = assisted(2000, skill=0.7)
    result = Fusion().fit(votes, probs)
    assert ece(truth, result.probs) < 0.08


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 4.0])
def test_a_classifier_that_is_too_sure_or_too_unsure_counts_the_same(sharpness):
    votes, probs, _ = assisted(2000, sharpness=sharpness)
    usual = Fusion().fit(*assisted(2000)[:2])
    result = Fusion().fit(votes, probs)
    np.testing.assert_allclose(result.probs, usual.probs, atol=0.03)


def test_a_classifier_that_knows_nothing_leaves_the_votes():
    votes, _ = one_coin(500, [0.9, 0.85, 0.8, 0.75, 0.7], classes=3, votes_per_task=3, seed=1)
    tally = votes.tally()
    clear = np.sort(tally, axis=1)[:, -1] > np.sort(tally, axis=1)[:, -2]
    for probs in (np.full((500, 3), 1 / 3), np.random.default_rng(0).dirichlet(np.ones(3) * 5, 500)):
        labels = Fusion().fit(votes, probs).codes
        assert (labels == tally.argmax(axis=1))[clear].mean() > 0.97


def test_tasks_without_votes_have_what_the_classifier_says_scaled_to_votes():
    votes, probs, _ = assisted(300, votes_each=2)
    fewer = votes.take(votes.task >= 20)
    result = Fusion().fit(fewer, probs)
    tally = fewer.tally()
    scaled = Vector().fit(probs, to_probs(tally), weight=tally.sum(axis=1))(probs)[:20]
    expected = to_probs(scaled ** result.params["classifier_weight"])
    np.testing.assert_allclose(result.probs[:20], expected, atol=1e-8)


def test_the_posterior_is_the_weighted_sum_of_the_evidence():
    votes, probs, _ = assisted(200, votes_each=3)
    result = Fusion().fit(votes, probs)
    evidence = collect_evidence(votes.merged, probs)
    a, b = result.params["classifier_weight"], result.params["crowd_weight"]
    joint = a * np.log(evidence.classifier) + b * evidence.log_likelihood
    np.testing.assert_allclose(result.probs, softmax(joint), atol=1e-10)


def test_one_vote_a_task_leaves_the_weights_to_experience():
    votes, probs, _ = assisted(100)
    params = Fusion().fit(votes, probs).params
    assert (params["classifier_weight"], params["crowd_weight"]) == (
        EXPERIENCE.weights.classifier,
        EXPERIENCE.weights.crowd,
    )
    assert params["held_out_votes"] == 0


def test_held_out_votes_move_the_weights_towards_what_they_prefer():
    def weights(classifier, crowd, votes):
        found = FusionWeights(classifier, crowd)
        return choose_weights(Evidence(np.ones((1, 2)), np.ones((1, 2)), found, votes, np.eye(2)), EXPERIENCE)

    usual = EXPERIENCE.held_out
    same = weights(usual.classifier, usual.crowd, 1000)
    assert (same.classifier, same.crowd) == pytest.approx(
        (EXPERIENCE.weights.classifier, EXPERIENCE.weights.crowd)
    )
    few, many = (weights(1.8 * usual.classifier, 0.5 * usual.crowd, n) for n in (10, 10_000))
    assert (
        EXPERIENCE.weights.classifier < few.classifier < many.classifier < 2 * EXPERIENCE.weights.classifier
    )
    assert EXPERIENCE.weights.crowd > few.crowd > many.crowd > EXPERIENCE.weights.crowd / 2
    assert weights(100, 100, 10_000) == weights(1000, 1000, 10_000)


def test_votes_of_good_workers_count_more():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 800)
    worker = np.tile([0, 1], 400)
    label = np.where(rng.random(800) < np.where(worker == 0, 0.95, 0.5), truth, 1 - truth)
    votes = Votes.of(np.arange(800), worker, label, classes=[0, 1])
    logits = (2 * truth - 1) * 0.8 + rng.normal(0, 1, 800)
    result = Fusion().fit(votes, softmax(np.column_stack([-logits, logits])))
    assert result.skill[0] > result.skill[1] + 0.1
    moved = np.abs(np.log(result.probs[:, 1] / result.probs[:, 0]))
    assert moved[worker == 0].mean() > moved[worker == 1].mean() + 0.3


def test_gold_decides_its_tasks_and_moves_the_weights():
    votes, probs, truth = assisted(800, skill=0.4, votes_each=2, seed=3)
    before = Fusion().fit(votes, probs)
    gold = np.where(np.arange(800) < 150, truth, -1)
    after = Fusion().fit(replace(votes, gold=gold), probs)
    np.testing.assert_array_equal(after.codes[:150], truth[:150])
    assert (after.confidence[:150] == 1).all()
    ratio = [r.params["classifier_weight"] / r.params["crowd_weight"] for r in (before, after)]
    assert ratio[1] > ratio[0]


def test_the_order_of_votes_and_of_classes_does_not_matter():
    votes, probs, _ = assisted(200, votes_each=3)
    expected = Fusion().fit(votes, probs).probs
    shuffled = votes.take(np.random.default_rng(1).permutation(len(votes)))
    np.testing.assert_allclose(Fusion().fit(shuffled, probs).probs, expected, atol=1e-9)
    new = np.array([2, 0, 1])
    renamed = replace(votes, label=new[votes.label])
    found = Fusion().fit(renamed, probs[:, np.argsort(new)]).probs
    np.testing.assert_allclose(found[:, new], expected, atol=1e-5)


def test_it_gives_the_same_twice_and_in_both_ways_to_call_it():
    votes, probs, _ = assisted(200, votes_each=2)
    first = Fusion().fit(votes, probs)
    np.testing.assert_array_equal(Fusion(probs).fit(votes).probs, first.probs)
    by_task = dict(zip(votes.tasks.tolist(), probs, strict=True))
    np.testing.assert_array_equal(cp.Fusion().fit(votes, by_task).probs, first.probs)
    assert first.model == Fusion()
    assert str(first.model) == "fusion"


def test_without_matrices_of_workers_there_are_their_skills(monkeypatch):
    votes, probs, truth = assisted(600, 10, votes_each=2)
    monkeypatch.setattr("crowdpilot.aggregation.fusion.MAX_MATRIX_NUMBERS", 0)
    assert share_right(Fusion().fit(votes, probs), truth) > (probs.argmax(axis=1) == truth).mean() + 0.05


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(2, 10), st.integers(0, 30), st.integers(0, 10**6))
def test_any_votes_give_probabilities(tasks, K, n, seed):
    rng = np.random.default_rng(seed)
    task, worker, label = rng.integers(0, tasks, n), rng.integers(0, 4, n), rng.integers(0, K, n)
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], n)
    votes = Votes.of(task, worker, label, classes=range(K), tasks=range(tasks), repeats="all", weight=weight)
    probs = rng.dirichlet(np.full(K, 0.05), len(votes.tasks))
    found = Fusion().fit(votes, probs).probs
    assert found.shape == (len(votes.tasks), K)
    assert np.isfinite(found).all()
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_a_vote_of_weight_two_is_a_vote_given_twice():
    votes, probs, _ = assisted(100, votes_each=2)
    twice = votes.take(np.repeat(np.arange(len(votes)), 2))
    heavy = replace(votes, weight=np.full(len(votes), 2.0))
    np.testing.assert_allclose(Fusion().fit(twice, probs).probs, Fusion().fit(heavy, probs).probs, atol=1e-9)


LONG = pd.DataFrame(
    {"task": list("aabbcd"), "worker": list("xyxyxy"), "label": ["no", "no", "yes", "no", "yes", "yes"]}
)
BY_TASK = pd.DataFrame({"no": [0.9, 0.3, 0.2, 0.4], "yes": [0.1, 0.7, 0.8, 0.6]}, list("abcd"))


def test_votes_and_probabilities_come_in_any_form(tmp_path):
    expected = Fusion().fit(Votes.of(*(LONG[name] for name in LONG)), BY_TASK.to_numpy()).probs
    LONG.to_csv(tmp_path / "votes.csv", index=False)
    BY_TASK.to_csv(tmp_path / "probs.csv")
    for votes in (LONG, tmp_path / "votes.csv", LONG.to_dict("records"), pl.DataFrame(LONG.to_dict("list"))):
        for probs in (BY_TASK, tmp_path / "probs.csv", BY_TASK.T.to_dict(), BY_TASK[::-1].add_prefix("p_")):
            np.testing.assert_allclose(Fusion().fit(votes, probs).probs, expected)


def test_aggregate_takes_the_classifier_too():
    expected = Fusion().fit(LONG, BY_TASK)
    np.testing.assert_array_equal(cp.aggregate(LONG, probs=BY_TASK).probs, expected.probs)
    assert str(cp.aggregate(LONG, "crowdlab", probs=BY_TASK).model) == "crowdlab"
    honest = cp.aggregate(LONG, probs=BY_TASK, calibrated=True)
    np.testing.assert_array_equal(honest.labels, expected.labels)
    with pytest.raises(ValueError, match="dawid_skene takes no classifier, expected fusion or crowdlab"):
        cp.aggregate(LONG, "ds", probs=BY_TASK)


def test_no_accuracy_is_claimed_by_experience_with_votes_alone():
    assert not Fusion().fit(LONG, BY_TASK).has_accuracy_estimate
    assert "expected accuracy" not in Fusion().fit(LONG, BY_TASK)._repr_html_()
    assert cp.aggregate(LONG).has_accuracy_estimate


def test_predictions_come_in_the_form_of_the_votes():
    result = Fusion().fit(LONG, BY_TASK)
    labels, probs = Fusion().fit_predict(LONG, BY_TASK), Fusion().fit_predict_proba(LONG, BY_TASK)
    assert labels.to_dict() == dict(zip("abcd", result.labels, strict=True))
    np.testing.assert_allclose(probs.loc[list("abcd"), ["no", "yes"]], result.probs)
    assert Fusion().fit_predict(LONG, BY_TASK, gold={"a": "yes"})["a"] == "yes"
    np.testing.assert_array_equal(Fusion(BY_TASK).fit_predict(result.votes), result.labels)


def test_tasks_and_classes_that_the_classifier_names_are_added():
    wider = BY_TASK.assign(maybe=0.0)
    wider.loc["e"] = [0.05, 0.05, 0.9]
    votes = Votes.of(*(LONG[name] for name in LONG), gold={"b": "yes"})
    for model in (Fusion(), Crowdlab()):
        result = model.fit(votes, wider)
        assert result.votes.tasks.tolist() == list("abcde")
        assert result.votes.classes.tolist() == ["maybe", "no", "yes"]
        assert result.labels[1] == "yes"
        assert result.labels[4] == "maybe"
        np.testing.assert_array_equal(result.votes.classes[result.votes.label], LONG.label)
    ordered = Votes.of(*(LONG[name] for name in LONG), classes=["yes", "no"])
    assert Fusion().fit(ordered, wider).votes.classes.tolist() == ["yes", "no", "maybe"]


def test_rows_in_the_order_of_numbers_are_not_taken_for_that_of_the_votes():
    votes, probs, _ = assisted(200, votes_each=2)
    order = np.random.default_rng(1).permutation(len(votes))
    shuffled = Votes.of(votes.task[order], votes.worker[order], votes.label[order])
    with pytest.raises(ValueError, match=r"order of the numbers of tasks.*dict\(enumerate\(probs\)\)"):
        Fusion().fit(shuffled, probs)
    by_task = Fusion().fit(shuffled, dict(enumerate(probs))).probs
    np.testing.assert_allclose(Fusion().fit(shuffled, probs[shuffled.tasks]).probs, by_task)
    np.testing.assert_allclose(Fusion().fit(shuffled, pd.DataFrame(probs)).probs, by_task)


def test_wrong_input_is_refused_in_one_sentence():
    votes, probs, _ = assisted(20)
    with pytest.raises(ValueError, match="fusion needs the probabilities of a classifier"):
        Fusion().fit(votes)
    with pytest.raises(ValueError, match="expected \\(tasks, classes\\) \\(20, 3\\)"):
        Fusion().fit(votes, probs[:5])
    with pytest.raises(ValueError, match="of task '0' sum to 2, expected 1"):
        Fusion().fit(votes, probs * 2)
    with pytest.raises(ValueError, match="no row for task '3'"):
        Fusion().fit(votes, {t: p for t, p in enumerate(probs) if t != 3})
    with pytest.raises(ValueError, match="cannot start"):
        Fusion().fit(votes, probs, start=Fusion().fit(votes, probs))
