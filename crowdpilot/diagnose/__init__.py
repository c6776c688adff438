"""Know the crowd: which workers to trust, which tasks are hard, how much they agree."""

from __future__ import annotations

from crowdpilot.diagnose.agreement import (
    MEASURES,
    Agreement,
    agreement,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from crowdpilot.diagnose.collusion import Collusion, Pairs, collusion
from crowdpilot.diagnose.diagnosis import Diagnosis, diagnose
from crowdpilot.diagnose.drift import Drift, drift
from crowdpilot.diagnose.evidence import Evidence, weigh
from crowdpilot.diagnose.identify import IDENTIFICATIONS, Identification, find_identification
from crowdpilot.diagnose.pairs import cohen_kappa
from crowdpilot.diagnose.skill import skill_interval
from crowdpilot.diagnose.spam import spam_distance, spam_probability, spam_score
from crowdpilot.diagnose.tasks import entropy, more_votes
from crowdpilot.diagnose.workers import Columns, Rules

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
