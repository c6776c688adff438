"""Decisions: ask the crowd only where it pays, stop when it does not, know how wrong you are."""

from __future__ import annotations

from crowdpilot.hybrid.answers import Ask, Decisions
from crowdpilot.hybrid.audit import Audit
from crowdpilot.hybrid.audit_pool import Bound
from crowdpilot.hybrid.belief import FUSIONS, find_fusion
from crowdpilot.hybrid.campaign import Campaign
from crowdpilot.hybrid.costs import CROWD, EXPERT, Costs
from crowdpilot.hybrid.experts import expert_error_bound
from crowdpilot.hybrid.forecast import forecast, forecast_design
from crowdpilot.hybrid.forecast_curves import Forecast
from crowdpilot.hybrid.logistic import Logistic
from crowdpilot.hybrid.pac import MachineLabels, pac_labels
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policies import POLICIES, Policy, View, find_policy
from crowdpilot.hybrid.prevalence import Prevalence, prevalence
from crowdpilot.hybrid.programme import Programme
from crowdpilot.hybrid.replay import Replayed, replay
from crowdpilot.hybrid.screening import in_probability, screening_errors
from crowdpilot.hybrid.status import Status
from crowdpilot.hybrid.value import best_kind, expected_after, look_ahead, plan_ahead
from crowdpilot.hybrid.world import Case, Recorded, Simulated

__all__ = [
    "CROWD",
    "EXPERT",
    "FUSIONS",
    "POLICIES",
    "Ask",
    "Audit",
    "Bound",
    "Campaign",
    "Case",
    "Costs",
    "Decisions",
    "Forecast",
    "Logistic",
    "MachineLabels",
    "Plan",
    "Policy",
    "Prevalence",
    "Programme",
    "Recorded",
    "Replayed",
    "Simulated",
    "Status",
    "View",
    "best_kind",
    "expected_after",
    "expert_error_bound",
    "find_fusion",
    "find_policy",
    "forecast",
    "forecast_design",
    "in_probability",
    "look_ahead",
    "pac_labels",
    "plan_ahead",
    "prevalence",
    "replay",
    "screening_errors",
]
