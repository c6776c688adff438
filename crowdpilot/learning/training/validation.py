"""Validation: accuracy, log-loss and calibration error on held-out rows, to select the best epoch."""

from __future__ import annotations

from collections.abc import Callable

from crowdpilot import metrics
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.prediction import predict_probs
from crowdpilot.learning.training.loop import Scores
from crowdpilot.votes import Votes

LOG_LOSS_WEIGHT = 1e-4  # in the score: of epochs with equal accuracy, the smaller log-loss is better


def validator(rows: Rows, known: Votes) -> Callable[[Method], Scores]:
    """A function from a method to its scores on these rows, by true labels or by votes in their place."""

    def validate(method: Method) -> Scores:
        probs, truth, weight = predict_probs(method, rows)[known.task], known.label, known.weight
        scores = {
            "val_accuracy": metrics.accuracy(truth, probs.argmax(axis=1), weight=weight),
            "val_log_loss": metrics.log_loss(truth, probs, weight=weight),
            "val_ece": metrics.ece(truth, probs, weight=weight),
        }
        return scores | {"score": scores["val_accuracy"] - LOG_LOSS_WEIGHT * scores["val_log_loss"]}

    return validate
