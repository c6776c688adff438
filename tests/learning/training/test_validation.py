"""How good a method is on rows that it does not learn from."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.io import from_shares
from crowdpilot.learning import CrowdClassifier

X = np.random.default_rng(0).normal(size=(200, 3))
TRUTH = (X[:, 0] > 0).astype(int)
OTHER = np.random.default_rng(1).normal(size=(100, 3))


def test_shares_weigh_what_is_measured() -> None:
    shares = np.random.default_rng(2).dirichlet([1, 1], 100)
    model = CrowdClassifier("linear", "two_stage", epochs=1, lr=0.05)
    model.fit(X, TRUTH, validation=(OTHER, from_shares(shares)))
    said, scores = model.predict_proba(OTHER), model.history_[-1]
    assert scores["val_log_loss"] == pytest.approx(-(shares * np.log(said)).sum(axis=1).mean())
    right = shares[np.arange(100), said.argmax(axis=1)].mean()
    assert scores["val_accuracy"] == pytest.approx(right)
    assert model.score(OTHER, from_shares(shares)) == pytest.approx(right)


def test_classes_that_the_validation_set_lacks_or_orders_otherwise_are_known_by_name() -> None:
    names = np.array(["cat", "dog", "owl"])
    labels = names[TRUTH + 1]  # without a cat
    model = CrowdClassifier("linear", "two_stage", epochs=5, lr=0.05)
    model.fit(X, labels, classes=names.tolist(), validation=(X, from_shares(np.eye(2)[1 - TRUTH],
              classes=["owl", "dog"])))  # fmt: skip
    assert model.history_[-1]["val_accuracy"] == pytest.approx(model.score(X, labels))
    assert model.history_[-1]["val_accuracy"] > 0.9
