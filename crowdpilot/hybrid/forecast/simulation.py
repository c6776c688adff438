"""Forecast by simulation: run the rest of a campaign with crowds drawn from the posterior after a pilot."""

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
from crowdpilot.hybrid.forecast.pilot import Pilot, PosteriorDraw, Random, posterior_draws
from crowdpilot.hybrid.forecast.simulated_crowd import SimulatedCrowd
from crowdpilot.hybrid.plan import Plan
from crowdpilot.progress_bars import ProgressBars

CURVE_POINTS = 60
BATCHES_PER_PASS = 20  # a batch asks about one twentieth of the items
MIN_REFIT_GROWTH = 0.2  # of the votes between refits in a simulation, where the plan has more
MAX_VOTES_PER_ITEM = 50.0  # at which a simulated campaign ends
TRUTHS_PER_RUN = 10  # draws of the true classes for each simulated campaign
PREVALENCE_PSEUDO_COUNTS = 100.0  # items behind the class shares that a designer expects

PerCriterion = Any
VoteLimit = Mapping[Any, int] | int | None


class SimulatedRun(NamedTuple):
    """One simulated continuation of a campaign, after each batch of votes."""

    draws: Sequence[PosteriorDraw]  # of each criterion
    items: Codes  # rows of those that are decided
    spent: Floats  # per item, (points,)
    votes: Floats  # per item, (points,)
    decisions: Codes  # codes, (points, items)


def forecast(
    campaign: Campaign,
    *,
    gold: PerCriterion = None,
    max_votes_per_item: VoteLimit = None,
    runs: int = 20,
    level: float = 0.9,
    seed: int = 0,
    progress: bool = False,
) -> Forecast:
    """Forecast the rest of a campaign by simulating it with crowds like the one so far.

    Each run has another crowd and other classes of the items, drawn from the posterior given the votes so
    far; see `posterior_draws`. The classifier's probabilities stay as they are now: one that is trained on
    further votes will do better, so that the campaign will cost less. The campaign itself is not changed.

    Parameters
    ----------
    campaign
        At any moment, best after a pilot; pending votes are asked for again.
    gold
        True classes of some items that have votes, by name; with criteria a mapping from names to these.
        They show how often the crowd errs as a whole, which votes cannot.
    max_votes_per_item
        Votes that can be had on each item, by name or for all; None for no limit.
    runs
        Number of simulated campaigns.
    level
        Of the prediction intervals.
    seed
        Of everything that is drawn.
    progress
        Whether to show a progress bar.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=50, skill=[0.9, 0.8, 0.8, 0.7], seed=0)
    >>> campaign = Campaign(range(200), votes.classes, Costs.equal(2, crowd=0.02))
    >>> campaign.tell(votes, refit=True)
    >>> votes_per_item = forecast(campaign, runs=5, seed=0).end("votes")
    >>> 1 <= votes_per_item.low <= votes_per_item.high <= 10
    True
    """
    if not isinstance(campaign, Campaign):
        raise ValueError("forecast takes a Campaign, made of items, classes and costs and told the votes")
    known, override = _known_classes(campaign, gold), campaign.view.items().override.T
    pilots = [_pilot(campaign, *each) for each in zip(campaign.criteria, known, override, strict=True)]
    rng = np.random.default_rng(seed)
    with ProgressBars(shown=progress) as bars:
        return _simulate(campaign.to_dict(), pilots, max_votes_per_item, runs, level, rng, bars)


def forecast_design(
    items: int,
    costs: Costs,
    *,
    skill: float = 0.8,
    spread: float = 0.05,
    prevalence: Sequence[float] | None = None,
    classifier_accuracy: float | None = None,
    plan: Plan | None = None,
    max_votes_per_item: int | None = None,
    runs: int = 20,
    level: float = 0.9,
    seed: int = 0,
    progress: bool = False,
) -> Forecast:
    """Forecast a campaign before any vote, from what its designer expects.

    Parameters
    ----------
    items
        Number of items.
    costs
        Of errors and votes; they determine the number of classes.
    skill
        Expected accuracy of a worker of the crowd.
    spread
        Standard deviation of that expectation. Workers differ around it by `plan.worker_pseudo_counts`.
    prevalence
        Expected shares of the classes, (classes,); equal ones by default.
    classifier_accuracy
        Of a calibrated classifier, if there will be one.
    plan
        Settings of the campaign.
    max_votes_per_item, runs, level, seed, progress
        As for `forecast`.
    """
    K = len(costs.errors)
    shares = np.full(K, 1 / K) if prevalence is None else np.asarray(prevalence, np.float64)
    _check_design(items, K, skill, spread, shares, classifier_accuracy)
    plan = Plan() if plan is None else plan
    plan = replace(
        plan,
        skill={**plan.skill, CROWD: skill},
        kind_pseudo_counts=max(skill * (1 - skill) / spread**2 - 1, 1.0),
    )
    rng = np.random.default_rng(seed)
    probs = None
    if classifier_accuracy is not None:
        probs = _calibrated_classifier(items, to_probs(shares), classifier_accuracy, rng)
    campaign = Campaign(range(items), range(K), costs, plan=plan, classifier_probs=probs)
    unknown = np.full(items, -1, np.int32)
    pilot = replace(
        _pilot(campaign, "", unknown, unknown),
        item_prior=probs,
        truth_prior=probs,
        earlier_classes=PREVALENCE_PSEUDO_COUNTS * to_probs(shares),
    )
    with ProgressBars(shown=progress) as bars:
        return _simulate(campaign.to_dict(), [pilot], max_votes_per_item, runs, level, rng, bars)


def _simulate(
    state: dict[str, Any],
    pilots: Sequence[Pilot],
    limit: VoteLimit,
    runs: int,
    level: float,
    rng: Random,
    bars: ProgressBars,
) -> Forecast:
    """Run a saved campaign to its end with one drawn crowd after another."""
    if len(pilots[0].gold) == 0:
        raise ValueError("there are no items, so that there is nothing to forecast")
    if runs < 1:
        raise ValueError(f"{runs} runs are to be simulated, expected one or more")
    if not 0 < level < 1:
        raise ValueError(f"the level is {level}, expected a number between 0 and 1")
    plan = {**state["plan"], "refit_growth": max(state["plan"]["refit_growth"], MIN_REFIT_GROWTH)}
    state = {**state, "plan": plan, "trains_classifier": False}
    draws_by_run = zip(*(posterior_draws(pilot, runs, rng) for pilot in pilots), strict=True)
    simulated: list[SimulatedRun] = []
    for draws in draws_by_run:
        simulated.append(_run(Campaign.from_dict(state), draws, limit, rng))
        bars.update("simulated campaigns", len(simulated), runs)
    errors = Costs.from_dict(state["costs"]).errors
    return _curves(simulated, pilots, errors, level, rng)


def _run(campaign: Campaign, draws: Sequence[PosteriorDraw], limit: VoteLimit, rng: Random) -> SimulatedRun:
    """Run a campaign to its end with a simulated crowd."""
    for worker in campaign.view.workers().names if campaign.view.has_open_leases else ():
        campaign.release(worker)
    campaign.synchronize(reserved_beside=0.0)  # there are no leases any more
    crowd = SimulatedCrowd(campaign, draws, limit, rng)
    size = max(campaign.plan.refit_every, len(campaign) // BATCHES_PER_PASS)
    campaign.stop(crowd.exhausted())
    points = [_point(campaign)]
    while points[-1][1] < MAX_VOTES_PER_ITEM:
        before = len(points)
        for kind in campaign.costs.prices:
            if asks := campaign.ask(None, size, kind=kind):
                campaign.tell(crowd.answer(asks, kind))
                campaign.stop(crowd.exhausted())
                points.append(_point(campaign))
        if len(points) == before:
            if campaign.view.votes_since_refit == 0:
                break
            campaign.refit()
    spent, votes, decisions = (np.array(column) for column in zip(*points, strict=True))
    decided = np.flatnonzero(~campaign.view.items().withdrawn).astype(np.int32)
    return SimulatedRun(draws, decided, spent, votes, decisions)


def _point(campaign: Campaign) -> tuple[float, float, Codes]:
    """Spent and votes per item, and the decisions."""
    decisions = campaign.decide()
    N = max(len(decisions), 1)
    return campaign.view.spent / N, float(decisions.votes.sum()) / N, decisions.codes


def _curves(
    simulated: Sequence[SimulatedRun], pilots: Sequence[Pilot], errors: Floats, level: float, rng: Random
) -> Forecast:
    """Loss and error rate of all runs at common costs, each with several draws of the truth."""
    start, end = min(run.spent[0] for run in simulated), max(run.spent[-1] for run in simulated)
    cost = np.linspace(start, end, CURVE_POINTS)
    best_decision = errors.argmin(axis=1)
    loss, error, best = [], [], []
    for run in simulated:
        questions = list(zip(pilots, run.draws, strict=True))
        reachable = np.min([pilot.overridden(draw.consensus) for pilot, draw in questions], axis=0)
        ideal = best_decision[reachable[run.items]]
        for _ in range(TRUTHS_PER_RUN):
            drawn = [pilot.overridden(draw.draw_truth(pilot.gold, rng)) for pilot, draw in questions]
            truth = np.min(drawn, axis=0)[run.items]
            right = best_decision[truth]
            loss.append(np.interp(cost, run.spent, errors[truth, run.decisions].mean(axis=1)))
            error.append(np.interp(cost, run.spent, (run.decisions != right).mean(axis=1)))
            best.append((errors[truth, ideal].mean(), (ideal != right).mean()))
    ends = np.array([(run.votes[-1], run.spent[-1]) for run in simulated]).T
    items = len(simulated[0].items)
    return Forecast(items, level, cost, np.array(loss), np.array(error), np.array(best).T, *ends)


def _pilot(campaign: Campaign, criterion: str, gold: Codes, override: Codes) -> Pilot:
    """What is known of one question so far, with known and overridden classes of the items, or -1."""
    estimates = campaign.view.estimates(criterion)
    item_prior = estimates.calibrated_probs
    if item_prior is not None:
        item_prior = estimates.fusion(item_prior, np.zeros_like(item_prior), estimates.class_prior)
    return Pilot(
        votes=campaign.view.votes(criterion),
        worker_kind=estimates.worker_kind,
        kind_pseudo_counts=estimates.kind_pseudo_counts,
        worker_pseudo_counts=campaign.plan.worker_pseudo_counts,
        item_prior=item_prior,
        gold=gold,
        override=override,
        earlier_classes=estimates.dropped_classes,
        earlier_counts=estimates.dropped_counts,
        misleading_share=estimates.crowd_errors.misleading,
        truth_prior=None if estimates.learned_from_votes else item_prior,
    )


def _known_classes(campaign: Campaign, gold: PerCriterion) -> list[Codes]:
    """The class of each item, -1 where it is not known; for each criterion."""
    gold = gold or {}
    if campaign.has_criteria and (unknown := [name for name in gold if name not in campaign.criteria]):
        raise ValueError(f"there is no criterion {unknown[0]!r}; there are {', '.join(campaign.criteria)}")
    names, known = campaign.view.item_names, campaign.view.items().gold
    class_code = {name: k for k, name in enumerate(campaign.classes.tolist())}
    by_criterion = []
    for q, criterion in enumerate(campaign.criteria):
        labels = gold.get(criterion, {}) if campaign.has_criteria else gold
        campaign.view.item_rows(labels)  # ValueError for an item that does not exist
        codes = gold_codes(labels, names, class_code)
        by_criterion.append(np.where(codes >= 0, codes, known[:, q]).astype(np.int32))
    return by_criterion


def _check_design(
    items: int, K: int, skill: float, spread: float, shares: Floats, accuracy: float | None
) -> None:
    if items < 1:
        raise ValueError(f"there are {items} items, expected one or more")
    if not 0 < skill < 1:
        raise ValueError(f"the skill is {skill}, expected a share between 0 and 1")
    if not spread > 0:
        raise ValueError(f"the spread of the skill is {spread}, expected a number above 0")
    if len(shares) != K or not (np.isfinite(shares) & (shares >= 0)).all() or not shares.sum() > 0:
        raise ValueError(f"the prevalence is {shares.tolist()}, expected a share for each of {K} classes")
    if accuracy is not None and not 1 / K < accuracy < 1:
        raise ValueError(f"the accuracy of the classifier is {accuracy}, expected {1 / K:.3g} to 1")


def _calibrated_classifier(items: int, shares: Floats, accuracy: float, rng: Random) -> Floats:
    """Probabilities of a calibrated classifier of this accuracy, (items, classes)."""
    K = len(shares)
    excess = (accuracy - 1 / K) / (1 - 1 / K)
    confidence = 1 / K + (1 - 1 / K) * rng.beta(2 * excess, 2 * (1 - excess), items)
    label = rng.choice(K, items, p=shares)
    probs = np.repeat((1 - confidence[:, None]) / (K - 1), K, axis=1)
    probs[np.arange(items), label] = confidence
    return probs
