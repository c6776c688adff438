"""`consensus`: labels and their quality, annotators, and what to label next, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdpilot.aggregation.auto import Auto
from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.classifier_probs import ClassifierAggregator, check_order, with_classes
from crowdpilot.aggregation.fusion import Fusion
from crowdpilot.aggregation.label_quality.active_learning import Scores, activelab_scores
from crowdpilot.aggregation.label_quality.tables import Consensus
from crowdpilot.aggregation.label_quality.wide_labels import name_classes, read_wide_labels
from crowdpilot.aggregation.models.crowdlab import Crowdlab
from crowdpilot.aggregation.registry import as_model
from crowdpilot.arrays import Codes, Floats, divide
from crowdpilot.io.probabilities import ClassProbs, parse_probs
from crowdpilot.names import lookup
from crowdpilot.votes import Votes


def consensus(
    labels: Any,
    pred_probs: Any = None,
    *,
    pred_probs_unlabeled: Any = None,
    method: str | Aggregator | None = None,
    classes: Sequence[Any] | None = None,
) -> Consensus:
    """Labels, their quality, the annotators, and what to label next, from labels and a classifier.

    It takes what `get_label_quality_multiannotator` of cleanlab takes and gives the same tables, with
    Crowdpilot's labels and probabilities; those of cleanlab 2.9.0 with `method="crowdlab"`.

    Parameters
    ----------
    labels
        A data frame or an array (examples, annotators), with nothing (NaN) where there is no label. Labels
        are whole numbers from 0, which are then the columns of `pred_probs`, or names. Any other form of
        votes is fine too.
    pred_probs
        The classifier's probabilities, (examples, classes): an array in the order of the classes, or a data
        frame with a column for each class. They should come from a classifier that has not seen the labels
        of the example (cross-validation). Classes that nobody has given are fine.
    pred_probs_unlabeled
        The same for examples that nobody has labelled, to know which of these to label next.
    method
        A strategy, or a model; by default `fusion` with a classifier, and `auto` without.
    classes
        All classes in the order wanted; otherwise those that occur, in natural order.

    Returns
    -------
    Consensus
        With the tables `label_quality`, `annotator_stats` and `detailed_label_quality`, and with
        `active_learning_scores`: label next the examples with the lowest scores. By default the score is the
        quality of the label, the probability that it is right; with `method="crowdlab"` that of ActiveLab.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.array([[0, 0, np.nan], [1, np.nan, 1], [0, 1, 1]])
    >>> found = consensus(labels, np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]))
    >>> found.labels.tolist(), int(found.active_learning_scores.argmin())
    ([0, 1, 1], 2)
    """
    table = read_wide_labels(labels, classes)
    if not len(table.votes):
        raise ValueError("there is no label in the table, expected (examples, annotators) with some")
    votes, probs, unlabelled = _join(table.votes, pred_probs, pred_probs_unlabeled)
    model = _model(method, probs)
    if isinstance(model, Crowdlab) and probs is not None:
        found = _by_crowdlab(model, votes, probs, unlabelled)
    else:
        found = _by_model(model, votes, probs, unlabelled)
    result, codes, annotators, scores = found
    quality = result.probs[np.arange(len(codes)), codes]
    result = replace(result, frames=table.frames)
    return Consensus(result, codes, quality, annotators, *scores, table.index)


Found = tuple[Aggregate, Codes, Floats, Scores]


def _model(method: str | Aggregator | None, probs: Floats | None) -> Aggregator:
    model = as_model("auto" if method is None else method)
    if probs is not None and model == Auto(seed=model.seed):
        return Fusion(seed=model.seed)
    if probs is not None and not isinstance(model, ClassifierAggregator):
        raise ValueError(
            f"{model} takes no classifier, so leave out pred_probs, or choose fusion or crowdlab"
        )
    if probs is None and isinstance(model, ClassifierAggregator):
        raise ValueError(f"{model} needs the probabilities of a classifier, so give pred_probs")
    return model


def _join(votes: Votes, pred_probs: Any, unlabeled: Any) -> tuple[Votes, Floats | None, Floats]:
    """The votes with all classes, and the probabilities of examples with and without labels."""
    if pred_probs is None:
        if unlabeled is not None:
            raise ValueError("pred_probs_unlabeled are given without pred_probs; give both")
        return votes, None, np.zeros((0, len(votes.classes)))
    parsed = _parse(pred_probs, votes, "pred_probs")
    if parsed.classes is not None:
        votes = with_classes(votes, parsed.classes)
    elif parsed.values.ndim == 2:
        votes = name_classes(votes, parsed.values.shape[1])
    probs = parsed.align(votes.tasks, votes.classes)
    check_order(votes, probs, parsed)
    if unlabeled is None:
        return votes, probs, np.zeros((0, probs.shape[1]))
    other = _parse(unlabeled, votes, "pred_probs_unlabeled")
    rows = np.arange(len(other.values)) if other.tasks is None else other.tasks
    return votes, probs, other.align(rows, votes.classes)


def _parse(source: Any, votes: Votes, name: str) -> ClassProbs:
    """Probabilities as they are given; columns that are only numbered have no names."""
    parsed = replace(parse_probs(source), name=name)
    if parsed.classes is None:
        return parsed
    is_numbered = [*map(str, parsed.classes.tolist())] == [*map(str, range(len(parsed.classes)))]
    if is_numbered and (lookup(votes.classes, parsed.classes) < 0).any():
        return replace(parsed, classes=None)
    return parsed


def _by_model(model: Aggregator, votes: Votes, probs: Floats | None, unlabelled: Floats) -> Found:
    """Labels, quality and scores of a model; examples without labels are fitted together with the others."""
    T = len(votes.tasks)
    if isinstance(model, ClassifierAggregator) and probs is not None:
        none = np.full(len(unlabelled), -1, np.int32)
        gold = None if votes.gold is None else np.append(votes.gold, none)
        together = replace(votes, tasks=np.arange(T + len(unlabelled)), gold=gold)
        result = model.fit(together, np.concatenate([probs, unlabelled]))
    else:
        result = model.fit(votes)
    scores = result.confidence
    result = replace(result, votes=votes, posterior=result.probs[:T])
    annotators = expected_worker_accuracy(votes, result.probs)
    return result, result.codes, annotators, Scores(scores[:T], scores[T:])


def _by_crowdlab(model: Crowdlab, votes: Votes, probs: Floats, unlabelled: Floats) -> Found:
    """As cleanlab: labels of the first pass, their quality by the second."""
    first, second = (replace(model, passes=n).fit(votes, probs) for n in (1, 2))
    annotators = _crowdlab_annotators(votes, second, first.codes)
    return second, first.codes, annotators, activelab_scores(votes, probs, unlabelled)


def _crowdlab_annotators(votes: Votes, result: Aggregate, codes: Codes) -> Floats:
    """The quality of annotators by CROWDLAB: of their labels, and how often they agree with the consensus.

    The first is weighted by the classifier, the second, which counts examples with several labels alone, by
    the annotators of an example.
    """
    count = np.bincount(votes.task, minlength=len(votes.tasks))
    shared = (count[votes.task] > 1).astype(np.float64)
    same = shared * (votes.label == codes[votes.task])
    agreement = divide(votes.worker_sum(same), votes.worker_sum(shared))
    present = np.bincount(votes.worker, minlength=len(votes.workers)) > 0
    classifier = result.params["classifier_weight"]
    annotators = result.params["weight"][present].mean() * count[count > 0].mean()
    share = classifier / (classifier + annotators)
    quality: Floats = share * expected_worker_accuracy(votes, result.probs) + (1 - share) * agreement
    return quality
