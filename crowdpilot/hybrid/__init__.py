"""Decisions: ask the crowd only where it pays, stop when it does not, know how wrong you are."""

from __future__ import annotations

from crowdpilot.hybrid.costs import CROWD, EXPERT, Costs

__all__ = ["CROWD", "EXPERT", "Costs"]
