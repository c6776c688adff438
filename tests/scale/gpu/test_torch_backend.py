"""Models on tensors give the results of models on arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from crowdpilot.aggregation import (
    EBCC,
    GLAD,
    IBCC,
    MACE,
    MODELS,
    Aggregator,
    DawidSkene,
    FastDawidSkene,
    Honest,
    HybridDawidSkene,
    MajorityVoting,
    NaiveSoft,
    OneCoin,
)
from crowdpilot.scale import Torch
from crowdpilot.scale.gpu.torch_backend import SUPPORTED_MODELS
from crowdpilot.votes import Votes
from tests.crowds import one_coin_votes

ALL_SETTINGS = [
    NaiveSoft(),
    OneCoin(),
    OneCoin(prior="estimated", smoothing=0.5),
    DawidSkene(),
    DawidSkene(variational=True),
    DawidSkene(prior="uniform", smoothing=0.5, diagonal=0.0),
    DawidSkene(prior=(0.5, 0.25, 0.25), variational=True),
    DawidSkene(accelerate=True),
    FastDawidSkene(),
    HybridDawidSkene(),
    IBCC(),
    EBCC(M=3, restarts=2),
    EBCC(M=2, prior="uniform"),
    GLAD(tol=1e-4),
    GLAD(prior="estimated", points=3, tol=1e-4),
    MACE(restarts=3),
    MACE(restarts=2, variational=False, prior="uniform"),
]
ONE_OF_EACH = [
    NaiveSoft(),
    OneCoin(),
    DawidSkene(),
    FastDawidSkene(),
    EBCC(M=2),
    GLAD(tol=1e-4),
    MACE(restarts=2),
]
EM_SETTINGS = [model for model in ALL_SETTINGS if not isinstance(model, NaiveSoft)]
each_setting = pytest.mark.parametrize("model", ALL_SETTINGS, ids=str)
DOUBLE_ON_CPU = Torch("cpu", precision="double")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """More threads slow down tensors as small as these."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def annotated_votes() -> Votes:
    """Votes of several weights, with gold for some tasks, and no votes on the last task."""
    votes, truth = one_coin_votes(90, [0.95, 0.9, 0.8, 0.7, 0.6, 0.4], classes=3, votes_per_task=4, seed=1)
    rng = np.random.default_rng(2)
    weight = rng.choice([0.5, 1.0, 2.0], len(votes))
    gold = np.where(rng.random(90) < 0.2, truth, -1)
    return replace(votes.take(votes.task < 89), weight=weight[votes.task < 89], gold=gold)


def assert_same(a: Any, b: Any, tolerance: float = 1e-8) -> None:
    assert_allclose(a.probs, b.probs, atol=tolerance)
    assert_allclose(a.skill, b.skill, atol=tolerance)
    assert_allclose(a.trace, b.trace, rtol=tolerance)
    assert a.params.keys() == b.params.keys()
    for name in a.params.keys() - {"stats"}:
        assert_allclose(a.params[name], b.params[name], atol=tolerance, rtol=tolerance)
    assert b.probs.dtype == np.float64


@each_setting
def test_tensors_give_the_result_of_arrays(model: Aggregator, annotated_votes: Votes) -> None:
    assert_same(model.fit(annotated_votes), model.fit(annotated_votes, backend=DOUBLE_ON_CPU))


@pytest.mark.parametrize("inside", ONE_OF_EACH, ids=str)
def test_honest_probabilities_are_those_of_arrays(inside: Aggregator, annotated_votes: Votes) -> None:
    arrays = Honest(inside).fit(annotated_votes)
    tensors = Honest(inside).fit(annotated_votes, backend=DOUBLE_ON_CPU)
    assert_allclose(tensors.probs, arrays.probs, atol=1e-7)
    assert_allclose(tensors.expected_accuracy, arrays.expected_accuracy, atol=1e-7)
    assert_array_equal(tensors.codes, inside.fit(annotated_votes).codes)


def test_the_shares_of_the_majority_are_those_on_a_device(annotated_votes: Votes) -> None:
    shares = NaiveSoft().fit(annotated_votes, backend=DOUBLE_ON_CPU)
    assert_allclose(MajorityVoting().fit(annotated_votes).probs, shares.probs, atol=1e-12)


@pytest.mark.parametrize("model", ONE_OF_EACH, ids=str)
def test_votes_in_chunks_give_the_same_result(model: Aggregator, annotated_votes: Votes) -> None:
    assert_same(
        model.fit(annotated_votes),
        model.fit(annotated_votes, backend=Torch("cpu", precision="double", chunk=50)),
    )


@pytest.mark.parametrize("model", [HybridDawidSkene(), *ONE_OF_EACH[1:]], ids=str)
def test_a_fit_starts_at_an_earlier_result(model: Aggregator, annotated_votes: Votes) -> None:
    start = NaiveSoft().fit(replace(annotated_votes, weight=None))
    assert_same(
        model.fit(annotated_votes, start=start),
        model.fit(annotated_votes, start=start, backend=DOUBLE_ON_CPU),
    )


@pytest.mark.parametrize("model", [m for m in EM_SETTINGS if m.uses_history], ids=str)
def test_the_history_of_workers_is_used(model: Aggregator, annotated_votes: Votes, simulated: Any) -> None:
    history = model.fit(annotated_votes, backend=DOUBLE_ON_CPU)
    votes = simulated[0]
    assert_same(
        model.fit(votes, history=model.fit(annotated_votes)),
        model.fit(votes, history=history, backend=DOUBLE_ON_CPU),
    )


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 40), st.integers(1, 200))
@settings(max_examples=15, deadline=None)
def test_any_votes_in_any_chunks(seed: int, classes: int, tasks: int, chunk: int) -> None:
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 120)
    votes = Votes(
        rng.integers(0, tasks, n), rng.integers(0, 4, n), rng.integers(0, classes, n),
        np.arange(tasks), np.arange(4), np.arange(classes), gold=rng.integers(-1, classes, tasks),
    )  # fmt: skip
    for model in (DawidSkene(), OneCoin()):
        assert_same(model.fit(votes), model.fit(votes, backend=Torch("cpu", precision="double", chunk=chunk)))


@pytest.mark.parametrize(
    "model", [OneCoin(), DawidSkene(), FastDawidSkene(), IBCC(), GLAD(tol=1e-4)], ids=str
)
def test_labels_of_columns_of_codes(model: Any, simulated: Any) -> None:
    votes, _ = simulated
    o = np.random.default_rng(0).permutation(len(votes))
    columns = votes.task[o], votes.worker[o], torch.tensor(votes.label[o])
    expected = model.fit(votes).probs.argmax(axis=1)
    for chunk in (None, 100):
        assert_array_equal(Torch("cpu", chunk=chunk).label(model, *columns), expected)


def test_models_that_do_not_run_on_tensors_are_refused(simulated: Any) -> None:
    votes, _ = simulated
    with pytest.raises(ValueError, match="dawid_skene_clust cannot do this on a GPU"):
        MODELS["dawid_skene_clust"]().fit(votes, backend=Torch("cpu"))
    with pytest.raises(ValueError, match="mace cannot do this on a GPU"):
        Torch("cpu").label(MACE(), votes.task, votes.worker, votes.label)


@pytest.mark.parametrize(
    ("task", "label", "message"),
    [
        ([0, 1], [0], "different lengths"),
        ([], [], "empty"),
        ([0, -1], [0, 1], "below zero"),
        ([0, 1], [0, 0], "all labels are 0"),
    ],
)
def test_columns_that_are_no_votes_are_refused(task: list[int], label: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Torch("cpu").label(DawidSkene(), np.array(task, int), np.array(task, int), np.array(label, int))


def test_all_supported_models_are_tested() -> None:
    assert {type(model) for model in EM_SETTINGS} == SUPPORTED_MODELS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"device": "abacus"}, "the device is 'abacus'"),
        ({"device": "cpu", "precision": "half"}, "precision is 'half'"),
        ({"device": "cpu", "chunk": 0}, "chunk is 0"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Torch(**settings)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_an_error() -> None:
    with pytest.raises(ValueError, match="no GPU here"):
        Torch()
