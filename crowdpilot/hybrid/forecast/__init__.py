"""Forecast of cost and loss by simulating the rest of a campaign."""

from crowdpilot.hybrid.forecast.curves import Forecast
from crowdpilot.hybrid.forecast.simulation import forecast, forecast_design

__all__ = ["Forecast", "forecast", "forecast_design"]
