"""A comparison of strategies is what its parts are one by one, and calls chance what is chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import crowdpilot as cp
from crowdpilot.aggregation import MODELS, compare
from crowdpilot.metrics import accuracy, interval, macro_f1
from crowdpilot.simulation import one_coin

GOOD_AND_BAD = [0.95, 0.95, 0.5, 0.5, 0.5]


@pytest.fixture(scope="module")
def crowd() -> tuple[cp.Votes, dict[int, int]]:
    votes, truth = one_coin(tasks=300, skill=GOOD_AND_BAD, seed=0)
    return votes, dict(enumerate(truth.tolist()))


def test_each_row_is_what_its_strategy_gives_alone(crowd: Any) -> None:
    votes, truth = crowd
    found = compare(votes, truth, ["dawid_skene", "wawa"])
    rows = {row.strategy: row for row in found.rows}
    assert rows.keys() == {"majority_voting", "dawid_skene", "wawa"}
    true = list(truth.values())
    for name, row in rows.items():
        labels = cp.aggregate(votes, name).labels
        assert (row.accuracy, row.accuracy_low, row.accuracy_high) == tuple(interval(accuracy, true, labels))
        assert row.macro_f1 == pytest.approx(macro_f1(true, labels))
        baseline = accuracy(true, cp.aggregate(votes, "majority_voting").labels)
        assert row.difference == pytest.approx(row.accuracy - baseline)
        assert row.difference_low <= row.difference <= row.difference_high


def test_the_most_accurate_is_first_and_the_baseline_is_marked(crowd: Any) -> None:
    found = compare(*crowd, ["dawid_skene", "wawa", "naive_soft"])
    accuracies = [row.accuracy for row in found.rows]
    assert accuracies == sorted(accuracies, reverse=True)
    baseline = [row for row in found.rows if row.than_majority == "baseline"]
    assert [row.strategy for row in baseline] == ["majority_voting"]
    assert (baseline[0].difference, baseline[0].difference_low, baseline[0].difference_high) == (0, 0, 0)


def test_a_gain_that_is_more_than_chance_is_called_so_with_a_caution(crowd: Any) -> None:
    found = compare(*crowd, ["dawid_skene"])
    assert found.rows[0].than_majority == "better"
    assert found.summary.startswith("dawid_skene is reliably better than majority_voting on 300 tasks")
    assert "check the choice on other tasks" in found.summary


def test_chance_is_called_chance() -> None:
    votes, truth = one_coin(tasks=108, skill=[0.7] * 5, seed=1)
    found = compare(votes, dict(enumerate(truth.tolist())), ["dawid_skene", "glad", "wawa"])
    assert {row.than_majority for row in found.rows} <= {"baseline", "same"}
    assert "no strategy is reliably better than majority_voting on 108 tasks" in found.summary


def test_few_false_alarms_among_many_strategies() -> None:
    """Workers are alike, so that nothing can be better than majority voting but by chance."""
    alarms = 0
    for seed in range(10):
        votes, truth = one_coin(tasks=60, skill=[0.7] * 5, seed=seed)
        quick = ["wawa", "one_coin", "dawid_skene", "glad", "mace", "kos", "zencrowd", "ibcc"]
        found = compare(votes, dict(enumerate(truth.tolist())), quick, samples=10)
        alarms += any(row.than_majority == "better" for row in found.rows)
    assert alarms <= 1


def test_strategies_that_cannot_be_fitted_are_named_with_the_reason(crowd: Any) -> None:
    found = compare(*crowd, ["crowdlab", "gold_majority", "wawa"])
    assert found.skipped.keys() == {"crowdlab", "gold_majority"}
    assert "needs the probabilities of a classifier" in found.skipped["crowdlab"]
    assert {row.strategy for row in found.rows} == {"majority_voting", "wawa"}


def test_all_strategies_are_compared_if_none_is_named() -> None:
    votes, truth = one_coin(tasks=40, skill=GOOD_AND_BAD, seed=0)
    seen: list[str] = []
    found = compare(
        votes, dict(enumerate(truth.tolist())), samples=10, progress=lambda name, *_: seen.append(name)
    )
    named = {row.strategy for row in found.rows} | found.skipped.keys()
    assert named == set(seen) == MODELS.keys() - {"honest"}


def test_no_strategy_sees_the_truth(crowd: Any) -> None:
    votes, truth = crowd
    known = votes.with_gold(truth)
    assert compare(known, None, ["dawid_skene"]).rows[0].accuracy < 1
    without_seconds = [
        [replace(row, seconds=0.0) for row in found.rows]
        for found in (compare(known, None, ["dawid_skene"]), compare(votes, truth, ["dawid_skene"]))
    ]
    assert without_seconds[0] == without_seconds[1]


def test_a_class_that_nobody_voted_for_is_always_missed() -> None:
    votes = cp.Votes.of(["a", "a", "b", "b"], ["x", "y", "x", "y"], ["cat", "cat", "dog", "dog"])
    found = compare(votes, {"a": "cat", "b": "emu", "z": "cat"}, ["wawa"])
    assert (found.tasks, found.rows[0].accuracy) == (2, 0.5)
    assert np.isfinite(found.rows[0].log_loss)


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (None, "no true label is known"),
        ({"z": "cat"}, "names none of the 1 tasks; they are called 'z' there"),
    ],
)
def test_no_truth_is_an_error(truth: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(cp.Votes.of(["a"], ["x"], ["cat"]), truth)


def test_it_is_a_table_and_a_text(crowd: Any) -> None:
    found = cp.compare(*crowd, ["wawa", "crowdlab"])
    frame = found.to_pandas()
    assert list(frame.columns) == list(found.columns())
    assert frame["strategy"].tolist() == [row.strategy for row in found.rows]
    shown = repr(found)
    assert "majority_voting" in shown
    assert "crowdlab: " in shown
