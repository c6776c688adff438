"""Forecast: what the rest of a project will cost, and how wrong its decisions will be then."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from crowdpilot.hybrid import Campaign, Forecast
from crowdpilot.hybrid.forecast.simulation import forecast as simulate
from crowdpilot.service.jobs.context import Bench
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store.engine import Row

MOST = 1000  # items that are simulated, with two classes and one question
LEAST = 200
SIMULATED_RUNS = 8
LEVEL = 0.9
FIRST = 50  # votes without which nothing can be foreseen


def why_not(replica: Replica) -> str:
    """Why nothing can be foreseen yet, empty if something can."""
    campaign = replica.campaign
    items, votes = campaign.view.items(), campaign.view.vote_count
    pilot = items.pilot & items.open & ~(items.gold >= 0).all(axis=1)
    left = int((pilot & ~items.votes.any(axis=1)).sum())
    if not items.open.any():
        return "there is no open item, so that there is nothing to foresee"
    if left:
        return f"the pilot is not done: {left} of its items have no vote yet"
    if votes < min(FIRST, len(campaign)):
        return f"there are {votes} votes, too few to foresee anything; wait for {FIRST}"
    return ""


def forecast(bench: Bench, job: Row) -> dict[str, Any]:
    """Simulate how the project may go on, on a sample of its items if it is large."""
    begun = time.monotonic()
    replica, project = bench.replica(job.project)
    campaign = replica.campaign
    common = {"votes": project.votes, "made": time.time()}
    if why := why_not(replica):
        return {**common, "why": why}
    items = int((~campaign.view.items().withdrawn).sum())
    some = sampled(campaign, _size(campaign), seed=campaign.plan.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what does not settle says so at every step
        found = simulate(some, runs=SIMULATED_RUNS, level=LEVEL, seed=campaign.plan.seed)
    seconds = round(time.monotonic() - begun, 3)
    return {**common, **_result(found, some, items), "simulated": len(some), "seconds": seconds}


def _size(campaign: Campaign) -> int:
    cells = len(campaign.classes) / 2 * len(campaign.criteria)
    return max(LEAST, int(MOST / cells))


def sampled(campaign: Campaign, n: int, seed: int) -> Campaign:
    """The same campaign as if it had only some of its items, with their share of the money."""
    data = campaign.to_dict()
    kept = np.flatnonzero(~campaign.view.items().withdrawn)
    share = min(1.0, n / len(kept))
    costs = data["costs"]
    budget = costs["budget"] if costs["budget"] is None else costs["budget"] * share
    small = Campaign.from_dict({**data, "trains_classifier": False, "costs": {**costs, "budget": budget}})
    for worker in small.view.workers().names if small.view.has_open_leases else ():
        small.release(worker)
    if share < 1:
        chosen = set(np.random.default_rng(seed).choice(kept, n, replace=False).tolist())
        small.withdraw(name for row, name in enumerate(small.view.item_names) if row not in chosen)
        small.drop_closed()
        small.synchronize(spent=small.view.spent * share)
    return small


def _result(found: Forecast, some: Campaign, items: int) -> dict[str, Any]:
    """Curves for each item, with the votes where all have one price; and totals in the end."""
    plain = found.to_dict()
    prices = set(some.costs.prices.values())
    votes = None
    if len(prices) == 1 and (price := prices.pop()) > 0:
        now = float(some.decide().votes.sum()) / found.items
        votes = (now + (found.cost - found.cost[0]) / price).tolist()
    total = {
        name: {k: None if v is None else v * items for k, v in plain["end"][name].items()}
        for name in ("votes", "spent", "loss")
    }
    return {**plain, "items": items, "curve_votes": votes, "total": total}
