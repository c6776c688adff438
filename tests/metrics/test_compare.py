"""What counts as the same class, and which tasks count at all."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.metrics import METRICS, accuracy, brier, macro_f1


@pytest.mark.parametrize(
    "truth",
    [
        [1, -1, 0, 1],
        np.array([1.0, np.nan, 0.0, 1.0]),
        [1, None, 0, 1],
        ["1", None, "0", "1"],
        np.array([1, -1, 0, 1]),
    ],
)
@pytest.mark.parametrize("labels", [[1, 0, 1, 1], ["1", "0", "1", "1"], np.array([1.0, 0.0, 1.0, 1.0])])
def test_tasks_of_unknown_truth_are_left_out(truth, labels) -> None:
    assert accuracy(truth, labels) == pytest.approx(2 / 3)


def test_a_label_seen_only_where_the_truth_is_unknown_is_no_class() -> None:
    assert macro_f1(["a", "b", None], ["a", "b", "c"]) == 1
    assert macro_f1([0, 1, -1], [0, 1, 2]) == 1


def test_text_that_says_minus_one_is_a_class() -> None:
    assert accuracy(["-1", "1"], ["-1", "-1"]) == 0.5


def test_the_weights_of_unknown_tasks_do_not_count() -> None:
    assert accuracy([0, -1, 1], [0, 0, 0], weight=[1, 100, 1]) == 0.5
    assert brier([0, -1], [[1, 0], [0, 1]], weight=[1, 100]) == 0


@pytest.mark.parametrize(
    ("truth", "labels", "weight", "message"),
    [
        ([0, 1], [0], None, "there are 1 labels, expected one for each of 2 tasks"),
        ([0, 1], [0, 1], [1], "there are 1 weights, expected one for each of 2 tasks"),
        ([0, 1], [0, 1], [1, -1], "negative or infinite weight"),
        ([0, 1], [0, None], None, "label 2 is missing"),
        ([0, 1], [-1, 0], None, "label 1 is missing"),
        ([None, None], ["a", "b"], None, "no task has a known class"),
        ([0, 1], [0, 1], [0, 0], "no task has a known class and a weight"),
        ([], [], None, "no task has a known class"),
    ],
)
def test_what_cannot_be_compared_is_refused(truth, labels, weight, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        accuracy(truth, labels, weight=weight)


@pytest.mark.parametrize(
    ("truth", "probs", "message"),
    [
        ([0, 1], [0.5, 0.5], r"shape \(2,\), expected \(tasks, classes\)"),
        ([0], [[0.5, 0.5]] * 2, "there are 2 rows of probabilities, expected one for each of 1 tasks"),
        ([0, 2], [[0.5, 0.5]] * 2, "codes between -1 and 1"),
        (["a", "b"], [[0.5, 0.5]] * 2, "codes between -1 and 1"),
        ([0, 1], [[0.5, 0.6], [0.5, 0.5]], "does not sum to 1"),
        ([0, 1], [[1.5, -0.5], [0.5, 0.5]], "negative"),
        ([0, 1], [[np.nan, 0.5], [0.5, 0.5]], "does not sum to 1"),
        ([-1, -1], [[0.5, 0.5]] * 2, "no task has a known class"),
    ],
)
@pytest.mark.parametrize("name", ["brier", "log_loss", "ece"])
def test_what_is_no_probability_is_refused(name: str, truth, probs, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        METRICS[name](truth, probs)
