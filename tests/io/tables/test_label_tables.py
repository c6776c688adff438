from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from crowdpilot.io.tables.label_tables import read_label_table

LABELS = "task,label,confidence\nowl,bird,0.9\neel,,0.5\nemu,bird,\nowl,bird,0.8\n"


def test_tasks_without_a_label_are_left_out_and_counted() -> None:
    table = read_label_table(StringIO(LABELS))
    assert table.tasks.tolist() == ["owl", "emu"]
    assert table.labels[table.codes].tolist() == ["bird", "bird"]
    assert table.left_out == 1


def test_numbers_are_those_of_the_last_row_of_a_task() -> None:
    np.testing.assert_array_equal(read_label_table(StringIO(LABELS)).numbers("confidence"), [0.8, np.nan])


def test_a_column_that_is_no_number_is_named() -> None:
    with pytest.raises(ValueError, match="has something else than numbers in column label"):
        read_label_table(StringIO(LABELS)).numbers("label")


def test_two_labels_of_a_task_are_an_error_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("task,label\nowl,bird\nowl,fish\n")
    with pytest.raises(ValueError, match=r"labels.csv, line 2: task 'owl' has the true labels"):
        read_label_table(tmp_path / "labels.csv")


def test_a_numpy_file_numbers_its_tasks(tmp_path: Path) -> None:
    np.save(tmp_path / "labels.npy", np.array(["cat", "dog", "cat"]))
    table = read_label_table(tmp_path / "labels.npy")
    assert table.tasks.tolist() == ["0", "1", "2"]
    assert table.labels[table.codes].tolist() == ["cat", "dog", "cat"]
    assert table.columns == ()


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "task\nowl\n"])
def test_a_table_without_labels_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="found no"):
        read_label_table(StringIO(text))
