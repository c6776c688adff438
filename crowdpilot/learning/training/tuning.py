"""Hyperparameter tuning: grid search over the settings of a classifier on a validation set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from crowdpilot import metrics
from crowdpilot.learning.classifier import CrowdClassifier
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.data.labels import votes_on
from crowdpilot.learning.registry import find_backbone

TuneBy = Literal["log_loss", "accuracy", "macro_f1"]
Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]


class Tuned(NamedTuple):
    """The best classifier, and the settings and scores of all combinations in their order."""

    model: CrowdClassifier
    tried: list[dict[str, Any]]


def tune(
    model: CrowdClassifier,
    grid: Grid,
    X: Any,
    y: Any,
    validation: tuple[Any, Any],
    *,
    by: TuneBy = "log_loss",
    tasks: Sequence[Any] | None = None,
    classes: Sequence[Any] | None = None,
    on_result: Callable[[dict[str, Any]], None] | None = None,
) -> Tuned:
    """Train a classifier with each combination of settings, and keep the best.

    Features of a backbone are computed once for all combinations with the same backbone.

    Parameters
    ----------
    model
        A classifier with the settings that the grid does not name.
    grid
        The values to try of each setting, such as {"lr": [0.1, 0.01], "backbone":
        ["tfidf[min_df=1]", "tfidf[min_df=5]"]}; or several such grids.
    X, y, tasks, classes
        As for `CrowdClassifier.fit`.
    validation
        X and the true labels (or votes) of other tasks. They select the epoch and the settings, so that
        the scores of the best are biased upwards.
    by
        The score that selects the best; ties are broken by the smaller log-loss.
    on_result
        Called with the settings and scores of each combination.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = CrowdClassifier("linear", "two_stage", epochs=5)
    >>> tune(model, {"lr": [1e-6, 0.1]}, X[:200], y[:200], (X[200:], y[200:])).model.lr
    0.1
    """
    if by not in get_args(TuneBy):
        raise ValueError(f"by is {by!r}, expected one of {', '.join(get_args(TuneBy))}")
    combinations = list(ParameterGrid(grid))
    if unknown := {name for one in combinations for name in one} - model.get_params(deep=False).keys():
        raise ValueError(f"the grid names {min(unknown)!r}, which is no setting of CrowdClassifier")
    features: dict[Any, tuple[Rows, Rows]] = {}
    best: tuple[tuple[float, float], CrowdClassifier] | None = None
    tried: list[dict[str, Any]] = []
    for n, settings in enumerate(combinations):
        one = clone(model).set_params(**settings)
        if one.checkpoint is not None:
            one.checkpoint = Path(one.checkpoint) / f"{n:03}"
        key = find_backbone(one.network, one.backbone), one.size, one.augment, one.device
        if key not in features:
            rows = one.prepare(X)
            features[key] = rows, one.prepare(validation[0], getattr(rows, "backbone", None))
        rows, other = features[key]
        one.fit(rows, y, validation=(other, validation[1]), tasks=tasks, classes=classes)
        scores = _scores(one, other, validation[1])
        tried.append({**settings, **scores, "seconds": one.seconds_})
        if on_result is not None:
            on_result(tried[-1])
        rank = (-scores[by] if by == "log_loss" else scores[by], -scores["log_loss"])
        if best is None or rank > best[0]:
            best = rank, one
    if best is None:
        raise ValueError("the grid is empty, expected some values for each setting")
    return Tuned(best[1], tried)


def _scores(model: CrowdClassifier, rows: Rows, y: Any) -> dict[str, float]:
    probs, known = model.predict_proba(rows), votes_on(rows, y, model.classes_.tolist())
    of_vote, truth, weight = probs[known.task], known.label, known.weights
    labels = of_vote.argmax(axis=1)
    return {
        "accuracy": metrics.accuracy(truth, labels, weight=weight),
        "macro_f1": metrics.macro_f1(truth, labels, weight=weight),
        "log_loss": metrics.log_loss(truth, of_vote, weight=weight),
        "ece": metrics.ece(truth, of_vote, weight=weight),
    }
