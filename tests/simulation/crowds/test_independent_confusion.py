from __future__ import annotations

import numpy as np

from crowdpilot.simulation import IndependentConfusion


def test_rows_are_flat_dirichlet_with_the_largest_value_on_the_diagonal() -> None:
    """The mean of the largest of K parts of a broken stick is (1 + 1/2 + ... + 1/K) / K."""
    confusion = IndependentConfusion(tasks=1, workers=2000, classes=5).run().confusion
    np.testing.assert_array_equal(confusion.max(axis=2), np.einsum("jkk->jk", confusion))
    np.testing.assert_allclose(confusion.sum(axis=2), 1)
    assert abs(np.einsum("jkk->jk", confusion).mean() - sum(1 / k for k in range(1, 6)) / 5) < 0.005


def test_the_values_beside_the_diagonal_are_alike() -> None:
    confusion = IndependentConfusion(tasks=1, workers=5000, classes=3).run().confusion.mean(axis=0)
    np.testing.assert_allclose(confusion[~np.eye(3, dtype=bool)], (1 - 11 / 18) / 2, atol=0.01)


def test_the_crowd_of_the_peerannot_paper_has_its_accuracy() -> None:
    """Lefort et al. 2023, table 1: a majority is right on 78 of 100 tasks (one seed)."""
    scores = []
    for seed in range(20):
        votes, truth = IndependentConfusion(
            tasks=200, workers=30, classes=5, votes_per_task=10, seed=seed
        ).run()
        scores.append(np.mean(votes.tally().argmax(axis=1) == truth))
    assert abs(np.mean(scores) - 0.78) < 0.03
