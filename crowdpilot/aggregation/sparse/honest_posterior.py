"""Honest probabilities for dense and sparse posteriors: a sparse one as votes for and against each label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdpilot.aggregation.sparse.posterior import Posterior
from crowdpilot.arrays import Codes, Floats
from crowdpilot.calibration.experience import CrowdMap, HonestPosterior, honest_posterior
from crowdpilot.votes import Votes


def calibrate(
    votes: Votes, posterior: Posterior, labels: Codes, confidence: Floats, experience: CrowdMap | None = None
) -> tuple[HonestPosterior, Posterior]:
    """The honest posterior of tasks, and it in the form of the posterior that was given, dense or sparse.

    Of a sparse posterior, `HonestPosterior.probs` has two columns: the label of the task, and the rest.
    """
    if isinstance(posterior, np.ndarray):
        honest = honest_posterior(votes.merged, posterior, labels, experience)
        return honest, honest.probs
    two_classes = np.column_stack([confidence, 1 - confidence])
    honest = honest_posterior(_for_and_against(votes, labels), two_classes, np.zeros_like(labels), experience)
    return honest, _with_confidence(posterior, labels, confidence, honest.probs[:, 0])


def _for_and_against(votes: Votes, labels: Codes) -> Votes:
    """The votes as votes for or against the label of each task: two classes, "label" and "other"."""
    against = (votes.label != labels[votes.task]).astype(np.int32)
    gold = None
    if votes.gold is not None:
        gold = np.where(votes.gold < 0, -1, votes.gold != labels).astype(np.int32)
    return replace(votes, label=against, classes=np.array(["label", "other"]), gold=gold).merged


def _with_confidence(posterior: Posterior, labels: Codes, before: Floats, confidence: Floats) -> Posterior:
    """A sparse posterior whose labels have this confidence; other classes keep their proportions."""
    matrix = posterior.copy()
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    scale = (1 - confidence) / np.maximum(1 - before, 1e-12)
    matrix.data = np.where(matrix.indices == labels[row], confidence[row], matrix.data * scale[row])
    return matrix
