"""Screening by several criteria: an item is in if all of its criteria hold, out if one fails."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats, sum_by


def inclusion_probability(holds: ArrayLike, item: ArrayLike, items: int) -> Floats:
    """P(in) = Π P(criterion holds) of each item, (items,); one for an item without criteria.

    Parameters
    ----------
    holds
        For each question, the probability that its criterion holds for its item, (questions,); criteria
        are taken as independent.
    item
        The item of each question, as numbers from 0, (questions,).
    items
        Number of items.

    Examples
    --------
    >>> inclusion_probability([0.5, 0.8, 0.9], [0, 0, 1], items=2).tolist()
    [0.4, 0.9]
    """
    h, of = _checked(holds, item)
    if len(of) and of.max() >= items:
        raise ValueError(f"a question is about item {of.max()}, expected numbers below {items}")
    probability = np.ones(items)
    np.multiply.at(probability, of, h)
    return probability


def others_hold(holds: ArrayLike, item: ArrayLike) -> Floats:
    """For each question, the probability that all other criteria of its item hold, (questions,).

    Examples
    --------
    >>> others_hold([0.5, 0.8, 0.0], [0, 0, 0]).round(3).tolist()
    [0.0, 0.0, 0.4]
    """
    h, of = _checked(holds, item)
    zero = h == 0
    # No division by a probability, which may be zero: zeros are counted, and the others' logs summed.
    logs = np.log(np.where(zero, 1, h))
    items = int(of.max(initial=-1)) + 1
    rest = np.exp(np.minimum(sum_by(of, logs, items)[of] - logs, 0))
    other_zeros = sum_by(of, zero.astype(np.float64), items)[of] - zero
    return np.where(other_zeros > 0, 0.0, rest)


def screening_errors(holds: ArrayLike, item: ArrayLike, errors: ArrayLike) -> Floats:
    """Error costs of the decision about the item if a criterion fails or holds, (questions, 2, decisions).

    An item with a criterion that fails is out; where it holds, the item is in if all others hold too,
    with probability r: the costs are errors[0] and (1 - r) errors[0] + r errors[1]. With these costs the
    expected loss L(P) of an item is the same for each of its questions, and `look_ahead` or
    `plan_ahead` gives the value of asking that question next.

    Parameters
    ----------
    holds, item
        As for `inclusion_probability`.
    errors
        Cost of each decision about items that are out and in, (2, decisions).

    Examples
    --------
    >>> screening_errors([0.5, 0.8], [0, 0], [[0, 1], [5, 0]]).round(3).tolist()
    [[[0.0, 1.0], [4.0, 0.2]], [[0.0, 1.0], [2.5, 0.5]]]
    """
    C = np.asarray(errors, np.float64)
    if C.ndim != 2 or len(C) != 2:
        raise ValueError(f"the errors have shape {C.shape}, expected (2, decisions): items are out or in")
    r = others_hold(holds, item)[:, None]
    return np.stack([np.broadcast_to(C[0], (len(r), C.shape[1])), (1 - r) * C[0] + r * C[1]], axis=1)


def _checked(holds: ArrayLike, item: ArrayLike) -> tuple[Floats, NDArray[Any]]:
    h, of = np.asarray(holds, np.float64), np.asarray(item)
    if h.ndim != 1 or h.shape != of.shape:
        raise ValueError(
            f"there are probabilities {h.shape} and items {of.shape}, expected one for each question"
        )
    if len(of) == 0:
        return h, np.zeros(0, np.intp)
    if not np.issubdtype(of.dtype, np.integer) or of.min() < 0:
        raise ValueError("the items of the questions are numbers from 0")
    if not ((h >= 0) & (h <= 1)).all():
        raise ValueError("a criterion holds with a probability that is not between 0 and 1")
    return h, of
