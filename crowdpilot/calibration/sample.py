"""Sample: probabilities with targets and weights, checked once for every calibration map."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats

MIN_TASKS = 2  # of known class, to fit a map


class Sample(NamedTuple):
    """Tasks of known class."""

    probs: Floats  # (tasks, classes), predictions of a classifier
    target: Floats  # (tasks, classes), probability of each class
    weight: Floats  # (tasks,)

    def take(self, rows: NDArray[Any]) -> Sample:
        """The sample of some of the tasks."""
        return Sample(self.probs[rows], self.target[rows], self.weight[rows])

    def class_shares(self, pseudo_count: float) -> Floats:
        """The share of each class, (classes,), with a total pseudo-count spread equally over the classes."""
        K = self.target.shape[1]
        shares: Floats = (self.weight @ self.target + pseudo_count / K) / (self.weight.sum() + pseudo_count)
        return shares


def check_probs(probs: ArrayLike, what: str = "probabilities") -> Floats:
    """An array (tasks, classes) whose rows are probabilities.

    Raises
    ------
    ValueError
        If it has another shape, or a row has a negative number, a NaN or a sum other than one.
    """
    p = np.asarray(probs, np.float64)
    if p.ndim != 2 or p.shape[1] < 2:
        raise ValueError(f"the {what} have shape {p.shape}, expected (tasks, classes) with 2 classes or more")
    wrong = ~((p >= 0).all(axis=1) & np.isclose(p.sum(axis=1), 1, atol=1e-6))  # a NaN is not >= 0
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"row {row + 1} of the {what} is {_show(p[row])}, expected numbers that sum to 1")
    return p


def labelled_sample(probs: ArrayLike, target: ArrayLike, weight: ArrayLike | None) -> Sample:
    """The sample of the tasks of known class with a weight above zero.

    Raises
    ------
    ValueError
        If they are fewer than two, or the arrays do not fit each other.
    """
    sample = make_sample(probs, target, weight)
    sample = sample.take(sample.target.any(axis=1) & (sample.weight > 0))
    if (n := len(sample.probs)) < MIN_TASKS:
        raise ValueError(
            f"{n} tasks have a known class and a weight, expected {MIN_TASKS} or more to fit a map"
        )
    return sample


def make_sample(probs: ArrayLike, target: ArrayLike, weight: ArrayLike | None) -> Sample:
    """The sample of all tasks; the target of those of unknown class is zeros.

    Raises
    ------
    ValueError
        If the arrays do not fit each other.
    """
    p = check_probs(probs)
    t = np.asarray(target)
    _check_length("classes", len(p), len(np.atleast_1d(t)))
    soft = _soft(t, p.shape[1]) if t.ndim == 2 else _one_hot(t, p.shape[1])
    w = np.ones(len(p)) if weight is None else np.asarray(weight, np.float64)
    _check_length("weights", len(p), len(np.atleast_1d(w)))
    if w.ndim != 1 or not (np.isfinite(w) & (w >= 0)).all():
        raise ValueError("the weights hold something else than one number of 0 or more for each task")
    return Sample(p, soft, w)


def log_loss(sample: Sample, probs: Floats) -> Floats:
    """The cross-entropy of probabilities (tasks, classes) to the target of each task, (tasks,)."""
    loss: Floats = -np.einsum("nk,nk->n", sample.target, np.log(probs))
    return loss


def _one_hot(codes: NDArray[Any], K: int) -> Floats:
    if codes.ndim != 1 or codes.dtype.kind not in "iub":
        raise ValueError("the target is neither a code for each task nor a row of soft labels")
    wrong = (codes < -1) | (codes >= K) if codes.dtype.kind == "i" else codes >= K
    if wrong.any():
        raise ValueError(
            f"class {codes[wrong.argmax()]} in the target, expected codes between -1 and {K - 1}"
        )
    return np.vstack([np.eye(K), np.zeros(K)])[codes.astype(np.intp)]  # -1 is the last row


def _soft(target: NDArray[Any], K: int) -> Floats:
    if target.shape[1] != K:
        raise ValueError(
            f"the soft labels have {target.shape[1]} columns, expected one for each of {K} classes"
        )
    t = np.asarray(target, np.float64)
    known = (t != 0).any(axis=1)
    check_probs(np.where(known[:, None], t, 1 / K), "soft labels")
    return t


def _check_length(what: str, tasks: int, length: int) -> None:
    if length != tasks:
        raise ValueError(f"there are {length} {what}, expected one for each of {tasks} rows of probabilities")


def _show(row: Floats) -> str:
    shown = ", ".join(f"{p:.6g}" for p in row[:5])
    return f"({shown}, ...)" if len(row) > 5 else f"({shown})"
