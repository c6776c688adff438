"""Replay: run a policy on votes that are known already, and see what it would have cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.campaign.campaign import Campaign
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policies import find_policy
from crowdpilot.hybrid.replay.vote_source import Case, Recorded, World

BATCHES = 50  # a batch is this share of the items, if its size is not given


@dataclass(frozen=True, eq=False)
class Replayed:
    """What a policy did, after each batch of votes.

    Parameters
    ----------
    votes
        For each item.
    spent
        For each item, on votes and machine.
    loss
        What wrong decisions cost, for each item whose truth is known.
    error
        Share of wrong decisions.
    expected
        The loss that the campaign itself expected.
    """

    policy: str
    seed: int
    votes: Floats
    spent: Floats
    loss: Floats
    error: Floats
    expected: Floats

    @property
    def total(self) -> float:
        """Spent and lost in the end, for each item."""
        return float(self.spent[-1] + self.loss[-1])

    def at(self, votes: float) -> float:
        """The loss with so many votes for each item."""
        return float(np.interp(votes, self.votes, self.loss))

    def votes_for(self, loss: float) -> float:
        """Votes for each item after which the loss is at most this and stays; infinite if never."""
        above = np.flatnonzero(self.loss > loss + 1e-12)
        after = above[-1] + 1 if len(above) else 0
        return float(self.votes[after]) if after < len(self.votes) else np.inf

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers that JSON can hold."""
        names = ("votes", "spent", "loss", "error", "expected")
        curve = {name: getattr(self, name).tolist() for name in names}
        return {"policy": self.policy, "seed": self.seed, "total": self.total, "curve": curve}


def replay(
    case: Case, costs: Costs, plan: Plan, *, batch: int | None = None, world: World | None = None,
    most: float = np.inf, watch: Callable[[Campaign], None] | None = None,
) -> Replayed:  # fmt: skip
    """Run one campaign to its end.

    Parameters
    ----------
    case
        The items and their votes.
    costs, plan
        As for `Campaign`; the seed of the plan also shuffles the votes.
    batch
        Votes that are asked for together.
    world
        Who answers, if not the recorded votes.
    most
        Votes for each item at which to end, if it does not end before.
    watch
        Is shown the campaign at the start and after each batch.
    """
    seen: dict[str, Any] = {}
    if find_policy(plan.policy).machine:
        seen = {"machine": case.machine, "features": case.features, "classifier": case.classifier}
    campaign = Campaign(case.items, case.classes, costs, plan=plan, criteria=case.criteria, **seen)
    who: World = Recorded(case, plan.seed) if world is None else world
    size = max(plan.every, len(case.items) // BATCHES) if batch is None else batch
    campaign.stop(who.spent())
    points: list[tuple[float, ...]] = []

    def note() -> None:
        points.append(_measure(campaign, case))
        if watch is not None:
            watch(campaign)

    note()
    while points[-1][0] < most:
        asks = campaign.ask(None, size)
        if not asks:
            if campaign.fresh == 0:
                break
            campaign.refit()
            continue
        campaign.tell(who.answer(asks))
        campaign.stop(who.spent())
        note()
    columns = np.array(points).T
    return Replayed(str(campaign.policy), plan.seed, *columns)


def _measure(campaign: Campaign, case: Case) -> tuple[float, float, float, float, float]:
    now = campaign.decide()
    known = np.flatnonzero(case.truth >= 0)
    lost = campaign.costs.errors[case.truth[known], now.codes[known]]
    wrong = now.codes[known] != case.truth[known]
    N = len(case.items)
    return (
        float(now.votes.sum()) / N, campaign.ledger.spent / N, _mean(lost), _mean(wrong),
        float(now.expected.mean()),
    )  # fmt: skip


def _mean(values: Any) -> float:
    """NaN if no truth is known."""
    return float(values.mean()) if len(values) else np.nan
