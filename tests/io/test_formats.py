"""What all formats promise: they are told by content, come back as written, and never fail otherwise."""

from __future__ import annotations

import contextlib
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crowdpilot.io import FORMATS, ReadingWarning, read, write
from crowdpilot.io.columns import MISSING_NUMBERS
from crowdpilot.io.detect import by_content
from crowdpilot.io.inference.similar_names import blank_key, label_key
from crowdpilot.io.reading import MISSING_LABELS
from crowdpilot.io.source import Source
from crowdpilot.votes import Votes

pytestmark = pytest.mark.filterwarnings("ignore::crowdpilot.io.ReadingWarning")
RECORD = {"task": "a", "worker": "x", "label": "cat"}
SAMPLES = {name: format.sample for name, format in FORMATS.items() if format.sample}
WRITABLE = [name for name, format in FORMATS.items() if format.write]


@pytest.fixture(params=FORMATS)
def sample(request, tmp_path) -> tuple[str, Path]:
    """The name of a format and a file of it, whose own name says nothing."""
    path = tmp_path / "file"
    if request.param in SAMPLES:
        path.write_text(SAMPLES[request.param])
    else:
        save_columns(request.param, pa.table({name: [value] for name, value in RECORD.items()}), path)
    return request.param, path


def save_columns(format: str, table: pa.Table, path: Path) -> None:
    """Write a file or folder of a format that is no text."""
    if format == "parquet":
        pq.write_table(table, path)
        return
    if format == "hugging_face":
        path.mkdir()
        (path / "README.md").write_text("---\nconfigs: []\n---\n")
        pq.write_table(table, path / "train.parquet")
        return
    if format == "datasets":
        path.mkdir()
        (path / "state.json").write_text('{"_data_files": [{"filename": "data.arrow"}]}')
        path = path / "data.arrow"
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


def test_a_format_is_told_by_its_content(sample, rows):
    name, path = sample
    if name == "peerannot_inverse":  # cannot be told from its inverse
        assert by_content(Source(path), FORMATS) == "peerannot"
        return
    assert by_content(Source(path), FORMATS) == name
    assert rows(read(path)) == rows(read(path, format=name.upper().replace("_", "-")))


def test_every_format_finds_the_same_vote(sample, rows):
    name, path = sample
    odd = {"matrix": (0, 0, 0), "soft": ("a", "crowd", "cat")}
    assert rows(read(path, format=name)) == [odd.get(name, ("a", "x", "cat"))]


def test_what_a_format_cannot_do_is_an_error(sample):
    name, path = sample
    if not FORMATS[name].has_questions:
        with pytest.raises(ValueError, match=f"file: the format {name} has no questions to choose from"):
            read(path, format=name, question="q")
    if not FORMATS[name].has_columns:
        with pytest.raises(ValueError, match=f"file: the format {name} has no columns to name"):
            read(path, format=name, columns={"task": "q"})


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_of_another_format_never_ends_in_another_error(tmp_path, name):
    for other, content in SAMPLES.items():
        path = tmp_path / other
        path.write_text(content)
        with contextlib.suppress(ValueError):
            assert isinstance(read(path, format=name), Votes)


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in WRITABLE])
def test_what_cannot_be_written_says_what_can(tmp_path, name):
    votes = Votes.of(["a"], ["x"], ["cat"])
    with pytest.raises(ValueError, match=f"{name} can be read but not written; there are peerannot"):
        write(votes, tmp_path / "votes.csv", format=name)


# Votes with odd names -----------------------------------------------------------------------


def is_faithful(name: str) -> bool:
    """Whether a text that could be a number, or a word for none, is meant as such."""
    return (
        name not in MISSING_NUMBERS
        and label_key(name) not in MISSING_LABELS
        and not re.fullmatch(r"-?\d+\.0", name)
    )


LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NAMES = st.one_of(
    st.text(LETTERS, min_size=1, max_size=8),
    st.sampled_from(
        ["007", "7", "-1", "1e5", "a,b", 'say "hi"', "two\nlines", "\r", " ", "\t", "2020-01-01"]
    ),
    st.sampled_from(
        ["'", '"', "a;b|c", "ü", "日本", "🙂", "null", "true", "=1+1", "\u2028", "\ufeff", "#", "{}"]
    ),
).filter(is_faithful)
PAIRS = st.dictionaries(st.tuples(NAMES, NAMES), NAMES, max_size=12)


def by_name(votes: Votes) -> tuple[set[tuple[str, ...]], set[str], set[tuple[str, str]]]:
    """Votes, tasks and true labels: all that does not depend on the order of names."""
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    codes = np.full(len(votes.tasks), -1) if votes.gold is None else votes.gold
    gold = {(str(votes.tasks[n]), str(votes.classes[codes[n]])) for n in np.flatnonzero(codes >= 0)}
    return set(zip(*(map(str, column) for column in columns), strict=True)), set(map(str, votes.tasks)), gold


def has_similar_names(votes: Votes) -> bool:
    return any(
        len({blank_key(name) for name in names}) < len(names) for names in (votes.tasks, votes.workers)
    )


@pytest.mark.parametrize("name", [name for name in WRITABLE if name != "matrix"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(said=PAIRS, silent=st.lists(NAMES, max_size=3))
@example(said={("a", "x"): "1"}, silent=["b"])
def test_odd_names_come_back_as_they_were(name, said, silent):
    pairs = [*said] or [("a", "x")]
    task, worker = zip(*pairs, strict=True)
    labels = [said.get(pair, "cat") for pair in pairs]
    known = {} if "peerannot" in name else {task[0]: labels[0]}
    votes = Votes.of(
        task, worker, labels, tasks=() if name == "peerannot_inverse" else silent, gold=known or None
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("votes" if "peerannot" in name else "votes.csv")
        if name == "wide" and "gold" in worker:
            return
        write(votes, path, format=name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadingWarning)  # of names that differ only in blanks
            again = read(path, format=name, classes=votes.classes.tolist())
        assert by_name(again) == by_name(votes) or has_similar_names(votes)


@settings(max_examples=20, deadline=None)
@given(said=st.lists(st.lists(st.integers(-1, 5), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_matrix_comes_back_as_it_was(said):
    matrix = np.array(said)
    task, worker = np.nonzero(matrix >= 0)
    tasks, workers = np.arange(len(matrix)), np.arange(3)
    classes = np.unique(matrix[matrix >= 0])
    votes = Votes(task, worker, np.searchsorted(classes, matrix[task, worker]), tasks, workers, classes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.txt"
        write(votes, path)
        again = read(path, format="matrix")
    for column in ("task", "worker", "label", "tasks", "workers", "classes"):
        np.testing.assert_array_equal(getattr(again, column), getattr(votes, column))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "csv.gz", "json"])
def test_numbers_come_back_as_numbers(tmp_path, simulated, suffix):
    votes, _ = simulated
    write(votes, tmp_path / f"votes.{suffix}")
    again = read(tmp_path / f"votes.{suffix}")
    assert again.tasks.dtype == again.workers.dtype == again.classes.dtype == np.int64
    assert by_name(again) == by_name(votes)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_repeats_and_optional_columns_come_back(tmp_path, suffix):
    votes = Votes.of(
        ["a", "a", "b"], ["x"] * 3, ["cat", "dog", "cat"], repeats="all",
        weight=[1, 0.1, 2], seconds=[3, np.nan, 1e-7], time=[1577836800.25, 0, 1], gold={"b": "dog"},
    )  # fmt: skip
    write(votes, tmp_path / f"votes.{suffix}")
    again = read(tmp_path / f"votes.{suffix}", repeats="all")
    for column in ("task", "worker", "label", "gold", "weight", "seconds", "time"):
        np.testing.assert_array_equal(getattr(again, column), getattr(votes, column))


# Bad files ----------------------------------------------------------------------------------

STARTS = st.sampled_from([b"", b"PAR1", b"{", b"[{", b"task,worker,label\n", b"task,x,y\n", b"1 2\n", *[
    content.encode() for content in SAMPLES.values()
]])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(start=STARTS, end=st.binary(max_size=60), cut=st.integers(0, 200))
def test_a_file_of_anything_is_votes_or_one_sentence(start, end, cut):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(start[: 200 - cut] + end)
        problem = problem_of(path)
        assert problem is None or (problem.startswith(str(path)) and "\n" not in problem)


def problem_of(path: Path) -> str | None:
    try:
        read(path)
    except ValueError as error:
        return str(error)
    return None


def test_a_file_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"votes.csv: there is no such file or folder"):
        read(tmp_path / "votes.csv")
    with pytest.raises(ValueError, match=r"votes.csv: .*o such file"):
        read(str(tmp_path / "votes.csv"), format="csv")


def test_a_folder_that_is_no_data_set_is_an_error(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ValueError, match=r"it is a folder without answers.json, expected one of peerannot"):
        read(tmp_path)
    with pytest.raises(ValueError, match="cannot be read"):
        read(tmp_path, format="csv")


def test_a_file_that_is_no_text_is_an_error(save):
    with pytest.raises(ValueError, match=r"picture.png: it is of no known format, expected one of peerannot"):
        read(save("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"))


@pytest.mark.parametrize(
    ("wrong", "near"), [("cvs", "csv"), ("label-studo", "label_studio"), ("mturq", "mturk")]
)
def test_an_unknown_format_names_the_near_ones(tmp_path, wrong, near):
    with pytest.raises(ValueError, match=rf"there is no format '{wrong}'; did you mean {near}"):
        read(tmp_path / "votes", format=wrong)


def test_an_unknown_format_that_is_like_no_other_lists_all(tmp_path):
    with pytest.raises(ValueError, match="there is no format 'zzz'; there are peerannot, peerannot_inverse"):
        write(Votes.of(["a"], ["x"], ["cat"]), tmp_path / "votes", format="zzz")


def test_every_format_is_explained():
    text = (Path(__file__).parents[2] / "docs/formats.md").read_text()
    assert [name for name in FORMATS if f"`{name}`" not in text] == []
    assert all(format.summary for format in FORMATS.values())
