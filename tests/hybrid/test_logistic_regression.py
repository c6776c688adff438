from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.sparse import csr_array
from scipy.special import log_softmax

from crowdpilot.hybrid import LogisticRegression


def data(seed=0, n=80, K=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), rng.dirichlet(np.ones(K), n)


def cost(model, x, targets, weights):
    said = log_softmax(x @ weights[:-1] + weights[-1], axis=1)
    return -(targets * said).sum() + model.strength / 2 * (weights[:-1] ** 2).sum()


def test_no_weights_nearby_cost_less():
    x, targets = data()
    model = LogisticRegression(strength=0.5, max_iter=1000).fit(x, targets)
    best = cost(model, x, targets, model.weights)
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert cost(model, x, targets, model.weights + 0.05 * rng.normal(size=(5, 3))) > best - 1e-6
    slope = check_grad(
        lambda w: cost(model, x, targets, w.reshape(5, 3)), lambda w: np.zeros(15), model.weights.ravel()
    )
    assert slope < 0.05


def test_soft_targets_are_rows_repeated_once_for_each_class():
    x, targets = data(K=2)
    twice = np.repeat(x, 10, axis=0)
    hard = np.zeros((len(twice), 2))
    tenths = np.round(10 * targets[:, 0]).astype(int)
    hard[:, 0] = (np.arange(10) < tenths[:, None]).ravel()
    hard[:, 1] = 1 - hard[:, 0]
    soft = np.column_stack([tenths / 10, 1 - tenths / 10])
    one = LogisticRegression(strength=1, max_iter=500).fit(x, soft).predict_proba(x)
    ten = LogisticRegression(strength=10, max_iter=500).fit(twice, hard).predict_proba(x)
    np.testing.assert_allclose(one, ten, atol=2e-3)


def test_sparse_rows_say_the_same():
    x, targets = data()
    x[np.abs(x) < 0.7] = 0
    dense = LogisticRegression().fit(x, targets).predict_proba(x)
    np.testing.assert_allclose(
        LogisticRegression().fit(csr_array(x), targets).predict_proba(csr_array(x)), dense, atol=1e-6
    )


def test_without_anything_to_see_it_says_the_shares_of_the_classes():
    targets = np.tile([0.7, 0.2, 0.1], (100, 1))
    found = LogisticRegression(max_iter=500).fit(np.zeros((100, 1)), targets).predict_proba(np.zeros((1, 1)))
    np.testing.assert_allclose(found, [[0.7, 0.2, 0.1]], atol=2e-3)


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="strength is 0, expected a number above 0"):
        LogisticRegression(strength=0)
    with pytest.raises(ValueError, match=r"the targets have shape \(3,\), expected 2 rows"):
        LogisticRegression().fit(np.zeros((2, 1)), [0, 1, 1])
