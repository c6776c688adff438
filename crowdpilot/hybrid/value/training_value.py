"""Training value: what one more label brings through the machine that learns from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FIRST = 3  # points of a learning curve before it says anything


def training_value(curve: Sequence[tuple[int, float]], items: int) -> float:
    """By how much one more label makes the machine's expected loss on `items` items fall.

    A curve loss = c + d / sqrt(labels) is laid through what was measured, by least squares; its slope
    at the last point, times the items that the machine decides, is the value. It fades as the curve
    flattens, and is zero where the loss does not fall.

    Parameters
    ----------
    curve
        Labels, and the machine's expected loss for each item with so many.
    items
        That have no vote yet.

    Examples
    --------
    >>> round(training_value([(100, 0.3), (200, 0.25), (400, 0.215)], items=1000), 3)
    0.106
    >>> training_value([(100, 0.3), (200, 0.3), (400, 0.3)], items=1000)
    0.0
    """
    if len(curve) < FIRST:
        return 0.0
    labels, loss = np.array(curve, np.float64).T
    x = 1 / np.sqrt(np.maximum(labels, 1))
    spread = x - x.mean()
    if not spread.any():
        return 0.0
    d = float(spread @ loss / (spread @ spread))
    slope = d / 2 * float(labels[-1] ** -1.5)
    return max(0.0, slope) * items
