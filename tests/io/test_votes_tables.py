"""Any data frame: pandas, polars, Arrow, and plain columns."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crowdpilot.io import read
from crowdpilot.votes import Votes

COLUMNS = {"task": ["a", "a", "b"], "worker": ["x", "y", "x"], "label": ["cat", "dog", None]}
VOTES = [("a", "x", "cat"), ("a", "y", "dog")]


class OnlyInterchange:
    """A frame that knows nothing but the older protocol."""

    def __init__(self, frame: pa.Table):
        self.frame = frame

    def __dataframe__(self, **settings: bool) -> object:
        return self.frame.__dataframe__(**settings)


@pytest.mark.parametrize(
    "make",
    [dict, pa.table, pa.RecordBatch.from_pydict, pd.DataFrame, pl.DataFrame],
    ids=["columns", "arrow table", "arrow batch", "pandas", "polars"],
)
def test_every_frame_is_read(rows, make):
    votes = read(make(COLUMNS))
    assert rows(votes) == VOTES
    assert votes.tasks.tolist() == ["a", "b"]
    assert votes.dropped == 1


def test_a_frame_with_the_older_protocol_is_read(rows):
    assert rows(read(OnlyInterchange(pa.table(COLUMNS)))) == VOTES


def test_a_stream_of_batches_is_read(rows):
    table = pa.table(COLUMNS)
    assert rows(read(table.to_reader())) == VOTES


def test_categories_are_numbered_by_appearance_and_unused_ones_forgotten(rows):
    frame = pd.DataFrame(COLUMNS)
    frame["task"] = pd.Categorical(frame["task"], categories=["z", "b", "a"])
    frame["label"] = pd.Categorical(frame["label"], categories=["emu", "dog", "cat"])
    votes = read(frame)
    assert (votes.tasks.tolist(), votes.classes.tolist()) == (["a", "b"], ["cat", "dog"])
    assert rows(votes) == VOTES
    assert rows(read(pl.DataFrame(COLUMNS, schema_overrides={"label": pl.Categorical}))) == VOTES


def test_a_dictionary_that_repeats_itself_names_each_value_once(rows):
    label = pa.DictionaryArray.from_arrays([0, 1, None], ["cat", "cat"])
    votes = read(pa.table({**COLUMNS, "label": label}))
    assert votes.classes.tolist() == ["cat"]
    assert rows(votes) == [("a", "x", "cat"), ("a", "y", "cat")]


def test_chunks_with_dictionaries_of_their_own_are_joined(rows):
    parts = [pa.array(["x", "y"]).dictionary_encode(), pa.array(["x"]).dictionary_encode()]
    votes = read(pa.table({**COLUMNS, "worker": pa.chunked_array(parts)}))
    assert votes.workers.tolist() == ["x", "y"]


def test_whole_floats_are_integers_and_nan_is_missing():
    frame = pd.DataFrame({"task": [1, 2, 3], "worker": [1.0, 2.0, 2.0], "label": [0, np.nan, 1]})
    for table in (frame, pl.from_pandas(frame), {name: frame[name].tolist() for name in frame}):
        votes = read(table)
        assert (votes.workers.tolist(), votes.classes.tolist()) == ([1, 2], [0, 1])
        assert (votes.workers.dtype, votes.classes.dtype, votes.dropped) == (np.int64, np.int64, 1)


def test_texts_of_digits_stay_texts():
    votes = read(pd.DataFrame({"task": ["1", "2"], "worker": ["07", "7"], "label": ["0", "1"]}))
    assert votes.tasks.tolist() == ["1", "2"]
    assert votes.classes.tolist() == ["0", "1"]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([True, False, True], [False, True]),
        ([0.5, 1.5, None], [0.5, 1.5]),
        ([datetime.date(2020, 1, 2), datetime.date(2020, 1, 1), None], ["2020-01-01", "2020-01-02"]),
        ([2**63, 1, 2**63], ["1", str(2**63)]),
        ([1, "1", "x"], ["1", "x"]),
        ([2**70, 1, 1], ["1", str(2**70)]),
        ([b"cat", b"dog", b"cat"], ["cat", "dog"]),
        ([None, None, None], []),
    ],
)
def test_labels_of_any_type_have_a_name(values, names):
    assert read({**COLUMNS, "label": values}).classes.tolist() == names


def test_other_columns_may_hold_anything(rows):
    assert rows(read({**COLUMNS, "spans": [[1], [], [2, 3]], "task_text": [1, "x", None]})) == VOTES


def test_the_index_of_pandas_can_be_the_task(rows):
    assert rows(read(pd.DataFrame(COLUMNS).set_index("task"))) == VOTES


def test_times_and_durations_have_their_own_types():
    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    columns = {"time": [start] * 3, "seconds": [datetime.timedelta(seconds=1.5)] * 3}
    votes = read(pa.table({**COLUMNS, **columns}))
    np.testing.assert_array_equal(votes.time, [1577836800] * 2)
    np.testing.assert_array_equal(votes.seconds, [1.5] * 2)


def test_a_wide_frame_is_told_by_its_columns_or_by_name(rows):
    frame = pd.DataFrame({"task": ["a", "b", "c"], "x": [1, 2, None], "y": [0, None, None]})
    expected = [("a", "x", 1), ("a", "y", 0), ("b", "x", 2)]
    assert rows(read(frame)) == expected
    named = frame.rename(columns={"x": "user"})
    assert rows(read(named, format="wide"))[2] == ("b", "user", 2)
    assert read(frame).tasks.tolist() == ["a", "b", "c"]


def test_a_wide_frame_may_mix_types(rows):
    votes = read(pl.DataFrame({"task": ["a"], "x": ["1"], "y": [2], "z": [None]}))
    assert rows(votes) == [("a", "x", "1"), ("a", "y", "2")]
    assert votes.workers.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (3, "builtins.int is no path and no table"),
        ([1, 2], "the table: found 1, expected a dict, or three values"),
        (pd.DataFrame({**COLUMNS, "label": [1, "a", [2]]}), "the table: found \\[2\\] in column 'label'"),
        ({"task": [1], "worker": [2]}, "the table: found no label column among 'task', 'worker'"),
        ({**COLUMNS, "label": [["cat"], [], []]}, "the table: found values of type list in column 'label'"),
        ({**COLUMNS, "task": [1, 2]}, "the table: column 'worker' has 3 rows, but 'task' has 2"),
        ({**COLUMNS, "weight": [1, -1, 0]}, "the table, row 2: found the weight -1.0"),
    ],
)
def test_what_is_no_table_of_votes_is_an_error(source, problem):
    with pytest.raises(ValueError, match=problem):
        read(source)


def test_a_table_in_memory_has_no_questions():
    with pytest.raises(ValueError, match="a table in memory has no questions"):
        read(COLUMNS, question="q")


def test_times_of_no_use_do_not_matter_unless_they_are_named(rows):
    columns = {**COLUMNS, "time": [[1], [2], [3]], "duration": [True, False, None]}
    votes = read(columns)
    assert (votes.time, votes.seconds) == (None, None)
    with pytest.raises(
        ValueError, match=r"the table: found values of type list in column 'time', expected a t"
    ):
        read(columns, columns={"time": "time"})


def test_a_table_in_memory_has_no_other_format():
    with pytest.raises(ValueError, match="a table in memory has no format 'mturk'"):
        read(COLUMNS, format="mturk")


def test_columns_of_a_frame_can_be_named():
    votes = read(
        pl.DataFrame({"q": [1], "w": [2], "l": [3]}), columns={"task": "q", "worker": "w", "label": "l"}
    )
    assert isinstance(votes, Votes)
    with pytest.raises(ValueError, match="the table: there is no column 'x', only 'q'"):
        read({"q": [1]}, columns={"task": "x"})
