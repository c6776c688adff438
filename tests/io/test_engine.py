"""With Arrow and without it: the same votes, the same files, the same sentences."""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
import re
import tempfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crowdpilot.io import FORMATS, read, read_labels, write, write_table
from crowdpilot.io.engine import engine
from crowdpilot.io.numbers_and_times import number_text, parse_floats, parse_times
from crowdpilot.names import Encoded
from crowdpilot.votes import Votes

pytestmark = pytest.mark.filterwarnings("ignore::crowdpilot.io.ReadingWarning")
HOW = r'needs pyarrow: pip install "crowdpilot\[arrow\]"$'
ARROW_ONLY = {"parquet", "arrow", "datasets", "hugging_face"}
MANY = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def facts(votes: Votes) -> dict[str, Any]:
    """All that is in votes, with the types of names."""
    arrays = {name: getattr(votes, name) for name in ("task", "worker", "label", "gold", *NUMBERS)}
    found: dict[str, Any] = {
        name: None if a is None else a.astype(float).tolist() for name, a in arrays.items()
    }
    for name in ("tasks", "workers", "classes"):
        found[name] = getattr(votes, name).tolist(), list(map(type, getattr(votes, name).tolist()))
    return {name: str(value) for name, value in found.items()} | {
        "dropped": votes.dropped
    }  # as text NaN is NaN


NUMBERS = ("weight", "seconds", "time")


def outcome(work: Callable[[], Any]) -> Any:
    """What comes of it, or the sentence that says why nothing does."""
    try:
        done = work()
    except ValueError as error:
        return re.sub(
            r" \(.*\)|(?<=type ).*(?= in col)", "", str(error), flags=re.DOTALL
        )  # Arrow's own words
    return facts(done) if isinstance(done, Votes) else done


@pytest.fixture(scope="session")
def same(without_arrow) -> Callable[[Callable[[], Any]], Any]:
    """Do it with Arrow and without; what comes of it is the same."""

    def check(work: Callable[[], Any]) -> Any:
        with_arrow = outcome(work)
        with without_arrow():
            assert outcome(work) == with_arrow
        return with_arrow

    return check


# Reading ------------------------------------------------------------------------------------

ODD = [
    "12", "012", "-3", "0", "-0", "1.0", "2.0", "1.5", "1e5", "+5", "123456789012345678",
    "1234567890123456789", "NA", "nan", "null", "None", "", " ", "x", " x", "a,b", "a;b",
    'say "hi"', '"', "two\nlines", "\r", "ü",
    "日本", "🙂", "\u2028", "\ufeff", "cat", "dog",
]  # fmt: skip
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NAMES = st.one_of(
    st.lists(st.sampled_from(ODD), min_size=1, max_size=4),
    st.lists(st.integers(-3, 20).map(str), min_size=1, max_size=6),
    st.lists(st.integers(0, 20).map(lambda n: f"{n}.0"), min_size=1, max_size=3),
    st.lists(st.text(LETTERS, max_size=4), min_size=1, max_size=4),
)
AMOUNTS = st.one_of(
    st.lists(st.floats(0, 1e12).map(str), min_size=1, max_size=4),
    st.lists(st.sampled_from(["1", "0.5", ".5", "5.", "+1", " 1 ", "1e-3", "1E3", "inf"]), min_size=1),
    st.lists(st.sampled_from(["1", "", "-1", "nan", "much", "1_0", "0x1", "1e", "١", "true"]), min_size=1),
)
WITH_ZONE = ["2020-01-01T00:00:00Z", "2020-01-01 01:02:03.25+01:00", "2020-06-30T23Z",
             "2020-01-01T10:11-0130", "2020-01-01 00:00:01 UTC", "2020-01-01 00:00:01.123456+02"]  # fmt: skip
WITHOUT = ["2020-01-01", "2020-01-01 10", "2020-02-29T10:11", "2020-01-01 10:11:12", "1969-12-31 23:59:59.5"]
WRONG = ["2020-02-30", "2020-1-1", "20200101", "2020-01-01T24:00:00", "2020-01-01T23:59:60", "yesterday",
         "2020-01-01Z", "2020-01-01T00:00:00.1234567Z", "2020-01-01T00:00:00+25:00",
         "2020-01-01t00:00:00"]  # fmt: skip
AMERICAN = ["Fri May 05 10:11:12 PDT 2017", "Sun Jan 01 00:00:00 UTC 2017", "Mon Dec 25 23:59:59 PST 2017"]
TIMES = st.one_of(
    *(
        st.lists(st.sampled_from([*kind, ""]), min_size=1, max_size=3)
        for kind in (WITH_ZONE, WITHOUT, AMERICAN)
    ),
    st.lists(st.sampled_from([*WITH_ZONE, *WITHOUT, *WRONG, *AMERICAN, "12.5", ""]), min_size=1, max_size=3),
    AMOUNTS,
)
POOLS = {"task": NAMES, "worker": NAMES, "label": NAMES, "gold": NAMES, "weight": AMOUNTS, "seconds": AMOUNTS,
         "time": TIMES, "notes": NAMES}  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[str]]:
    """Columns of texts, in any order, each of few values."""
    more = draw(st.sets(st.sampled_from(["gold", "weight", "seconds", "time", "notes"]), max_size=3))
    rows = draw(st.integers(0, 8))
    names = draw(st.permutations(["task", "worker", "label", *sorted(more)]))
    pools = {name: st.sampled_from(draw(POOLS[name])) for name in names}
    return {name: draw(st.lists(pool, min_size=rows, max_size=rows)) for name, pool in pools.items()}


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    """Text with columns, as many tools may write it; sometimes damaged."""
    columns = draw(tables())
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream,
        delimiter=draw(st.sampled_from(",;\t|")),
        lineterminator=draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"])),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
    )
    writer.writerows([list(columns), *zip(*columns.values(), strict=True)])
    text = draw(st.sampled_from(["", "", "\ufeff", "\n"])) + stream.getvalue()
    text = text[: -1 if draw(st.booleans()) else None]
    position = draw(st.integers(0, len(text)))
    damage = draw(st.sampled_from([b"", b"", b'"', b",", b"\n", b"x", b"\xe9", b'""', b"\r"]))
    return text[:position].encode() + damage + text[position:].encode()


@MANY
@given(
    content=contents(), given=st.sampled_from([{}, {"time": "time", "seconds": "seconds"}, {"gold": None}])
)
@example(content=b"task,worker,label\n1.0,012,1\n2.0,12,NA\n", given={})
def test_text_with_columns_gives_the_same_votes(same, content, given):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        path.write_bytes(content)
        named = {role: name for role, name in given.items() if role.encode() in content}
        same(lambda: read(path, columns=named, repeats="all"))
        same(lambda: read(path, format="csv"))
        same(lambda: read(path, format="wide"))
        same(lambda: {str(k): str(v) for k, v in read_labels(path, format="csv").items()})


NOISE = st.text(st.sampled_from('ab1,;"\n\r \té\ufeff'), max_size=40)


@MANY
@given(start=st.sampled_from(["task,worker,label\n", "task;worker;label\r\n", "task,a,b\n"]), noise=NOISE)
def test_noise_gives_the_same_votes_or_the_same_sentence(same, start, noise):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        path.write_bytes((start + noise).encode())
        same(lambda: read(path))


VALUES = st.one_of(
    st.lists(st.sampled_from(["1", "x", 1, 2, 1.5, 2.0, None]), min_size=1, max_size=6),
    st.lists(st.one_of(st.integers(-(2**62), 2**62), st.none()), min_size=1, max_size=6),
    st.lists(
        st.one_of(st.floats(allow_infinity=False).map(lambda number: number + 0.0), st.none()),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.one_of(st.booleans(), st.just("x")), min_size=1, max_size=6),
    st.lists(st.text(LETTERS, max_size=4), min_size=1, max_size=6),
)


@st.composite
def votes_columns(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Columns of any types, of one length."""
    columns = {name: draw(VALUES) for name in ("task", "worker", "label")}
    rows = min(map(len, columns.values()))
    return {name: values[:rows] for name, values in columns.items()}


@MANY
@given(columns=votes_columns())
def test_columns_in_memory_and_records_give_the_same_votes(same, columns):
    same(lambda: read(columns))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.jsonl"
        rows = zip(*columns.values(), strict=True)
        path.write_text("".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows))
        same(lambda: read(path))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_times_in_frames_are_read_with_arrow_and_asked_for_without(without_arrow, make):
    start = datetime.datetime(2020, 1, 1, 12)
    columns = {
        "task": ["a", "b", None, "a"], "worker": [1, 2, 2, 1], "label": [0.0, 1.0, 1.0, None],
        "weight": [1, 2, 1, 1], "seconds": [datetime.timedelta(seconds=n / 2) for n in range(4)],
        "time": [start] * 4, "gold": [1, None, None, 1],
    }  # fmt: skip
    frame = make(columns)
    votes = read(frame)
    assert votes.dropped == 2
    assert votes.seconds.tolist() == [0, 0.5]
    assert votes.time.tolist() == [start.replace(tzinfo=datetime.UTC).timestamp()] * 2
    assert read(make({"task": ["a", "b"], "x": [1, 2], "y": [None, 1]})).dropped == 0
    with without_arrow(), pytest.raises(ValueError, match=rf"^a column with values of type \w+ {HOW}"):
        read(frame)


def test_a_column_of_pandas_may_have_an_index_categories_and_its_own_nothing():
    frame = pd.DataFrame({"task": pd.Categorical(["b", "a", "b"]), "worker": pd.array([1, None, 3], "Int64")})
    frame["label"] = pd.array([True, False, None], "boolean")
    assert read(frame).dropped == 2
    assert read(frame.set_index("task")).dropped == 2


@pytest.mark.parametrize(
    "values",
    [
        [2**63, 1],
        [2**70, 1],
        np.array([1, 2], np.uint8),
        np.array([0.5, np.nan], np.float32),
        np.array(["cat", "dog"]),
        [[1], [2]],
        [{"a": 1}, {}],
        ["a", ["b"]],
        [float("nan"), None],
    ],
    ids=str,
)
def test_labels_of_any_type_have_the_same_names(same, values):
    same(lambda: read({"task": ["a", "b"], "worker": ["x", "x"], "label": values}))


@pytest.mark.parametrize(
    "value", [datetime.date(2020, 1, 2), datetime.timedelta(1), b"cat", Decimal("1.50")], ids=str
)
def test_labels_of_rare_types_need_arrow(without_arrow, value):
    columns = {"task": ["a"], "worker": ["x"], "label": [value]}
    with (
        without_arrow(),
        pytest.raises(ValueError, match=r'values of type \w+ needs pyarrow: pip install "crowd'),
    ):
        read(columns)


def test_columns_of_different_lengths_are_no_table(same):
    said = same(lambda: read({"task": [1], "worker": [1, 2], "label": [1]}))
    assert said == "the table: column 'worker' has 2 rows, but 'task' has 1"


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ARROW_ONLY])
def test_every_format_finds_the_same_votes(same, tmp_path, name):
    path = tmp_path / "file"
    path.write_text(FORMATS[name].sample)
    assert isinstance(same(lambda: read(path, format=name)), dict)


# Writing ------------------------------------------------------------------------------------

CELLS = st.one_of(
    st.lists(
        st.one_of(st.none(), st.text(LETTERS, max_size=6), st.sampled_from(ODD)), min_size=3, max_size=3
    ),
    st.lists(st.one_of(st.none(), st.floats()), min_size=3, max_size=3),
    st.lists(st.floats(1e-8, 1e12), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=3, max_size=3),
    st.lists(st.floats(), min_size=3, max_size=3).map(np.array),
)


def written(table: Any, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write_table(table, Path(folder) / f"table{suffix}")
        return (Path(folder) / f"table{suffix}").read_bytes()


@MANY
@given(table=st.dictionaries(st.text(LETTERS, max_size=5), CELLS, min_size=1, max_size=3))
def test_tables_are_written_alike_byte_for_byte(same, table):
    for suffix in (".csv", ".tsv", ".jsonl"):
        assert isinstance(same(lambda suffix=suffix: written(table, suffix)), bytes)


NAME = st.one_of(st.text(LETTERS, min_size=1, max_size=4), st.sampled_from([name for name in ODD if name]))


@MANY
@given(
    said=st.dictionaries(st.tuples(NAME, NAME), NAME, min_size=1, max_size=8),
    silent=st.lists(NAME, max_size=2),
)
def test_votes_are_written_alike_byte_for_byte(same, said, silent):
    task, worker = zip(*said, strict=True)
    votes = Votes.of(
        task, worker, list(said.values()), tasks=silent, gold={task[0]: said[task[0], worker[0]]}
    )

    def content(name: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ("votes.json" if "peerannot" in name else "votes.csv")
            write(votes, path, format=name)
            return path.read_bytes()

    for name in ("csv", "tsv", "jsonl", "wide", "peerannot", "peerannot_inverse"):
        same(lambda name=name: content(name))


def test_long_tables_are_written_alike(same):
    numbers = np.arange(300_000)
    assert len(same(lambda: written({"task": numbers, "label": numbers / 7}, ".csv")).splitlines()) == 300_001


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_packed_files_are_read_and_written_by_both(same, without_arrow, tmp_path, suffix):
    votes = Votes.of(["a", "b"], ["x", "y"], ["cat", "dog"])
    write(votes, tmp_path / f"quick.csv{suffix}")
    with without_arrow():
        write(votes, tmp_path / f"plain.csv{suffix}")
    for name in ("quick", "plain"):
        assert same(lambda name=name: read(tmp_path / f"{name}.csv{suffix}")) == facts(votes)


@pytest.mark.parametrize(
    "content", [b"\x1f\x8b\x08\x00", b"no packed file", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03abc"]
)
def test_a_packed_file_that_is_broken_is_one_sentence(without_arrow, save, content):
    path = save("votes.csv.gz", content)
    with (
        without_arrow(),
        pytest.raises(ValueError, match=r"votes.csv.gz: (cannot be read|the file is empty)"),
    ):
        read(path)


# Parts --------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(number=st.floats(allow_nan=False))
def test_numbers_are_written_as_arrow_writes_them(number):
    column = Encoded(np.array([0], np.int32), np.array([number]))
    assert list(engine().join_rows([column], ["", ""], "")) == [number_text(number)]
    if math.isfinite(number):
        assert float(number_text(number)) == number


@pytest.mark.parametrize("parse", [parse_floats, parse_times])
@pytest.mark.parametrize("text", ["1 0", "２", "1e", "--1", "1,5", "infinit"])
def test_what_is_no_number_is_none(parse, text):
    with pytest.raises(ValueError):
        parse([text])


# What needs Arrow ---------------------------------------------------------------------------


def test_what_needs_arrow_says_how_to_get_it(without_arrow, tmp_path, save):
    votes = Votes.of(["a"], ["x"], ["cat"])
    write(votes, tmp_path / "votes.parquet")
    with without_arrow():
        for path in (tmp_path / "votes.parquet", save("votes.csv.zst", b"\x28\xb5")):
            with pytest.raises(ValueError, match=rf"{path.name}: .*{HOW}"):
                read(path)
        for name in ("more.parquet", "more.csv.zst"):
            with pytest.raises(ValueError, match=HOW):
                write(votes, tmp_path / name)
            with pytest.raises(ValueError, match=HOW):
                write_table({"task": ["a"]}, tmp_path / name)
            assert not (tmp_path / name).exists()
