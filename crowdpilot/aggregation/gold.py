"""Gold labels in the fit of a model: cross-fitted evidence, and a posterior from gold tasks alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.sparse.honest_posterior import find_evidence
from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.calibration.experience import FEATURES, GoldEvidence
from crowdpilot.confusion_matrices import count_labels, votes_log_likelihood
from crowdpilot.votes import Votes

FOLDS = 5  # of gold labels
FOLDS_OF_MANY_VOTES = 2
MANY_VOTES = 200_000
GOLD_COUNTS = 2.0  # pseudo-votes of a worker for each class, where matrices come from gold tasks alone


def has_gold_votes(votes: Votes) -> bool:
    """Whether there are votes on tasks with a gold label."""
    return votes.gold is not None and bool((votes.gold[votes.task] >= 0).any())


def cross_fit_gold(votes: Votes, fit: Callable[[Votes], Aggregate], seed: int = 0) -> GoldEvidence:
    """Evidence for the gold tasks with votes from fits that did not see their gold label.

    The gold labels are divided into folds. The posterior is fitted with those of the other folds, and gives
    the tasks of the fold their labels: so gold labels do not flatter the model that they judge.

    Parameters
    ----------
    votes
        Merged, with gold labels.
    fit
        Gives the result of a model.
    seed
        Of the folds.
    """
    if votes.gold is None or not has_gold_votes(votes):
        raise ValueError("there are no votes on tasks with a gold label, expected some")
    gold = votes.gold
    known = np.unique(votes.task[gold[votes.task] >= 0])
    folds = min(FOLDS if len(votes) <= MANY_VOTES else FOLDS_OF_MANY_VOTES, len(known))
    fold = np.random.default_rng(seed).permutation(len(known)) % folds
    features, right = np.zeros((len(known), len(FEATURES))), np.zeros(len(known))
    for n in range(folds):
        held_out = known[fold == n]
        kept = gold.copy()
        kept[held_out] = -1
        rest = replace(votes, gold=kept)
        result = fit(rest)
        evidence = find_evidence(rest, result.posterior, result.codes, result.unlisted_prior)
        features[fold == n] = evidence.features[held_out]
        right[fold == n] = result.codes[held_out] == gold[held_out]
    return GoldEvidence(features, right)


def posterior_from_gold(votes: Votes) -> Floats:
    """The posterior of all tasks by confusion matrices from the gold tasks alone, (tasks, classes).

    A worker without votes on gold tasks has the matrix of all workers together.
    """
    K = len(votes.classes)
    counts = count_labels(votes, votes.clamp(np.zeros((len(votes.tasks), K))))
    pooled = to_probs(counts.sum(axis=0) + np.full((K, K), 0.5) + np.eye(K))
    confusion = to_probs(counts + GOLD_COUNTS * pooled)
    return votes.clamp(softmax(votes_log_likelihood(votes, np.log(confusion))))
