"""Ways to learn from votes: one file each, one line here."""

from __future__ import annotations

from crowdpilot.learn.method import Method
from crowdpilot.learn.methods.crowd_layer import CrowdLayer
from crowdpilot.learn.methods.two_stage import TwoStage

METHODS: dict[str, type[Method]] = {method.name: method for method in (TwoStage, CrowdLayer)}

__all__ = ["METHODS", "CrowdLayer", "TwoStage"]
