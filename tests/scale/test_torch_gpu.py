"""A GPU gives the answer of the cores, and its kernel does what two sparse products do.

The kernel needs Triton: on a GPU, or interpreted anywhere with `TRITON_INTERPRET=1`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from crowdpilot.aggregation import EBCC, EM, IBCC, DawidSkene, NaiveSoft
from crowdpilot.scale import Torch
from crowdpilot.scale.gpu.device_votes import hardmax_, softmax_
from crowdpilot.scale.gpu.tensor_votes import cut, from_votes
from crowdpilot.scale.gpu.torch_backend import SUPPORTED_MODELS, Precision
from crowdpilot.votes import Votes
from tests.crowds import one_coin_votes

pytest.importorskip("triton")
gpu = torch.cuda.is_available()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not gpu and os.environ.get("TRITON_INTERPRET") != "1", reason="needs a GPU"),
]
needs_gpu = pytest.mark.skipif(not gpu, reason="needs a GPU")
TARGET = torch.device("cuda" if gpu else "cpu")


def made(weighed: bool, known: bool) -> Votes:
    """Votes with different numbers for each task."""
    rng = np.random.default_rng(0)
    votes, truth = one_coin_votes(77, [0.9, 0.8, 0.7, 0.6, 0.5, 0.3], classes=3, votes_per_task=5, seed=0)
    votes = votes.take(rng.random(len(votes)) < 0.6)
    if weighed:
        votes = replace(votes, weight=rng.random(len(votes)) + 0.5)
    return replace(votes, gold=np.where(rng.random(77) < 0.3, truth, -1)) if known else votes


@pytest.mark.parametrize(
    ("dtype", "told", "states", "hard"),
    list(product([torch.float32, torch.float64], [False, True], [3, 60], [False, True])),
)
def test_one_pass_does_what_two_products_do(dtype: torch.dtype, told: bool, states: int, hard: bool) -> None:
    from crowdpilot.scale.gpu import triton_kernel

    votes = next(cut(from_votes(made(told, told).merged), 1000)).to(TARGET)
    table = torch.rand(18, states, generator=torch.Generator().manual_seed(1)).log().to(TARGET, dtype)
    start = torch.linspace(-1, 0, states, dtype=torch.float64).to(TARGET)
    soft = votes.onehot @ table.double() + start
    votes.fix_gold_(soft)
    belief = soft.clone()
    loglik = hardmax_(belief) if hard else softmax_(belief)
    softmax_(soft)
    said = votes.onehot.T @ belief
    counts = triton_kernel.listen(votes, table, start, hard=hard)
    close = 1e-5 if dtype == torch.float32 else 1e-12  # of what is added up in memory
    assert_allclose(counts.loglik.item(), loglik.item(), rtol=1e-12)
    assert_allclose(counts.said.cpu(), said.cpu(), atol=close)
    assert_allclose(counts.seen.cpu(), belief.sum(dim=0).cpu(), atol=1e-12)
    assert_allclose(triton_kernel.posterior(votes, table, start).cpu(), soft.cpu(), atol=1e-12)
    told_back = triton_kernel.tell(votes, belief.to(dtype))
    assert_allclose(told_back.said.cpu(), said.cpu(), atol=close)
    assert_allclose(told_back.seen.cpu(), belief.sum(dim=0).cpu(), atol=close)


@needs_gpu
@pytest.mark.parametrize("chunk", [None, 50])
@pytest.mark.parametrize("model", [M() for M in sorted(SUPPORTED_MODELS, key=lambda m: m.name)], ids=str)
def test_a_gpu_gives_the_answer_of_the_cores(model: EM, chunk: int | None) -> None:
    votes = made(weighed=True, known=True)
    want, got = model.fit(votes), model.fit(votes, backend=Torch("cuda", precision="double", chunk=chunk))
    assert_allclose(got.probs, want.probs, atol=1e-8)
    assert_allclose(got.skill, want.skill, atol=1e-8)
    assert_allclose(got.trace, want.trace, rtol=1e-8)


@needs_gpu
@pytest.mark.parametrize("model", [DawidSkene(), DawidSkene(accelerate=True), IBCC(), EBCC(M=2)], ids=str)
def test_single_precision_is_enough_for_probabilities(model: EM) -> None:
    votes, _ = one_coin_votes(
        120_000, np.linspace(0.5, 0.95, 300).tolist(), classes=4, votes_per_task=5, seed=3
    )
    want, got = (model.fit(votes, backend=Torch(precision=p)) for p in get_args(Precision)[::-1])
    assert_allclose(got.probs, want.probs, atol=1e-4)
    assert_array_equal(got.codes, want.codes)


@needs_gpu
def test_shares_and_labels_are_the_same_on_a_gpu() -> None:
    votes = made(weighed=False, known=False)
    assert_allclose(NaiveSoft().fit(votes, backend=Torch()).probs, NaiveSoft().fit(votes).probs, atol=1e-7)
    for chunk in (None, 50):
        labels = Torch(chunk=chunk).label(DawidSkene(), votes.task, votes.worker, votes.label)
        assert_array_equal(labels, DawidSkene().fit(votes).probs.argmax(axis=1))
