"""Project campaign: the costs, plan and campaign that a project's description asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from crowdpilot.hybrid import Campaign, Costs, Plan
from crowdpilot.service.store.answers.reservations import Limits
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.prices import Prices, read_history

TRAINED_CLASSIFIERS = ("tfidf", "embeddings")  # trained by the service on the votes


def make_costs(spec: Mapping[str, Any]) -> Costs:
    """The costs of a project; every error costs 1 unless the description says otherwise."""
    set_costs = {name: value for name, value in spec["costs"].items() if value is not None}
    return Costs.from_dict({**Costs.equal(len(spec["classes"])).to_dict(), **set_costs})


def make_plan(spec: Mapping[str, Any]) -> Plan:
    """The plan of a project."""
    return Plan.from_dict({**spec["plan"], "policy": spec["policy"]})


def fixed_votes(policy: str) -> int | None:
    """The number of votes that a policy asks for on every item, such as fixed[votes=3]; None if it varies.

    Examples
    --------
    >>> fixed_votes("fixed[votes=3]"), fixed_votes("value")
    (3, None)
    """
    found = re.fullmatch(r"fixed\[votes=(\d+)\]", policy)
    return None if found is None else int(found[1])


def make_prices(project: Row) -> Prices:
    """The prices of votes of a project, now and before, from its row."""
    return Prices(make_costs(project.spec).prices, read_history(project.earlier_prices))


def make_limits(project: Row) -> Limits:
    """The money and the numbers of votes of a project, as its campaign counts them, from its row."""
    spec = project.spec
    costs, plan = make_costs(spec), make_plan(spec)
    return Limits(
        make_prices(project), costs.budget, costs.classifier, spec["machine"] in TRAINED_CLASSIFIERS,
        plan.per_item, plan.per_worker, [criterion["name"] for criterion in spec["criteria"]],
    )  # fmt: skip


def campaign_settings(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a description on which the campaign depends; without it there are texts and platforms."""
    names = "classes", "costs", "policy", "plan", "machine"
    criteria = [criterion["name"] for criterion in spec["criteria"]]
    return {**{name: spec[name] for name in names}, "criteria": criteria}


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


def refit_due(spec: Mapping[str, Any], votes: int, fitted: int) -> bool:
    """Whether a refit is due after `votes`, of which the last one knew `fitted`; by `Plan.refit_due`."""
    return make_plan(spec).refit_due(votes - fitted, votes)
