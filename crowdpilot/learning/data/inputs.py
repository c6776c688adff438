"""X to rows: arrays, tensors, tables, sparse matrices, texts, images and files as network input."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, issparse
from torch import Tensor, nn

from crowdpilot.arrays import Names
from crowdpilot.io.image_folders import is_image
from crowdpilot.io.votes_tables import as_table
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.data.content_files import read_x
from crowdpilot.learning.data.frozen_features import embed, embed_texts
from crowdpilot.learning.data.images import ImageFiles, Images, channels_first, is_pixels
from crowdpilot.learning.data.rows import Dense, Sparse
from crowdpilot.learning.data.table_content import content_columns, split_table
from crowdpilot.learning.encoders.text_hashing import hash_texts

DEFAULT_IMAGE_SIZE = 224  # pixels, high and wide
COMPLEX = "Complex data not supported: X holds complex numbers, expected real ones"

__all__ = ["Dense", "Images", "Sparse", "check_rows", "remember_columns", "shape_of", "to_rows"]


def to_rows(
    x: Any,
    device: torch.device,
    *,
    size: int = DEFAULT_IMAGE_SIZE,
    augment: bool = False,
    backbone: str | nn.Module | Callable[[Any], Any] | None = None,
    cache: Path | None = None,
) -> Rows:
    """X as rows, one for each task.

    Parameters
    ----------
    x
        An array, a tensor, a sparse matrix or a frame of numbers; bytes (rows, height, width,
        channels), with channels first or without, are images. A list of texts; a list of paths of
        images; a folder of images, or a file that `read_x` reads; or rows, which are given back.
    device
        Where the rows are kept, if they fit into its memory.
    size
        To how many pixels, high and wide, images in files are scaled.
    augment
        Whether images are flipped and shifted at random while training.
    backbone
        What turns X into features first; see `embed`.
    cache
        A folder for the features of a backbone.
    """
    if isinstance(x, (Dense, Sparse, Images)):
        return x
    names, columns, x = _named(x)
    if (texts := _texts(x)) is not None:
        if not all(is_image(Path(text)) for text in texts):
            return _from_texts(list(map(str, texts)), device, backbone, cache, names)
        x = [Path(text) for text in texts]
        rows: Rows = Images(ImageFiles(x, size), device, augment=augment and backbone is None, names=names)
    elif issparse(x):
        rows = _from_sparse(x)
    else:
        rows = _from_tensor(_tensor(x), device, augment and backbone is None, names, columns)
    return rows if backbone is None else embed(backbone, rows, device, cache=cache)


def _named(x: Any) -> tuple[Names | None, list[str] | None, Any]:
    """The task of each row if X is a file, a folder or a table that names them; its columns; and X."""
    if isinstance(x, (str, PathLike)):
        names, x = read_x(x)
        return names, None, x
    if hasattr(x, "columns") and hasattr(x, "shape"):  # a frame of pandas, polars or Arrow
        table = as_table(x.reset_index(drop=True) if hasattr(x, "reset_index") else x)
        names, x = split_table(table, lambda problem: ValueError(f"X: {problem}"))
        return names, content_columns(table.column_names), x
    return None, None, x


def _texts(x: Any) -> list[Any] | None:
    """The texts or paths that X is a list of, if it is one."""
    if issparse(x) or isinstance(x, Tensor):
        return None
    if not isinstance(x, (list, tuple)):
        array = np.asarray(x)
        if array.ndim != 1 or array.dtype.kind not in "UO":
            return None
        x = array.tolist()
    wrong = [value for value in x if not isinstance(value, (str, PathLike))]
    if not x or len(wrong) == len(x):
        return None
    if wrong:
        raise ValueError(f"X is a list of texts, but there is {wrong[0]!r} in it")
    return list(x)


def _from_texts(
    texts: list[str], device: torch.device, backbone: Any, cache: Path | None, names: Names | None
) -> Rows:
    if backbone is None:
        return Sparse(hash_texts(texts), names)
    return embed_texts(backbone, texts, device, cache=cache, names=names)


def _from_sparse(x: Any) -> Rows:
    if x.ndim != 2 or 0 in x.shape:
        raise ValueError(f"X is a sparse matrix of shape {x.shape}, expected rows and columns")
    matrix = csr_array(x).astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if len(bad):
        raise _not_finite(int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1)
    return Sparse(matrix)


def _tensor(x: Any) -> Tensor:
    """X as a tensor of numbers of any kind."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, (list, tuple)) and x and all(isinstance(row, Tensor) for row in x):
        return torch.stack(tuple(x))
    try:
        array = np.asarray(x)
        if array.dtype.kind == "c":
            raise ValueError(COMPLEX)
        if array.dtype.kind not in "biufO":
            raise ValueError(f"it holds values of type {array.dtype}")
        if array.dtype != np.uint8:
            with np.errstate(over="ignore"):  # overflow is detected later
                array = array.astype(np.float32, copy=False)
    except (TypeError, ValueError) as error:
        reason = str(error).partition(". ")[0]
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"X is not numbers in rows of equal length, nor texts or images ({reason})") from error
    return torch.from_numpy(np.require(array, requirements=["C", "W"]))


def _from_tensor(
    x: Tensor, device: torch.device, augment: bool, names: Names | None, columns: list[str] | None
) -> Rows:
    if x.ndim < 2:
        hint = "; Reshape your data: X.reshape(-1, 1) makes a row of each number" if x.ndim else ""
        raise ValueError(f"X has {x.ndim} dimensions, expected a row for each task{hint}")
    if x.numel() == 0:
        what = "feature" if len(x) else "sample"
        raise ValueError(
            f"X is empty: 0 {what}(s) (shape={tuple(x.shape)}) while a minimum of 1 is required."
        )
    if x.is_complex():
        raise ValueError(COMPLEX)
    if is_pixels(x):
        return Images(channels_first(x), device, augment=augment, names=names)
    x = x.float()
    bad = ~torch.isfinite(x)
    if bad.any():
        raise _not_finite(int(bad.flatten(1).any(dim=1).nonzero()[0, 0]))
    return Dense(x, device, names, columns=columns)


def _not_finite(row: int) -> ValueError:
    return ValueError(
        f"row {row} of X holds a NaN, or a number that is too large; fill it or leave the row out"
    )


def shape_of(rows: Rows) -> tuple[int, ...]:
    """The shape of a single row."""
    return tuple(rows.take(torch.zeros(1, dtype=torch.long), train=False).shape[1:])


def remember_columns(estimator: Any, rows: Rows) -> None:
    """Set `feature_names_in_` as scikit-learn does: only if X has names of columns."""
    vars(estimator).pop("feature_names_in_", None)  # of an earlier fit
    if (columns := getattr(rows, "columns", None)) is not None:
        estimator.feature_names_in_ = np.asarray(columns, object)


def check_rows(rows: Rows, shape: tuple[int, ...], columns: Names | None = None) -> None:
    """Raise if rows have another shape than a network was built for, or other columns, if both name them."""
    if (found := shape_of(rows)) != tuple(shape):
        if len(found) == len(shape) == 1:
            raise ValueError(
                f"X has {found[0]} features, but CrowdClassifier is expecting {shape[0]} features as input"
            )
        actual, needed = ("x".join(map(str, sizes)) for sizes in (found, shape))
        raise ValueError(f"a row of X is {actual}, but the classifier was trained on rows of {needed}")
    names = getattr(rows, "columns", None)
    if names is not None and columns is not None and names != columns.tolist():
        n = next(n for n, (a, b) in enumerate(zip(names, columns, strict=True)) if a != b)
        raise ValueError(
            f"column {n + 1} of X is {names[n]!r}, but the classifier was trained with {columns[n]!r} there; "
            "give the columns in the same order"
        )
