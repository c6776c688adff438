"""Predictions of a trained method: class probabilities of rows, and posteriors of tasks given their votes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from crowdpilot import metrics
from crowdpilot.arrays import Floats, softmax
from crowdpilot.confusion_matrices import votes_log_likelihood
from crowdpilot.learning.data.batches import Batches, Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.training.loop import evaluate_all, evaluation_batches
from crowdpilot.votes import Votes

MIN_CONFUSION = 1e-6  # a probability of a confusion matrix counts as at least this


def predict_probs(method: Method, rows: Rows) -> Floats:
    """The probability of each class of each row, (rows, classes), by the method as it is deployed."""
    method.eval()
    device = next(method.parameters()).device
    with torch.no_grad():
        logits = [
            method(rows.take(batch, train=False).to(device)).float().cpu()
            for batch in evaluation_batches(rows)
        ]
    return softmax(torch.cat(logits).numpy().astype(np.float64))


def posterior(method: Method, rows: Rows, votes: Votes) -> Floats:
    """The posterior of each training task given its content and votes, (tasks, classes).

    By Bayes' rule with the network as the prior and the likelihood of the votes under the confusion
    matrices of the method; for a method without a model of the workers, the network's prediction.
    """
    device = next(method.parameters()).device
    log_prior = evaluate_all(method, Batches(rows, votes, device), method.log_prior).float().cpu().numpy()
    log_prior = log_prior.astype(np.float64)
    if (matrices := _confusion(method)) is None:
        return votes.clamp(softmax(log_prior))
    log_likelihood = votes_log_likelihood(votes, np.log(np.maximum(matrices, MIN_CONFUSION)))
    return votes.clamp(softmax(log_prior + method.posterior_vote_weight(log_prior) * log_likelihood))


def _confusion(method: Method) -> Floats | None:
    try:
        with torch.no_grad():
            return method.confusion().cpu().numpy().astype(np.float64)
    except ValueError:
        return None


def vote_accuracy(probs: Floats, votes: Votes, sample_weight: Any = None) -> float:
    """The share of the votes that agree with the most probable class, with weights of tasks if given."""
    weight = votes.weights * (1 if sample_weight is None else np.asarray(sample_weight)[votes.task])
    return metrics.accuracy(votes.label, probs.argmax(axis=1)[votes.task], weight=weight)
