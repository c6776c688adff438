from __future__ import annotations

import numpy as np
import pytest
import torch

from crowdpilot.learning.pruning.scores.waum import WAUM
from crowdpilot.learning.pruning.scoring import score_tasks
from crowdpilot.learning.training.loop import Training
from crowdpilot.simulation import one_coin

VOTES, TRUTH = one_coin(tasks=60, skill=[0.9, 0.8, 0.7], seed=0)
X = np.eye(2)[TRUTH] + np.random.default_rng(0).normal(0, 0.3, (60, 2))
SHORT = Training(epochs=2)


def test_scores_are_in_the_order_of_the_votes_whatever_that_of_the_rows() -> None:
    """Folds follow the rows, so one fold is what must agree."""
    plain = score_tasks(X, VOTES, "waum[folds=1]", training=SHORT)
    tasks = VOTES.tasks.tolist()
    more = [*tasks, "nobody voted on this"]
    found = score_tasks(np.vstack([X, X[:1]]), VOTES, "waum[folds=1]", training=SHORT, tasks=more)
    assert found.shape == (60,)
    turned = score_tasks(X[::-1].copy(), VOTES, "entropy", tasks=tasks[::-1])
    np.testing.assert_array_equal(turned, score_tasks(X, VOTES, "entropy"))
    np.testing.assert_allclose(found, plain, atol=0.2)


def test_a_score_may_be_a_text_or_the_thing_itself() -> None:
    by_name = score_tasks(X, VOTES, "waum[margin='pleiss',folds=2]", training=SHORT)
    np.testing.assert_array_equal(
        by_name, score_tasks(X, VOTES, WAUM(margin="pleiss", folds=2), training=SHORT)
    )


def test_threads_are_as_before() -> None:
    before = torch.get_num_threads()
    score_tasks(X, VOTES, "entropy", threads=before + 1)
    with pytest.raises(ValueError, match="no score of tasks is called"):
        score_tasks(X, VOTES, "x")
    with pytest.raises(ValueError, match="have no row in X"):
        score_tasks(X[:2], VOTES, "entropy", tasks=[0, 1])
    assert torch.get_num_threads() == before


def test_rows_and_tasks_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="X has 59 rows"):
        score_tasks(X[1:], VOTES)
