"""Classifier: cross-fitting of any classifier to the posterior; temperature scaling by votes."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, logsumexp

from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.calibration import find_map, fit_on_votes
from crowdpilot.hybrid.campaign.estimation import feature_rows
from crowdpilot.hybrid.campaign.estimation.soft_labels import SoftLabelClassifier, reason
from crowdpilot.votes import Votes

FOLDS = 5
MIN_PROBABILITY = 1e-6  # of a class, predicted or as a soft label; less counts as this, or as none
TEMPERATURE_PRECISION = 4.0  # of the normal prior of log temperature, whose mean is 0
TEMPERATURE_BOUNDS = (0.05, 3.0)


class ClassifierWarning(UserWarning):
    """A classifier could not be fitted to the votes, and the campaign goes on without this fit."""


class CrossFittedClassifier:
    """Any classifier with `fit` and `predict_proba`, fitted once for each fold of the items.

    An item with votes is predicted by the fit that has not seen it; any other by all fits, whose
    log-probabilities are averaged.

    Parameters
    ----------
    classifier
        See `SoftLabelClassifier`. Of several in a list, the one with the best held-out log-likelihood on
        one fold is used, chosen anew at each fit.
    classes
        Their number.
    """

    def __init__(self, classifier: Any, classes: int) -> None:
        listed = list(classifier) if isinstance(classifier, list | tuple) else [classifier]
        if not listed:
            raise ValueError("the list of classifiers is empty")
        self.candidates = [SoftLabelClassifier(each) for each in listed]
        self.classes = classes
        self.features: Any = None
        self.failure: Exception | None = None

    def add_items(self, features: Any, n: int) -> None:
        """Features of `n` new items: an array, a sparse matrix, a frame or a list.

        The first ones are used to check the classifiers by a fit to toy labels.
        """
        if n == 0:
            return
        features = feature_rows.check_features(features, n)
        if self.features is not None:
            features = feature_rows.join_rows(self.features, features)
        else:
            for candidate in self.candidates:
                candidate.check(features, self.classes)
        self.features = features

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Drop the features of all other items."""
        if self.features is not None:
            self.features = self.features_of(rows)

    def __len__(self) -> int:
        return 0 if self.features is None else feature_rows.n_rows(self.features)

    @property
    def is_numeric(self) -> bool:
        """Whether features are rows of numbers, so that items have a cosine similarity."""
        return feature_rows.are_vectors(self.features)

    def features_of(self, items: NDArray[np.intp]) -> Any:
        """The features of some items."""
        return feature_rows.take_rows(self.features, items)

    def warn_of_failure(self) -> None:
        """Warn once of a fit that failed since the last call."""
        if (error := self.failure) is not None:
            self.failure = None
            warnings.warn(
                f"the classifier could not be fitted to the votes so far ({reason(error)}); "
                "all votes are kept, and what it predicted before stays",
                ClassifierWarning,
                stacklevel=2,
            )

    def try_fit_predict(
        self, labelled: NDArray[np.intp], targets: Floats, fold: NDArray[np.intp]
    ) -> Floats | None:
        """As `fit_predict`; None if the classifier raises an error, which is kept for `warn_of_failure`."""
        try:
            return self.fit_predict(labelled, targets, fold)
        except Exception as error:  # whatever it raises, the votes are there and the campaign goes on
            self.failure = error
            return None

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
            unseen = np.flatnonzero(unlabelled | (fold == f))
            if not others.any() or not len(unseen):
                continue
            predict = classifier.fit(self.features_of(labelled[others]), targets[others])
            log_probs[unseen] += np.log(np.maximum(predict(self.features_of(unseen)), MIN_PROBABILITY))
            fits[unseen] += 1
        return softmax(log_probs / np.maximum(fits, 1))

    def fit_predict_calibrated(
        self, votes: Votes, posterior: Floats, fold: NDArray[np.intp], confusion: Floats, map_name: str
    ) -> Floats | None:
        """Fit to the posterior of the items with votes and predict every item, calibrated by the votes.

        None if the classifier fails; see `warn_of_failure`.

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
        if (probs := self.try_fit_predict(voted, posterior, fold)) is None:
            return None
        name = map_name or ("platt" if posterior.shape[1] == 2 else "temperature")
        calibrate = fit_on_votes(find_map(name), probs[voted], votes, confusion)
        return floored(calibrate(probs), MIN_PROBABILITY)

    def _best_candidate(
        self, labelled: NDArray[np.intp], targets: Floats, fold: NDArray[np.intp]
    ) -> SoftLabelClassifier:
        """The candidate with the best log-likelihood on the first fold, fitted to the others."""
        held_out = fold[labelled] == 0
        if len(self.candidates) == 1 or held_out.all() or not held_out.any():
            return self.candidates[0]
        fitted_to, predicted = labelled[~held_out], self.features_of(labelled[held_out])
        losses = np.full(len(self.candidates), np.inf)
        for n, candidate in enumerate(self.candidates):
            with suppress(Exception):  # one that fails is not chosen; if all do, the first says why
                probs = candidate.fit(self.features_of(fitted_to), targets[~held_out])(predicted)
                losses[n] = -(targets[held_out] * np.log(np.maximum(probs, MIN_PROBABILITY))).sum()
        return self.candidates[int(np.argmin(losses))]


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
