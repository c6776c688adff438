"""Demonstration: real images, a simulated crowd that labels them over HTTP, and the votes that are saved."""

from __future__ import annotations

from crowdpilot.service.demo.cost_saving import CostSaving, compare
from crowdpilot.service.demo.crowd import SimulatedCrowd
from crowdpilot.service.demo.demonstration import DemoResult, run_demo

__all__ = ["CostSaving", "DemoResult", "SimulatedCrowd", "compare", "run_demo"]
