"""Classifiers trained on votes, with PyTorch."""

from __future__ import annotations

from crowdpilot.learning.classifier import CrowdClassifier
from crowdpilot.learning.method import Method
from crowdpilot.learning.methods import METHODS
from crowdpilot.learning.networks import NETWORKS
from crowdpilot.learning.pruning.scores import SCORES
from crowdpilot.learning.self_training.loop import SelfTraining
from crowdpilot.learning.training.loop import Training
from crowdpilot.learning.training.tuning import tune

__all__ = ["METHODS", "NETWORKS", "SCORES", "CrowdClassifier", "Method", "SelfTraining", "Training", "tune"]
