"""Forecast: cost and loss of the rest of a campaign, by simulation from the posterior after a pilot."""

from crowdpilot.hybrid.forecast.curves import Forecast
from crowdpilot.hybrid.forecast.simulation import forecast, forecast_design

__all__ = ["Forecast", "forecast", "forecast_design"]
