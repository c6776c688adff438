"""Models on tensors give the answer of models on arrays."""

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
    HybridDawidSkene,
    NaiveSoft,
    OneCoin,
)
from crowdpilot.scale import Torch
from crowdpilot.scale.gpu.torch_backend import SUPPORTED_MODELS
from crowdpilot.votes import Votes
from tests.crowds import one_coin_votes

MANY = [
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
FEW = [NaiveSoft(), OneCoin(), DawidSkene(), FastDawidSkene(), EBCC(M=2), GLAD(tol=1e-4), MACE(restarts=2)]
EMS = [model for model in MANY if not isinstance(model, NaiveSoft)]
each = pytest.mark.parametrize("model", MANY, ids=str)
double = Torch("cpu", precision="double")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Tensors as small as these only wait for more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def told() -> Votes:
    """Votes of many weights, with gold for some tasks, none for one and no votes for the last."""
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


@each
def test_tensors_give_the_answer_of_arrays(model: Aggregator, told: Votes) -> None:
    assert_same(model.fit(told), model.fit(told, backend=double))


@pytest.mark.parametrize("model", FEW, ids=str)
def test_votes_in_chunks_give_the_same_answer(model: Aggregator, told: Votes) -> None:
    assert_same(model.fit(told), model.fit(told, backend=Torch("cpu", precision="double", chunk=50)))


@pytest.mark.parametrize("model", [HybridDawidSkene(), *FEW[1:]], ids=str)
def test_a_result_to_begin_at_is_used(model: Aggregator, told: Votes) -> None:
    start = NaiveSoft().fit(replace(told, weight=None))
    assert_same(model.fit(told, start=start), model.fit(told, start=start, backend=double))


@pytest.mark.parametrize("model", [m for m in EMS if m.uses_history], ids=str)
def test_the_history_of_workers_is_used(model: Aggregator, told: Votes, simulated: Any) -> None:
    history = model.fit(told, backend=double)
    votes = simulated[0]
    assert_same(model.fit(votes, history=model.fit(told)), model.fit(votes, history=history, backend=double))


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
def test_labels_come_straight_from_columns(model: Any, simulated: Any) -> None:
    votes, _ = simulated
    o = np.random.default_rng(0).permutation(len(votes))
    columns = votes.task[o], votes.worker[o], torch.tensor(votes.label[o])
    want = model.fit(votes).probs.argmax(axis=1)
    for chunk in (None, 100):
        assert_array_equal(Torch("cpu", chunk=chunk).label(model, *columns), want)


def test_models_that_do_not_run_on_tensors_say_so(simulated: Any) -> None:
    votes, _ = simulated
    with pytest.raises(ValueError, match="dawid_skene_clust cannot do this on a GPU"):
        MODELS["dawid_skene_clust"]().fit(votes, backend=Torch("cpu"))
    with pytest.raises(ValueError, match="mace cannot do this on a GPU"):
        Torch("cpu").label(MACE(), votes.task, votes.worker, votes.label)


@pytest.mark.parametrize(
    ("task", "label", "words"),
    [
        ([0, 1], [0], "different lengths"),
        ([], [], "empty"),
        ([0, -1], [0, 1], "below zero"),
        ([0, 1], [0, 0], "all labels are 0"),
    ],
)
def test_columns_that_are_no_votes_are_refused(task: list[int], label: list[int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Torch("cpu").label(DawidSkene(), np.array(task, int), np.array(task, int), np.array(label, int))


def test_what_is_ready_is_tested() -> None:
    assert {type(model) for model in EMS} == SUPPORTED_MODELS


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"device": "abacus"}, "the device is 'abacus'"),
        ({"device": "cpu", "precision": "half"}, "precision is 'half'"),
        ({"device": "cpu", "chunk": 0}, "chunk is 0"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Torch(**settings)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_said() -> None:
    with pytest.raises(ValueError, match="no GPU here"):
        Torch()
