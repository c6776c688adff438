"""Methods to learn from votes: one file each, one line here."""

from __future__ import annotations

from crowdpilot.learning.method import Method
from crowdpilot.learning.methods.anno_reg import AnnoReg
from crowdpilot.learning.methods.conal import CoNAL
from crowdpilot.learning.methods.crowd_layer import CrowdLayer
from crowdpilot.learning.methods.doctor_net import DoctorNet
from crowdpilot.learning.methods.mutual import Mutual
from crowdpilot.learning.methods.raykar import Raykar
from crowdpilot.learning.methods.two_stage import TwoStage

LISTED: tuple[type[Method], ...] = (
    TwoStage,
    CrowdLayer,
    CoNAL,
    AnnoReg,
    DoctorNet,
    Raykar,
    Mutual,
)
METHODS: dict[str, type[Method]] = {method.name: method for method in LISTED}

__all__ = ["METHODS", "AnnoReg", "CoNAL", "CrowdLayer", "DoctorNet", "Mutual", "Raykar", "TwoStage"]
