"""State: a campaign as plain data that JSON can hold, bit for bit.

What a campaign is made from (plan, costs, names) is written as it is. All else is kept in the attributes
of a few parts: these are written one by one, except those that are made again from the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdpilot.json_values import pack, unpack

if TYPE_CHECKING:
    from crowdpilot.hybrid.campaign.campaign import Campaign

VERSION = 3
READABLE = 2, 3  # in form 2 votes were lists, among the parts
MADE_AGAIN = {"book", "budget", "costs", "join", "kinds", "learner", "ledger", "place", "plan", "policy",
              "pool", "prices", "questions", "seed", "usual"}  # fmt: skip
VOTES = {"item": "task", "worker": "worker", "label": "label"}  # of a question, as they lie in its book


def written(campaign: Campaign) -> dict[str, Any]:
    """Everything that a campaign needs to go on, except features and classifier."""
    return {
        "version": VERSION,
        "classes": campaign.classes.tolist(),
        "criteria": list(campaign.criteria) if campaign.several else [],
        "costs": campaign.costs.to_dict(),
        "plan": campaign.plan.to_dict(),
        "learns": campaign.learner is not None,
        "fresh": campaign.fresh,
        "asked": campaign.asked,
        "parts": [
            {name: pack(value) for name, value in vars(part).items() if name not in MADE_AGAIN}
            for part in _parts(campaign)
        ],
        "votes": [
            {name: pack(question.book.kept(column)) for name, column in VOTES.items()}
            for question in campaign.questions
        ],
    }


def resume(campaign: Campaign, data: Mapping[str, Any], features: Any) -> None:
    """Bring a new campaign without items to where another was written down."""
    if data["version"] not in READABLE:
        raise ValueError(f"the campaign was written in form {data['version']}, expected {VERSION}")
    if data["learns"] != (campaign.learner is not None):
        raise ValueError("a campaign goes on with a classifier if and only if it had one before")
    for part, kept in zip(_parts(campaign), data["parts"], strict=True):
        for name, value in kept.items():
            if name not in VOTES:
                setattr(part, name, unpack(value))
    given = data["votes"] if data["version"] > 2 else data["parts"][-len(campaign.questions) :]
    for question, votes in zip(campaign.questions, given, strict=True):
        question.book.add(*(np.asarray(unpack(votes[name]), np.int32) for name in VOTES))
    campaign.pool.place = {name: n for n, name in enumerate(campaign.pool.items)}
    campaign.staff.place = {name: n for n, name in enumerate(campaign.staff.names)}
    campaign.fresh = data["fresh"]
    campaign.asked = data["asked"]
    if campaign.learner is not None:
        campaign.learner.add(features, len(campaign.pool))


def _parts(campaign: Campaign) -> Iterator[Any]:
    yield from (campaign.pool, campaign.staff, campaign.ledger, campaign.wishes, *campaign.questions)
