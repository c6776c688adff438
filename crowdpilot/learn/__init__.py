"""Classifiers trained on votes; the only room that knows PyTorch."""

from __future__ import annotations

from crowdpilot.learn.classifier import CrowdClassifier
from crowdpilot.learn.method import Method
from crowdpilot.learn.methods import METHODS
from crowdpilot.learn.networks import NETWORKS
from crowdpilot.learn.pruning import SCORES
from crowdpilot.learn.self_training import SelfTraining
from crowdpilot.learn.training import Training
from crowdpilot.learn.tuning import tune

__all__ = ["METHODS", "NETWORKS", "SCORES", "CrowdClassifier", "Method", "SelfTraining", "Training", "tune"]
