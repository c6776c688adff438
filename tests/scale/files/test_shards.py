from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
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
from crowdpilot.aggregation import MODELS, Aggregator, DawidSkene, MajorityVoting, parse_strategy
from crowdpilot.scale import DiskEngine, FilesAggregate, Shards, aggregate_files, write_shards
from crowdpilot.scale.disk_engine import read_mapped, write_mappable
from crowdpilot.scale.files.aggregation import supported_models
from crowdpilot.scale.files.distributed_backend import Step, partition_e_step, prepare
from crowdpilot.scale.files.file_votes import VotesPartition, hash_names
from crowdpilot.simulation import IndependentConfusion
from crowdpilot.votes import Votes


@pytest.fixture(scope="module")
def named_votes() -> Votes:
    """60 tasks of 4 classes with names as text, 5 votes each by 12 workers."""
    votes, _ = IndependentConfusion(tasks=60, workers=12, classes=4, votes_per_task=5, seed=1).run()
    names = (np.array([f"{kind}{n}" for n in range(size)], object) for kind, size in (("t", 60), ("w", 12)))
    tasks, workers = names
    return replace(votes, tasks=tasks, workers=workers, classes=np.array(["a", "b", "c", "d"], object))


def cut(votes: Votes, folder: Path, shard: Sequence[int], **columns: Any) -> Path:
    """A folder with the votes of each task in the file that `shard` says."""
    folder.mkdir(exist_ok=True)
    io.write(votes, whole := folder.with_suffix(".parquet"))
    table = pq.read_table(whole)
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    of_vote = np.asarray(shard)[votes.task]
    for n in np.unique(of_vote):
        pq.write_table(table.filter(pa.array(of_vote == n)), folder / f"part-{n}.parquet")
    return folder


def collect(summary: FilesAggregate) -> dict[str, list[Any]]:
    """The tables of all files as one."""
    return pa.concat_tables([pq.read_table(file) for file in summary.files]).to_pydict()


def assert_same(
    model: Aggregator, whole: Votes, shards: Shards, folder: Path, **options: Any
) -> FilesAggregate:
    """The files hold what a fit of all votes says."""
    expected = model.fit(whole)
    summary = aggregate_files(model, shards, output=folder, probs=True, **options)
    found = collect(summary)
    assert found["task"] == whole.tasks.tolist()
    assert found["label"] == expected.labels.tolist()
    probs = np.stack([found[f"p_{name}"] for name in whole.classes], axis=1)
    np.testing.assert_allclose(probs, expected.probs, atol=1e-7)
    assert found["votes"] == expected.to_table()["votes"].to_pylist()
    assert summary.workers.tolist() == whole.workers.tolist()
    assert summary.classes.tolist() == whole.classes.tolist()
    np.testing.assert_allclose(summary.skill, expected.skill, atol=1e-7)
    np.testing.assert_allclose(summary.trace, expected.trace, rtol=1e-9)
    workers, known = summary.to_workers_table(), expected.to_workers_table()
    assert workers.column_names == known.column_names
    assert workers["votes"].to_pylist() == known["votes"].to_pylist()
    return summary


@pytest.mark.parametrize("name", [name for name in supported_models() if name != "ebcc"])
def test_files_have_the_labels_of_one_file_with_all_votes(
    name: str, named_votes: Votes, tmp_path: Path
) -> None:
    folder = cut(named_votes, tmp_path / "votes", np.arange(60) // 13)
    assert_same(MODELS[name](), io.read(folder), Shards(folder), tmp_path / "labels")


def test_a_model_whose_beginning_is_drawn_for_each_task_gives_labels_too(
    named_votes: Votes, tmp_path: Path
) -> None:
    folder = cut(named_votes, tmp_path / "votes", np.arange(60) // 13)
    result = aggregate_files(parse_strategy("ebcc[M=2]"), Shards(folder), output=tmp_path / "labels")
    assert len(collect(result)["label"]) == result.tasks == 60


@settings(max_examples=15, deadline=None)
@given(shard=st.lists(st.integers(0, 4), min_size=60, max_size=60))
def test_it_does_not_matter_how_tasks_are_cut_into_files(shard: list[int], named_votes: Votes) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = cut(named_votes, Path(place) / "votes", shard)
        assert_same(DawidSkene(), io.read(folder), Shards(folder), Path(place) / "labels")


@pytest.mark.parametrize("repeats", ["last", "first", "all"])
def test_everything_that_can_be_told_of_a_file_can_be_told_of_many(
    repeats: Any, named_votes: Votes, tmp_path: Path
) -> None:
    twice = np.r_[np.arange(len(named_votes)), np.arange(0, len(named_votes), 7)]
    again = named_votes.take(twice)
    again = replace(again, label=np.r_[again.label[:-43], (again.label[-43:] + 1) % 4])
    assert len(again) - len(named_votes) == 43
    folder = cut(again, tmp_path / "votes", np.arange(60) % 3)
    gold = {f"t{n}": "abc"[n % 3] for n in range(0, 60, 4)} | {"elsewhere": "zebra"}
    asked: dict[str, Any] = {"classes": ["d", "c", "b", "a", "never"], "abstain": ["d"], "repeats": repeats}
    shards = Shards(folder, gold=gold, exclude=["w3", "w0"], **asked)
    whole = io.read(folder, **asked).with_gold(gold)
    left = np.array([str(name) not in ("w3", "w0") for name in whole.workers])
    kept = whole.take(left[whole.worker])
    whole = replace(kept, worker=(np.cumsum(left) - 1)[kept.worker], workers=whole.workers[left])
    summary = assert_same(DawidSkene(), whole, shards, tmp_path / "labels")
    assert summary.dropped == whole.dropped > 0
    assert summary.excluded[0] == 2


def test_weights_and_gold_columns_count(named_votes: Votes, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = np.array(["a", None, "d"], object)[named_votes.task % 3].tolist()
    folder = cut(named_votes, tmp_path / "votes", np.arange(60) % 4, weight=rng.random(300), gold=truth)
    whole = io.read(folder)
    assert whole.gold is not None
    assert_same(DawidSkene(), whole, Shards(folder), tmp_path / "labels")
    known = {"t0": "b", "t1": "c"}
    both = np.where(whole.with_gold(known).gold >= 0, whole.with_gold(known).gold, whole.gold)
    more = Shards(folder, gold=known)
    assert_same(DawidSkene(), replace(whole, gold=both), more, tmp_path / "labels")


@pytest.mark.parametrize(
    "name", [lambda n: n * 10**12, lambda n: n / 4, lambda n: f"a name as long as it takes {n} " * 9]
)
def test_names_may_be_numbers_or_long(name: Callable[[int], Any], named_votes: Votes, tmp_path: Path) -> None:
    votes = replace(named_votes, tasks=np.array([name(n) for n in range(60)]))
    folder = cut(votes, tmp_path / "votes", np.arange(60) // 20)
    assert_same(MajorityVoting(), io.read(folder), Shards(folder), tmp_path / "labels")


def test_with_one_class_there_is_nothing_to_find_out(tmp_path: Path) -> None:
    for n in range(2):
        io.write(Votes.of([f"t{n}"], ["w"], ["yes"]), tmp_path / f"{n}.parquet")
    summary = aggregate_files(DawidSkene(), Shards(tmp_path), output=tmp_path / "_labels")
    assert collect(summary)["label"] == ["yes", "yes"]


def test_one_pass_and_two_products_count_the_same(named_votes: Votes) -> None:
    pytest.importorskip("numba")
    model, votes = DawidSkene(), named_votes.merged
    part = VotesPartition("here", votes, pa.array(votes.tasks), votes.classes, None)
    counts = model.expected_counts(votes, model.initial_posterior(votes))
    params = model.m_step(tuple(map(np.add, model.pseudo_counts(votes), counts)), None)
    both = [partition_e_step(part, Step(*prepare(model, params, many), many)) for many in (False, True)]
    for plain, fused in zip(*both, strict=True):
        np.testing.assert_allclose(fused, plain, rtol=1e-4, atol=1e-5)


# Files ----------------------------------------------------------------------------------------


def test_a_pattern_a_folder_and_a_list_mean_the_same(named_votes: Votes, tmp_path: Path) -> None:
    folder = cut(named_votes, tmp_path / "votes", np.arange(60) % 3)
    files = Shards([folder / f"part-{n}.parquet" for n in (2, 0, 1)]).files
    assert Shards(folder).files == Shards(f"{folder}/*.parquet").files == files
    assert Shards(f"{folder}/*.parquet").names == tuple(f"part-{n}.parquet" for n in range(3))


@pytest.mark.parametrize("pattern", ["*.parquet", "**/*.parquet", ""])
def test_labels_beside_the_votes_are_not_taken_for_votes(
    pattern: str, named_votes: Votes, tmp_path: Path
) -> None:
    cut(named_votes, tmp_path / "votes", np.arange(60) % 3)
    shards = Shards(tmp_path / "votes" / pattern)
    aggregate_files(MajorityVoting(), shards, output=tmp_path / "votes" / "_labels")
    assert Shards(tmp_path / "votes" / pattern).files == shards.files


def test_files_in_folders_get_labels_in_such_folders(named_votes: Votes, tmp_path: Path) -> None:
    cut(named_votes, tmp_path / "a=1", np.arange(60) % 2).rename(tmp_path / "x")
    (tmp_path / "votes" / "b=2").mkdir(parents=True)
    (tmp_path / "x" / "part-0.parquet").rename(tmp_path / "votes" / "part-0.parquet")
    (tmp_path / "x" / "part-1.parquet").rename(tmp_path / "votes" / "b=2" / "part-0.parquet")
    summary = aggregate_files(MajorityVoting(), Shards(tmp_path / "votes"), output=tmp_path / "labels")
    assert sorted(map(str, summary.files)) == sorted(map(str, (tmp_path / "labels").rglob("*.parquet")))


def test_nothing_is_left_in_the_temporary_folder(named_votes: Votes, tmp_path: Path) -> None:
    folder = cut(named_votes, tmp_path / "votes", np.arange(60) % 3)
    (tmp_path / "room").mkdir()
    seen = []

    def stop(what: str, done: int, of: int) -> None:
        seen.extend((tmp_path / "room").iterdir())
        if what == "iterations":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        aggregate_files(
            DawidSkene(), Shards(folder), engine=DiskEngine(folder=tmp_path / "room"), progress=stop
        )
    assert seen
    assert list((tmp_path / "room").iterdir()) == []


def test_what_is_stowed_comes_back_as_views_of_the_file(tmp_path: Path) -> None:
    thing = {"a": np.arange(7), "b": np.zeros((0, 3)), "c": pa.array(["x", "yy"]), "d": np.ones(9)[::2]}
    write_mappable(thing, tmp_path / "thing")
    back = read_mapped(tmp_path / "thing")
    assert back["c"] == thing["c"]
    for name in "abd":
        np.testing.assert_array_equal(back[name], thing[name])
    assert not back["a"].flags.owndata


@given(st.lists(st.text(min_size=1).filter(lambda text: "\0" not in text), unique=True))
def test_hashes_of_different_names_differ(names: list[str]) -> None:
    hashes = hash_names(pa.array(names, pa.string()))
    assert len(set(hashes.tolist())) == len(names)
    if len(names) > 2:
        np.testing.assert_array_equal(hash_names(pa.array(names, pa.string())[1:-1]), hashes[1:-1])


@given(st.lists(st.integers(-(2**40), 2**40), unique=True))
def test_whole_numbers_have_one_hash_whatever_their_type(numbers: list[int]) -> None:
    hashes = hash_names(pa.array(numbers, pa.int64()))
    assert len(set(hashes.tolist())) == len(numbers)
    np.testing.assert_array_equal(hash_names(pa.array(list(map(float, numbers)), pa.float64())), hashes)


def test_new_files_have_each_task_in_one_of_them(named_votes: Votes, tmp_path: Path) -> None:
    halves = [named_votes.take(np.arange(len(named_votes)) % 2 == n) for n in range(2)]
    assert write_shards(halves, tmp_path / "new", 5) == len(named_votes)
    assert len(list((tmp_path / "new").iterdir())) == 5
    assert_same(MajorityVoting(), io.read(tmp_path / "new"), Shards(tmp_path / "new"), tmp_path / "labels")


# Errors ---------------------------------------------------------------------------------------


def test_a_task_in_two_files_is_named_with_both(tmp_path: Path) -> None:
    io.write(Votes.of(["cat", "owl"], ["w", "w"], ["x", "y"]), tmp_path / "a.parquet")
    io.write(Votes.of(["eel", "owl"], ["w", "v"], ["x", "y"]), tmp_path / "b.parquet")
    with pytest.raises(
        ValueError, match=r"task 'owl' has votes in .*a\.parquet and in .*b\.parquet.*--shards"
    ):
        aggregate_files(MajorityVoting(), Shards(tmp_path))


def test_other_columns_are_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"task": [1], "worker": [1], "label": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"task": [2], "worker": [1], "answer": [1]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet: found the columns label=answer.*expected label=label"):
        aggregate_files(MajorityVoting(), Shards(tmp_path))


def test_names_of_other_types_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"task": [1], "worker": [1], "label": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"task": [2], "worker": ["w"], "label": [1]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"workers are int64 and string in different files"):
        aggregate_files(MajorityVoting(), Shards(tmp_path))


@pytest.mark.parametrize("where", ["nowhere/*.parquet", "."])
def test_no_file_is_an_error(where: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no Parquet file"):
        Shards(tmp_path / where)


def test_a_file_that_cannot_be_seen_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must reach the files under the same path"):
        aggregate_files(MajorityVoting(), Shards([tmp_path / "gone.parquet"]))


def test_a_model_that_needs_all_votes_names_those_that_do_not(named_votes: Votes, tmp_path: Path) -> None:
    folder = cut(named_votes, tmp_path / "votes", np.arange(60) % 3)
    with pytest.raises(ValueError, match=r"kos needs all votes at once.*dawid_skene"):
        aggregate_files(parse_strategy("kos"), Shards(folder))


def test_a_gold_label_that_is_no_class_is_an_error(named_votes: Votes, tmp_path: Path) -> None:
    folder = cut(named_votes, tmp_path / "votes", np.arange(60) % 3)
    with pytest.raises(ValueError, match="gold label 'zebra' of task 't5' is not a class"):
        aggregate_files(MajorityVoting(), Shards(folder, gold={"t5": "zebra"}))


def test_labels_are_not_written_among_votes_or_other_labels(named_votes: Votes, tmp_path: Path) -> None:
    folder = cut(named_votes, tmp_path / "votes", np.arange(60) % 3)
    with pytest.raises(ValueError, match="holds the votes themselves"):
        aggregate_files(MajorityVoting(), Shards(folder), output=tmp_path)
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "part-9.parquet").touch()
    with pytest.raises(ValueError, match=r"part-9\.parquet belongs to other votes"):
        aggregate_files(MajorityVoting(), Shards(folder), output=tmp_path / "labels")


@pytest.mark.parametrize(
    ("out", "problem"), [(["ghost"], "none of the 12"), ([*map("w{}".format, range(12))], "all")]
)
def test_excluded_workers_must_be_some(
    out: list[str], problem: str, named_votes: Votes, tmp_path: Path
) -> None:
    folder = cut(named_votes, tmp_path / "votes", np.arange(60) % 3)
    with pytest.raises(ValueError, match=problem):
        aggregate_files(MajorityVoting(), Shards(folder, exclude=out))
