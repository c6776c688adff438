"""The accuracy of labels in words."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.accuracy.gold_suggestion import GoldSuggestion
from crowdpilot.aggregation.accuracy.statements import state_accuracy, state_gain, state_gold
from crowdpilot.calibration.experience import AccuracyEstimate, GoldCheck

NOW = AccuracyEstimate(0.79, 0.72, 0.85)


def suggestion(now, then, n=50, by_count=True):
    tasks = np.arange(n)
    return GoldSuggestion(tasks, tasks, now, then, {n: then} if by_count else {}, n)


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (NOW, "About 72 to 85 % of these labels are right (79 % expected)"),
        (
            AccuracyEstimate(0.97, 0.91, 0.999),
            "About 91 to 99 % of these labels are right (97 % expected)",
        ),
        (AccuracyEstimate(0.97, 0.91, 1.0), "About 91 to 100 % of these labels are right (97 % expected)"),
        (AccuracyEstimate(0.998, 0.996, 0.999), "About 99 % of these labels are right"),
        (
            AccuracyEstimate(0.4, 0.002, 0.8),
            "About 1 to 80 % of these labels are right (40 % expected)",
        ),
        (AccuracyEstimate(1.0, 1.0, 1.0), "About 100 % of these labels are right"),
    ],
)
def test_percentages_are_whole_and_never_claim_all_or_nothing(estimate, text):
    assert state_accuracy(estimate) == text


def test_gold_labels_are_counted():
    assert state_gold(GoldCheck(1, 0, NOW, 0.0)).endswith("it would be wrong")
    assert "by the votes alone 1,041 of them" in state_gold(GoldCheck(1500, 1041, NOW, 0.0))


def test_a_gain_is_stated_where_it_is_worth_it():
    assert state_gain(suggestion(NOW, AccuracyEstimate(0.8, 0.77, 0.83))) == (
        "check 50 tasks to narrow this range of 13 points to about 6"
    )
    assert state_gain(suggestion(NOW, AccuracyEstimate(0.8, 0.74, 0.86))) == ""
    assert state_gain(suggestion(NOW, AccuracyEstimate(0.8, 0.79, 0.81), n=3, by_count=False)) == ""
    assert state_gain(suggestion(AccuracyEstimate(0.9, 0.89, 0.92), AccuracyEstimate(0.9, 0.9, 0.9))) == ""
