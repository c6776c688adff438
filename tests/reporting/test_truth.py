from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation import NaiveSoft
from crowdpilot.metrics import accuracy, brier
from crowdpilot.reporting.truth import match_truth, truth_metrics
from crowdpilot.votes import Votes

VOTES = Votes.of([1, 1, 2, 2, 3], list("xyxyx"), ["a", "a", "a", "b", "b"])


def test_tasks_are_matched_by_name() -> None:
    known = match_truth(NaiveSoft().fit(VOTES), {"3": "b", "1": "b", "9": "a", "2": None})
    assert known.task.tolist() == [0, 2]
    assert known.right.tolist() == [False, True]


def test_a_class_that_only_the_truth_has_is_never_right() -> None:
    known = match_truth(NaiveSoft().fit(VOTES), {1: "c", 3: "b"})
    assert known.classes.tolist() == ["a", "b", "c"]
    assert known.right.tolist() == [False, True]
    np.testing.assert_allclose(known.probs.sum(axis=1), 1)


def test_measures_are_those_of_the_metrics() -> None:
    known = match_truth(NaiveSoft().fit(VOTES), {1: "a", 2: "b", 3: "a"})
    found = {row.name: row for row in truth_metrics(known, samples=50)}
    assert found["accuracy"].value == accuracy(known.truth, known.label)
    assert found["brier"].value == pytest.approx(brier(known.truth, known.probs))
    assert all(row.low <= row.high for row in found.values())


def test_truth_about_other_tasks_is_an_error() -> None:
    with pytest.raises(ValueError, match="none of the 3 tasks"):
        match_truth(NaiveSoft().fit(VOTES), {7: "a"})
