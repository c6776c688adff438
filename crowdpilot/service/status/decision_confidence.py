"""Confidence in decisions: how likely they are right by the model, whatever rule the policy decides by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid import Campaign, Decisions

# of the library, in the words of the service; the longer ones first
OWN_WORDS = {"majority_voting": "the majority", "votes": "answers", "vote": "answer", "_": " "}


class Confidence(NamedTuple):
    """What the model says of decisions, in their order."""

    probs: Floats  # (items, classes); with criteria P(out) and P(in)
    expected: Floats  # cost of the decision, (items,)


def confidence_in(campaign: Campaign, decisions: Decisions) -> Confidence:
    """The posterior of each item, and what its decision costs on average.

    A policy with a rule of its own, such as the majority of the votes, decides by numbers that are no
    probabilities of being right: there the posterior of the model is taken, with what experts decided.
    """
    if not campaign.view.decision_rule:
        return Confidence(decisions.probs, decisions.expected)
    table = campaign.view.items()
    posteriors = [
        _with_override(campaign.view.estimates(criterion).posterior, table.override[:, q])
        for q, criterion in enumerate(campaign.criteria)
    ]
    probs = (_joint(posteriors) if campaign.has_criteria else posteriors[0])[~table.withdrawn]
    costs = probs @ campaign.costs.errors
    return Confidence(probs, costs[np.arange(len(probs)), decisions.codes])


def _with_override(posterior: Floats, code: Codes) -> Floats:
    return np.where(code[:, None] >= 0, np.eye(posterior.shape[1])[code], posterior)


def _joint(posteriors: list[Floats]) -> Floats:
    """P(out) and P(in) from the posteriors of all criteria."""
    inside = np.prod([posterior[:, 1] for posterior in posteriors], axis=0)
    return np.stack([1 - inside, inside], axis=1)


def decision_rule(campaign: Campaign) -> str:
    """The rule by which a policy decides if not by the posterior, in words for requesters; else empty.

    Examples
    --------
    >>> from crowdpilot.hybrid import Costs, Plan
    >>> decision_rule(Campaign([], ["no", "yes"], Costs.equal(2), plan=Plan(policy="fixed[votes=3]")))
    'the majority decides from the answers on all items'
    """
    rule = campaign.view.decision_rule
    for old, new in OWN_WORDS.items():
        rule = rule.replace(old, new)
    return rule


def weighs_votes(campaign: Campaign) -> bool:
    """Whether the campaign asks for a vote if it is worth its price, and not by another rule."""
    return campaign.policy.name == "value"
