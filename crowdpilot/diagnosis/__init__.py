"""Diagnosis of a crowd: skill, spam, collusion and drift of workers, difficulty of tasks, agreement."""

from __future__ import annotations

from crowdpilot.diagnosis.agreement import (
    MEASURES,
    Agreement,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    measure_agreement,
    percent_agreement,
)
from crowdpilot.diagnosis.collusion import Collusion, WorkerPairs, detect_collusion
from crowdpilot.diagnosis.diagnosis import Diagnosis, diagnose
from crowdpilot.diagnosis.drift import Drift, detect_drift
from crowdpilot.diagnosis.identify import IDENTIFICATIONS, Identification, find_identification
from crowdpilot.diagnosis.leave_one_out import LeaveOneOut, leave_one_out_posteriors
from crowdpilot.diagnosis.pairwise_agreement import cohen_kappa
from crowdpilot.diagnosis.skill_intervals import skill_interval
from crowdpilot.diagnosis.spam import spam_distance, spam_probability, spam_score
from crowdpilot.diagnosis.tasks import entropy
from crowdpilot.diagnosis.votes_needed import more_votes
from crowdpilot.diagnosis.workers import Columns, FlagRules

__all__ = [
    "IDENTIFICATIONS",
    "MEASURES",
    "Agreement",
    "Collusion",
    "Columns",
    "Diagnosis",
    "Drift",
    "FlagRules",
    "Identification",
    "LeaveOneOut",
    "WorkerPairs",
    "cohen_kappa",
    "detect_collusion",
    "detect_drift",
    "diagnose",
    "entropy",
    "find_identification",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "leave_one_out_posteriors",
    "measure_agreement",
    "more_votes",
    "percent_agreement",
    "skill_interval",
    "spam_distance",
    "spam_probability",
    "spam_score",
]
