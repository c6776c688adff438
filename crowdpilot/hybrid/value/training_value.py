"""Training value: how much one more label reduces the classifier's loss, from its learning curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MIN_CURVE_POINTS = 3  # of a learning curve before it is extrapolated


def training_value(curve: Sequence[tuple[int, float]], items: int) -> float:
    """The expected fall of the classifier's total loss on `items` items through one more label.

    The model loss(n) = c + d / sqrt(n) is fitted to the learning curve by least squares. The value is
    its slope at the last point, d / 2 n^(-3/2), times the number of items. It fades as the curve
    flattens, and is zero where the loss does not fall.

    Parameters
    ----------
    curve
        Pairs of the number of labels, and the classifier's expected loss per item after training on them.
    items
        Number of items without votes, which the classifier decides.

    Examples
    --------
    >>> round(training_value([(100, 0.3), (200, 0.25), (400, 0.215)], items=1000), 3)
    0.106
    >>> training_value([(100, 0.3), (200, 0.3), (400, 0.3)], items=1000)
    0.0
    """
    if len(curve) < MIN_CURVE_POINTS:
        return 0.0
    labels, loss = np.array(curve, np.float64).T
    x = 1 / np.sqrt(np.maximum(labels, 1))
    centred = x - x.mean()
    if not centred.any():
        return 0.0
    d = float(centred @ loss / (centred @ centred))
    slope = d / 2 * float(labels[-1] ** -1.5)
    return max(0.0, slope) * items
