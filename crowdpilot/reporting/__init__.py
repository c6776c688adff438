"""Plots and a page about a crowd, for people to look at."""

from crowdpilot.reporting import plots
from crowdpilot.reporting.page import make_report, save_report

__all__ = ["make_report", "plots", "save_report"]
