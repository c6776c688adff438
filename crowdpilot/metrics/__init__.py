"""How good labels and probabilities are, when the truth is known."""

from collections.abc import Callable

from crowdpilot.metrics.bootstrap import Interval, interval
from crowdpilot.metrics.labels import PerClass, accuracy, balanced_accuracy, macro_f1, per_class
from crowdpilot.metrics.probabilities import brier, ece, log_loss

Metric = Callable[..., float]  # of truth, predictions and a weight for each task

LABEL_METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "macro_f1": macro_f1,
}
PROBABILITY_METRICS: dict[str, Metric] = {"brier": brier, "log_loss": log_loss, "ece": ece}
METRICS: dict[str, Metric] = LABEL_METRICS | PROBABILITY_METRICS

__all__ = [
    "LABEL_METRICS",
    "METRICS",
    "PROBABILITY_METRICS",
    "Interval",
    "Metric",
    "PerClass",
    "accuracy",
    "balanced_accuracy",
    "brier",
    "ece",
    "interval",
    "log_loss",
    "macro_f1",
    "per_class",
]
