from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crowdpilot.hybrid.value import expected_after, look_ahead


def crowd(K=3, items=6, decisions=None, seed=0, sharp=1.0):
    """Beliefs, voters who are right in most cases, and errors of any size."""
    rng = np.random.default_rng(seed)
    said = 0.5 * np.eye(K) + 0.5 * rng.dirichlet(np.ones(K), K)
    errors = rng.uniform(0.5, 2, (K, decisions or K))
    errors[np.arange(min(K, decisions or K)), np.arange(min(K, decisions or K))] = 0
    return rng.dirichlet(np.full(K, sharp), items), said, errors


def loss_after(p, said, errors, n):
    """By the definition: every sequence of votes, its chance, its posterior, its best decision."""
    total = 0.0
    for labels in product(range(said.shape[1]), repeat=n):
        joint = p * np.prod(said[:, list(labels)], axis=1)
        total += joint.sum() * ((joint / joint.sum()) @ errors).min()
    return total


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_loss_expected_is_that_of_all_sequences_of_votes(K, n):
    probs, said, errors = crowd(K, decisions=K + 1)
    expected = [loss_after(p, said, errors, n) for p in probs]
    np.testing.assert_allclose(expected_after(probs, said, errors, n), expected)


def test_the_value_is_the_best_saving_for_each_vote():
    probs, said, errors = crowd()
    saved = [[((p @ errors).min() - loss_after(p, said, errors, n)) / n for n in (1, 2, 3)] for p in probs]
    np.testing.assert_allclose(look_ahead(probs, said, errors, ahead=3), np.max(saved, axis=1), atol=1e-15)
