"""Votes in memory are read in any shape that people have them in, or refused with what to do."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import crowdpilot as cp
from tests.front_door.files import VOTES

DF = pd.read_csv(io.StringIO(VOTES))
PL = pl.from_pandas(DF)
WIDE = DF.pivot(index="task", columns="worker", values="label").loc[["owl", "eel", "emu"]]
CODES = (WIDE == "fish").to_numpy(float)  # (tasks, workers)
LABELS: Any = ["bird", "fish", "bird"]

READ: dict[str, Callable[[], Any]] = {
    "a frame": lambda: DF,
    "categories": lambda: DF.astype("category"),
    "pandas strings": lambda: DF.astype("string"),
    "columns of pyarrow": lambda: DF.convert_dtypes(dtype_backend="pyarrow"),
    "an index of tasks": lambda: DF.set_index("task"),
    "an index of tasks and workers": lambda: DF.set_index(["task", "worker"]),
    "a series by task and worker": lambda: DF.set_index(["task", "worker"]).label,
    "columns in capitals": lambda: DF.rename(columns=str.upper),
    "a column for each worker": lambda: WIDE,
    "a column for each worker, and the task": lambda: WIDE.reset_index(),
    "the same votes twice": lambda: pd.concat([DF, DF]),
    "a missing label": lambda: pd.concat([DF, DF.assign(worker="dan", label=None)]),
    "polars": lambda: PL,
    "polars, not collected": lambda: PL.lazy(),
    "polars Enum": lambda: PL.with_columns(pl.col("label").cast(pl.Enum(["fish", "bird", "cat"]))),
    "records": lambda: DF.to_dict("records"),
    "records, one by one": lambda: (row for row in DF.to_dict("records")),
    "tuples": lambda: list(DF.itertuples(index=False, name=None)),
    "named tuples": lambda: list(DF.itertuples(index=False)),
    "a dict of columns": lambda: DF.to_dict("list"),
    "a dict of dicts": lambda: WIDE.T.to_dict(),
    "bytes": lambda: VOTES.encode(),
    "a stream of text": lambda: io.StringIO(VOTES),
    "a stream of bytes": lambda: io.BytesIO(VOTES.encode()),
}
CODED: dict[str, Callable[[], Any]] = {
    "an array with NaN": lambda: np.c_[CODES, np.full(3, np.nan)],
    "an array with -1": lambda: np.c_[CODES, np.full(3, -1)].astype(int),
    "a masked array": lambda: np.ma.masked_equal(np.c_[CODES, np.full(3, 7)], 7),
    "a frame of codes": lambda: pd.DataFrame(CODES, columns=["ann", "bob", "cem"]),
    "true and false": lambda: DF.assign(label=DF.label == "fish"),
    "nullable integers": lambda: DF.assign(label=(DF.label == "fish").astype("Int64")),
}
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no rows": (lambda: DF[:0], "at least one vote"),
    "no columns": (lambda: pd.DataFrame(), "no task and no worker and no label column"),
    "no labels": (lambda: DF.assign(label=np.nan), "at least one vote"),
    "no worker": (lambda: DF[["task", "label"]], "no worker column.*columns="),
    "a column twice": (lambda: pd.concat([DF, DF.label], axis=1), "'label' occurs twice"),
    "three columns of an array": (
        lambda: 1 - np.eye(3, dtype=int),
        "may be workers, or task, worker and label",
    ),
    "a label for each task": (lambda: np.array([0, 1, 0]), r"expected \(tasks, workers\)"),
    "labels by task": (lambda: {"owl": ["bird", "fish"], "eel": ["fish", "fish"]}, "no task and no worker"),
    "pairs": (lambda: [("owl", "ann")], "three values: task, worker, label"),
    "lists of labels": (lambda: DF.assign(label=[LABELS] * 9), "values of type list in column 'label'"),
    "the text of a file": (lambda: VOTES, "io.StringIO"),
    "nothing": (lambda: None, "expected a path, a stream, a data frame"),
    "a folder": (lambda: ".", "folder"),
    "an address": (lambda: "https://localhost/votes.csv", "download"),
}


def labels_by_majority(source: object) -> list[Any]:
    labels: list[Any] = cp.aggregate(source, "majority_voting").labels.tolist()
    return labels


@pytest.mark.parametrize("name", READ)
def test_votes_are_read_in_any_shape(name: str) -> None:
    assert labels_by_majority(READ[name]()) == LABELS


@pytest.mark.parametrize("name", CODED)
def test_labels_may_be_codes(name: str) -> None:
    assert labels_by_majority(CODED[name]()) == [0, 1, 0]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_of_votes_is_refused_in_one_line(
    name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, pattern = REFUSED[name]
    with pytest.raises(ValueError) as refused:
        cp.aggregate(source())
    assert re.search(pattern, str(refused.value))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", ["int64", "uint64", "Int64", "float64", "bool", "string", "category"])
def test_labels_are_merged_back_to_tasks_of_any_type(kind: Any) -> None:
    df = DF.assign(task=pd.Series([0] * 3 + [1] * 6).astype(kind), worker=range(9))
    merged = df.merge(cp.aggregate(df).to_pandas(), on="task", suffixes=("_said", ""))
    assert len(merged) == len(df)
    assert merged.label.notna().all()


def test_a_column_of_true_labels_is_not_learned_from_in_silence() -> None:
    with pytest.warns(cp.ReadingWarning, match="'truth' is read as gold labels"):
        cp.aggregate(DF.assign(truth="bird"))
