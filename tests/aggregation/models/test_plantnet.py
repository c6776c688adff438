"""Pl@ntNet's rule, with all five ways to treat a machine's votes."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.base import NotConverged
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.aggregation.models.plantnet import PlantNet
from crowdpilot.votes import Votes

NEW = np.log(2.1)  # the weight of a newcomer: three are above 2, two are not


def one_task(said: str, machine: str = "", score: float = 1.0) -> Votes:
    """Newcomers x, y, z... say each letter of `said`, the machine what `machine` says."""
    workers = [*"xyzuvw"[: len(said)], *["AI"] * len(machine)]
    weight = [1.0] * len(said) + [score] * len(machine)
    return Votes.of([1] * len(workers), workers, list(said + machine), classes="ab", weight=weight)


def valid(votes: Votes, **settings: object) -> bool:
    return bool(PlantNet(**settings).fit(votes).params["valid"][0])  # type: ignore[arg-type]  # any setting


def test_a_task_is_valid_when_its_label_has_enough_weight_and_share():
    assert valid(one_task("aaa"))
    assert not valid(one_task("aa"))
    assert not valid(one_task("aaabb"))
    assert valid(one_task("aa"), theta_conf=1)
    assert valid(one_task("aaabb"), theta_acc=0.5)


def test_a_share_of_exactly_the_threshold_is_not_enough():
    assert not valid(one_task("aaab"), theta_acc=0.75)


@pytest.mark.parametrize(("counts", "n"), [("classes", [2, 2, 2, 0]), ("tasks", [3, 3, 3, 0])])
def test_weights_grow_with_what_a_worker_identified(counts, n):
    votes = Votes.of([1] * 3 + [2] * 3 + [3] * 4, list("xyzxyzxyzu"), list("aaabbbbbba"))
    result = PlantNet(counts=counts).fit(votes)
    weight = np.sqrt(n) - np.power(n, 0.2) + NEW
    np.testing.assert_allclose(result.params["weight"], weight)
    np.testing.assert_allclose(result.probs[2], np.array([weight[3], 3 * weight[0]]) / weight.sum())
    np.testing.assert_allclose(result.skill, [1, 1, 1, 0])
    assert result.to_table()["valid"].to_pylist() == [True, True, True]


def test_only_valid_tasks_count():
    votes = Votes.of([1] * 3 + [2] * 2, list("xyzxy"), list("aaabb"))
    result = PlantNet().fit(votes)
    assert result.params["valid"].tolist() == [True, False]
    np.testing.assert_allclose(result.params["right"], [[1, 0], [1, 0], [1, 0]])


def test_an_expert_outvotes_newcomers():
    known = dict(enumerate("abcdefghij"))
    votes = Votes.of([*known, *["new"] * 3], ["e"] * 11 + ["x", "y"], [*known.values(), *"abb"], gold=known)
    result = PlantNet().fit(votes)
    assert result.params["weight"][0] == pytest.approx(10**0.5 - 10**0.2 + NEW)
    assert result.labels[-1] == "a"


def test_history_makes_experts():
    known = dict(enumerate("abcdefghij"))
    before = PlantNet().fit(Votes.of([*known], ["x"] * 10, [*known.values()], gold=known))
    votes = Votes.of(["new"], ["x"], ["a"], classes="abcdefghij")
    assert not valid(votes)
    assert PlantNet().fit(votes, history=before).params["valid"].tolist() == [True]


def test_gold_is_valid_and_rewards_who_gave_it():
    result = PlantNet().fit(Votes.of([1, 1], list("xy"), list("ab"), gold={1: "b"}))
    np.testing.assert_allclose(result.probs, [[0, 1]])
    assert result.params["valid"].tolist() == [True]
    np.testing.assert_allclose(result.params["right"], [[0, 0], [0, 1]])


@pytest.mark.parametrize(
    ("mode", "said", "machine", "expected"),
    [
        ("ignored", "aa", "a", False),
        ("worker", "aa", "a", True),
        ("worker", "a", "a", False),
        ("fixed", "a", "a", True),
        ("fixed", "", "a", False),
        ("fixed", "aaa", "b", False),
        ("invalidating", "aa", "a", False),
        ("invalidating", "aaa", "a", True),
        ("invalidating", "aaa", "b", False),
        ("invalidating", "aaaaaa", "b", True),
        ("confident", "a", "a", True),
    ],
)
def test_what_a_classifier_can_do_to_a_task(mode, said, machine, expected):
    """Weights are .742 for a person and 1.7 for the machine; 6 x .742 is .724 of the whole."""
    assert valid(one_task(said, machine), AI=mode) is expected


def test_only_fixed_worker_and_confident_machines_vote_on_the_label():
    share = {mode: PlantNet(AI=mode).fit(one_task("ab", "b")).probs[0, 1] for mode in ROWS}
    assert share == pytest.approx(ROWS)


ROWS = {
    "ignored": 0.5,
    "worker": 2 / 3,
    "fixed": (NEW + 1.7) / (2 * NEW + 1.7),
    "invalidating": 0.5,
    "confident": (NEW + 1.7) / (2 * NEW + 1.7),
}


def test_an_unsure_machine_does_not_count_and_a_sure_one_counts_fully():
    probs = {s: PlantNet(AI="confident").fit(one_task("ab", "b", score=s)).probs[0, 1] for s in (0.6, 0.8, 1)}
    assert probs == pytest.approx({0.6: 0.5, 0.8: ROWS["fixed"], 1: ROWS["fixed"]})


def test_ignoring_the_machine_is_not_having_it():
    result = PlantNet().fit(one_task("aab", "b"))
    without = PlantNet().fit(one_task("aab"))
    np.testing.assert_allclose(result.probs, without.probs)
    np.testing.assert_allclose(result.skill, [*without.skill, np.nan])


def test_the_machine_is_found_by_name():
    assert valid(one_task("aa"), AI="fixed", ai_worker="y")
    with pytest.raises(ValueError, match="AI is 'fixed', but no worker is called 'AI'"):
        PlantNet(AI="fixed").fit(one_task("aa"))


def test_unknown_settings_are_refused():
    with pytest.raises(ValueError, match="AI is 'trusted', expected one of ignored, worker, fixed"):
        PlantNet(AI="trusted")
    with pytest.raises(ValueError, match="counts is 'votes', expected tasks or classes"):
        PlantNet(counts="votes")
    with pytest.raises(ValueError, match="max_iter is 0, expected 1 or more"):
        PlantNet(max_iter=0)


def test_a_fit_that_starts_at_a_result_ends_at_the_same(simulated):
    votes, _ = simulated
    result = PlantNet().fit(votes)
    for start in (result, MajorityVoting().fit(votes)):
        np.testing.assert_allclose(PlantNet().fit(votes, start=start).probs, result.probs)


def test_valid_labels_are_better_than_the_rest(simulated):
    votes, truth = simulated
    result = PlantNet().fit(votes)
    right, trusted = result.codes == truth, result.params["valid"]
    assert 0.3 < trusted.mean() < 0.9
    assert right[trusted].mean() > right[~trusted].mean() + 0.15


def test_too_few_iterations_are_a_warning():
    with pytest.warns(NotConverged, match="did not converge in 1 iterations"):
        result = PlantNet(max_iter=1).fit(one_task("aaa"))
    assert not result.converged
