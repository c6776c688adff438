"""Metrics of labels and probabilities against the truth, with bootstrap intervals."""

from collections.abc import Callable
from typing import Any

from crowdpilot.metrics.bootstrap import Interval, interval
from crowdpilot.metrics.calibration_error import classwise_ece, ece, ece_debiased, ece_mass, ece_sweep, mce
from crowdpilot.metrics.labels import PerClass, accuracy, balanced_accuracy, macro_f1, per_class
from crowdpilot.metrics.probabilities import BrierParts, brier, brier_parts, log_loss
from crowdpilot.metrics.selective_prediction import (
    DecisionCost,
    RiskCoverage,
    aurc,
    expected_cost,
    risk_at,
    risk_coverage,
)
from crowdpilot.metrics.smooth_calibration import SmoothCurve, smooth_curve, smooth_ece
from crowdpilot.metrics.soft_labels import dist_ce, entropy_ce, rank_cs
from crowdpilot.option_strings import did_you_mean

Metric = Callable[..., float]  # of truth, predictions and a weight for each task

LABEL_METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "macro_f1": macro_f1,
}
PROBABILITY_METRICS: dict[str, Metric] = {"brier": brier, "log_loss": log_loss, "ece": ece}
METRICS: dict[str, Metric] = LABEL_METRICS | PROBABILITY_METRICS
# What `crowdpilot score` shows: two proper scoring rules; the calibration error that papers report, then
# debiased, without bins, and of all classes; and whether wrong labels have low confidence.
SHOWN_METRICS: dict[str, Metric] = PROBABILITY_METRICS | {
    "ece_debiased": ece_debiased,
    "smooth_ece": smooth_ece,
    "classwise_ece": classwise_ece,
    "aurc": aurc,
}
# Every calibration error.
CALIBRATION_METRICS: dict[str, Metric] = {
    "ece": ece,
    "ece_mass": ece_mass,
    "ece_debiased": ece_debiased,
    "ece_sweep": ece_sweep,
    "smooth_ece": smooth_ece,
    "classwise_ece": classwise_ece,
    "mce": mce,
}
SOFT_LABEL_METRICS: dict[str, Metric] = {"dist_ce": dist_ce, "entropy_ce": entropy_ce, "rank_cs": rank_cs}

__all__ = [
    "CALIBRATION_METRICS",
    "LABEL_METRICS",
    "METRICS",
    "PROBABILITY_METRICS",
    "SHOWN_METRICS",
    "SOFT_LABEL_METRICS",
    "BrierParts",
    "DecisionCost",
    "Interval",
    "Metric",
    "PerClass",
    "RiskCoverage",
    "SmoothCurve",
    "accuracy",
    "aurc",
    "balanced_accuracy",
    "brier",
    "brier_parts",
    "classwise_ece",
    "dist_ce",
    "ece",
    "ece_debiased",
    "ece_mass",
    "ece_sweep",
    "entropy_ce",
    "expected_cost",
    "interval",
    "log_loss",
    "macro_f1",
    "mce",
    "per_class",
    "rank_cs",
    "risk_at",
    "risk_coverage",
    "smooth_curve",
    "smooth_ece",
]

MEASURES_OF_VOTES = {
    "alpha_krippendorff": "crowdpilot.diagnosis.krippendorff_alpha(votes)",
    "uncertainty": "crowdpilot.diagnosis.entropy(probs)",
    "consistency": "crowdpilot.aggregate(votes, 'wawa').confidence.mean()",
    "accuracy_on_aggregates": "crowdpilot.diagnose(votes).workers['skill']",
}  # by the names that crowd-kit has for them


def __getattr__(name: str) -> Any:
    """Say where the measures of votes are, which have no truth to compare with."""
    if name in MEASURES_OF_VOTES:  # `from ... import` shows no text of an AttributeError
        raise ImportError(f"crowdpilot.metrics has no {name!r}; use {MEASURES_OF_VOTES[name]}")
    raise AttributeError(f"crowdpilot.metrics has no {name!r}{did_you_mean(name, __all__)}")
