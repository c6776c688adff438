from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import entropy as nats

from crowdpilot.arrays import to_probs
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.pruning.scores import SCORES, Difficulty, Entropy, find_score
from crowdpilot.learning.pruning.scores.waum import WAUM
from crowdpilot.learning.pruning.task_score import lowest_scores
from crowdpilot.learning.training.loop import Training
from crowdpilot.learning.training.loss import VoteLoss
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes

CPU = torch.device("cpu")
VOTES, TRUTH = one_coin(tasks=80, skill=[0.9, 0.8, 0.7, 0.6], seed=0)
X = (np.eye(2)[TRUTH] + np.random.default_rng(0).normal(0, 0.3, (80, 2))).astype(np.float32)
ROWS = to_rows(X, CPU)
PROCEDURE = TrainingProcedure(
    "linear", "crowdlayer", VoteLoss(), Training(epochs=3, batch_size=40, lr=0.05), CPU
)


@pytest.mark.parametrize("name", SCORES)
def test_the_share_alpha_with_the_lowest_scores_loses_its_votes(name: str) -> None:
    done = find_score(f"{name}[alpha=.1]").prune(PROCEDURE, ROWS, VOTES)
    assert len(done.dropped) == 8
    kept = np.setdiff1d(np.arange(80), done.dropped)
    assert done.scores[done.dropped].max() <= done.scores[kept].min()
    assert (np.diff(done.scores[done.dropped]) >= 0).all()
    np.testing.assert_array_equal(np.unique(done.votes.task), kept)
    assert len(done.votes) == np.isin(VOTES.task, kept).sum()


def test_tasks_stay_listed_so_that_rows_still_fit() -> None:
    done = find_score("entropy[alpha=.5]").prune(PROCEDURE, ROWS, VOTES)
    assert done.votes.tasks is VOTES.tasks
    PROCEDURE.train(ROWS, done.votes)


def test_the_rule_is_that_of_the_quantile() -> None:
    """Kept are the tasks whose score is at least the quantile, as in the paper's Algorithm 1."""
    scores = np.random.default_rng(3).normal(size=80)
    for alpha in (0.0, 0.01, 0.05, 0.1, 0.333, 0.9):
        wanted = np.flatnonzero(scores < np.quantile(scores, alpha))
        np.testing.assert_array_equal(np.sort(lowest_scores(scores, VOTES, alpha)), wanted)


def test_of_equals_names_decide_and_not_their_order() -> None:
    names = np.array([f"task{n}" for n in range(80)], object)
    votes = replace(VOTES, tasks=names)
    order = np.random.default_rng(0).permutation(80)
    turned = replace(votes, tasks=names[order], task=np.argsort(order)[votes.task])
    one, other = (find_score("entropy[alpha=.07]").prune(PROCEDURE, ROWS, v) for v in (votes, turned))
    assert set(names[one.dropped]) == set(names[order][other.dropped])
    assert len(one.dropped) == 6


def test_what_has_no_score_is_not_dropped() -> None:
    votes = VOTES.take(VOTES.task != 9)
    for name in ("entropy", "difficulty", "waum"):
        done = find_score(f"{name}[alpha=.9]").prune(PROCEDURE, ROWS, votes)
        assert np.isnan(done.scores[9])
        assert 9 not in done.dropped


def test_gold_stays() -> None:
    gold = np.where(np.arange(80) < 40, TRUTH, -1).astype(np.int32)
    done = find_score("entropy[alpha=.5]").prune(PROCEDURE, ROWS, replace(VOTES, gold=gold))
    np.testing.assert_array_equal(done.votes.gold, gold)


def test_entropy_is_that_of_the_shares_of_votes() -> None:
    scores = Entropy().score(PROCEDURE, ROWS, VOTES)
    np.testing.assert_allclose(scores, -nats(to_probs(VOTES.tally()), axis=1), atol=1e-12)


def test_a_single_class_has_no_difficulty() -> None:
    votes = Votes.of(["a", "b"], ["x", "x"], ["cat", "cat"])
    assert np.isnan(Difficulty().score(PROCEDURE, to_rows(X[:2], CPU), votes)).all()


def test_scores_are_found_by_name_with_options() -> None:
    assert find_score("WAUM[alpha=.05,margin='pleiss',folds=2]") == WAUM(alpha=0.05, margin="pleiss", folds=2)
    assert find_score("waum-per-worker") == SCORES["waum_perworker"]()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("wuam", "did you mean waum"),
        ("waum[beta=1]", "waum has no option 'beta'"),
        ("entropy[alpha=2]", "alpha is 2"),
    ],
)
def test_a_wrong_text_is_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        find_score(text).prune(PROCEDURE, ROWS, VOTES)
