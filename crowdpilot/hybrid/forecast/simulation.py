"""Forecast: what the rest of a campaign will cost, and how wrong its decisions will be then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.arrays import Codes, Floats, to_probs
from crowdpilot.hybrid.campaign.campaign import Campaign
from crowdpilot.hybrid.campaign.input_checks import gold_codes
from crowdpilot.hybrid.costs import CROWD, Costs
from crowdpilot.hybrid.forecast.curves import Forecast
from crowdpilot.hybrid.forecast.pilot import Draw, Pilot, Random, draws
from crowdpilot.hybrid.forecast.simulated_crowd import Crowd
from crowdpilot.hybrid.plan import Plan

POINTS = 60  # of a curve
BATCHES = 20  # a batch is this share of the items
GROWTH = 0.5  # workers are learned anew when votes have grown by this; more often changes little
LONGEST = 50.0  # votes for each item at which a forecast ends
TRUTHS = 10  # draws of the truth for each way of the campaign
SURE = 100.0  # imaginary items behind the shares of classes that a designer expects

PerQuestion = Any


class Path(NamedTuple):
    """One way in which a campaign may go on, after each batch of votes."""

    draws: Sequence[Draw]  # of each criterion
    items: Codes  # that are to be decided
    spent: Floats
    votes: Floats
    codes: Codes  # decisions, (points, items)


def forecast(
    campaign: Campaign,
    *,
    gold: PerQuestion = None,
    most: Mapping[Any, int] | int | None = None,
    ways: int = 20,
    level: float = 0.9,
    seed: int,
) -> Forecast:
    """How a campaign may go on: simulate what it would do with crowds like the one that it has met.

    Each way is another crowd and other classes of the items, drawn from what the votes so far leave
    open; see `forecast_model.draws`. What the machine says of an item stays as it is now: one that
    learns will do better, so that its campaign will cost less than this. The campaign itself is not changed.

    Parameters
    ----------
    campaign
        At any moment, best after a pilot; votes that were asked for and have not come are asked for again.
    gold
        True classes of some items that have votes, by name; with criteria a mapping from names to these.
        They tell how often the crowd errs as a whole, which no vote can.
    most
        Votes that can be had on each item at most, if there is such a number.
    ways
        How many to simulate.
    level
        How often the intervals should hold the truth.
    seed
        Draws everything.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=50, skill=[0.9, 0.8, 0.8, 0.7], seed=0)
    >>> campaign = Campaign(range(200), votes.classes, Costs.equal(2, crowd=0.02))
    >>> campaign.tell(votes, refit=True)
    >>> found = forecast(campaign, ways=5, seed=0)
    >>> 1 <= found.end("votes").low <= found.end("votes").high <= 10
    True
    """
    data = campaign.to_dict()
    pilots = [
        _pilot(campaign, criterion, known)
        for criterion, known in zip(campaign.criteria, _known(campaign, gold), strict=True)
    ]
    return _simulate(data, pilots, most, ways, level, np.random.default_rng(seed))


def forecast_design(
    items: int,
    costs: Costs,
    *,
    skill: float = 0.8,
    spread: float = 0.05,
    prevalence: Sequence[float] | None = None,
    machine: float | None = None,
    plan: Plan | None = None,
    most: int | None = None,
    ways: int = 20,
    level: float = 0.9,
    seed: int,
) -> Forecast:
    """The same before any vote, for whoever plans a campaign.

    Parameters
    ----------
    items
        How many there will be.
    costs
        Of errors and votes; they have as many classes as there will be.
    skill
        How often a worker of the crowd is expected to be right.
    spread
        Standard deviation of that expectation. Workers differ on top of it as `plan.worker_pseudo_counts` says.
    prevalence
        Expected shares of the classes, equal ones if not given.
    machine
        How often a machine is right that says how sure it is, if there will be one.
    plan
        How the campaign will be run.
    most, ways, level, seed
        As for `forecast`.
    """
    K = len(costs.errors)
    shares = np.full(K, 1 / K) if prevalence is None else np.asarray(prevalence, np.float64)
    _check_design(items, K, skill, spread, shares, machine)
    plan = Plan() if plan is None else plan
    plan = replace(
        plan,
        skill={**plan.skill, CROWD: skill},
        kind_pseudo_counts=max(skill * (1 - skill) / spread**2 - 1, 1.0),
    )
    rng = np.random.default_rng(seed)
    said = None if machine is None else _sayings(items, to_probs(shares), machine, rng)
    campaign = Campaign(range(items), range(K), costs, plan=plan, classifier_probs=said)
    pilot = replace(
        _pilot(campaign, "", np.full(items, -1, np.int32)), machine=said, past=SURE * to_probs(shares)
    )
    return _simulate(campaign.to_dict(), [pilot], most, ways, level, rng)


def _simulate(
    data: dict[str, Any],
    pilots: Sequence[Pilot],
    most: Mapping[Any, int] | int | None,
    ways: int,
    level: float,
    rng: Random,
) -> Forecast:
    if len(pilots[0].gold) == 0:
        raise ValueError("there are no items, so that there is nothing to forecast")
    if ways < 1:
        raise ValueError(f"{ways} ways are to be simulated, expected one or more")
    if not 0 < level < 1:
        raise ValueError(f"the level is {level}, expected a number between 0 and 1")
    plan = {**data["plan"], "refit_growth": max(data["plan"]["refit_growth"], GROWTH)}
    data = {**data, "plan": plan, "trains_classifier": False}
    samples = zip(*(draws(pilot, ways, rng) for pilot in pilots), strict=True)
    paths = [_follow(Campaign.from_dict(data), each, most, rng) for each in samples]
    errors = Costs.from_dict(data["costs"]).errors
    return joined(paths, [pilot.gold for pilot in pilots], errors, level, rng)


def _follow(
    campaign: Campaign, each: Sequence[Draw], most: Mapping[Any, int] | int | None, rng: Random
) -> Path:
    """Run a campaign to its end with a crowd that is drawn."""
    for worker in campaign.view.workers().names if campaign.view.has_open_leases else ():
        campaign.release(worker)
    crowd = Crowd(campaign, each, most, rng)
    size = max(campaign.plan.refit_every, len(campaign) // BATCHES)
    campaign.stop(crowd.spent())
    points = [_look(campaign)]
    while points[-1][1] < LONGEST:
        before = len(points)
        for kind in campaign.costs.prices:
            if asks := campaign.ask(None, size, kind=kind):
                campaign.tell(crowd.answer(asks, kind))
                campaign.stop(crowd.spent())
                points.append(_look(campaign))
        if len(points) == before:
            if campaign.view.votes_since_refit == 0:
                break
            campaign.refit()
    spent, votes, codes = (np.array(column) for column in zip(*points, strict=True))
    kept = np.flatnonzero(~campaign.view.items().withdrawn).astype(np.int32)
    return Path(each, kept, spent, votes, codes)


def _look(campaign: Campaign) -> tuple[float, float, Codes]:
    now = campaign.decide()
    N = max(len(now), 1)
    return campaign.view.spent / N, float(now.votes.sum()) / N, now.codes


def joined(
    paths: Sequence[Path], gold: Sequence[Codes], errors: Floats, level: float, rng: Random
) -> Forecast:
    """All ways on common points, each with several truths."""
    cost = np.linspace(min(p.spent[0] for p in paths), max(p.spent[-1] for p in paths), POINTS)
    loss, wrong, best = [], [], []
    for path in paths:
        seems = np.min([draw.seems for draw in path.draws], axis=0)
        for _ in range(TRUTHS):
            true = np.min([d.truth(g, rng) for d, g in zip(path.draws, gold, strict=True)], axis=0)
            true, seen = true[path.items], seems[path.items]
            right, ideal = errors.argmin(axis=1)[true], errors.argmin(axis=1)[seen]
            loss.append(np.interp(cost, path.spent, errors[true, path.codes].mean(axis=1)))
            wrong.append(np.interp(cost, path.spent, (path.codes != right).mean(axis=1)))
            best.append((errors[true, ideal].mean(), (ideal != right).mean()))
    ends = np.array([(path.votes[-1], path.spent[-1]) for path in paths]).T
    return Forecast(
        len(paths[0].items), level, cost, np.array(loss), np.array(wrong), np.array(best).T, *ends
    )


def _pilot(campaign: Campaign, criterion: str, gold: Codes) -> Pilot:
    """What is known of one question so far; `gold` has the known class of each item, or -1."""
    known = campaign.view.estimates(criterion)
    probs = known.classifier_probs
    if probs is not None:  # the posterior of each item before its votes
        probs = known.fusion(probs, np.zeros_like(probs), known.class_prior)
    return Pilot(
        campaign.view.votes(criterion), known.worker_kind, known.kind_pseudo_counts,
        campaign.plan.worker_pseudo_counts, probs, gold, known.dropped_classes, known.dropped_counts,
    )  # fmt: skip


def _known(campaign: Campaign, gold: PerQuestion) -> list[Codes]:
    """The class of each item, -1 where it is not known; for each criterion."""
    told = gold or {}
    if campaign.has_criteria and (lost := [name for name in told if name not in campaign.criteria]):
        raise ValueError(f"there is no criterion {lost[0]!r}; there are {', '.join(campaign.criteria)}")
    found = []
    names, before = campaign.view.item_names, campaign.view.items().gold
    class_code = {name: k for k, name in enumerate(campaign.classes.tolist())}
    for q, criterion in enumerate(campaign.criteria):
        mine = told.get(criterion, {}) if campaign.has_criteria else told
        campaign.view.item_rows(mine)
        codes = gold_codes(mine, names, class_code)
        found.append(np.where(codes >= 0, codes, before[:, q]).astype(np.int32))
    return found


def _check_design(
    items: int, K: int, skill: float, spread: float, shares: Floats, machine: float | None
) -> None:
    if items < 1:
        raise ValueError(f"there are {items} items, expected one or more")
    if not 0 < skill < 1:
        raise ValueError(f"the skill is {skill}, expected a share between 0 and 1")
    if not spread > 0:
        raise ValueError(f"the spread of the skill is {spread}, expected a number above 0")
    if len(shares) != K or not (np.isfinite(shares) & (shares >= 0)).all() or not shares.sum() > 0:
        raise ValueError(f"the prevalence is {shares.tolist()}, expected a share for each of {K} classes")
    if machine is not None and not 1 / K < machine < 1:
        raise ValueError(f"the machine is right in {machine} of the cases, expected {1 / K:.3g} to 1")


def _sayings(items: int, shares: Floats, right: float, rng: Random) -> Floats:
    """What a machine says that is right that often and knows how sure it may be, (items, classes)."""
    K = len(shares)
    excess = (right - 1 / K) / (1 - 1 / K)
    sure = 1 / K + (1 - 1 / K) * rng.beta(2 * excess, 2 * (1 - excess), items)
    label = rng.choice(K, items, p=shares)
    said = np.repeat((1 - sure[:, None]) / (K - 1), K, axis=1)
    said[np.arange(items), label] = sure
    return said
