"""Arrays that grow at their end, in time that depends on what is added and not on what is there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEAST = 16  # spare rows


class Room(np.ndarray[Any, Any]):
    """More rows than are used so far. It is the base of the arrays made here, and of no slice of them."""

    used: int


def grown(array: NDArray[Any], rows: ArrayLike) -> NDArray[Any]:
    """The array with more rows at its end; the array itself stays as it is.

    The result is the beginning of a larger array, and so the next call copies nothing.

    Parameters
    ----------
    array
        Of any number of dimensions.
    rows
        What comes after it, of the same shape but for their number.

    Examples
    --------
    >>> grown(grown(np.zeros((0, 2)), [[1, 2]]), [[3, 4], [5, 6]]).tolist()
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    """
    new = np.asarray(rows, array.dtype)
    before, after = len(array), len(array) + len(new)
    base = array.base
    if isinstance(base, Room) and base.used == before and len(base) >= after:
        room = base
    else:
        room = Room((after + after // 2 + LEAST, *array.shape[1:]), array.dtype)
        room[:before] = array
    room[before:after] = new
    room.used = after
    return np.ndarray((after, *array.shape[1:]), array.dtype, buffer=room)
