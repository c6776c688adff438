"""Forecast job: simulated cost and expected loss of a project up to its end."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from crowdpilot.hybrid import Campaign, Forecast
from crowdpilot.hybrid.forecast.readiness import why_too_early
from crowdpilot.hybrid.forecast.simulation import forecast as simulate
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.store.engine import Row

MAX_SIMULATED_ITEMS = 1000  # with two classes and one question; fewer with more
MIN_SIMULATED_ITEMS = 200
SIMULATED_RUNS = 8
INTERVAL_LEVEL = 0.9


def make_forecast(context: JobContext, job: Row) -> dict[str, Any]:
    """Simulate the rest of a project, on a sample of its items if it is large."""
    begun = time.monotonic()
    replica, project = context.replica(job.project)
    campaign = replica.campaign
    common = {"votes": project.votes, "made": time.time()}
    if why := "the project is done" if project.done else why_too_early(campaign):
        return {**common, "why": why}
    items = int((~campaign.view.items().withdrawn).sum())
    sample = sample_items(campaign, _sample_size(campaign), seed=campaign.plan.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fits that do not converge warn at every step
        forecast = simulate(sample, runs=SIMULATED_RUNS, level=INTERVAL_LEVEL, seed=campaign.plan.seed)
    seconds = round(time.monotonic() - begun, 3)
    return {**common, **_result(forecast, sample, items), "simulated": len(sample), "seconds": seconds}


def _sample_size(campaign: Campaign) -> int:
    cells = len(campaign.classes) / 2 * len(campaign.criteria)
    return max(MIN_SIMULATED_ITEMS, int(MAX_SIMULATED_ITEMS / cells))


def sample_items(campaign: Campaign, n: int, seed: int) -> Campaign:
    """A copy of a campaign with a sample of its items, and their share of the budget."""
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


def _result(forecast: Forecast, sample: Campaign, items: int) -> dict[str, Any]:
    """Curves per item, with votes if all have the same price; and totals at the end."""
    values = forecast.to_dict()
    prices = set(sample.costs.prices.values())
    votes = None
    if len(prices) == 1 and (price := prices.pop()) > 0:
        now = float(sample.decide().votes.sum()) / forecast.items
        votes = (now + (forecast.cost - forecast.cost[0]) / price).tolist()
    total = {
        name: {k: None if v is None else v * items for k, v in values["end"][name].items()}
        for name in ("votes", "spent", "loss")
    }
    return {**values, "items": items, "curve_votes": votes, "total": total}
