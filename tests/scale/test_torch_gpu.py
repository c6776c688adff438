"""A GPU gives the results of the processor, and its kernel those of two sparse products.

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
from crowdpilot.scale.gpu.tensor_math import hardmax_, softmax_
from crowdpilot.scale.gpu.tensor_votes import split_by_votes, to_tensor_votes
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
DEVICE = torch.device("cuda" if gpu else "cpu")


def sparse_votes(*, weighted: bool, gold: bool) -> Votes:
    """77 tasks with different numbers of votes."""
    rng = np.random.default_rng(0)
    votes, truth = one_coin_votes(77, [0.9, 0.8, 0.7, 0.6, 0.5, 0.3], classes=3, votes_per_task=5, seed=0)
    votes = votes.take(rng.random(len(votes)) < 0.6)
    if weighted:
        votes = replace(votes, weight=rng.random(len(votes)) + 0.5)
    return replace(votes, gold=np.where(rng.random(77) < 0.3, truth, -1)) if gold else votes


@pytest.mark.parametrize(
    ("dtype", "annotated", "states", "hard"),
    list(product([torch.float32, torch.float64], [False, True], [3, 60], [False, True])),
)
def test_one_pass_does_what_two_products_do(
    dtype: torch.dtype, annotated: bool, states: int, hard: bool
) -> None:
    from crowdpilot.scale.gpu import triton_kernel

    merged = sparse_votes(weighted=annotated, gold=annotated).merged
    votes = next(split_by_votes(to_tensor_votes(merged), 1000)).to(DEVICE)
    table = torch.rand(18, states, generator=torch.Generator().manual_seed(1)).log().to(DEVICE, dtype)
    log_prior = torch.linspace(-1, 0, states, dtype=torch.float64).to(DEVICE)
    soft = votes.onehot @ table.double() + log_prior
    votes.apply_gold_(soft)
    posterior = soft.clone()
    log_likelihood = hardmax_(posterior) if hard else softmax_(posterior)
    softmax_(soft)
    expected = votes.onehot.T @ posterior
    counts = triton_kernel.e_step(votes, table, log_prior, hard=hard)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12  # of sums in memory
    assert_allclose(counts.log_likelihood.item(), log_likelihood.item(), rtol=1e-12)
    assert_allclose(counts.table.cpu(), expected.cpu(), atol=tolerance)
    assert_allclose(counts.states.cpu(), posterior.sum(dim=0).cpu(), atol=1e-12)
    assert_allclose(triton_kernel.posterior(votes, table, log_prior).cpu(), soft.cpu(), atol=1e-12)
    counted = triton_kernel.expected_counts(votes, posterior.to(dtype))
    assert_allclose(counted.table.cpu(), expected.cpu(), atol=tolerance)
    assert_allclose(counted.states.cpu(), posterior.sum(dim=0).cpu(), atol=tolerance)


@needs_gpu
@pytest.mark.parametrize("chunk", [None, 50])
@pytest.mark.parametrize("model", [M() for M in sorted(SUPPORTED_MODELS, key=lambda m: m.name)], ids=str)
def test_a_gpu_gives_the_result_of_the_processor(model: EM, chunk: int | None) -> None:
    votes = sparse_votes(weighted=True, gold=True)
    expected, result = (
        model.fit(votes),
        model.fit(votes, backend=Torch("cuda", precision="double", chunk=chunk)),
    )
    assert_allclose(result.probs, expected.probs, atol=1e-8)
    assert_allclose(result.skill, expected.skill, atol=1e-8)
    assert_allclose(result.trace, expected.trace, rtol=1e-8)


@needs_gpu
@pytest.mark.parametrize("model", [DawidSkene(), DawidSkene(accelerate=True), IBCC(), EBCC(M=2)], ids=str)
def test_single_precision_is_enough_for_probabilities(model: EM) -> None:
    votes, _ = one_coin_votes(
        120_000, np.linspace(0.5, 0.95, 300).tolist(), classes=4, votes_per_task=5, seed=3
    )
    expected, result = (model.fit(votes, backend=Torch(precision=p)) for p in get_args(Precision)[::-1])
    assert_allclose(result.probs, expected.probs, atol=1e-4)
    assert_array_equal(result.codes, expected.codes)


@needs_gpu
def test_shares_and_labels_are_the_same_on_a_gpu() -> None:
    votes = sparse_votes(weighted=False, gold=False)
    assert_allclose(NaiveSoft().fit(votes, backend=Torch()).probs, NaiveSoft().fit(votes).probs, atol=1e-7)
    for chunk in (None, 50):
        labels = Torch(chunk=chunk).label(DawidSkene(), votes.task, votes.worker, votes.label)
        assert_array_equal(labels, DawidSkene().fit(votes).probs.argmax(axis=1))
