"""Files with one label for each task."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from crowdpilot.io import read_labels, write_table

LABELS = {"a": "cat", "b": "dog"}


@pytest.mark.parametrize("header", ["task,label", "item,truth", "Task ID,gold_label", "task,ground_truth"])
def test_labels_are_known_by_many_names(save, header):
    assert read_labels(save("truth.csv", f"{header}\na,cat\nb,dog\nc,\n")) == LABELS


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_what_we_write_can_be_read_again(tmp_path, suffix):
    table = pa.table({"task": ["a", "b"], "label": ["cat", "dog"], "confidence": [1.0, 0.5], "votes": [3, 2]})
    write_table(table, tmp_path / f"labels.{suffix}")
    assert read_labels(tmp_path / f"labels.{suffix}") == LABELS


def test_frames_hold_labels_too():
    assert read_labels(pd.DataFrame({"task": [1, 2], "label": [0.0, np.nan]})) == {1: 0}


def test_columns_can_be_named(save):
    path = save("truth.csv", "url,x,text\na,cat,hello\nb,dog,hi\n")
    assert read_labels(path, columns={"task": "url", "label": "x"}) == LABELS


def test_three_columns_are_not_taken_for_workers(save):
    assert read_labels(save("truth.csv", "task,truth,text\na,cat,hello\nb,dog,hi\n")) == LABELS


def test_nor_in_a_frame():
    assert read_labels({"task": ["a", "b"], "truth": ["cat", "dog"], "text": ["hello", "hi"]}) == LABELS


def test_votes_with_a_column_of_true_labels_hold_labels(save):
    content = "task,worker,label,gold\na,x,dog,cat\na,y,cat,cat\nb,x,cat,dog\nc,x,cat,\n"
    assert read_labels(save("votes.csv", content)) == LABELS


def test_a_numpy_file_has_labels_by_place(tmp_path):
    np.save(tmp_path / "ground_truth.npy", np.array([2, 0, 1]))
    assert read_labels(tmp_path / "ground_truth.npy") == {0: 2, 1: 0, 2: 1}
    np.save(tmp_path / "names.npy", np.array(["cat", "dog"]))
    assert read_labels(str(tmp_path / "names.npy")) == {0: "cat", 1: "dog"}


def test_the_same_label_twice_is_one_label(save):
    assert read_labels(save("truth.csv", "task,label\na,cat\nb,dog\na,cat\n")) == LABELS


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("task,label\na,cat\na,dog\n", "line 2: task 'a' has the true labels 'cat' and 'dog', expected one"),
        ("task,text\na,cat\n", "found no label column among 'task', 'text'"),
        ("label,worker\na,cat\n", "found no task column among 'label', 'worker'"),
        ("", "the file is empty"),
    ],
)
def test_a_bad_file_is_an_error(save, content, problem):
    with pytest.raises(ValueError, match=f"truth.csv.*{problem}"):
        read_labels(save("truth.csv", content))


def test_numpy_files_of_something_else_are_errors(tmp_path, save):
    np.save(tmp_path / "probs.npy", np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"probs.npy: found an array of shape \(3, 2\), expected one label"):
        read_labels(tmp_path / "probs.npy")
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    for path in (
        tmp_path / "objects.npy",
        tmp_path / "none.npy",
        save("cut.npy", b"\x93NUMPY\x01"),
        save("e.npy", ""),
    ):
        with pytest.raises(ValueError, match=r"cannot be read as a numpy file"):
            read_labels(path)
