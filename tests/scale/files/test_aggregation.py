from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot import io
from crowdpilot.aggregation import MODELS, DawidSkene, MajorityVoting, OneCoin, parse_strategy
from crowdpilot.scale import DiskEngine, Shards, aggregate_files
from crowdpilot.scale.files.aggregation import check_supported, prepare_output, supported_models
from crowdpilot.votes import Votes
from tests.scale.shard_files import assert_same_as_one_fit, collect, write_parts, write_rows


@pytest.mark.parametrize("name", [name for name in supported_models() if name != "ebcc"])
def test_files_have_the_labels_of_one_file_with_all_votes(
    name: str, named_votes: Votes, tmp_path: Path
) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) // 13)
    assert_same_as_one_fit(MODELS[name](), io.read(folder), Shards(folder), tmp_path / "labels")


def test_a_model_with_random_starting_points_of_tasks_gives_labels_too(
    named_votes: Votes, tmp_path: Path
) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) // 13)
    result = aggregate_files(parse_strategy("ebcc[M=2]"), Shards(folder), output=tmp_path / "labels")
    assert len(collect(result)["label"]) == result.n_tasks == 60


@settings(max_examples=15, deadline=None)
@given(shard=st.lists(st.integers(0, 4), min_size=60, max_size=60))
def test_the_division_into_files_does_not_matter(shard: list[int], named_votes: Votes) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = write_parts(named_votes, Path(temporary) / "votes", shard)
        assert_same_as_one_fit(DawidSkene(), io.read(folder), Shards(folder), Path(temporary) / "labels")


@pytest.mark.parametrize("repeats", ["last", "first", "all"])
def test_options_of_reading_apply_to_all_files(repeats: Any, named_votes: Votes, tmp_path: Path) -> None:
    twice = np.r_[np.arange(len(named_votes)), np.arange(0, len(named_votes), 7)]
    again = named_votes.take(twice)
    again = replace(again, label=np.r_[again.label[:-43], (again.label[-43:] + 1) % 4])
    assert len(again) - len(named_votes) == 43
    folder = write_parts(again, tmp_path / "votes", np.arange(60) % 3)
    gold = {f"t{n}": "abc"[n % 3] for n in range(0, 60, 4)} | {"elsewhere": "zebra"}
    asked: dict[str, Any] = {"classes": ["d", "c", "b", "a", "never"], "abstain": ["d"], "repeats": repeats}
    shards = Shards(folder, gold=gold, exclude=["w3", "w0"], **asked)
    whole = io.read(folder, **asked).with_gold(gold)
    left = np.array([str(name) not in ("w3", "w0") for name in whole.workers])
    kept = whole.take(left[whole.worker])
    whole = replace(kept, worker=(np.cumsum(left) - 1)[kept.worker], workers=whole.workers[left])
    result = assert_same_as_one_fit(DawidSkene(), whole, shards, tmp_path / "labels")
    assert result.dropped == whole.dropped > 0
    assert result.excluded_workers == 2


def test_weights_and_gold_columns_count(named_votes: Votes, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = np.array(["a", None, "d"], object)[named_votes.task % 3].tolist()
    folder = write_parts(
        named_votes, tmp_path / "votes", np.arange(60) % 4, weight=rng.random(300), gold=truth
    )
    whole = io.read(folder)
    assert whole.gold is not None
    assert_same_as_one_fit(DawidSkene(), whole, Shards(folder), tmp_path / "labels")
    known = {"t0": "b", "t1": "c"}
    both = np.where(whole.with_gold(known).gold >= 0, whole.with_gold(known).gold, whole.gold)
    more = Shards(folder, gold=known)
    assert_same_as_one_fit(DawidSkene(), replace(whole, gold=both), more, tmp_path / "labels")


@pytest.mark.parametrize(
    "name", [lambda n: n * 10**12, lambda n: n / 4, lambda n: f"a name as long as it takes {n} " * 9]
)
def test_names_may_be_numbers_or_long(name: Callable[[int], Any], named_votes: Votes, tmp_path: Path) -> None:
    votes = replace(named_votes, tasks=np.array([name(n) for n in range(60)]))
    folder = write_parts(votes, tmp_path / "votes", np.arange(60) // 20)
    assert_same_as_one_fit(MajorityVoting(), io.read(folder), Shards(folder), tmp_path / "labels")


def test_one_class_needs_no_fit(tmp_path: Path) -> None:
    for n in range(2):
        io.write(Votes.of([f"t{n}"], ["w"], ["yes"]), tmp_path / f"{n}.parquet")
    result = aggregate_files(DawidSkene(), Shards(tmp_path), output=tmp_path / "_labels")
    assert collect(result)["label"] == ["yes", "yes"]


@pytest.mark.parametrize("pattern", ["*.parquet", "**/*.parquet", ""])
def test_labels_beside_the_votes_are_not_taken_for_votes(
    pattern: str, named_votes: Votes, tmp_path: Path
) -> None:
    write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    shards = Shards(tmp_path / "votes" / pattern)
    aggregate_files(MajorityVoting(), shards, output=tmp_path / "votes" / "_labels")
    assert Shards(tmp_path / "votes" / pattern).files == shards.files


def test_files_in_folders_get_labels_in_such_folders(named_votes: Votes, tmp_path: Path) -> None:
    write_parts(named_votes, tmp_path / "a=1", np.arange(60) % 2).rename(tmp_path / "x")
    (tmp_path / "votes" / "b=2").mkdir(parents=True)
    (tmp_path / "x" / "part-0.parquet").rename(tmp_path / "votes" / "part-0.parquet")
    (tmp_path / "x" / "part-1.parquet").rename(tmp_path / "votes" / "b=2" / "part-0.parquet")
    result = aggregate_files(MajorityVoting(), Shards(tmp_path / "votes"), output=tmp_path / "labels")
    assert sorted(map(str, result.label_files)) == sorted(map(str, (tmp_path / "labels").rglob("*.parquet")))


def test_a_model_that_needs_all_votes_names_those_that_do_not(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    with pytest.raises(ValueError, match=r"kos needs all votes at once.*dawid_skene"):
        aggregate_files(parse_strategy("kos"), Shards(folder))


def test_labels_are_not_written_among_votes_or_other_labels(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    with pytest.raises(ValueError, match="holds the votes themselves"):
        aggregate_files(MajorityVoting(), Shards(folder), output=tmp_path)
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "part-9.parquet").touch()
    with pytest.raises(ValueError, match=r"part-9\.parquet belongs to other votes"):
        aggregate_files(MajorityVoting(), Shards(folder), output=tmp_path / "labels")


@pytest.mark.parametrize("threads", [1, 4])
def test_the_number_of_threads_does_not_matter(threads: int, named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) // 7)
    engine = DiskEngine(threads=threads)
    assert_same_as_one_fit(OneCoin(), io.read(folder), Shards(folder), tmp_path / "labels", engine=engine)


def test_without_an_output_nothing_is_written(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    before = sorted(tmp_path.rglob("*"))
    result = aggregate_files(DawidSkene(), Shards(folder))
    assert result.label_files == ()
    assert sorted(tmp_path.rglob("*")) == before
    np.testing.assert_allclose(result.skill, DawidSkene().fit(io.read(folder)).skill, atol=1e-7)


def test_a_result_describes_the_votes_and_the_model(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    result = aggregate_files(DawidSkene(), Shards(folder))
    assert repr(result) == f"FilesAggregate(300 votes, 60 tasks, 12 workers, 4 classes by {DawidSkene()})"
    assert (result.n_votes, result.n_tasks, result.dropped) == (300, 60, 0)
    assert (result.excluded_workers, result.excluded_votes) == (0, 0)
    assert result.votes_per_worker.sum() == 300
    assert result.converged
    assert result.params["confusion"].shape == (12, 4, 4)


def test_excluded_workers_and_votes_are_counted(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    result = aggregate_files(MajorityVoting(), Shards(folder, exclude=["w1", "w2", "unknown"]))
    excluded = np.isin(named_votes.worker, [1, 2]).sum()
    assert (result.excluded_workers, result.excluded_votes) == (2, excluded)
    assert result.n_votes == 300 - excluded
    assert not {"w1", "w2"} & set(result.workers)


def test_a_file_without_votes_gets_an_empty_table_of_the_same_types(tmp_path: Path) -> None:
    (tmp_path / "votes").mkdir()
    write_rows(tmp_path / "votes" / "1.parquet", [("a", "w", "x"), ("a", "v", "y"), ("b", "w", "y")])
    write_rows(tmp_path / "votes" / "2.parquet", [])
    result = aggregate_files(DawidSkene(), Shards(tmp_path / "votes"), output=tmp_path / "labels", probs=True)
    full, empty = (pq.read_table(file) for file in result.label_files)
    assert len(full) == 2
    assert len(empty) == 0
    assert full.schema == empty.schema


def test_repeated_votes_are_counted_one_by_one(tmp_path: Path) -> None:
    write_rows(tmp_path / "1.parquet", [("a", "w", "x"), ("a", "w", "x"), ("a", "v", "y"), ("b", "v", "x")])
    result = aggregate_files(MajorityVoting(), Shards(tmp_path, repeats="all"), output=tmp_path / "_labels")
    assert collect(result)["votes"] == [3, 1]
    assert result.votes_per_worker.tolist() == [2, 2]


def test_shares_of_a_crowd_need_a_model_that_takes_them(tmp_path: Path) -> None:
    table = pa.table(
        {
            "task": ["a", "a", "b"],
            "worker": ["crowd"] * 3,
            "label": ["x", "y", "x"],
            "weight": [0.7, 0.3, 1.0],
        }
    )
    pq.write_table(table, tmp_path / "1.parquet")
    votes = io.read(tmp_path / "1.parquet", repeats="all")
    assert votes.are_shares
    shards = Shards(tmp_path, repeats="all")
    with pytest.raises(ValueError, match="dawid_skene cannot learn from the shares of a whole crowd"):
        aggregate_files(DawidSkene(), shards)
    result = aggregate_files(MODELS["naive_soft"](), shards, output=tmp_path / "_labels", probs=True)
    np.testing.assert_allclose(collect(result)["p_x"], [0.7, 1.0])


def test_the_probabilities_of_the_majority_are_shares_of_votes(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) // 13)
    result = aggregate_files(MajorityVoting(), Shards(folder), output=tmp_path / "labels", probs=True)
    whole = io.read(folder)
    shares = dict(zip(whole.tasks.tolist(), whole.shares().max(axis=1), strict=True))
    columns = collect(result)
    assert dict(zip(columns["task"], columns["confidence"], strict=True)) == pytest.approx(shares)
    assert min(shares.values()) < 0.6


def test_supported_models_have_additive_counts_or_look_at_each_task_alone() -> None:
    supported = supported_models()
    assert {"majority_voting", "naive_soft", "dawid_skene", "glad", "mace"} <= set(supported)
    assert not {"kos", "auto", "honest", "minimax_entropy"} & set(supported)
    with pytest.raises(ValueError, match="honest needs all votes at once"):
        check_supported(parse_strategy("honest[dawid_skene]"))
    for name in supported:
        check_supported(MODELS[name]())


def test_an_earlier_result_of_the_same_files_is_overwritten(named_votes: Votes, tmp_path: Path) -> None:
    shards = Shards(write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3))
    first = prepare_output(shards, tmp_path / "labels")
    for path in first:
        path.touch()
    assert prepare_output(shards, tmp_path / "labels") == first


def test_stages_report_their_progress_in_order(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    calls: list[tuple[str, int, int]] = []
    result = aggregate_files(
        OneCoin(), Shards(folder), output=tmp_path / "labels", progress=lambda *call: calls.append(call)
    )
    n = len(result.trace)
    assert calls[:3] == [("reading", 1, 3), ("reading", 2, 3), ("reading", 3, 3)]
    assert calls[3:-3] == [("iterations", k, OneCoin().max_iter) for k in range(1, n + 1)]
    assert calls[-3:] == [("writing", 1, 3), ("writing", 2, 3), ("writing", 3, 3)]
