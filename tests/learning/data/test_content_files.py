"""The content of tasks from files and folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from crowdpilot.learning.data.content_files import read_x

X = np.array([[1.0, 2.5], [3.0, 4.0], [5.0, 6.0]])


def image(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4)).save(path)


def test_rows_of_numpy_are_tasks_in_their_order(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    names, x = read_x(tmp_path / "x.npy")
    assert names is None
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("task", [["b", "a", "c"], [7, 1, 3]])
def test_a_numpy_archive_names_its_tasks(tmp_path: Path, task: list[object]) -> None:
    np.savez(tmp_path / "x.npz", task=np.asarray(task), x=X)
    names, x = read_x(str(tmp_path / "x.npz"))
    assert names is not None
    assert names.tolist() == task
    np.testing.assert_array_equal(x, X)


def test_a_sole_array_of_an_archive_is_x(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", features=X)
    names, x = read_x(tmp_path / "x.npz")
    assert names is None
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("task", [["b", "a", "c"], [7, 1, 3]])
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_a_table_has_a_column_of_tasks_and_columns_of_numbers(
    tmp_path: Path, kind: str, task: list[object]
) -> None:
    path = tmp_path / f"x.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table({"f": X[:, 0], "item": task, "g": X[:, 1]}), path)
    else:
        between = "," if kind == "csv" else "\t"
        lines = [["f", "item", "g"], *([f"{a}", f"{t}", f"{b}"] for (a, b), t in zip(X, task, strict=True))]
        path.write_text("\n".join(map(between.join, lines)))
    names, x = read_x(path)
    assert names is not None
    assert names.tolist() == task
    np.testing.assert_array_equal(x, X)


def test_a_table_without_a_column_of_tasks_has_them_in_order(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("f,g\n1,2\n3,\n")
    names, x = read_x(tmp_path / "x.csv")
    assert names is None
    np.testing.assert_array_equal(x, [[1, 2], [3, np.nan]])


def test_a_single_column_that_is_not_numbers_holds_texts(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('task,review\na,"good, really"\nb,\n')
    names, x = read_x(tmp_path / "x.csv")
    assert names is not None
    assert names.tolist() == ["a", "b"]
    assert x == ["good, really", ""]


def test_a_column_called_text_holds_texts_even_if_they_are_digits(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("task,text\na,12\nb,7\n")
    assert read_x(tmp_path / "x.csv")[1] == ["12", "7"]


def test_the_task_of_an_image_of_peerannot_is_the_number_after_the_last_hyphen(tmp_path: Path) -> None:
    for name in ("cat/img-3-10", "dog/img-1-2", "cat/x-1"):
        image(tmp_path / "train" / f"{name}.png")
    image(tmp_path / "test" / "cat" / "y-0.png")
    for folder in (tmp_path, tmp_path / "train"):
        names, paths = read_x(folder)
        assert names is not None
        assert names.tolist() == [1, 2, 10]
        assert [path.stem for path in paths] == ["x-1", "img-1-2", "img-3-10"]


def test_the_task_of_any_other_image_is_its_name(tmp_path: Path) -> None:
    for name in ("img-10.png", "img-2.JPG", "b.webp"):
        image(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no image")
    names, paths = read_x(tmp_path)
    assert names is not None
    assert names.tolist() == ["b", "img-2", "img-10"]
    assert [path.name for path in paths] == ["b.webp", "img-2.JPG", "img-10.png"]


def test_images_of_the_same_name_are_distinguished_by_their_folders(tmp_path: Path) -> None:
    image(tmp_path / "cat" / "1.png")
    image(tmp_path / "dog" / "1.png")
    names, _ = read_x(tmp_path)
    assert names is not None
    assert names.tolist() == ["cat/1", "dog/1"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.xlsx", "a", "not read from .xlsx files"),
        ("x.npy", "no numpy", "cannot be read as numbers of numpy"),
        ("x.npz", "no numpy", "cannot be read as numbers of numpy"),
        ("x.parquet", "no parquet", "cannot be read as a Parquet file"),
        ("x.csv", "", "the file is empty"),
        ("x.csv", "task,f\n", "nothing but names"),
        ("x.csv", "task\na\n", "nothing but names"),
        ("x.csv", "task,f\na,1\na,2\n", "task 'a' has several rows"),
        ("x.csv", "task,f\na,1\n,2\n", "row 2 has no name"),
        ("x.csv", "task,f,g\na,1,x\n", r"column 'g' is not numbers \(found 'x'\)"),
        ("x.csv", "task,f,g\na,1\n", "line 2: found 2 fields, expected 3"),
        ("x.csv", "task,f,label\na,1,2\n", "column 'label' is no content"),
        ("x.csv", "task,worker,label\na,1,2\n", "column 'worker' is no content"),
    ],
)
def test_a_wrong_file_is_explained_in_one_sentence(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_x(tmp_path / name)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_run_code_when_read_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(ValueError, match="cannot be read as numbers of numpy"):
        read_x(tmp_path / "x.npy")


def test_an_archive_of_other_arrays_and_uneven_lengths_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=X, y=X)
    with pytest.raises(ValueError, match="the arrays 'x', 'y', expected 'task' and 'x'"):
        read_x(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", x=X, task=np.arange(2))
    with pytest.raises(ValueError, match="expected a row for each task"):
        read_x(tmp_path / "b.npz")


def test_a_folder_without_images_and_no_file_at_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no image in it"):
        read_x(tmp_path)
    with pytest.raises(ValueError, match="no such file"):
        read_x(tmp_path / "missing.csv")


def test_a_first_column_called_id_names_the_tasks(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("ID,review\na1,good\nb2,bad\n")
    names, texts = read_x(path)
    assert names is not None
    assert names.tolist() == ["a1", "b2"]
    assert texts == ["good", "bad"]
