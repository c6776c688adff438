"""Label metrics agree with scikit-learn's."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn

from crowdpilot.metrics import LABEL_METRICS, accuracy, balanced_accuracy, macro_f1, per_class

NAMES = ["cat", "dog", "10", "9", "élan"]
rows = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.floats(0.1, 5)), min_size=1, max_size=40
)


ORACLES = {
    "accuracy": sklearn.accuracy_score,
    "balanced_accuracy": sklearn.balanced_accuracy_score,
    "macro_f1": partial(sklearn.f1_score, average="macro", zero_division=0),
}


@pytest.mark.parametrize("name", LABEL_METRICS)
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.filterwarnings("ignore:A single label was found")
@given(rows)
@settings(deadline=None)
def test_metrics_agree_with_sklearn(name: str, rows: list) -> None:
    truth, labels, weight = zip(*rows, strict=True)
    expected = ORACLES[name](truth, labels, sample_weight=weight)
    assert LABEL_METRICS[name](truth, labels, weight=weight) == pytest.approx(expected)


@given(rows)
@settings(deadline=None)
def test_the_table_of_classes_agrees_with_sklearn(rows: list) -> None:
    truth, labels, weight = zip(*rows, strict=True)
    table = per_class(truth, labels, weight=weight)
    expected = sklearn.precision_recall_fscore_support(
        truth, labels, sample_weight=weight, labels=table.classes.tolist(), zero_division=0
    )
    np.testing.assert_allclose(table[1:], expected)
    assert set(table.classes) == {*truth, *labels}


def test_classes_of_the_table_are_in_natural_order() -> None:
    table = per_class(["c10", "c9", "c10"], ["c10", "c10", "c2"])
    assert table.classes.tolist() == ["c2", "c9", "c10"]
    np.testing.assert_allclose(table.support, [0, 1, 2])
    np.testing.assert_allclose(table.precision, [0, 0, 0.5])
    np.testing.assert_allclose(table.recall, [0, 0, 0.5])


@pytest.mark.parametrize("metric", LABEL_METRICS.values(), ids=LABEL_METRICS)
def test_a_perfect_labelling_has_one(metric) -> None:
    assert metric([3, 1, 2, 1], [3, 1, 2, 1]) == 1


@pytest.mark.parametrize("metric", LABEL_METRICS.values(), ids=LABEL_METRICS)
@pytest.mark.parametrize("weight", [[1, 2, 3, 1, 1], [0, 2, 3, 1, 0]])
def test_a_weight_of_two_is_two_equal_tasks_and_of_zero_no_task(metric, weight: list[int]) -> None:
    truth, labels = np.array([0, 1, 2, 1, 0]), np.array([0, 1, 1, 2, 0])
    again = np.repeat(np.arange(5), weight)
    assert metric(truth, labels, weight=weight) == pytest.approx(metric(truth[again], labels[again]))


@pytest.mark.parametrize("metric", LABEL_METRICS.values(), ids=LABEL_METRICS)
def test_rows_of_weights_give_a_value_each(metric) -> None:
    rng = np.random.default_rng(0)
    truth, labels, weight = rng.integers(4, size=30), rng.integers(4, size=30), rng.integers(3, size=(5, 30))
    expected = [metric(truth, labels, weight=row) for row in weight]
    np.testing.assert_allclose(metric(truth, labels, weight=weight), expected)


def test_a_class_only_among_the_labels_lowers_f1_but_not_the_recall_of_others() -> None:
    truth, labels = ["a", "a", "b", "b"], ["a", "c", "b", "b"]
    assert balanced_accuracy(truth, labels) == 0.75
    assert macro_f1(truth, labels) == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_a_value_is_a_plain_number() -> None:
    assert type(accuracy([0, 1], [0, 0])) is float
