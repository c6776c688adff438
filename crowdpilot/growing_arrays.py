"""Arrays that grow at their end in amortized constant time for each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MIN_SPARE_ROWS = 16


class Buffer(np.ndarray[Any, Any]):
    """Memory for more rows than are used. It is the base of the arrays made here, and of no slice of them."""

    used: int


def append_rows(array: NDArray[Any], rows: ArrayLike) -> NDArray[Any]:
    """The array with more rows at its end; the array itself stays as it is.

    The result is a view of the beginning of a larger buffer, and so the next call copies nothing.

    Parameters
    ----------
    array
        Of any number of dimensions.
    rows
        The rows that follow, of the same shape but for their number.

    Examples
    --------
    >>> append_rows(append_rows(np.zeros((0, 2)), [[1, 2]]), [[3, 4], [5, 6]]).tolist()
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    """
    new = np.asarray(rows, array.dtype)
    before, after = len(array), len(array) + len(new)
    base = array.base
    if isinstance(base, Buffer) and base.used == before and len(base) >= after:
        buffer = base
    else:
        buffer = Buffer((after + after // 2 + MIN_SPARE_ROWS, *array.shape[1:]), array.dtype)
        buffer[:before] = array
    buffer[before:after] = new
    buffer.used = after
    return np.ndarray((after, *array.shape[1:]), array.dtype, buffer=buffer)
