"""Classifiers trained on votes; the only room that knows PyTorch."""

from __future__ import annotations

from crowdpilot.learn.classifier import CrowdClassifier
from crowdpilot.learn.methods import METHODS
from crowdpilot.learn.networks import NETWORKS

__all__ = ["METHODS", "NETWORKS", "CrowdClassifier"]
