from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.self_training import pseudo_votes
from crowdpilot.learning.self_training.pseudo_votes import (
    SELECTIONS,
    PseudoVotes,
    Selection,
    class_shares,
    predict_missing_votes,
    select_pseudo_votes,
)
from crowdpilot.votes import Votes

N, J, K = 23, 5, 3


class Oracle(Method):
    """What everybody would say is X itself."""

    name = "oracle"

    def __init__(self, votes: Votes) -> None:
        super().__init__(nn.Linear(1, K), votes)

    def predict_votes(self, x: Tensor) -> Tensor:
        return x.view(len(x), J, K)


def draw(seed: int = 0) -> tuple[np.ndarray, Votes]:
    """Probabilities (tasks, workers, classes) in which class 2 is rare, and votes of some pairs."""
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet([2.0, 1.0, 0.3], (N, J)).astype(np.float32)
    task, worker = np.nonzero(rng.random((N, J)) < 0.3)
    order = rng.permutation(len(task))
    label = rng.integers(K, size=len(task))
    votes = Votes(task[order], worker[order], label, np.arange(N), np.arange(J), np.arange(K))
    return probs, votes


def blocks_of(probs: np.ndarray, votes: Votes) -> Iterator[PseudoVotes]:
    rows = to_rows(probs.reshape(N, -1), torch.device("cpu"))
    return predict_missing_votes(Oracle(votes), rows, votes)


def chosen(selection: Selection, add: int, seed: int = 0) -> PseudoVotes:
    return select_pseudo_votes(blocks_of(*draw()), selection, add, K, np.random.default_rng(seed))


def pairs(votes: PseudoVotes | Votes) -> set[tuple[int, int]]:
    return set(zip(votes.task.tolist(), votes.worker.tolist(), strict=True))


def everything() -> PseudoVotes:
    """All that is missing, found the plain way."""
    probs, votes = draw()
    missing = [(n, j) for n in range(N) for j in range(J) if (n, j) not in pairs(votes)]
    task, worker = np.array(missing).T
    p = probs[task, worker].astype(float)
    return PseudoVotes(task, worker, p.argmax(axis=1), -(p * np.log(p)).sum(axis=1))


def test_all_pairs_without_a_vote_are_predicted_with_label_and_entropy() -> None:
    found, oracle = next(blocks_of(*draw())), everything()
    for mine, right in zip(found, oracle, strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-5)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("add", [1, 17, 10_000])
def test_only_pairs_without_a_vote_are_chosen_and_each_once(selection: Selection, add: int) -> None:
    found, oracle = chosen(selection, add), everything()
    assert len(pairs(found)) == len(found.task) <= add + K  # shares are rounded
    label = dict(zip(zip(oracle.task, oracle.worker, strict=True), oracle.label, strict=True))
    said = zip(found.task, found.worker, strict=True)
    assert [label[pair] for pair in said] == found.label.tolist()


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_size_of_the_blocks_makes_no_difference(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = chosen(selection, 20)
    monkeypatch.setattr(pseudo_votes, "MAX_BLOCK_NUMBERS", 3 * J * K)
    assert len(list(blocks_of(*draw()))) == 8
    for mine, right in zip(chosen(selection, 20), whole, strict=True):
        np.testing.assert_array_equal(mine, right)


def test_confidence_chooses_the_least_entropy() -> None:
    oracle = everything()
    best = np.argsort(oracle.uncertainty)[:20]
    assert pairs(chosen("confidence", 20)) == pairs(oracle.take(best))


def test_dasc_chooses_the_least_entropy_of_each_class_and_more_of_rare_classes() -> None:
    """Eqs. 2 to 4, the plain way."""
    oracle = everything()
    size = np.bincount(oracle.label, minlength=K)
    assert size.min() > 0
    share = 1 / size / (1 / size).sum()
    best: set[tuple[int, int]] = set()
    for k in range(K):
        of_class = np.flatnonzero(oracle.label == k)
        order = of_class[np.argsort(oracle.uncertainty[of_class])]
        best |= pairs(oracle.take(order[: round(20 * share[k])]))
    found = chosen("dasc", 20)
    assert pairs(found) == best
    assert np.bincount(found.label, minlength=K)[size.argmin()] > np.bincount(found.label)[size.argmax()]


def test_random_choice_depends_on_the_generator_alone() -> None:
    assert pairs(chosen("random", 20, 1)) == pairs(chosen("random", 20, 1)) != pairs(chosen("random", 20, 2))


def test_a_class_that_has_less_than_its_share_gives_all_and_the_others_no_more_than_theirs() -> None:
    blocks = iter(
        [PseudoVotes(np.arange(110), np.zeros(110, int), np.repeat([0, 1], [100, 10]), np.zeros(110))]
    )
    found = select_pseudo_votes(blocks, "dasc", 55, 2, np.random.default_rng(0))
    assert np.bincount(found.label).tolist() == [5, 10]  # the shares are 5 and 50


def test_shares_sum_to_one_and_go_with_the_inverse_of_what_is_found() -> None:
    found = np.array([4.0, 0.0, 16.0, 8.0])
    share = class_shares(found)
    assert share.sum() == pytest.approx(1)
    assert share[1] == 0
    np.testing.assert_allclose(share[[0, 2, 3]] * found[[0, 2, 3]], share[0] * 4)


def test_nothing_missing_is_nothing_chosen() -> None:
    probs, _ = draw()
    task, worker = np.divmod(np.arange(N * J), J)
    votes = Votes(task, worker, np.zeros(N * J, int), np.arange(N), np.arange(J), np.arange(K))
    for selection in SELECTIONS:
        found = select_pseudo_votes(blocks_of(probs, votes), selection, 5, K, np.random.default_rng(0))
        assert len(found.task) == 0
    assert class_shares(np.zeros(3)).tolist() == [0, 0, 0]
