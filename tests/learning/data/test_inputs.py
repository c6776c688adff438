"""Anything people have as X."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse

from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.data.inputs import Dense, Images, Sparse, check_rows, shape_of, to_rows

CPU = torch.device("cpu")
X = np.array([[1.0, 0.0, 2.5], [0.0, 0.0, 0.0], [-3.0, 4.0, 0.0], [0.0, 5.0, 6.0]])
NAMES = ["f", "g", "h"]


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


def everything(rows: Any) -> np.ndarray:
    return rows.take(torch.arange(len(rows)), train=False).numpy()


@pytest.mark.parametrize(
    "x",
    [
        X,
        X.tolist(),
        X.astype(object),
        X.astype(np.float16),
        X.astype(">f4"),
        X.astype(np.longdouble),
        read_only(X),
        read_only(X.astype(np.float32)),
        np.asfortranarray(X),
        X[::-1][::-1],
        torch.tensor(X, requires_grad=True),
        list(torch.as_tensor(X)),
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        sparse.coo_array(X),
        pd.DataFrame(X, columns=NAMES),
        pd.DataFrame(X, columns=NAMES, index=[7, 3, 3, 9]),
        pl.DataFrame(X, schema=NAMES),
        pa.table(dict(zip(NAMES, X.T, strict=True))),
    ],
    ids=lambda x: type(x).__module__ + "." + type(x).__name__,
)
def test_numbers_of_every_kind_become_the_same_rows(x: Any) -> None:
    rows = to_rows(x, CPU)
    assert len(rows) == 4
    assert shape_of(rows) == (3,)
    np.testing.assert_array_equal(everything(rows), X.astype(np.float32))
    np.testing.assert_array_equal(rows.take(torch.tensor([2, 0, 2]), train=True), X[[2, 0, 2]])


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int64])
def test_whole_numbers_and_truth_values_are_numbers(kind: type) -> None:
    np.testing.assert_array_equal(everything(to_rows(np.eye(3, dtype=kind), CPU)), np.eye(3))


def test_a_frame_of_several_types_of_numbers_is_fine() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False], "c": pd.array([3, 4], "Int64")})
    np.testing.assert_array_equal(everything(to_rows(frame, CPU)), [[1, 1, 3], [2, 0, 4]])


def test_rows_may_have_any_shape() -> None:
    x = np.arange(48.0).reshape(2, 2, 3, 4)
    np.testing.assert_array_equal(everything(to_rows(x, CPU)), x)


def test_the_task_column_of_a_frame_names_the_rows_and_is_not_learned() -> None:
    rows = to_rows(pd.DataFrame({"task": ["b", "a"], "f": [1.0, 2.0]}), CPU)
    assert isinstance(rows, Dense)
    assert rows.names is not None
    assert rows.names.tolist() == ["b", "a"]
    np.testing.assert_array_equal(everything(rows), [[1], [2]])


def test_a_path_is_read_with_the_names_of_its_tasks(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", task=np.array(["b", "a"]), x=X[:2])
    for path in (tmp_path / "x.npz", str(tmp_path / "x.npz")):
        rows = to_rows(path, CPU)
        assert isinstance(rows, Dense)
        assert rows.names is not None
        assert rows.names.tolist() == ["b", "a"]
        np.testing.assert_array_equal(everything(rows), X[:2])


def test_texts_of_every_kind_become_the_same_rows(tmp_path: Path) -> None:
    texts = ["good film", "bad film", ""]
    (tmp_path / "x.csv").write_text("task,text\na,good film\nb,bad film\nc,\n")
    expected = everything(to_rows(texts, CPU))
    assert expected.any()
    kinds = [np.array(texts), np.array(texts, object), pd.Series(texts), tuple(texts), tmp_path / "x.csv"]
    for x in kinds:
        rows = to_rows(x, CPU)
        assert isinstance(rows, Sparse)
        np.testing.assert_array_equal(everything(rows), expected)


def test_bytes_are_images_wherever_their_channels_are() -> None:
    last = np.random.default_rng(0).integers(0, 256, (5, 8, 6, 3)).astype(np.uint8)
    rows = to_rows(last, CPU)
    assert isinstance(rows, Images)
    assert shape_of(rows) == (3, 8, 6)
    np.testing.assert_allclose(everything(rows), last.transpose(0, 3, 1, 2) / 255, rtol=1e-6)
    first = torch.as_tensor(last).permute(0, 3, 1, 2)
    np.testing.assert_array_equal(everything(to_rows(first, CPU)), everything(rows))
    assert shape_of(to_rows(last[..., 0], CPU)) == (1, 8, 6)
    assert shape_of(to_rows(last[..., :1].repeat(4, axis=3)[:, :4, :4], CPU)) == (4, 4, 4)


def test_bytes_that_cannot_be_images_are_numbers() -> None:
    assert isinstance(to_rows(np.ones((2, 7, 5, 5), np.uint8), CPU), Dense)
    assert isinstance(to_rows(np.ones((2, 7), np.uint8), CPU), Dense)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (
            np.ones(5),
            r"X has 1 dimensions, expected a row for each task; Reshape your data: X.reshape\(-1, 1\)",
        ),
        (3.0, "X has 0 dimensions, expected a row for each task"),
        ([], r"expected a row for each task"),
        (np.zeros((0, 3)), r"X is empty: 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (np.zeros((3, 0)), r"X is empty: 0 feature\(s\) \(shape=\(3, 0\)\)"),
        (sparse.csr_array((0, 3)), r"sparse matrix of shape \(0, 3\)"),
        (np.array([[1, 2], [np.nan, 4]]), "row 1 of X holds a NaN"),
        (np.array([[1, 2], [3, -np.inf]]), "row 1 of X holds a NaN, or a number that is too large"),
        (np.array([[1.0, 1e300]]), "row 0 of X holds a NaN, or a number that is too large"),
        (np.full((3, 2, 2), np.nan), "row 0 of X"),
        (sparse.csr_array([[0, 0], [0, 0], [0, np.nan]]), "row 2 of X holds a NaN"),
        (np.array([[1, None]], object), "row 0 of X holds a NaN"),
        (np.array([["1", "2"]]), r"X is not numbers .*it holds values of type <U1"),
        (np.array([["a", 2]], object), "X is not numbers in rows of equal length"),
        (np.array([["2020-01-01"]], "M8[D]"), r"it holds values of type datetime64\[D\]"),
        (np.ones((2, 2), complex), "Complex data not supported"),
        (torch.ones(2, 2, dtype=torch.complex64), "X holds complex numbers"),
        ([[1, 2], [3]], "X is not numbers in rows of equal length"),
        (["a", 1.0], "X is a list of texts, but there is 1.0 in it"),
        (["a", None], "X is a list of texts, but there is None in it"),
        (pd.DataFrame({"f": [1, 2], "city": ["a", "b"]}), "X: column 'city' is not numbers"),
        (pd.DataFrame({"f": [1, 2], "label": [0, 1]}), "X: column 'label' is no content of a task"),
        (pd.DataFrame({"f": [1.0, None]}), "row 1 of X holds a NaN"),
        (pd.DataFrame({"f": []}), "X: there is nothing but names"),
        ("no such file.npy", "there is no such file"),
    ],
)
def test_a_wrong_x_is_explained_in_one_sentence(x: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        to_rows(x, CPU)
    assert "\n" not in str(caught.value)


def test_rows_of_another_shape_than_before_are_refused() -> None:
    check_rows(to_rows(X, CPU), (3,))
    with pytest.raises(ValueError, match="a row of X is 3, but the classifier was trained on rows of 2x2"):
        check_rows(to_rows(X, CPU), (2, 2))


@pytest.mark.parametrize("network", ["linear", "mlp"])
def test_a_classifier_learns_from_badly_scaled_columns(network: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    X = np.eye(2)[truth] + rng.normal(0, 0.3, (200, 2))
    awkward = np.column_stack([1e6 + 1e3 * X[:, 0], 1e-9 * X[:, 1], np.full(200, 7.0)])
    model = CrowdClassifier(network, "two_stage", epochs=20, lr=0.02).fit(awkward, truth)
    assert model.score(awkward, truth) > 0.95


def test_a_classifier_learns_from_texts_and_sparse_counts() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 100)
    texts = [f"it was a {'great' if t else 'dull'} film {n}" for n, t in enumerate(truth)]
    assert (
        CrowdClassifier("linear", "two_stage", epochs=20, lr=0.02).fit(texts, truth).score(texts, truth)
        > 0.95
    )
    counts = sparse.csr_array(1000 * np.eye(2)[truth] + 1000 * rng.integers(0, 2, (100, 2)))
    assert (
        CrowdClassifier("linear", "two_stage", epochs=20, lr=0.02).fit(counts, truth).score(counts, truth)
        > 0.7
    )
