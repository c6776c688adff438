"""Tables that hold no votes: every column, whatever the table is."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from crowdpilot.io.table_columns import read_columns, read_single_column

COLUMNS = {"id": [1, 2], "text": ["an owl", "a, b"]}


@pytest.mark.parametrize(
    "source",
    [
        COLUMNS,
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        [{"id": 1, "text": "an owl"}, {"id": 2, "text": "a, b"}],
        io.StringIO('id;text\n1;an owl\n2;"a, b"\n'),
        b"id\ttext\n1\tan owl\n2\ta, b\n",
    ],
)
def test_a_table_has_all_its_columns(source: Any) -> None:
    assert read_columns(source) == COLUMNS


def test_values_that_are_missing_are_none(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("id, text \na,\nb, an eel\n")
    assert read_columns(tmp_path / "items.csv") == {"id": ["a", "b"], "text": [None, "an eel"]}


def test_a_file_of_one_column_is_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "names"
    file.write_text("img_1.jpg\r\n\r\nimg_2.jpg")
    assert read_single_column(file) == ["img_1.jpg", "img_2.jpg"]
    file.write_text("id,text\n1,an owl\n")
    assert read_single_column(file) is None
    assert read_single_column(COLUMNS) is None


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match="found votes"):
        read_columns({"owl": {"ann": "bird"}})
    with pytest.raises(ValueError, match="no such file"):
        read_columns("nothing.csv")
