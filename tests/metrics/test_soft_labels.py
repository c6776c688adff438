"""Distances to what people say, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import entropy

from crowdpilot.metrics import SOFT_LABEL_METRICS, dist_ce, entropy_ce, rank_cs

HUMAN = np.array([[0.5, 0.3, 0.2], [1, 0, 0], [0.4, 0.4, 0.2]])
PROBS = np.array([[0.6, 0.3, 0.1], [0.5, 0.25, 0.25], [0.1, 0.3, 0.6]])


def test_the_distance_is_the_share_of_people_who_would_have_to_say_otherwise() -> None:
    assert dist_ce(HUMAN, PROBS) == pytest.approx((0.1 + 0.5 + 0.4) / 3)
    assert dist_ce([[1, 0]], [[0, 1]]) == 1


def test_the_entropy_of_people_is_taken_from_that_of_the_prediction() -> None:
    gaps = entropy(PROBS, axis=1) - entropy(HUMAN, axis=1)
    assert entropy_ce(HUMAN, PROBS) == pytest.approx(gaps.mean())
    assert entropy_ce(HUMAN, PROBS, absolute=True) == pytest.approx(np.abs(gaps).mean())
    assert entropy_ce(HUMAN, np.eye(3)) < 0  # too sure


@pytest.mark.parametrize(
    ("human", "probs", "agrees"),
    [
        ([0.5, 0.3, 0.2], [0.8, 0.15, 0.05], True),
        ([0.5, 0.3, 0.2], [0.8, 0.05, 0.15], False),
        ([0.5, 0.5, 0], [0.1, 0.9, 0], True),  # an order that people leave open
        ([0.5, 0.5, 0], [0.1, 0.7, 0.2], False),
        ([1, 0, 0], [0.4, 0.3, 0.3], True),
        ([1, 0, 0], [0.4, 0.4, 0.2], False),  # people prefer one, the prediction does not
        ([1 / 3, 1 / 3, 1 / 3], [0.2, 0.3, 0.5], True),
    ],
)
def test_a_ranking_agrees_unless_people_prefer_something_else(human, probs, agrees: bool) -> None:
    for order in ([0, 1, 2], [2, 0, 1], [1, 0, 2]):
        assert rank_cs([np.array(human)[order]], [np.array(probs)[order]]) == agrees


@pytest.mark.parametrize("metric", SOFT_LABEL_METRICS.values(), ids=SOFT_LABEL_METRICS)
@pytest.mark.parametrize(
    ("human", "probs", "message"),
    [
        ([0, 1], np.eye(2), r"shape \(2,\) and the probabilities \(2, 2\), expected \(tasks, classes\)"),
        (np.eye(3), np.eye(2), "expected .tasks, classes. of both"),
        ([[0, 0]], [[0.5, 0.5]], "a row of the shares of people .* does not sum to 1"),
        ([[1.5, -0.5]], [[0.5, 0.5]], "a row of the shares of people has a negative number"),
        ([[np.nan, 1]], [[0.5, 0.5]], "a row of the shares of people"),
        ([[0.5, 0.5]], [[0.5, 0.6]], "a row of the probabilities"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "no task"),
    ],
)
def test_what_is_no_share_is_refused(metric, human, probs, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metric(human, probs)
