"""Votes loaded on the cpu of PyTorch give the counts, posteriors and labels of votes in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from crowdpilot.aggregation import EBCC, EM, GLAD, MACE, DawidSkene, FastDawidSkene, OneCoin
from crowdpilot.aggregation.em.in_memory_backend import InMemoryVotes
from crowdpilot.scale.gpu import device_votes
from crowdpilot.scale.gpu.device_votes import DeviceVotes, exceeds_memory, sum_parts
from crowdpilot.scale.gpu.tensor_votes import to_tensor_votes
from crowdpilot.votes import Votes
from tests.crowds import one_coin_votes

CPU = torch.device("cpu")
MODELS = [DawidSkene(), FastDawidSkene(), OneCoin(), EBCC(M=2), GLAD(), MACE(restarts=2)]
each_model = pytest.mark.parametrize("model", MODELS, ids=str)
each_chunk = pytest.mark.parametrize("chunk", [None, 1, 37])


@pytest.fixture(scope="module")
def votes() -> Votes:
    """80 tasks with weights, and gold for some."""
    votes, truth = one_coin_votes(80, [0.9, 0.8, 0.7, 0.6, 0.4], classes=3, votes_per_task=4, seed=0)
    rng = np.random.default_rng(1)
    gold = np.where(rng.random(80) < 0.2, truth, -1)
    return replace(votes, weight=rng.choice([0.5, 1.0, 2.0], len(votes)), gold=gold).merged


def load(model: EM, votes: Votes, chunk: int | None = None) -> tuple[DeviceVotes, InMemoryVotes]:
    """The same votes on a device and in memory."""
    probs = model.initial_posterior(votes)
    device = DeviceVotes(to_tensor_votes(votes), CPU, chunk=chunk, start=(votes, probs))
    return device, InMemoryVotes(votes, probs)


def first_params(model: Any, votes: Votes, loaded: Any) -> Any:
    """Parameters of the first M-step, as arrays of the backend."""
    counts, pseudo_counts = loaded.initial_counts(model, 0), loaded.to_backend(model.pseudo_counts(votes))
    return model.m_step(sum_parts([counts, pseudo_counts]), None)


@each_model
@each_chunk
def test_an_iteration_gives_the_counts_of_memory(model: EM, chunk: int | None, votes: Votes) -> None:
    device, memory = load(model, votes, chunk)
    initial = device.to_host(device.initial_counts(model, 0))
    for array, expected in zip(initial, memory.initial_counts(model, 0), strict=True):
        assert_allclose(array, expected, atol=1e-10)
    device, memory = load(model, votes, chunk)
    results = [loaded.iterate(model, first_params(model, votes, loaded)) for loaded in (device, memory)]
    (counts, log_likelihood), (expected_counts, expected_log_likelihood) = results
    assert log_likelihood == pytest.approx(expected_log_likelihood, rel=1e-9)
    for array, expected in zip(device.to_host(counts), expected_counts, strict=True):
        assert_allclose(array, expected, atol=1e-8)


@each_model
@each_chunk
def test_posteriors_and_labels_are_those_of_memory(model: EM, chunk: int | None, votes: Votes) -> None:
    device, memory = load(model, votes, chunk)
    params = first_params(model, votes, device)
    posterior = device.posterior(model, params)
    soft = DawidSkene() if isinstance(model, FastDawidSkene) else model  # the E-step alone is hard
    assert_allclose(posterior, memory.posterior(soft, first_params(model, votes, memory)), atol=1e-9)
    assert posterior.dtype == np.float64
    by_class = posterior.reshape(80, 3, -1).sum(axis=2)
    assert_array_equal(device.most_probable(model, params), by_class.argmax(axis=1))


@each_chunk
def test_shares_are_those_of_votes(chunk: int | None, votes: Votes) -> None:
    assert_allclose(
        DeviceVotes(to_tensor_votes(votes), CPU, chunk=chunk).shares(), votes.shares(), atol=1e-12
    )


def test_without_a_start_counts_are_those_of_vote_shares(votes: Votes) -> None:
    model = DawidSkene()
    loaded = DeviceVotes(to_tensor_votes(votes), CPU)
    expected = model.expected_counts(votes, votes.shares())
    for array, other in zip(loaded.to_host(loaded.initial_counts(model, 0)), expected, strict=True):
        assert_allclose(array, other, atol=1e-10)


def test_each_restart_has_counts_of_its_own(votes: Votes) -> None:
    model = MACE(restarts=3)
    device, memory = load(model, votes)
    counts = [device.to_host(device.initial_counts(model, n)) for n in range(3)]
    for n, own in enumerate(counts):
        for array, other in zip(own, memory.initial_counts(model, n), strict=True):
            assert_allclose(array, other, atol=1e-10)
    assert not np.allclose(counts[0][1], counts[1][1])


def test_parts_are_small_where_posteriors_are_written(votes: Votes, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = DeviceVotes(to_tensor_votes(votes), CPU).shares()
    monkeypatch.setattr(device_votes, "MAX_POSTERIOR_ENTRIES_PER_PART", 30)
    loaded = DeviceVotes(to_tensor_votes(votes), CPU)
    assert loaded.max_votes_per_part == 10
    assert_array_equal(loaded.shares(), expected)


def test_votes_of_the_host_never_exceed_its_memory(votes: Votes) -> None:
    assert not exceeds_memory(to_tensor_votes(votes), CPU)


def test_counts_of_parts_are_summed() -> None:
    parts = ((np.full(2, n), np.full((1, 2), 10 * n)) for n in (1, 2, 3))
    first, second = sum_parts(parts)
    assert first.tolist() == [6, 6]
    assert second.tolist() == [[60, 60]]
