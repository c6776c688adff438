"""Plots of diagnoses, learning, calibration, replays and forecasts: each function returns its Axes."""

from crowdpilot.report.plots.calibration import reliability_diagram, risk_coverage_curve
from crowdpilot.report.plots.checks import mistakes, reliability
from crowdpilot.report.plots.forecast import forecast_curve
from crowdpilot.report.plots.learning import imbalance_by_round, quality_by_round, scores_by_round
from crowdpilot.report.plots.matrices import confusion
from crowdpilot.report.plots.pairs import pairs
from crowdpilot.report.plots.replay import replay_curves, total_costs
from crowdpilot.report.plots.tasks import ambiguity
from crowdpilot.report.plots.votes import class_balance, confidence, effort, entropy, load, seconds
from crowdpilot.report.plots.workers import drift, ranking, skill

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
    "total_costs",
]
