from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from crowdpilot import io
from crowdpilot.aggregation import EM, MODELS, DawidSkene, MajorityVoting, NotConverged
from crowdpilot.aggregation.em.backend import sum_stats
from crowdpilot.scale import Shards
from crowdpilot.scale.engine import Partitions, Progress, no_progress, no_stage_progress
from crowdpilot.scale.files import distributed_backend
from crowdpilot.scale.files.aggregation import fit_partitions
from crowdpilot.scale.files.distributed_backend import (
    DistributedBackend,
    FittedModel,
    TableParamsModel,
    partition_e_step,
    prepare_e_step,
)
from crowdpilot.scale.files.file_votes import VotesPartition
from crowdpilot.scale.files.sharded_votes import ShardedVotes, load_shards
from crowdpilot.votes import Votes
from tests.scale.shard_files import write_parts

EM_MODELS = [
    name for name, kind in MODELS.items() if issubclass(kind, EM) and kind.additive_counts and name != "ebcc"
]


class ListEngine:
    """An engine whose partitions are a list in this process."""

    @contextmanager
    def load(
        self, load_file: Callable[[str], Any], files: Sequence[str], progress: Progress
    ) -> Iterator[Partitions]:
        yield ListPartitions([load_file(file) for file in files])


class ListPartitions:
    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def map(self, function: Any, shared: Any = None, *, progress: Progress = no_progress) -> Iterator[Any]:
        return (function(value, shared) for value in self.values)

    def sum(self, function: Any, shared: Any = None) -> tuple[Any, ...]:
        return sum_stats(list(self.map(function, shared)))

    def replace(self, function: Any, arguments: Sequence[Any]) -> Partitions:
        return ListPartitions([function(*pair) for pair in zip(self.values, arguments, strict=True)])


@pytest.fixture(scope="module")
def folder(named_votes: Votes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Votes with weights and gold in five files."""
    rng = np.random.default_rng(0)
    gold = np.array(["a", None, None, "d"], object)[named_votes.task % 4].tolist()
    weight = rng.choice([0.5, 1.0, 2.0], len(named_votes))
    path = tmp_path_factory.mktemp("distributed") / "votes"
    return write_parts(named_votes, path, np.arange(60) // 13, weight=weight, gold=gold)


@pytest.fixture
def sharded(folder: Path) -> Iterator[ShardedVotes]:
    with load_shards(Shards(folder), ListEngine(), no_progress) as sharded:
        yield sharded


def posteriors(fitted: FittedModel, sharded: ShardedVotes) -> np.ndarray:
    """Posterior of all tasks, (tasks, classes)."""
    parts = sharded.partitions.map(lambda partition, _: fitted.aggregate(partition.named_votes()).probs)
    return np.concatenate(list(parts))


@pytest.mark.parametrize("name", EM_MODELS)
def test_sums_of_partitions_give_the_result_of_one_fit(
    name: str, folder: Path, sharded: ShardedVotes
) -> None:
    expected = MODELS[name]().fit(io.read(folder))
    result, fitted = fit_partitions(MODELS[name](), sharded, no_stage_progress)
    np.testing.assert_allclose(result.trace, expected.trace, rtol=1e-9)
    np.testing.assert_allclose(posteriors(fitted, sharded), expected.probs, atol=1e-7)
    for key in expected.params.keys() - {"stats", *type(expected.model).per_task}:
        np.testing.assert_allclose(result.params[key], expected.params[key], atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        DawidSkene(variational=True),
        DawidSkene(prior="uniform", smoothing=0.5),
        DawidSkene(prior=(0.4, 0.3, 0.2, 0.1)),
        DawidSkene(accelerate=True),
        MODELS["mace"](restarts=3),  # type: ignore[call-arg]  # a setting of this model
    ],
    ids=str,
)
def test_settings_apply_to_partitions(model: EM, folder: Path, sharded: ShardedVotes) -> None:
    expected = model.fit(io.read(folder))
    result, fitted = fit_partitions(model, sharded, no_stage_progress)
    np.testing.assert_allclose(result.trace, expected.trace, rtol=1e-9)
    np.testing.assert_allclose(posteriors(fitted, sharded), expected.probs, atol=1e-7)


@pytest.mark.filterwarnings("ignore::crowdpilot.aggregation.NotConverged")
@pytest.mark.parametrize("name", ["dawid_skene", "one_coin", "glad"])
def test_a_fit_starts_at_the_posterior_of_the_last_fit(
    name: str, folder: Path, sharded: ShardedVotes
) -> None:
    model: Any = MODELS[name](max_iter=3)
    backend = DistributedBackend(sharded, no_stage_progress)
    model.fit(sharded.empty_votes, backend=backend)
    second = model.fit(sharded.empty_votes, backend=backend)
    expected = model.fit(io.read(folder), start=model.fit(io.read(folder)))
    np.testing.assert_allclose(second.trace, expected.trace, rtol=1e-9)


def test_each_load_counts_its_own_iterations(sharded: ShardedVotes) -> None:
    calls: list[tuple[str, int, int]] = []
    backend = DistributedBackend(sharded, lambda *call: calls.append(call))
    model = DawidSkene(max_iter=2, tol=0)
    for _ in range(2):
        with pytest.warns(NotConverged):
            model.fit(sharded.empty_votes, backend=backend)
    assert calls == [("iterations", 1, 2), ("iterations", 2, 2)] * 2


def test_loaded_votes_know_their_number_and_pass_arrays_through(sharded: ShardedVotes) -> None:
    backend = DistributedBackend(sharded, no_stage_progress)
    loaded = backend.load(DawidSkene(), sharded.empty_votes, np.zeros((0, 0)))
    stats = (np.ones(4), np.ones((12, 4, 4)))
    assert loaded.n_votes == sharded.n_votes == 300
    assert loaded.to_backend(stats) is stats
    assert loaded.to_host(stats) is stats
    assert backend.fitted is None


def test_models_without_iterations_label_each_partition_alone(folder: Path, sharded: ShardedVotes) -> None:
    result, fitted = fit_partitions(MajorityVoting(), sharded, no_stage_progress)
    assert fitted == (MajorityVoting(), None, False)
    assert result.trace == ()
    np.testing.assert_allclose(posteriors(fitted, sharded), MajorityVoting().fit(io.read(folder)).probs)


@pytest.mark.parametrize("name", ["dawid_skene", "fast_dawid_skene", "ibcc", "one_coin", "glad"])
def test_compiled_iterations_of_large_fits_give_nearly_the_same(
    name: str, folder: Path, sharded: ShardedVotes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    expected = MODELS[name]().fit(io.read(folder))
    monkeypatch.setattr(distributed_backend, "COMPILED_FIT_VOTES", 1)
    _, fitted = fit_partitions(MODELS[name](), sharded, no_stage_progress)
    assert fitted.compiled
    np.testing.assert_allclose(posteriors(fitted, sharded), expected.probs, atol=1e-4)


def test_a_compiled_e_step_needs_the_table_alone(named_votes: Votes) -> None:
    pytest.importorskip("numba")
    model, votes = DawidSkene(), named_votes.merged
    counts = model.expected_counts(votes, model.initial_posterior(votes))
    params = model.m_step(tuple(map(np.add, model.pseudo_counts(votes), counts)), None)
    plain = prepare_e_step(model, params, compiled=False)
    assert (plain.model, plain.params) == (model, params)
    step = prepare_e_step(model, params, compiled=True)
    assert isinstance(step.model, TableParamsModel)
    assert step.model.hard is model.hard
    assert step.params.log_likelihood.dtype == np.float32
    np.testing.assert_allclose(step.params.log_likelihood, model.table(params).log_likelihood, rtol=1e-6)


def test_a_compiled_e_step_gives_the_counts_of_sparse_products(named_votes: Votes) -> None:
    pytest.importorskip("numba")
    model, votes = DawidSkene(), named_votes.merged
    part = VotesPartition("here", votes, pa.array(votes.tasks), votes.classes, None)
    counts = model.expected_counts(votes, model.initial_posterior(votes))
    params = model.m_step(tuple(map(np.add, model.pseudo_counts(votes), counts)), None)
    both = [partition_e_step(part, prepare_e_step(model, params, compiled=on)) for on in (False, True)]
    for plain, compiled in zip(*both, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-4, atol=1e-5)


def test_a_partition_without_votes_has_counts_of_zero(named_votes: Votes) -> None:
    model, votes = DawidSkene(), named_votes.merged
    counts = model.expected_counts(votes, model.initial_posterior(votes))
    params = model.m_step(tuple(map(np.add, model.pseudo_counts(votes), counts)), None)
    none = replace(votes.take(slice(0, 0)), tasks=votes.tasks[:0], gold=None)
    part = VotesPartition("here", none, pa.array([], pa.string()), votes.classes, None)
    *stats, log_likelihood = partition_e_step(part, prepare_e_step(model, params, compiled=False))
    assert all((array == 0).all() for array in stats)
    assert [array.shape for array in stats] == [array.shape for array in counts]
    assert log_likelihood == 0
