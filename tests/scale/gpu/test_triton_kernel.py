"""The kernel of the E-step, run by an interpreter of the operations of Triton."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from crowdpilot.aggregation import EBCC, EM, IBCC, DawidSkene, FastDawidSkene
from crowdpilot.scale import Torch
from crowdpilot.scale.gpu import triton_kernel
from crowdpilot.scale.gpu.device_votes import KernelVotes
from crowdpilot.scale.gpu.tensor_math import hardmax_, softmax_
from crowdpilot.scale.gpu.tensor_votes import TensorVotes, split_by_votes, to_tensor_votes
from crowdpilot.votes import Votes
from tests.crowds import one_coin_votes
from tests.scale.gpu.triton_interpreter import InterpretedKernel, Interpreter

if triton_kernel.IS_AVAILABLE:
    pytest.skip("Triton is installed, and has an interpreter of its own", allow_module_level=True)


@pytest.fixture(autouse=True, scope="module")
def interpreter() -> Any:
    """The kernel runs on arrays of numpy."""
    patch = pytest.MonkeyPatch()
    language = Interpreter()
    patch.setattr(triton_kernel, "tl", language, raising=False)
    kernel = InterpretedKernel(triton_kernel._e_step_kernel, language)
    patch.setattr(triton_kernel, "_e_step_kernel", kernel)
    yield
    patch.undo()


def sparse_votes(*, annotated: bool, tasks: int = 77) -> Votes:
    """Tasks with different numbers of votes; `annotated` with weights and gold."""
    rng = np.random.default_rng(0)
    skill = [0.9, 0.8, 0.7, 0.6, 0.5, 0.3]
    votes, truth = one_coin_votes(tasks, skill, classes=3, votes_per_task=5, seed=0)
    votes = votes.take(rng.random(len(votes)) < 0.6)
    if annotated:
        gold = np.where(rng.random(tasks) < 0.3, truth, -1)
        votes = replace(votes, weight=rng.random(len(votes)) + 0.5, gold=gold)
    return votes


def tensors(votes: Votes) -> TensorVotes:
    return next(split_by_votes(to_tensor_votes(votes.merged), 10_000))


def expected_counts(
    votes: TensorVotes, table: torch.Tensor, log_prior: torch.Tensor, hard: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Posterior, counts of the table and log-likelihood, by sparse products."""
    posterior = votes.onehot @ table.double() + log_prior
    votes.apply_gold_(posterior)
    log_likelihood = hardmax_(posterior) if hard else softmax_(posterior)
    return posterior, votes.onehot.T @ posterior, log_likelihood


@pytest.mark.parametrize(
    ("dtype", "annotated", "states", "hard"),
    list(product([torch.float32, torch.float64], [False, True], [3, 6, 60], [False, True])),
)
def test_one_pass_gives_the_counts_of_two_products(
    dtype: torch.dtype, annotated: bool, states: int, hard: bool
) -> None:
    votes = tensors(sparse_votes(annotated=annotated))
    table = torch.rand(18, states, generator=torch.Generator().manual_seed(1)).log().to(dtype)
    log_prior = torch.linspace(-1, 0, states, dtype=torch.float64)
    posterior, table_counts, log_likelihood = expected_counts(votes, table, log_prior, hard)
    counts = triton_kernel.e_step(votes, table, log_prior, hard=hard)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12  # of sums in memory
    assert_allclose(counts.log_likelihood, log_likelihood, rtol=1e-12)
    assert_allclose(counts.table, table_counts, atol=tolerance)
    assert_allclose(counts.states, posterior.sum(dim=0), atol=1e-12)
    counted = triton_kernel.expected_counts(votes, posterior.to(dtype))
    assert_allclose(counted.table, table_counts, atol=tolerance)
    assert_allclose(counted.states, posterior.sum(dim=0), atol=tolerance)


@pytest.mark.parametrize(("annotated", "states"), list(product([False, True], [3, 60])))
def test_the_posterior_is_written_in_double_precision(annotated: bool, states: int) -> None:
    votes = tensors(sparse_votes(annotated=annotated))
    table = torch.rand(18, states, generator=torch.Generator().manual_seed(2)).log()
    log_prior = torch.linspace(-1, 0, states, dtype=torch.float64)
    expected, _, _ = expected_counts(votes, table, log_prior, hard=False)
    posterior = triton_kernel.posterior(votes, table, log_prior)
    assert posterior.dtype == torch.float64
    assert_allclose(posterior, expected, atol=1e-12)


def test_ties_are_shared_by_a_hard_e_step() -> None:
    votes = tensors(Votes.of(["a", "a", "b"], ["v", "w", "v"], [0, 1, 1]))
    table = torch.tensor([[0.8, 0.2], [0.2, 0.8]] * 2, dtype=torch.float64).log()
    counts = triton_kernel.e_step(votes, table, torch.zeros(2, dtype=torch.float64), hard=True)
    assert_array_equal(counts.states, [0.5, 1.5])


def test_cells_with_many_votes_are_summed_in_double_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = tensors(sparse_votes(annotated=False))
    posterior = torch.rand(77, 3, generator=torch.Generator().manual_seed(3))
    expected = votes.onehot.T @ posterior.double()
    monkeypatch.setattr(triton_kernel, "MAX_SINGLE_PRECISION_VOTES_PER_CELL", 0)
    assert_allclose(triton_kernel.expected_counts(votes, posterior).table, expected, atol=1e-13)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    tasks=st.integers(1, 40),
    classes=st.integers(2, 5),
    kinds=st.integers(1, 3),
)
def test_any_votes_are_counted(seed: int, tasks: int, classes: int, kinds: int) -> None:
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 100)
    columns = rng.integers(0, tasks, n), rng.integers(0, 4, n), rng.integers(0, classes, n)
    names = np.arange(tasks), np.arange(4), np.arange(classes)
    votes = tensors(Votes(*columns, *names, gold=rng.integers(-1, classes, tasks)))
    table = torch.from_numpy(np.log(rng.random((4 * classes, classes * kinds))))
    log_prior = torch.from_numpy(np.log(rng.dirichlet(np.ones(classes * kinds))))
    posterior, table_counts, log_likelihood = expected_counts(votes, table, log_prior, hard=False)
    counts = triton_kernel.e_step(votes, table, log_prior, hard=False)
    assert_allclose(counts.log_likelihood, log_likelihood, rtol=1e-10)
    assert_allclose(counts.states, posterior.sum(dim=0), atol=1e-10)
    assert_allclose(counts.table, table_counts, atol=1e-10)


@pytest.mark.parametrize("chunk", [None, 60])
@pytest.mark.parametrize("model", [DawidSkene(), FastDawidSkene(), IBCC(), EBCC(M=2)], ids=str)
def test_models_fitted_by_the_kernel_give_the_same_result(
    model: EM, chunk: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    votes = sparse_votes(annotated=True, tasks=40)
    expected = model.fit(votes)
    loaded: list[Any] = []

    def load(self: Torch, model: EM, votes: Votes, probs: np.ndarray) -> KernelVotes:
        loaded.append(
            KernelVotes(to_tensor_votes(votes), self.torch_device, chunk=chunk, start=(votes, probs))
        )
        return loaded[-1]

    monkeypatch.setattr(Torch, "load", load)
    result = model.fit(votes, backend=Torch("cpu"))
    assert loaded
    assert_allclose(result.probs, expected.probs, atol=1e-8)
    assert_allclose(result.trace, expected.trace, rtol=1e-9)
