"""The kernel does what two sparse products do.

It needs Triton: on a GPU, or interpreted anywhere with `TRITON_INTERPRET=1`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from crowdpilot.scale.device import share_best_, softmax_
from crowdpilot.scale.tensors import TensorVotes, cut, from_votes
from tests.conftest import crowd

pytest.importorskip("triton")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET") == "1"), reason="needs a GPU"
    ),
]
TARGET = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def made(dtype: torch.dtype, weighed: bool, known: bool) -> TensorVotes:
    """Votes with different numbers for each task."""
    rng = np.random.default_rng(0)
    votes, truth = crowd(77, [0.9, 0.8, 0.7, 0.6, 0.5, 0.3], classes=3, per_task=5, seed=0)
    votes = votes.take(rng.random(len(votes)) < 0.6)
    if weighed:
        votes = replace(votes, weight=rng.random(len(votes)) + 0.5)
    if known:
        votes = replace(votes, gold=np.where(rng.random(77) < 0.3, truth, -1))
    return next(cut(from_votes(votes.merged, dtype), len(votes))).to(TARGET)


@pytest.mark.parametrize(
    ("dtype", "weighed", "known", "states", "hard"),
    list(product([torch.float32, torch.float64], [False, True], [False, True], [3, 9, 60], [False, True])),
)
def test_one_pass_does_what_two_products_do(
    dtype: torch.dtype, weighed: bool, known: bool, states: int, hard: bool
) -> None:
    from crowdpilot.scale import kernel

    votes = made(dtype, weighed, known)
    table = torch.rand(18, states, generator=torch.Generator().manual_seed(1)).log().to(TARGET, dtype)
    start = torch.linspace(-1, 0, states).to(TARGET, dtype)
    belief = votes.onehot @ table + start
    votes.fix_gold_(belief)
    loglik = share_best_(belief) if hard else softmax_(belief)
    said = votes.onehot.T @ belief
    counts = kernel.listen(votes, table, start, hard=hard)
    close = 1e-5 if dtype == torch.float32 else 1e-12
    assert_allclose(counts.loglik.item(), loglik.item(), rtol=close)
    assert_allclose(counts.said.cpu(), said.cpu(), atol=10 * close)
    assert_allclose(counts.seen.cpu(), belief.sum(dim=0).cpu(), atol=10 * close)
    assert_allclose(kernel.believe(votes, table, start, hard=hard).cpu(), belief.cpu(), atol=close)
    told = kernel.tell(votes, belief)
    assert_allclose(told.said.cpu(), said.cpu(), atol=10 * close)
    assert_allclose(told.seen.cpu(), belief.sum(dim=0).cpu(), atol=10 * close)
