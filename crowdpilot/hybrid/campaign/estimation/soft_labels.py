"""Soft labels: how any classifier is fitted to class probabilities, found by a fit to toy labels."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats, to_probs
from crowdpilot.hybrid.campaign.estimation.feature_rows import n_rows, take_rows

TOY_ROWS = 100
TOY_CLASSES = 3  # of the toy labels, at most
SUM_TOLERANCE = 1e-3  # of the probabilities of a row, which are often of single precision
MAX_REASON = 200  # characters of an error that are repeated

NO_METHOD = (
    "the classifier has no method '{}'; any with fit and predict_proba serves, others do inside "
    "scikit-learn's CalibratedClassifierCV"
)

Predict = Callable[[Any], Floats]  # from rows to class probabilities, (rows, classes)


class SoftLabelClassifier:
    """A classifier with `fit` and `predict_proba`, and the way in which it is fitted to soft labels.

    It is copied before each fit. The ways, of which the first that works is taken:

    - labels with weights, as in scikit-learn: the most probable class of each row, weighted by its
      probability, `fit(rows, labels, sample_weight=weights)`;
    - soft labels: `fit(rows, targets)` with targets (rows, classes);
    - labels alone.

    No row is given once for each class, as weights would allow: a classifier that divides its rows, to
    calibrate itself or to choose settings, would find copies of a row on both sides. Labels are numbers
    from 0 without gaps. A class that is no label has its mean probability in the targets.
    """

    def __init__(self, classifier: Any) -> None:
        if isinstance(classifier, type):
            raise ValueError(f"the classifier is a class; make one of it with {classifier.__name__}()")
        for method in ("fit", "predict_proba"):  # some have the second only once they are fitted
            if not hasattr(classifier, method) and not hasattr(type(classifier), method):
                raise ValueError(NO_METHOD.format(method))
        self.classifier = classifier
        self._fit: Callable[[Any, Any, Floats], Predict] = fit_to_soft_labels

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self.classifier).__name__

    def check(self, features: Any, K: int) -> None:
        """Find the way in which it is fitted by a fit to toy labels; ValueError if there is none."""
        items = np.linspace(0, n_rows(features) - 1, TOY_ROWS).astype(np.intp)
        rows = take_rows(features, items)
        targets = to_probs(0.1 / K + 0.9 * np.eye(K)[np.arange(TOY_ROWS) % min(K, TOY_CLASSES)])
        reasons = {}
        for way, fit in WAYS.items():
            if way == WITH_WEIGHTS and weight_keyword(self.classifier) is None:
                continue
            try:
                with warnings.catch_warnings(action="ignore"):  # they are about the toy labels
                    fit(copy.deepcopy(self.classifier), rows, targets)(rows)
            except Exception as error:  # whatever it raises
                reasons[way] = reason(error)
            else:
                self._fit = fit
                return
        raise ValueError(f"the classifier {self.name} cannot be trained: {_summary(reasons)}")

    def fit(self, rows: Any, targets: Floats) -> Predict:
        """Fit a copy to soft labels, (rows, classes); returns its predictions as a function."""
        return self._fit(copy.deepcopy(self.classifier), rows, targets)


def fit_to_soft_labels(model: Any, rows: Any, targets: Floats) -> Predict:
    """Fit a model that takes soft labels."""
    fitted = _fitted(model, model.fit(rows, targets))

    def predict(new: Any) -> Floats:
        return _checked(fitted.predict_proba(new), n_rows(new), targets.shape[1])

    return predict


def fit_to_weighted_labels(model: Any, rows: Any, targets: Floats) -> Predict:
    """Fit a model to the most probable class of each row, weighted by its probability."""
    return _fit_to_labels(model, rows, targets, {str(weight_keyword(model)): targets.max(axis=1)})


def fit_to_labels(model: Any, rows: Any, targets: Floats) -> Predict:
    """Fit a model to the most probable class of each row."""
    return _fit_to_labels(model, rows, targets, {})


WITH_WEIGHTS = "labels with weights"
WAYS = {WITH_WEIGHTS: fit_to_weighted_labels, "soft labels": fit_to_soft_labels, "labels": fit_to_labels}


def weight_keyword(classifier: Any) -> str | None:
    """The argument of `fit` that takes weights, None without one; a pipeline passes them to its last step."""
    if steps := getattr(classifier, "steps", None):
        name, last = steps[-1]
        keyword = weight_keyword(last) if hasattr(last, "fit") else None
        return None if keyword is None else f"{name}__{keyword}"
    return "sample_weight" if "sample_weight" in inspect.signature(classifier.fit).parameters else None


def reason(error: Exception) -> str:
    """The kind of an error and its first line."""
    line = str(error).strip().partition("\n")[0][:MAX_REASON].rstrip(":. ")
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def _summary(reasons: dict[str, str]) -> str:
    """Why a fit to toy labels fails, of all ways or of the one that was meant."""
    if WITH_WEIGHTS in reasons or len(set(reasons.values())) == 1:
        return f"a fit to toy labels ends with {next(iter(reasons.values()))}"
    return "; ".join(f"a fit to toy {way} ends with {why}" for way, why in reversed(reasons.items()))


def _fit_to_labels(model: Any, rows: Any, targets: Floats, weights: dict[str, Floats]) -> Predict:
    """Fit a model to labels from 0 without gaps; predictions are about all classes."""
    present, codes = np.unique(targets.argmax(axis=1), return_inverse=True)
    share = targets.mean(axis=0)
    if len(present) == 1:
        return lambda new: np.tile(share, (n_rows(new), 1))
    fitted = _fitted(model, model.fit(rows, codes, **weights))

    def predict(new: Any) -> Floats:
        every = np.tile(share, (n_rows(new), 1))
        every[:, present] = share[present].sum() * _by_code(fitted, new, len(present), len(share))
        return to_probs(every)

    return predict


def _by_code(fitted: Any, rows: Any, codes: int, K: int) -> Floats:
    """The probability of each code, (rows, codes), whatever the order of the model's columns."""
    probs, n = fitted.predict_proba(rows), n_rows(rows)
    classes = getattr(fitted, "classes_", None)
    if classes is None:  # a network may have an output for every class, also where some have no label
        columns = K if np.shape(probs)[-1:] == (K,) else codes
        return to_probs(_checked(probs, n, columns)[:, :codes])
    every = np.zeros((n, codes))
    every[:, np.asarray(classes, np.intp)] = _checked(probs, n, len(classes))
    return every


def _fitted(model: Any, result: Any) -> Any:
    """What `fit` returned if it is the fitted model, otherwise the model itself."""
    fitted = result if hasattr(result, "predict_proba") else model
    if not hasattr(fitted, "predict_proba"):
        raise AttributeError(NO_METHOD.format("predict_proba"))
    return fitted


def _checked(probs: Any, rows: int, columns: int) -> Floats:
    """Probabilities (rows, columns); ValueError if they are none."""
    array = np.asarray(probs, np.float64)
    if array.shape != (rows, columns):
        raise ValueError(f"predict_proba returns an array of shape {array.shape}, expected {(rows, columns)}")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError("predict_proba returns a NaN, an infinite number or one below 0")
    if len(array) and (off := np.abs(array.sum(axis=1) - 1)).max() > SUM_TOLERANCE:
        total = array.sum(axis=1)[off.argmax()]
        raise ValueError(f"a row of predict_proba sums to {total:.3g}, expected 1")
    return to_probs(array)
