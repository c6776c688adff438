from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.simulation import DiscreteDifficulty


def test_nobody_errs_on_easy_tasks_even_when_drifting_or_colluding() -> None:
    simulation = DiscreteDifficulty(tasks=500, drifting=0.5, colluding=0.5).run()
    votes, truth = simulation
    easy = (simulation.difficulty == "easy")[votes.task]
    np.testing.assert_array_equal(votes.label[easy], truth[votes.task][easy])
    assert (votes.label[~easy] != truth[votes.task][~easy]).any()


@pytest.mark.parametrize(
    ("ratio_diff", "random", "shares"),
    [(1, 0.0, (0.5, 0.5, 0.0)), (3, 0.0, (0.75, 0.25, 0.0)), (1, 0.4, (0.3, 0.3, 0.4)), (0, 0.0, (0, 1, 0))],
)
def test_tasks_are_easy_hard_and_random_in_the_proportions_asked(ratio_diff, random, shares) -> None:
    crowd = DiscreteDifficulty(tasks=10_000, workers=1, ratio_diff=ratio_diff, random=random)
    difficulty = crowd.run().difficulty
    seen = [np.mean(difficulty == kind) for kind in ("easy", "hard", "random")]
    np.testing.assert_allclose(seen, shares, atol=0.02)


def test_votes_on_random_tasks_say_nothing() -> None:
    votes, truth = DiscreteDifficulty(tasks=2000, workers=10, ratio=1.0, random=1.0).run()
    counts = np.bincount(truth[votes.task] * 5 + votes.label).reshape(5, 5)
    np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True), 0.2, atol=0.025)


def test_good_workers_are_better_than_bad_ones() -> None:
    """35 of 100 good workers, as in the peerannot paper, section 3.2.3."""
    simulation = DiscreteDifficulty(
        tasks=200, workers=100, classes=5, votes_per_task=10, ratio=0.35, ratio_diff=1
    ).run()
    diagonal = np.einsum("jkk->jk", simulation.confusion)
    np.testing.assert_array_equal(diagonal[:35], simulation.confusion[:35].max(axis=2))
    assert diagonal[:35].mean() > 0.65
    assert abs(diagonal[35:].mean() - 0.2) < 0.02
