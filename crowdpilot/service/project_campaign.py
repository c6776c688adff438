"""Campaigns: the hybrid engine's campaign that a project's description asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdpilot.hybrid import Campaign, Costs, Plan

LEARNED = ("tfidf", "embeddings")  # machines that learn here from the votes


def make_costs(spec: Mapping[str, Any]) -> Costs:
    """The costs of a project; every error costs 1 if nothing else is said."""
    given = spec["costs"]
    costs = Costs.equal(len(spec["classes"])).to_dict()
    return Costs.from_dict({**costs, **{name: value for name, value in given.items() if value is not None}})


def make_plan(spec: Mapping[str, Any]) -> Plan:
    """The plan of a project."""
    return Plan.from_dict({**spec["plan"], "policy": spec["policy"]})


def make_campaign(spec: Mapping[str, Any], classifier: Any = None) -> Campaign:
    """A campaign without items; a `ValueError` says what is wrong with the description."""
    criteria = [criterion["name"] for criterion in spec["criteria"]]
    return Campaign(
        [],
        spec["classes"],
        make_costs(spec),
        plan=make_plan(spec),
        criteria=criteria,
        classifier=classifier,
    )


def is_due(spec: Mapping[str, Any], votes: int, fitted: int) -> bool:
    """Whether enough votes have come since the last lesson; as the campaign itself would say."""
    plan, fresh = make_plan(spec), votes - fitted
    return 0 < plan.every <= fresh and fresh >= plan.growth * votes
