"""Experience: how often labels were right in many real crowds, and the honest probabilities that follow."""

from __future__ import annotations

from crowdpilot.calibration.experience.crowd_map import AccuracyEstimate, CrowdMap
from crowdpilot.calibration.experience.evidence import FEATURES, Evidence, collect_evidence
from crowdpilot.calibration.experience.file import load_experience, read_experience, write_experience
from crowdpilot.calibration.experience.honest import (
    CrowdEstimate,
    GoldCheck,
    GoldEvidence,
    HonestPosterior,
    honest_posterior,
)
from crowdpilot.calibration.experience.learning import Crowd, learn_experience

__all__ = [
    "FEATURES",
    "AccuracyEstimate",
    "Crowd",
    "CrowdEstimate",
    "CrowdMap",
    "Evidence",
    "GoldCheck",
    "GoldEvidence",
    "HonestPosterior",
    "collect_evidence",
    "honest_posterior",
    "learn_experience",
    "load_experience",
    "read_experience",
    "write_experience",
]
