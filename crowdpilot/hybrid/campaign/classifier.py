"""The machine: a classifier that learns from the crowd and is asked only about what it has not seen."""

from __future__ import annotations

import copy
import inspect
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.sparse import issparse, vstack
from scipy.special import log_softmax, logsumexp

from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.growing_arrays import grown

FOLDS = 5
LEAST = 1e-6  # of a soft label; less is nothing
HELD = 4.0  # how firmly the boldness of a machine is held at one: the precision of its log


class Learner:
    """Any classifier with `fit` and `predict_proba`, fitted once for each fold of the items.

    An item with votes is foreseen by the fit that has not seen them; any other by all fits.

    Parameters
    ----------
    classifier
        `fit(rows, targets)` with soft targets (rows, classes); or, as in scikit-learn,
        `fit(rows, labels, sample_weight=...)`: each row is then given once for each class, weighted
        by its probability. It is copied before each fit. Of several in a list, the one that foresees
        one fold best is used, found anew each time.
    """

    def __init__(self, classifier: Any) -> None:
        self.candidates = list(classifier) if isinstance(classifier, list | tuple) else [classifier]
        for candidate, method in product(self.candidates, ("fit", "predict_proba")):
            if not hasattr(candidate, method):
                raise ValueError(
                    f"the classifier has no method {method!r}; any with fit and predict_proba serves"
                )
        self.rows: Any = None

    def add(self, rows: Any, n: int) -> None:
        """What it sees of `n` new items: an array, a sparse matrix or a list."""
        if n == 0 and rows is None:
            return
        if rows is None or _length(rows) != n:
            found = "no features" if rows is None else f"features of {_length(rows)} items"
            raise ValueError(
                f"there are {found}, expected a row for each of {n} items: the classifier needs them"
            )
        rows = rows.tocsr() if hasattr(rows, "tocsr") else rows
        if self.rows is None:
            self.rows = list(rows) if isinstance(rows, list) else rows
        elif isinstance(rows, list):
            self.rows += rows
        elif rows.shape[1:] != self.rows.shape[1:]:
            raise ValueError(
                f"new rows have shape {rows.shape[1:]}, expected {self.rows.shape[1:]} as before"
            )
        else:
            join: Any = _stacked if issparse(rows) else grown
            self.rows = join(self.rows, rows)

    def __len__(self) -> int:
        return 0 if self.rows is None else _length(self.rows)

    @property
    def compares(self) -> bool:
        """Whether rows are numbers, so that one can say how much they are like each other."""
        return issparse(self.rows) or (isinstance(self.rows, np.ndarray) and self.rows.dtype.kind in "biuf")

    def foresee(self, seen: NDArray[np.intp], targets: Floats, fold: NDArray[np.intp]) -> Floats:
        """What it says of every item, (items, classes).

        Parameters
        ----------
        seen
            The items to learn from.
        targets
            Probabilities of their classes, (seen, classes).
        fold
            Of every item.
        """
        K = targets.shape[1]
        logs, asked = np.zeros((len(self), K)), np.zeros((len(self), 1))
        new = np.ones(len(self), bool)
        new[seen] = False
        classifier = self._best(seen, targets, fold)
        for f in range(FOLDS):
            others = fold[seen] != f
            if not others.any():
                continue
            fitted = self._fit(classifier, seen[others], targets[others])
            mine = np.flatnonzero(new | (fold == f))
            logs[mine] += np.log(np.maximum(self._say(fitted, mine, K), LEAST))
            asked[mine] += 1
        return softmax(logs / np.maximum(asked, 1))

    def _best(self, seen: NDArray[np.intp], targets: Floats, fold: NDArray[np.intp]) -> Any:
        """The candidate that foresees the first fold best from the others."""
        held = fold[seen] == 0
        if len(self.candidates) == 1 or held.all() or not held.any():
            return self.candidates[0]
        costs = []
        for candidate in self.candidates:
            fitted = self._fit(candidate, seen[~held], targets[~held])
            said = self._say(fitted, seen[held], targets.shape[1])
            costs.append(-(targets[held] * np.log(np.maximum(said, LEAST))).sum())
        return self.candidates[int(np.argmin(costs))]

    def _fit(self, classifier: Any, seen: NDArray[np.intp], targets: Floats) -> Any:
        model = copy.deepcopy(classifier)
        if "sample_weight" not in inspect.signature(model.fit).parameters:
            return model.fit(self.take(seen), targets)
        row, label = np.nonzero(targets > LEAST)
        return model.fit(self.take(seen[row]), label, sample_weight=targets[row, label])

    def _say(self, fitted: Any, items: NDArray[np.intp], K: int) -> Floats:
        said = np.asarray(fitted.predict_proba(self.take(items)), np.float64)
        known = getattr(fitted, "classes_", None)
        if known is None or said.shape[1] == K:
            return said
        every = np.zeros((len(said), K))
        every[:, np.asarray(known, np.intp)] = said
        return to_probs(every + LEAST)

    def take(self, items: NDArray[np.intp]) -> Any:
        """The rows of some items."""
        return [self.rows[i] for i in items] if isinstance(self.rows, list) else self.rows[items]


def find_boldness(probs: Floats, heard: Floats) -> float:
    """The power to which a machine's probabilities are honest, by the votes alone.

    The votes are most likely if items are of class *k* with a probability ∝ probs[k] ** boldness.
    Votes were asked where they were wanted, which does no harm to a likelihood; nobody needs to
    know the truth.

    Parameters
    ----------
    probs
        What the machine says of items with votes, (items, classes), all above zero.
    heard
        Log-probability of the votes on each, were it of each class.
    """
    logs = np.log(probs)

    def cost(bold: float) -> float:
        likely = logsumexp(log_softmax(bold * logs, axis=1) + heard, axis=1).sum()
        return float(HELD / 2 * np.log(bold) ** 2 - likely)

    return float(minimize_scalar(cost, bounds=(0.05, 3.0), method="bounded").x)


def _stacked(above: Any, below: Any) -> Any:
    return vstack([above, below])


def _length(rows: Any) -> int:
    shape = getattr(rows, "shape", None)
    return int(shape[0]) if shape is not None else len(rows)
