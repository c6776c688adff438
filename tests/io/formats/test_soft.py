"""Shares of classes in place of votes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdpilot import io
from crowdpilot.aggregation import MajorityVoting, NaiveSoft
from crowdpilot.io.detect import by_content
from crowdpilot.io.source import Source

pytestmark = pytest.mark.usefixtures("each_engine")

SHARES = [[0.25, 0.75, 0.0], [1.0, 0.0, 0.0], [0.3333, 0.3333, 0.3333]]
FIGURE_EIGHT = (
    "task,crowd_label,conf0,conf1,conf2\nt-0,1,.25,.75,0\nt-1,0,1.0,0.0,0.0\nt-2,0,.3333,.3333,.3333\n"
)


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        path = tmp_path / "soft.csv"
        path.write_text(text)
        return path

    return write


def test_the_shares_of_a_file_come_back_whatever_is_said_of_repeats(written: Any) -> None:
    path = written(FIGURE_EIGHT)
    assert by_content(Source(path), io.FORMATS) == "soft"
    for repeats in ("last", "first", "all", "error"):
        votes = io.read(path, repeats=repeats)
        assert votes.tasks.tolist() == ["t-0", "t-1", "t-2"]
        assert votes.classes.tolist() == [0, 1, 2]
        assert votes.workers.tolist() == ["crowd"]
        np.testing.assert_array_equal(votes.tally(), SHARES)


def test_an_array_and_a_file_of_it_are_the_same_votes(written: Any) -> None:
    one, other = io.read(written(FIGURE_EIGHT)), io.from_shares(SHARES, ["t-0", "t-1", "t-2"])
    for name in ("task", "worker", "label", "weight", "tasks", "workers", "classes"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_the_shares_are_the_posterior_and_the_largest_is_the_label() -> None:
    votes = io.from_shares(SHARES, classes=["a", "b", "c"])
    expected = np.array(SHARES) / np.sum(SHARES, axis=1, keepdims=True)
    np.testing.assert_allclose(NaiveSoft().fit(votes).probs, expected)
    assert MajorityVoting().fit(votes).labels[:2].tolist() == ["b", "a"]


@pytest.mark.parametrize("header", ["p_no,p_yes", "conf_no,conf_yes", "P_no,P_yes"])
def test_classes_may_have_names_and_texts_may_stand_beside_them(written: Any, header: str) -> None:
    votes = io.read(written(f'text,item,{header},label\n"well, ""so""",a,.2,.8,yes\nno,b,1,0,no\n'))
    assert votes.classes.tolist() == ["no", "yes"]
    assert votes.tasks.tolist() == ["a", "b"]
    np.testing.assert_array_equal(votes.tally(), [[0.2, 0.8], [1, 0]])


def test_a_task_without_shares_and_gold_are_kept(written: Any) -> None:
    votes = io.read(written("task,gold,conf0,conf1\na,,1,0\nb,1,,\n"))
    np.testing.assert_array_equal(votes.tally(), [[1, 0], [0, 0]])
    assert votes.gold is not None
    assert votes.gold.tolist() == [-1, 1]


def test_workers_whose_names_look_like_shares_are_workers(written: Any) -> None:
    votes = io.read(written("task,p_1,p_2,p_3\na,1,1,0\nb,0,0,0\nc,1,1,1\n"))
    assert votes.workers.tolist() == ["p_1", "p_2", "p_3"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,.5,.5\nb,.7,.7\n", r"soft.csv, line 3: the shares of the classes sum to 1.4, expected 1"),
        ("a,1.5,-.5\n", r"line 2: the shares of the classes hold a negative number or none"),
        ("a,1,\n", r"line 2: the shares of the classes hold a negative number or none"),
        ("a,1,0\na,0,1\n", r"task 'a' has several rows, expected one"),
        ("a,1,much\n", r"line 2: found 'much' in column 'conf1', expected a share from 0 to 1"),
    ],
)
def test_what_is_no_distribution_is_explained(written: Any, rows: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        io.read(written(f"task,conf0,conf1\n{rows}"))


def test_columns_that_are_missing_are_named(written: Any) -> None:
    path = written("url,conf0,conf1\na,1,0\n")
    with pytest.raises(ValueError, match="found no task column among 'url', 'conf0', 'conf1'"):
        io.read(path, format="soft")
    assert io.read(path, format="soft", columns={"task": "url"}).tasks.tolist() == ["a"]
    with pytest.raises(ValueError, match="expected columns such as conf0 and conf1"):
        io.read(written("task,conf0\na,1\n"), format="soft")


@pytest.mark.parametrize(
    ("shares", "names", "message"),
    [
        ([0.5, 0.5], {}, r"the shape \(2,\), expected \(tasks, classes\)"),
        ([[1.0]], {}, r"the shape \(1, 1\), expected \(tasks, classes\)"),
        ([[0.5, 0.6]], {}, "row 0 of the shares sum to 1.1, expected 1"),
        ([[0.5, 0.5], [np.nan, 1]], {}, "row 1 of the shares hold a negative number or none"),
        ([[0.5, 0.5]], {"tasks": ["a", "b"]}, r"but there are names for \(2, 2\)"),
        ([[0.5, 0.5]], {"classes": ["a", "a"]}, "a class is named twice"),
    ],
)
def test_arrays_that_are_no_shares_are_refused(shares: Any, names: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        io.from_shares(shares, **names)


def test_a_row_of_nan_is_a_task_without_votes() -> None:
    votes = io.from_shares([[np.nan, np.nan], [0, 1]])
    assert votes.tally().tolist() == [[0, 0], [0, 1]]
