"""Policies, one file each: which votes a campaign asks for, and when an item has enough."""

from __future__ import annotations

from crowdpilot.hybrid.policies.classifier_threshold import ClassifierThreshold
from crowdpilot.hybrid.policies.first_agree import FirstAgree
from crowdpilot.hybrid.policies.fixed import Fixed
from crowdpilot.hybrid.policies.posterior_threshold import PosteriorThreshold
from crowdpilot.hybrid.policies.shortest_run import ShortestRun
from crowdpilot.hybrid.policies.switch_point import SwitchPoint
from crowdpilot.hybrid.policies.value import Value
from crowdpilot.hybrid.policy import Policy, View
from crowdpilot.option_strings import parse_named

POLICIES: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (
        Value,
        Fixed,
        ClassifierThreshold,
        PosteriorThreshold,
        FirstAgree,
        ShortestRun,
        SwitchPoint,
    )
}

__all__ = [
    "POLICIES",
    "ClassifierThreshold",
    "FirstAgree",
    "Fixed",
    "Policy",
    "PosteriorThreshold",
    "ShortestRun",
    "SwitchPoint",
    "Value",
    "View",
    "find_policy",
]


def find_policy(text: str) -> Policy:
    """The policy that a text names, such as `value` or `Fixed[votes=3]`."""
    return parse_named(text, POLICIES.values(), "policy")
