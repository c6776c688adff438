"""Plots of diagnoses, learning, calibration, replays and forecasts: each function returns its Axes."""

from crowdpilot.reporting.plots.calibration import reliability_diagram, risk_coverage_curve
from crowdpilot.reporting.plots.comparison import strategy_accuracy
from crowdpilot.reporting.plots.confusion_matrices import confusion
from crowdpilot.reporting.plots.forecast import forecast_curve
from crowdpilot.reporting.plots.learning import imbalance_by_round, quality_by_round, scores_by_round
from crowdpilot.reporting.plots.replay import replay_curves, total_costs
from crowdpilot.reporting.plots.score_pairs import pairs
from crowdpilot.reporting.plots.tasks import ambiguity
from crowdpilot.reporting.plots.truth_checks import mistakes, reliability
from crowdpilot.reporting.plots.votes import class_balance, confidence, effort, entropy, load, seconds
from crowdpilot.reporting.plots.workers import drift, ranking, skill

__all__ = [
    "ambiguity",
    "class_balance",
    "confidence",
    "confusion",
    "drift",
    "effort",
    "entropy",
    "forecast_curve",
    "imbalance_by_round",
    "load",
    "mistakes",
    "pairs",
    "quality_by_round",
    "ranking",
    "reliability",
    "reliability_diagram",
    "replay_curves",
    "risk_coverage_curve",
    "scores_by_round",
    "seconds",
    "skill",
    "strategy_accuracy",
    "total_costs",
]
