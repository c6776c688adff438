from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.learning.self_training.class_imbalance import (
    class_counts,
    imbalance_ratio,
    majority_classes,
    pseudo_vote_quality,
)
from crowdpilot.votes import Votes


def votes_of(task: list[int], label: list[int], weight: list[float] | None = None) -> Votes:
    """Each vote by its own worker, among three classes."""
    n = len(task)
    weights = None if weight is None else np.array(weight)
    return Votes(
        np.array(task), np.arange(n), np.array(label), np.arange(6), np.arange(n), np.arange(3), weights
    )


def test_the_imbalance_ratio_is_that_of_the_largest_class_to_the_smallest() -> None:
    """LabelMe's votes have R = 2.479 in Table 1 of the paper; these have their largest and smallest class."""
    assert imbalance_ratio(np.array([176.0, 300.0, 436.4])) == pytest.approx(2.479, abs=1e-3)
    assert imbalance_ratio(np.array([5.0, 5.0])) == 1


def test_an_empty_class_is_infinitely_rare_and_no_votes_have_no_ratio() -> None:
    assert imbalance_ratio(np.array([3.0, 0.0])) == np.inf
    assert np.isnan(imbalance_ratio(np.zeros(3)))


def test_votes_are_counted_by_their_weight() -> None:
    assert class_counts(votes_of([0, 1, 2], [0, 0, 2], [1.0, 0.5, 2.0])).tolist() == [1.5, 0, 2]


@pytest.mark.parametrize(
    ("counts", "large"),
    [
        ([1.0, 9, 5, 7], [False, True, False, True]),
        ([4.0, 9, 1], [False, True, False]),
        ([2.0, 2], [True, False]),
        ([3.0], [False]),
    ],
)
def test_the_majority_is_the_half_of_the_classes_with_most_votes(
    counts: list[float], large: list[bool]
) -> None:
    assert majority_classes(np.array(counts)).tolist() == large


def test_quality_is_precision_on_large_and_recall_on_small_classes() -> None:
    """Class 0 is large. Of 4 votes for it 3 are right; of 2 about class 1 one says so; of 1 about 2 none."""
    truth = np.array([0, 0, 0, 1, 1, 2])
    votes = votes_of([0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 1, 1])
    found = pseudo_vote_quality(votes, truth, np.array([True, False, False]))
    assert found == pytest.approx((3 / 4, (1 / 2 + 0) / 2))


def test_tasks_of_unknown_class_and_classes_that_do_not_occur_do_not_count() -> None:
    truth = np.array([0, -1, 1, -1, -1, -1])
    votes = votes_of([0, 1, 2], [0, 0, 1])
    assert pseudo_vote_quality(votes, truth, np.array([True, False, False])) == (1.0, 1.0)


def test_nothing_known_is_nan() -> None:
    unknown = np.full(6, -1)
    assert np.isnan(pseudo_vote_quality(votes_of([0], [0]), unknown, np.array([True, False, False]))).all()
