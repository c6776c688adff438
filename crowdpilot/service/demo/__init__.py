"""The demonstration: a pool of real images, a simulated crowd that labels over HTTP, and what it saved."""

from __future__ import annotations

from crowdpilot.service.demo.cost_saving import Saving, compare
from crowdpilot.service.demo.crowd import Crowd
from crowdpilot.service.demo.demonstration import Show, run

__all__ = ["Crowd", "Saving", "Show", "compare", "run"]
