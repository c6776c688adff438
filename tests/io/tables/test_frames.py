"""Data frames: pandas with its index, lazy frames of polars, data sets of Hugging Face."""

from __future__ import annotations

from collections import UserDict
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crowdpilot.io import explain, read

COLUMNS = {"task": ["a", "a", "b"], "worker": ["x", "y", "x"], "label": ["cat", "dog", "cat"]}
VOTES = [("a", "x", "cat"), ("a", "y", "dog"), ("b", "x", "cat")]
FRAME = pd.DataFrame(COLUMNS)
WIDE = FRAME.pivot(index="task", columns="worker", values="label")


def test_a_lazy_frame_is_collected(rows):
    assert rows(read(pl.DataFrame(COLUMNS).lazy())) == VOTES


@pytest.mark.parametrize(
    "frame",
    [
        FRAME.set_index("task"),
        FRAME.set_index(["task", "worker"]),
        FRAME.set_index(["task", "worker"])["label"],
        FRAME.set_index("worker"),
        FRAME.set_index(pd.Index(["p", "q", "r"])),
        FRAME[::-1][::-1].set_index(pd.Index([7, 3, 5])),
        WIDE,
        WIDE.rename_axis(index=None, columns=None),
        WIDE.rename_axis(index="image"),
        WIDE.rename_axis(index="Bild"),
        FRAME.pivot(index="task", columns="worker"),
        pd.DataFrame({("said", name): values for name, values in COLUMNS.items()}),
    ],
    ids=[
        "task", "task and worker", "series", "worker", "texts", "numbers", "wide", "wide without names",
        "wide with a known name", "wide with another name", "wide with levels", "levels",
    ],
)  # fmt: skip
def test_the_index_of_pandas_is_read_where_it_means_something(rows, frame):
    assert sorted(rows(read(frame))) == VOTES


def test_the_index_can_be_named_as_a_column(rows):
    frame = FRAME.rename(columns={"task": "Bild"}).set_index("Bild")
    assert rows(read(frame, columns={"task": "Bild"})) == VOTES


def test_rows_of_a_frame_without_tasks_are_the_tasks(rows):
    """The frame of cleanlab: a column for each annotator, and nothing for the example but its number."""
    labels = np.array([[0, 1, np.nan], [1, 1, 0], [np.nan, 0, 0], [0, 0, 1]])
    reading = explain(pd.DataFrame(labels, columns=["anna", "ben", "carla"]))
    assert rows(reading.votes)[:3] == [(0, "anna", 0), (0, "ben", 1), (1, "anna", 1)]
    assert len(reading.votes) == 10
    assert rows(read(pd.DataFrame(labels)))[:2] == [(0, "0", 0), (0, "1", 1)]


def test_mixed_types_become_text_and_lists_matter_only_where_they_are_needed(rows):
    mixed = FRAME.assign(label=[1, "cat", 2.5], text=[["x"], "y", {}], more=[{"a": 1}, 2, None])
    assert [label for _, _, label in rows(explain(mixed).votes)] == ["1", "cat", "2.5"]
    problem = r"the table: found \['cat', 'dog'\] in column 'label', expected one text or number each"
    with pytest.raises(ValueError, match=problem):
        read(FRAME.assign(label=["cat", ["cat", "dog"], "dog"]))
    with pytest.raises(ValueError, match="the table: found values of type list in column 'label', expected"):
        read(FRAME.assign(label=[["cat"], ["dog"], ["cat"]]))
    with pytest.raises(ValueError, match="the table: found values of type dict in column 'label', expected"):
        read(pl.DataFrame({**COLUMNS, "label": [{"a": 1}, {"a": 2}, {"a": 1}]}))


def test_columns_may_have_the_same_name_where_it_does_not_matter(rows):
    frame = pd.concat([FRAME, pd.DataFrame({"text": [1, 2, 3]}), pd.DataFrame({"text": [4, 5, 6]})], axis=1)
    assert rows(read(frame)) == VOTES


# Hugging Face ---------------------------------------------------------------------------------
# The library is too heavy for our environment: classes with what is used of its own stand for it. The corpus
# has files that the library itself has written.


class ClassLabel:
    """A column of numbers of classes."""

    names = ("cat", "dog")


class Dataset:
    """Rows behind an order of their own, as after shuffling."""

    def __init__(self, order: list[int]):
        self.features: dict[str, Any] = {"task": None, "worker": None, "label": ClassLabel()}
        self.table = pa.table({**COLUMNS, "label": [0, 1, -1]})
        self.order = order

    @property
    def num_rows(self) -> int:
        return len(self.order)

    def with_format(self, format: str) -> Dataset:
        assert format == "arrow"
        return self

    def __getitem__(self, rows: slice) -> pa.Table:
        return self.table.take(pa.array(self.order[rows], pa.int64()))


class DatasetDict(UserDict[str, Dataset]):
    """Several splits."""


for each in (Dataset, DatasetDict):
    each.__module__ = "datasets.stand_in"


def test_a_data_set_is_read_in_its_order_with_the_names_of_its_classes(rows):
    votes = read(Dataset([1, 0, 2]))
    assert rows(votes) == [("a", "y", "dog"), ("a", "x", "cat")]
    assert votes.dropped == 1
    assert rows(read(Dataset([1]))) == [("a", "y", "dog")]


def test_a_class_without_a_name_is_an_error():
    data = Dataset([0, 1])
    data.table = data.table.set_column(2, "label", pa.array([0, 2, 1]))
    problem = "the table: found the class 2 in column 'label', but only 2 have a name"
    with pytest.raises(ValueError, match=problem):
        read(data)


def test_of_several_splits_one_has_to_be_chosen(rows):
    assert len(read(DatasetDict(train=Dataset([0, 1])))) == 2
    problem = r"the table: there are the splits 'train', 'test'; choose one, such as dataset\['train'\]"
    with pytest.raises(ValueError, match=problem):
        read(DatasetDict(train=Dataset([0]), test=Dataset([1])))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).astype("category"),
        pd.DataFrame(COLUMNS).astype("string").assign(when=pd.Timestamp("2026-01-02")),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).lazy(),
    ],
    ids=["pandas", "categories", "strings and dates", "polars", "lazy polars"],
)
def test_frames_of_pandas_and_polars_need_no_arrow(without_arrow, rows, frame):
    with_arrow = rows(read(frame))
    with without_arrow():
        assert rows(read(frame)) == with_arrow


def test_without_arrow_other_frames_say_what_they_need(without_arrow):
    table = pa.table(COLUMNS)
    with without_arrow(), pytest.raises(ValueError, match=r"^such a data frame needs pyarrow"):
        read(table)


def test_three_columns_without_known_names_may_be_triples():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.integers(100, size=300), "b": rng.integers(9, size=300), "c": rng.integers(2, size=300)}
    )
    with pytest.raises(ValueError, match="'a', 'b', 'c' may be workers, or task, worker and label"):
        read(frame)
    votes = read(frame, columns={"task": "a", "worker": "b", "label": "c"})
    assert len(votes.classes) == 2
    assert read(frame % 2).workers.tolist() == ["a", "b", "c"]


def test_unsigned_numbers_stay_numbers():
    frame = pd.DataFrame({"task": np.array([7, 8], np.uint64), "worker": ["x", "y"], "label": [0, 1]})
    assert read(frame).tasks.tolist() == [7, 8]
    assert read(frame.assign(task=frame["task"] + np.uint64(2**63))).tasks[0] == str(2**63 + 7)
