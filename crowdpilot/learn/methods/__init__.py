"""Ways to learn from votes: one file each, one line here."""

from __future__ import annotations

from crowdpilot.learn.method import Method
from crowdpilot.learn.methods.anno_reg import AnnoReg
from crowdpilot.learn.methods.conal import CoNAL
from crowdpilot.learn.methods.crowd_layer import CrowdLayer
from crowdpilot.learn.methods.doctor_net import DoctorNet
from crowdpilot.learn.methods.mutual import Mutual
from crowdpilot.learn.methods.raykar import Raykar
from crowdpilot.learn.methods.two_stage import TwoStage

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
