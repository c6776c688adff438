"""Decisions: ask the crowd only where it pays, stop when it does not, know how wrong you are."""

from __future__ import annotations

from crowdpilot.hybrid.audit.expert_audit import Audit
from crowdpilot.hybrid.audit.expert_errors import expert_error_bound
from crowdpilot.hybrid.audit.pac_labels import ClassifierLabels, pac_labels
from crowdpilot.hybrid.audit.pool import Bound
from crowdpilot.hybrid.audit.prevalence import Prevalence, prevalence
from crowdpilot.hybrid.campaign.campaign import Campaign
from crowdpilot.hybrid.campaign.decisions import Ask, Decisions
from crowdpilot.hybrid.campaign.estimates import Estimates, ItemTable, WorkerTable
from crowdpilot.hybrid.campaign.estimation.classifier import ClassifierWarning
from crowdpilot.hybrid.campaign.estimation.contributions import Contribution
from crowdpilot.hybrid.campaign.leave_out import leave_out_worker
from crowdpilot.hybrid.campaign.status import Status
from crowdpilot.hybrid.costs import CROWD, EXPERT, Costs
from crowdpilot.hybrid.forecast.curves import Forecast
from crowdpilot.hybrid.logistic_regression import LogisticRegression
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policies import POLICIES, Policy, View, find_policy
from crowdpilot.hybrid.replay.run import ReplayResult
from crowdpilot.hybrid.replay.vote_source import RecordedVotes, Scenario, SimulatedVotes
from crowdpilot.hybrid.value.dynamic_program import DynamicProgram
from crowdpilot.hybrid.value.posterior import FUSIONS, find_fusion
from crowdpilot.hybrid.value.screening import inclusion_probability, screening_errors
from crowdpilot.hybrid.value.vote_value import best_worker_kind, expected_loss_after, look_ahead, plan_ahead
from crowdpilot.hybrid.vote_requests.requests import VoteRequests, next_votes

__all__ = [
    "CROWD",
    "EXPERT",
    "FUSIONS",
    "POLICIES",
    "Ask",
    "Audit",
    "Bound",
    "Campaign",
    "ClassifierLabels",
    "ClassifierWarning",
    "Contribution",
    "Costs",
    "Decisions",
    "DynamicProgram",
    "Estimates",
    "Forecast",
    "ItemTable",
    "LogisticRegression",
    "Plan",
    "Policy",
    "Prevalence",
    "RecordedVotes",
    "ReplayResult",
    "Scenario",
    "SimulatedVotes",
    "Status",
    "View",
    "VoteRequests",
    "WorkerTable",
    "best_worker_kind",
    "expected_loss_after",
    "expert_error_bound",
    "find_fusion",
    "find_policy",
    "inclusion_probability",
    "leave_out_worker",
    "look_ahead",
    "next_votes",
    "pac_labels",
    "plan_ahead",
    "prevalence",
    "screening_errors",
]
