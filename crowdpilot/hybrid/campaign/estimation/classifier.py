"""Classifier: cross-fitting of any classifier to soft labels; temperature scaling by votes."""

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
from crowdpilot.calibration import find_map, fit_on_votes
from crowdpilot.growing_arrays import append_rows
from crowdpilot.votes import Votes

FOLDS = 5
MIN_PROBABILITY = 1e-6  # of a class, predicted or as a soft label; less counts as this, or as none
TEMPERATURE_PRECISION = 4.0  # of the normal prior of log temperature, whose mean is 0
TEMPERATURE_BOUNDS = (0.05, 3.0)


class CrossFittedClassifier:
    """Any classifier with `fit` and `predict_proba`, fitted once for each fold of the items.

    An item with votes is predicted by the fit that has not seen it; any other by all fits, whose
    log-probabilities are averaged.

    Parameters
    ----------
    classifier
        `fit(rows, targets)` with soft targets (rows, classes); or, as in scikit-learn,
        `fit(rows, labels, sample_weight=...)`: each row is then given once for each class, weighted
        by its probability. It is copied before each fit. Of several in a list, the one with the best
        held-out log-likelihood on one fold is used, chosen anew at each fit.
    """

    def __init__(self, classifier: Any) -> None:
        self.candidates = list(classifier) if isinstance(classifier, list | tuple) else [classifier]
        for candidate, method in product(self.candidates, ("fit", "predict_proba")):
            if not hasattr(candidate, method):
                raise ValueError(
                    f"the classifier has no method {method!r}; any with fit and predict_proba serves"
                )
        self.features: Any = None

    def add_items(self, features: Any, n: int) -> None:
        """Features of `n` new items: an array, a sparse matrix or a list."""
        if n == 0 and features is None:
            return
        if features is None or _length(features) != n:
            found = "no features" if features is None else f"features of {_length(features)} items"
            raise ValueError(
                f"there are {found}, expected a row for each of {n} items: the classifier needs them"
            )
        features = features.tocsr() if hasattr(features, "tocsr") else features
        if self.features is None:
            self.features = list(features) if isinstance(features, list) else features
        elif isinstance(features, list):
            self.features += features
        elif features.shape[1:] != self.features.shape[1:]:
            raise ValueError(
                f"new rows have shape {features.shape[1:]}, expected {self.features.shape[1:]} as before"
            )
        else:
            join: Any = _stacked if issparse(features) else append_rows
            self.features = join(self.features, features)

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Drop the features of all other items."""
        if self.features is not None:
            self.features = self.features_of(rows)

    def __len__(self) -> int:
        return 0 if self.features is None else _length(self.features)

    @property
    def is_numeric(self) -> bool:
        """Whether features are numbers, so that items have a cosine similarity."""
        if issparse(self.features):
            return True
        return isinstance(self.features, np.ndarray) and self.features.dtype.kind in "biuf"

    def features_of(self, items: NDArray[np.intp]) -> Any:
        """The features of some items."""
        if isinstance(self.features, list):
            return [self.features[i] for i in items]
        return self.features[items]

    def fit_predict(self, labelled: NDArray[np.intp], targets: Floats, fold: NDArray[np.intp]) -> Floats:
        """Fit to the labelled items and predict every item, (items, classes).

        Parameters
        ----------
        labelled
            Rows of the items to learn from.
        targets
            Probabilities of their classes, (labelled, classes).
        fold
            Of every item.
        """
        K = targets.shape[1]
        log_probs, fits = np.zeros((len(self), K)), np.zeros((len(self), 1))
        unlabelled = np.ones(len(self), bool)
        unlabelled[labelled] = False
        classifier = self._best_candidate(labelled, targets, fold)
        for f in range(FOLDS):
            others = fold[labelled] != f
            if not others.any():
                continue
            fitted = self._fit(classifier, labelled[others], targets[others])
            unseen = np.flatnonzero(unlabelled | (fold == f))
            log_probs[unseen] += np.log(np.maximum(self._predict(fitted, unseen, K), MIN_PROBABILITY))
            fits[unseen] += 1
        return softmax(log_probs / np.maximum(fits, 1))

    def fit_predict_calibrated(
        self, votes: Votes, posterior: Floats, fold: NDArray[np.intp], confusion: Floats, map_name: str
    ) -> Floats:
        """Fit to the posterior of the items with votes and predict every item, calibrated by the votes.

        The calibration map maximizes the likelihood of the votes. That items were chosen for their value
        does not bias it, as it would bias the shares of classes among these items.

        Parameters
        ----------
        votes
            Their tasks are the rows of the items that have votes.
        posterior
            Of these, (tasks, classes).
        fold
            Of every item.
        confusion
            (workers, true, said).
        map_name
            One of `crowdpilot.calibration.MAPS`; if empty, Platt scaling for two classes and temperature
            scaling for more.
        """
        voted = np.asarray(votes.tasks, np.intp)
        probs = self.fit_predict(voted, posterior, fold)
        name = map_name or ("platt" if posterior.shape[1] == 2 else "temperature")
        calibrate = fit_on_votes(find_map(name), probs[voted], votes, confusion)
        return floored(calibrate(probs), MIN_PROBABILITY)

    def _best_candidate(self, labelled: NDArray[np.intp], targets: Floats, fold: NDArray[np.intp]) -> Any:
        """The candidate with the best log-likelihood on the first fold, fitted to the others."""
        held_out = fold[labelled] == 0
        if len(self.candidates) == 1 or held_out.all() or not held_out.any():
            return self.candidates[0]
        losses = []
        for candidate in self.candidates:
            fitted = self._fit(candidate, labelled[~held_out], targets[~held_out])
            probs = self._predict(fitted, labelled[held_out], targets.shape[1])
            losses.append(-(targets[held_out] * np.log(np.maximum(probs, MIN_PROBABILITY))).sum())
        return self.candidates[int(np.argmin(losses))]

    def _fit(self, classifier: Any, items: NDArray[np.intp], targets: Floats) -> Any:
        model = copy.deepcopy(classifier)
        if "sample_weight" not in inspect.signature(model.fit).parameters:
            return model.fit(self.features_of(items), targets)
        row, label = np.nonzero(targets > MIN_PROBABILITY)
        return model.fit(self.features_of(items[row]), label, sample_weight=targets[row, label])

    def _predict(self, fitted: Any, items: NDArray[np.intp], K: int) -> Floats:
        probs = np.asarray(fitted.predict_proba(self.features_of(items)), np.float64)
        known = getattr(fitted, "classes_", None)
        if known is None or probs.shape[1] == K:
            return probs
        every = np.zeros((len(probs), K))
        every[:, np.asarray(known, np.intp)] = probs
        return to_probs(every + MIN_PROBABILITY)


def fit_temperature(probs: Floats, log_likelihood: Floats) -> float:
    """The power of a classifier's probabilities under which the votes are most likely (temperature scaling).

    Maximizes sum_i log sum_k P_i(k) P(votes on i | k) with P_i(k) ∝ probs[i, k] ** temperature and a
    log-normal prior around 1. It needs no known classes, and items may have been chosen for their value.

    Parameters
    ----------
    probs
        Of the items with votes, (items, classes), all above zero.
    log_likelihood
        log P(votes | class), (items, classes).
    """
    logs = np.log(probs)

    def loss(temperature: float) -> float:
        likelihood = logsumexp(log_softmax(temperature * logs, axis=1) + log_likelihood, axis=1).sum()
        return float(TEMPERATURE_PRECISION / 2 * np.log(temperature) ** 2 - likelihood)

    return float(minimize_scalar(loss, bounds=TEMPERATURE_BOUNDS, method="bounded").x)


def floored(probs: Any, floor: float) -> Floats:
    """Probabilities (rows, classes) with none below the floor."""
    p = np.asarray(probs, np.float64)
    return to_probs(np.maximum(p, floor / max(p.shape[1] - 1, 1)))


def _stacked(above: Any, below: Any) -> Any:
    return vstack([above, below])


def _length(rows: Any) -> int:
    shape = getattr(rows, "shape", None)
    return int(shape[0]) if shape is not None else len(rows)
