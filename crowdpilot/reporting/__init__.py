"""Report about a crowd as one HTML file, and plots of diagnoses, learning, calibration and campaigns."""

from crowdpilot.optional_packages import needed_for

with needed_for("reporting"):
    from crowdpilot.reporting import plots
    from crowdpilot.reporting.html_report import report

__all__ = ["plots", "report"]
