from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.tables import embed, tasks_table, to_list, workers_table
from crowdpilot.reporting.truth import match_truth


def column(table: dict[str, Any], name: str) -> list[Any]:
    values: list[Any] = table["values"][[c["name"] for c in table["columns"]].index(name)]
    return values


def test_every_column_of_the_workers_is_there(odd: Diagnosis) -> None:
    table = json.loads(workers_table(odd))
    assert {c["name"] for c in table["columns"]} == set(odd.workers)
    assert all(len(values) == len(odd.votes.workers) for values in table["values"])
    assert sorted(table["order"]) == list(range(len(odd.votes.workers)))


def test_every_column_of_the_tasks_is_there(odd: Diagnosis) -> None:
    table = json.loads(tasks_table(odd))
    assert {c["name"] for c in table["columns"]} == set(odd.tasks)
    assert all(len(values) == len(odd.votes.tasks) for values in table["values"])


def test_all_columns_are_described(whole: Diagnosis) -> None:
    """A column that the page does not know is shown by its own name."""
    for table in (workers_table(whole), tasks_table(whole)):
        assert [c["name"] for c in json.loads(table)["columns"] if c["about"] == c["name"]] == []


def test_flagged_workers_come_first(whole: Diagnosis) -> None:
    table = json.loads(workers_table(whole))
    flags = column(table, "flags")
    kinds = [("spammer" in flags[n] or "colluding" in flags[n], bool(flags[n])) for n in table["order"]]
    assert kinds == sorted(kinds, reverse=True)
    assert table["marked"] == [n for n, flag in enumerate(flags) if flag]


def test_tasks_come_in_the_order_of_review(whole: Diagnosis) -> None:
    table = json.loads(tasks_table(whole))
    rank = column(table, "review")
    assert [rank[n] for n in table["order"]] == sorted(rank)


def test_the_truth_is_a_column(whole: Diagnosis) -> None:
    table = json.loads(tasks_table(whole, match_truth(whole.result, {3: "dog"})))
    assert [(n, label) for n, label in enumerate(column(table, "truth")) if label] == [(3, "dog")]


@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner)))
def test_what_is_embedded_cannot_end_the_script(data: Any) -> None:
    text = embed(data)
    assert json.loads(text) == data
    assert not set("<>&\u2028\u2029") & set(text)
    assert text.isascii()


@pytest.mark.parametrize(
    ("values", "listed"),
    [
        (np.array([0.123456, np.nan, np.inf, 0, 1e-9]), [0.12346, None, None, 0, 1e-9]),
        (np.array([1, 2]), [1, 2]),
        (np.array([True, False]), [True, False]),
        (np.array([2**60, 1]), [str(2**60), "1"]),
        (np.array([1, "a", None, 2.5, 2**60], object), [1, "a", None, "2.5", str(2**60)]),
        (np.array(["2020-01-01"], "datetime64[D]"), ["2020-01-01"]),
    ],
)  # fmt: skip
def test_values_become_plain(values: Any, listed: list[Any]) -> None:
    assert to_list(values) == listed


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True)))
def test_any_number_can_be_written(values: list[float]) -> None:
    listed = to_list(np.array(values, np.float64))
    json.dumps(listed, allow_nan=False)
    for value, shown in zip(values, listed, strict=True):
        if np.isfinite(value):
            assert shown == pytest.approx(value, rel=1e-4, abs=1e-99)
        else:
            assert shown is None


def test_of_very_many_rows_the_first_are_there(whole: Diagnosis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdpilot.reporting.tables.MAX_TABLE_ROWS", 10)
    table = json.loads(tasks_table(whole))
    assert (len(table["order"]), table["total"]) == (10, len(whole.votes.tasks))
    assert sorted(column(table, "review")) == list(range(1, 11))
    assert [column(table, "review")[n] for n in table["order"]] == list(range(1, 11))
    assert column(table, "task") == whole.votes.tasks[table["kept"]].tolist()
