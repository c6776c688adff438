from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy.sparse import csr_array

from crowdpilot.hybrid import LogisticRegression
from crowdpilot.hybrid.campaign.estimation.classifier import FOLDS, CrossFittedClassifier, fit_temperature


class Memory:
    """Knows what it has seen by heart, and nothing else."""

    def fit(self, x, targets):
        self.seen = {float(row[0]): target for row, target in zip(x, targets, strict=True)}
        return self

    def predict_proba(self, x):
        return np.array([self.seen.get(float(row[0]), [0.5, 0.5]) for row in x])


class Weighted(LogisticRegression):
    """As in scikit-learn: labels and weights, and classes that are only those seen."""

    def fit(self, x, labels, sample_weight=None):
        self.classes_ = np.unique(labels)
        return super().fit(x, sample_weight[:, None] * (labels[:, None] == self.classes_))


def cross_fitted(classifier, x, classes=2):
    new = CrossFittedClassifier(classifier, classes)
    new.add_items(x, x.shape[0])
    return new


def test_no_item_is_predicted_from_its_own_votes():
    x = np.arange(50.0)[:, None]
    targets = np.tile([0.01, 0.99], (30, 1))
    probs = cross_fitted(Memory(), x).fit_predict(np.arange(30), targets, np.arange(50) % FOLDS)
    np.testing.assert_allclose(probs, 0.5)


def test_predictions_are_right_with_and_without_votes():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    x = rng.normal(size=(200, 2)) + 3 * truth[:, None]
    targets = np.eye(2)[truth[:100]] * 0.9 + 0.05
    for rows in (x, csr_array(x)):
        probs = cross_fitted(LogisticRegression(), rows).fit_predict(
            np.arange(100), targets, np.arange(200) % FOLDS
        )
        np.testing.assert_allclose(probs.sum(axis=1), 1)
        assert (probs.argmax(axis=1) == truth).mean() > 0.95


def test_soft_labels_become_weighted_labels_where_a_classifier_wants_these():
    rng = np.random.default_rng(0)
    x, targets = rng.normal(size=(60, 2)), rng.dirichlet([1, 1], 60)
    fold = np.arange(60) % FOLDS
    labels = np.eye(2)[targets.argmax(axis=1)] * targets.max(axis=1, keepdims=True)
    one = cross_fitted(LogisticRegression(), x).fit_predict(np.arange(60), labels, fold)
    other = cross_fitted(Weighted(), x).fit_predict(np.arange(60), targets, fold)
    np.testing.assert_allclose(one, other, atol=1e-3)


def test_a_class_that_is_no_label_has_its_mean_probability():
    x = np.random.default_rng(0).normal(size=(40, 2))
    targets = np.tile([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]], (20, 1))
    probs = cross_fitted(Weighted(), x, 3).fit_predict(np.arange(40), targets, np.arange(40) % FOLDS)
    np.testing.assert_allclose(probs[:, 2], 0.1, atol=0.02)


def test_one_label_alone_needs_no_classifier():
    targets = np.tile([0.6, 0.3, 0.1], (40, 1))
    probs = cross_fitted(Weighted(), np.eye(40), 3).fit_predict(np.arange(40), targets, np.arange(40) % FOLDS)
    np.testing.assert_allclose(probs, targets)


def test_the_original_classifier_is_never_fitted_itself():
    model = LogisticRegression()
    cross_fitted(model, np.eye(10)).fit_predict(np.arange(10), np.full((10, 2), 0.5), np.arange(10) % FOLDS)
    assert not hasattr(model, "weights")


def test_of_several_classifiers_the_one_that_predicts_best_is_used():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=100)
    x = rng.normal(size=(100, 1)) + 4 * truth[:, None]
    both = cross_fitted([Memory(), LogisticRegression()], x).fit_predict(
        np.arange(100), np.eye(2)[truth], np.arange(100) % FOLDS
    )
    assert (both.argmax(axis=1) == truth).mean() > 0.9


@pytest.mark.parametrize("kind", [np.asarray, csr_array, list, pd.DataFrame, pl.DataFrame, torch.tensor])
def test_features_may_come_in_pieces(kind):
    x = np.arange(12.0).reshape(6, 2)
    new = CrossFittedClassifier(LogisticRegression(), 2)
    for start, end in ((0, 2), (2, 3), (3, 6)):
        new.add_items(kind(x[start:end]), end - start)
    assert len(new) == 6
    rows = new.features_of(np.array([4, 1]))
    np.testing.assert_array_equal(rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows), x[[4, 1]])


def test_later_features_are_not_cut_to_the_type_of_the_first():
    new = CrossFittedClassifier(LogisticRegression(), 2)
    new.add_items(np.eye(3, dtype=int), 3)
    new.add_items(np.full((1, 3), 0.5), 1)
    assert new.features_of(np.array([3])).tolist() == [[0.5, 0.5, 0.5]]


class Anything:
    def fit(self, rows, targets):
        self.K = targets.shape[1]

    def predict_proba(self, rows):
        return np.full((len(rows), self.K), 1 / self.K)


def test_texts_in_an_array_are_not_cut_either():
    new = CrossFittedClassifier(Anything(), 2)
    new.add_items(np.array(["a", "b"]), 2)
    new.add_items(np.array(["a long text"]), 1)
    assert new.features_of(np.array([2, 0])).tolist() == ["a long text", "a"]


@pytest.mark.parametrize(
    ("first", "later", "message"),
    [
        (np.eye(2), [[1, 2]], "new features are a list, expected a numpy as before"),
        (np.eye(2), csr_array(np.eye(2)), "new features are a sparse matrix, expected a numpy as before"),
        (pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [1], "c": [2]}), "other columns"),
    ],
)
def test_features_of_another_kind_are_refused(first, later, message):
    new = CrossFittedClassifier(LogisticRegression(), 2)
    new.add_items(first, first.shape[0])
    with pytest.raises(ValueError, match=message):
        new.add_items(later, 2 if hasattr(later, "tocsr") else 1)
    assert len(new) == first.shape[0]


def test_a_classifier_without_fit_or_features_is_refused():
    with pytest.raises(ValueError, match="the classifier has no method 'fit'"):
        CrossFittedClassifier(object(), 2)
    with pytest.raises(ValueError, match="there are features of 2 items, expected a row for each of 3 items"):
        CrossFittedClassifier(LogisticRegression(), 2).add_items(np.eye(2), 3)
    with pytest.raises(ValueError, match="there are no features, expected a row for each of 3 items"):
        CrossFittedClassifier(LogisticRegression(), 2).add_items(None, 3)
    seen = CrossFittedClassifier(LogisticRegression(), 2)
    seen.add_items(np.eye(2), 2)
    with pytest.raises(ValueError, match=r"new rows have shape \(3,\), expected \(2,\) as before"):
        seen.add_items(np.eye(3), 3)
    assert len(seen) == 2


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_votes_alone_give_the_temperature(power):
    rng = np.random.default_rng(0)
    honest = rng.dirichlet([0.7, 0.7, 0.7], 3000)
    truth = (honest.cumsum(axis=1) > rng.random((3000, 1))).argmax(axis=1)
    probs = honest**power + 1e-9
    probs /= probs.sum(axis=1, keepdims=True)
    confusion = 0.1 + 0.7 * np.eye(3)
    label = (confusion[truth].cumsum(axis=1) > rng.random((3000, 1))).argmax(axis=1)
    asked = probs.max(axis=1) < 0.9
    log_likelihood = np.log(confusion[:, label].T)
    assert abs(np.log(fit_temperature(probs[asked], log_likelihood[asked]) * power)) < 0.2
