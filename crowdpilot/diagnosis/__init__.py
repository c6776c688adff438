"""Know the crowd: which workers to trust, which tasks are hard, how much they agree."""

from __future__ import annotations

from crowdpilot.diagnosis.agreement import (
    MEASURES,
    Agreement,
    agreement,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from crowdpilot.diagnosis.cohen_kappa import cohen_kappa
from crowdpilot.diagnosis.collusion import Collusion, Pairs, collusion
from crowdpilot.diagnosis.diagnosis import Diagnosis, diagnose
from crowdpilot.diagnosis.drift import Drift, drift
from crowdpilot.diagnosis.identify import IDENTIFICATIONS, Identification, find_identification
from crowdpilot.diagnosis.leave_one_out import Evidence, weigh
from crowdpilot.diagnosis.skill_intervals import skill_interval
from crowdpilot.diagnosis.spam import spam_distance, spam_probability, spam_score
from crowdpilot.diagnosis.tasks import entropy, more_votes
from crowdpilot.diagnosis.workers import Columns, Rules

__all__ = [
    "IDENTIFICATIONS",
    "MEASURES",
    "Agreement",
    "Collusion",
    "Columns",
    "Diagnosis",
    "Drift",
    "Evidence",
    "Identification",
    "Pairs",
    "Rules",
    "agreement",
    "cohen_kappa",
    "collusion",
    "diagnose",
    "drift",
    "entropy",
    "find_identification",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "more_votes",
    "percent_agreement",
    "skill_interval",
    "spam_distance",
    "spam_probability",
    "spam_score",
    "weigh",
]
