"""Any model can be made honest: the labels stay, the confidence is that of experience."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import crowdpilot as cp
from crowdpilot.aggregation import GLAD, Auto, DawidSkene, Honest, MajorityVoting, NotConverged, aggregate
from crowdpilot.aggregation.gold import posterior_from_gold
from crowdpilot.aggregation.honest import make_honest, without_honesty
from crowdpilot.aggregation.registry import parse_strategy
from crowdpilot.calibration.experience import CrowdMap, load_experience
from crowdpilot.votes import Votes
from tests.crowds import one_coin_votes

pytestmark = pytest.mark.filterwarnings("ignore::crowdpilot.aggregation.NotConverged")


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("honest[dawid_skene]", Honest(DawidSkene())),
        ("honest[DS]", Honest(DawidSkene())),
        ("honest[glad[max_iter=20]]", Honest(GLAD(max_iter=20))),
        (" Honest [ mv ] ", Honest(MajorityVoting())),
        ("honest", Honest()),
    ],
)
def test_a_strategy_names_the_model_inside(text, model):
    assert parse_strategy(text) == model
    assert parse_strategy(str(model)) == model


def test_a_wrong_model_inside_gets_one_sentence():
    with pytest.raises(ValueError, match="did you mean dawid_skene"):
        parse_strategy("honest[dawid_skin]")


def test_calibrated_true_wraps_and_false_unwraps(simulated):
    votes, _ = simulated
    plain, honest = GLAD().fit(votes), cp.aggregate(votes, "glad", calibrated=True)
    assert str(honest.model) == "honest[glad]"
    np.testing.assert_array_equal(honest.codes, plain.codes)
    assert honest.confidence.mean() < plain.confidence.mean()
    np.testing.assert_array_equal(honest.params["model_probs"], plain.probs)
    np.testing.assert_array_equal(aggregate(votes, "glad").probs, plain.probs)
    back = aggregate(votes, "honest[glad]", calibrated=False)
    np.testing.assert_array_equal(back.probs, plain.probs)
    np.testing.assert_array_equal(back.skill, plain.skill)


def test_auto_is_honest_unless_it_is_not_to_be(simulated):
    votes, _ = simulated
    auto, sure = Auto().fit(votes), aggregate(votes, calibrated=False)
    np.testing.assert_array_equal(aggregate(votes, calibrated=True).probs, auto.probs)
    np.testing.assert_array_equal(sure.probs, auto.params["model_probs"])
    np.testing.assert_array_equal(sure.codes, auto.codes)
    assert sure.confidence.mean() > auto.confidence.mean()
    assert sure.expected_accuracy == auto.expected_accuracy


def test_what_is_not_honest_has_nothing_to_lose(simulated):
    plain = MajorityVoting().fit(simulated[0])
    assert without_honesty(plain) is plain


def test_honest_of_honest_is_not_calibrated_twice(simulated):
    votes, _ = simulated
    once = aggregate(votes, "honest[glad]")
    np.testing.assert_array_equal(aggregate(votes, "honest[glad]", calibrated=True).probs, once.probs)


def test_the_expected_accuracy_is_about_labels_whatever_their_probabilities(simulated):
    votes, _ = simulated
    plain = DawidSkene().fit(votes)
    np.testing.assert_allclose(plain.expected_accuracy, Honest().fit(votes).expected_accuracy)
    low, high = plain.expected_accuracy.low, plain.expected_accuracy.high
    assert low < plain.expected_accuracy.mean < high


def test_the_skill_of_workers_is_by_the_honest_posterior(simulated):
    votes, _ = simulated
    honest = Honest().fit(votes)
    np.testing.assert_allclose(
        honest.skill, votes.worker_mean(honest.probs[votes.task, votes.label]), atol=1e-12
    )


def test_an_experience_of_the_user_is_used(simulated):
    votes, _ = simulated
    timid = CrowdMap(np.zeros(3), 1e-6 * np.eye(3))
    for model in (Honest(experience=timid), Auto(experience=timid)):
        result = model.fit(votes)
        np.testing.assert_allclose(result.expected_accuracy.mean, 0.5, atol=0.01)
        assert result.confidence.mean() < 0.55


def test_ties_are_broken_as_by_the_model():
    task = np.repeat(np.arange(200), 2)
    votes = Votes.of([f"t{t}" for t in task], ["x", "y"] * 200, ["a", "b"] * 200)
    for seed in (0, 3):
        plain, honest = MajorityVoting(seed=seed), Honest(MajorityVoting(seed=seed))
        np.testing.assert_array_equal(honest.fit(votes).codes, plain.fit(votes).codes)
        np.testing.assert_array_equal(honest.fit(votes).probs, 0.5)


def test_a_result_made_honest_keeps_its_votes_and_parameters(simulated):
    plain = DawidSkene().fit(simulated[0])
    honest = make_honest(plain)
    assert honest.votes is plain.votes
    assert honest.params["confusion"] is plain.params["confusion"]
    assert honest.trace == plain.trace
    assert honest.params["crowd_map"] is load_experience()
    assert honest.params["gold_check"] is None


def test_matrices_from_gold_alone_find_those_who_invert():
    votes, truth = one_coin_votes(300, [0.9, 0.9, 0.1, 0.1, 0.1], classes=2, votes_per_task=5, seed=0)
    gold = replace(votes, gold=np.where(np.arange(300) < 40, truth, -1))
    posterior = posterior_from_gold(gold.merged)
    assert (posterior.argmax(axis=1) == truth).mean() > 0.9
    assert (votes.tally().argmax(axis=1) == truth).mean() < 0.2
    np.testing.assert_array_equal(posterior[:40], np.eye(2)[truth[:40]])


def test_without_gold_its_matrices_are_those_of_a_usual_worker():
    votes = Votes.of([1, 1, 1], list("abc"), [0, 0, 1])
    posterior = posterior_from_gold(votes)
    assert posterior[0, 0] > posterior[0, 1]


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_one_vote_a_task_is_not_nearly_certain(n):
    votes, _ = one_coin_votes(300, [0.7] * 8, classes=2, votes_per_task=n, seed=n)
    result = Auto().fit(votes)
    assert result.confidence.mean() < 0.85
    assert result.expected_accuracy.high - result.expected_accuracy.low > 0.15


few = st.integers(0, 3)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(few, few, few), max_size=20),
    gold=st.dictionaries(few, few, max_size=4),
    classes=st.integers(1, 4),
)
@example(rows=[], gold={}, classes=2)
@example(rows=[], gold={0: 1}, classes=2)
@example(rows=[(0, 0, 0)], gold={}, classes=1)
@example(rows=[(0, 0, 1)], gold={}, classes=2)
@example(rows=[(0, 0, 1), (1, 0, 0), (2, 0, 1)], gold={}, classes=2)
@example(rows=[(0, 0, 1), (1, 0, 0)], gold={0: 0, 1: 0, 2: 1, 3: 1}, classes=2)
def test_no_crowd_is_too_small(rows, gold, classes):
    """One worker, one class, one vote, no votes, all gold: numbers, sums of one, the labels of the model."""
    rows = [(t, w, k % classes) for t, w, k in rows]
    gold = {t: k % classes for t, k in gold.items()}
    columns = [np.array([row[n] for row in rows], np.int32) for n in range(3)]
    votes = Votes(*columns, np.arange(4), np.arange(4), np.arange(classes)).with_gold(gold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        results = [Auto().fit(votes)]
        for model in (DawidSkene(), MajorityVoting()):
            plain, honest = model.fit(votes), Honest(model).fit(votes)
            np.testing.assert_array_equal(honest.codes, plain.codes)
            results += [plain, honest]
    for result in results:
        assert np.isfinite(result.probs).all()
        np.testing.assert_allclose(result.probs.sum(axis=1), 1)
        accuracy = result.expected_accuracy
        assert 0 <= accuracy.low <= accuracy.mean <= accuracy.high <= 1
        assert all(sentence.endswith(".") for sentence in result.caveats)
        for task, label in gold.items():
            assert result.codes[task] == label
            assert result.confidence[task] == 1


def test_one_class_has_no_other_label_and_still_an_interval():
    votes = Votes.of([1, 1, 2], ["x", "y", "x"], ["yes"] * 3)
    result = Auto().fit(votes)
    assert result.confidence.tolist() == [1, 1]
    assert result.expected_accuracy.high - result.expected_accuracy.low > 0.1
    named = Votes.of([1, 1, 2], ["x", "y", "x"], ["yes"] * 3, classes=["yes", "no"])
    certain = replace(MajorityVoting().fit(named), posterior=np.eye(2)[named.label[[0, 0]]])
    np.testing.assert_allclose(result.expected_accuracy, certain.expected_accuracy, atol=1e-9)
