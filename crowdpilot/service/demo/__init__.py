"""Demonstration: real images, a simulated crowd that labels them over HTTP, and the votes that are saved."""

from __future__ import annotations

from crowdpilot.service.demo.cost_saving import CostSaving, compare
from crowdpilot.service.demo.crowd import SimulatedCrowd
from crowdpilot.service.demo.demonstration import DemoResult, run_demo
from crowdpilot.service.demo.recording import record_result

__all__ = ["CostSaving", "DemoResult", "SimulatedCrowd", "compare", "record_result", "run_demo"]
