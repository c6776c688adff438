"""Checks of class probabilities: rows that do not sum to one are refused in a sentence that says why."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdpilot.arrays import Floats, Names, to_probs

ROUNDING_PER_CLASS = 0.005  # half a unit of the second decimal: rows rounded to two decimals are accepted
MAX_ROUNDING = 0.05  # of a sum, however many classes there are
FLOAT_ERROR = 1e-3  # of a sum, and of a zero
MAX_SHOWN_NUMBERS = 4


def check_probs(values: Floats, tasks: Names, classes: Names, name: str) -> Floats:
    """The same rows, each scaled to sum to one.

    A sum may miss one by .005 for each class, .05 at most: probabilities rounded to two decimals pass.

    Parameters
    ----------
    values
        (tasks, classes).
    tasks, classes
        Their names, for the sentence of an error.
    name
        How the sentence calls the probabilities.

    Raises
    ------
    ValueError
        With the first task whose row is wrong, and what to do: missing numbers, logits, logarithms,
        percentages, counts, negative numbers, or another sum.
    """
    if len(missing := np.argwhere(~np.isfinite(values))):
        row, column = missing[0]
        raise ValueError(
            f"{name} of task {_text(tasks, row)} have no number for the class {_text(classes, column)}; "
            "give one for each class"
        )
    tolerance = FLOAT_ERROR + min(ROUNDING_PER_CLASS * values.shape[1], MAX_ROUNDING)
    wrong = (values < -FLOAT_ERROR).any(axis=1) | (np.abs(values.sum(axis=1) - 1) > tolerance)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{name} of task {_text(tasks, row)} {_what_is_wrong(values, row)}")
    return to_probs(np.maximum(values, 0), copy=False)


def _what_is_wrong(values: Floats, row: int) -> str:
    """What the numbers of a row look like, judged by all rows, and what to do."""
    sums, total = values.sum(axis=1), values[row].sum()
    numbers = ", ".join(f"{x:.4g}" for x in values[row][:MAX_SHOWN_NUMBERS])
    shown = f"are {numbers}{', …' if values.shape[1] > MAX_SHOWN_NUMBERS else ''}"
    if (values <= 0).all() and np.allclose(np.exp(values).sum(axis=1), 1, atol=MAX_ROUNDING):
        return f"{shown}, which are logarithms of probabilities: apply np.exp first"
    if (values < 0).any() and np.allclose(sums, 1, atol=MAX_ROUNDING):
        return f"{shown}; a probability is never negative"
    if (values < 0).any():
        return f"{shown}; these look like logits: apply softmax first, as scipy.special.softmax(x, axis=1)"
    if np.allclose(sums, 100, atol=1):
        return f"{shown}, which sum to {total:g}: these are percentages, so divide them by 100"
    if values.max() > 1 and (values == np.floor(values)).all():
        return f"{shown}, which are counts: divide each row by its sum"
    if values.max() > 1 and not np.allclose(sums, sums[0], atol=MAX_ROUNDING):
        return f"{shown}; these look like logits: apply softmax first, as scipy.special.softmax(x, axis=1)"
    return f"sum to {total:.4g}, expected 1: give the probabilities of all classes"


def _text(names: Names, n: Any) -> str:
    return repr(str(names[n]))
