"""Plots and a page about a crowd, for people to look at."""

from crowdpilot.report import plots
from crowdpilot.report.page import make_report, save_report

__all__ = ["make_report", "plots", "save_report"]
