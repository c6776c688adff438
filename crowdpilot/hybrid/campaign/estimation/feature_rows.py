"""Feature rows: arrays, sparse matrices, frames, tensors and lists, selected by item and extended alike."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from crowdpilot.growing_arrays import append_rows
from crowdpilot.names import lookup, names_in_index, to_names


def check_features(features: Any, n: int) -> Any:
    """Features of `n` items in a form that can be selected and extended; ValueError if there are not `n`."""
    if features is None or n_rows(features) != n:
        found = "no features" if features is None else f"features of {n_rows(features)} items"
        raise ValueError(
            f"there are {found}, expected a row for each of {n} items: the classifier needs them"
        )
    if hasattr(features, "tocsr"):
        return features.tocsr()
    if isinstance(features, np.ndarray) and features.dtype.kind in "US":
        return features.astype(object)  # later texts may be longer
    return features if hasattr(features, "shape") else list(features)


def rows_by_name(features: Any, names: list[Any]) -> Any:
    """The features of these items: by name if the index of a data frame has them, otherwise as they are."""
    index = names_in_index(features, to_names(names))
    return features if index is None else features.iloc[lookup(names, index)]


def n_rows(features: Any) -> int:
    """How many items these are the features of."""
    shape = getattr(features, "shape", None)
    return len(features) if shape is None else int(shape[0])


def take_rows(features: Any, items: NDArray[np.intp]) -> Any:
    """The features of some items."""
    if isinstance(features, list):
        return [features[i] for i in items]
    return features.iloc[items] if hasattr(features, "iloc") else features[items]


def join_rows(above: Any, below: Any) -> Any:
    """The features of items that were there before and of new ones, which must be of the same kind."""
    if _kind(above) != _kind(below):
        raise ValueError(f"new features are a {_kind(below)}, expected a {_kind(above)} as before")
    if isinstance(above, list):
        return above + below
    if above.shape[1:] != below.shape[1:]:
        raise ValueError(f"new rows have shape {below.shape[1:]}, expected {above.shape[1:]} as before")
    if hasattr(above, "tocsr"):
        return vstack([above, below])
    if isinstance(above, np.ndarray):
        dtype = np.result_type(above, below)
        return append_rows(above if above.dtype == dtype else above.astype(dtype), below)
    if list(getattr(above, "columns", ())) != list(getattr(below, "columns", ())):
        raise ValueError("new rows have other columns than those before")
    return sys.modules[_kind(above)].concat([above, below])  # pandas, polars and torch all call it so


def are_vectors(features: Any) -> bool:
    """Whether each item has a row of numbers, so that items have a cosine similarity."""
    if issparse(features):
        return True
    return isinstance(features, np.ndarray) and features.ndim == 2 and features.dtype.kind in "biuf"


def _kind(features: Any) -> str:
    """What the features are: a list, a sparse matrix, or something of a package."""
    if isinstance(features, list) or issparse(features):
        return "list" if isinstance(features, list) else "sparse matrix"
    return type(features).__module__.partition(".")[0]
