"""Promised against final loss of simulated campaigns: `python -m benchmarks.forecast_hybrid`.

Crowds of independent workers and crowds that are misled by some items; without a classifier, with one whose
probabilities are right, and with one that is much too sure. A forecast is made once the votes tell enough,
and whenever they have grown by half, as the service does; and again with the true classes of some items. Its
interval of the loss in the end is compared with the expected loss that the campaign states in the end, by
the posterior with which it decides, and with the true one, which only a simulation knows.
"""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from benchmarks.process import launch
from benchmarks.tables import RESULTS, markdown, write
from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid import Campaign, Costs, Plan, SimulatedVotes
from crowdpilot.hybrid.forecast import forecast
from crowdpilot.hybrid.forecast.readiness import why_too_early

LEVEL, RUNS, ITEMS, GROWTH = 0.9, 8, 200, 1.5
KNOWN = 50  # items with votes, at most, whose true classes the second forecast has
SKILLS = {
    "mixed": (0.97,) * 8 + (0.9,) * 12 + (0.75,) * 6 + (0.5,) * 2,
    "good": (0.92,) * 20,
    "fair": (0.8,) * 20,
}
NONE, CALIBRATED, OVERCONFIDENT = CLASSIFIERS = ("none", "calibrated", "overconfident")
MISLEADING = (0.0, 0.1)
HEADER = (
    "classifier", "misleading", "campaigns", "without a forecast", "forecasts", "promised",
    "with known classes", "stated at the end", "true", "promised / stated", "holds stated", "holds true",
    "with known classes", "holds votes",
)  # fmt: skip


class Case(NamedTuple):
    """One kind of campaign: its workers, classes, share of misleading items, and classifier."""

    skill: str
    classes: int
    misleading: float
    classifier: str


CASES = [
    Case(skill, K, misleading, classifier)
    for classifier, misleading in product(CLASSIFIERS, MISLEADING)
    for skill, K in (("mixed", 4), ("good", 2), ("fair", 2))
]


def classifier_probs(truth: Codes, case: Case, rng: np.random.Generator) -> Floats | None:
    """Probabilities of a classifier, if there is one.

    It is right in about 90 % of the items, as it says; or in 70 %, where it says 98 %.
    """
    if case.classifier == NONE:
        return None
    N, K = len(truth), case.classes
    sure = 0.5 + 0.5 * rng.beta(4, 1, N) if case.classifier == CALIBRATED else np.full(N, 0.98)
    right = sure if case.classifier == CALIBRATED else np.full(N, 0.7)
    other = (truth + rng.integers(1, K, N)) % K
    probs = np.repeat(((1 - sure) / (K - 1))[:, None], K, axis=1)
    probs[np.arange(N), np.where(rng.random(N) < right, truth, other)] = sure
    return probs


def run(case: Case, seed: int) -> dict[str, Any]:
    """One campaign: what came, and the forecasts before."""
    rng, K = np.random.default_rng(seed), case.classes
    truth = rng.integers(0, K, ITEMS).astype(np.int32)
    seen = np.where(rng.random(ITEMS) < case.misleading, rng.integers(0, K, ITEMS), truth)
    skill = np.array(SKILLS[case.skill])[:, None, None]
    confusion = np.where(np.eye(K, dtype=bool), skill, (1 - skill) / (K - 1))
    source = SimulatedVotes(np.arange(ITEMS), np.arange(K), seen, confusion, seed)
    probs = classifier_probs(truth, case, rng)
    costs = Costs.equal(K, crowd=0.02)
    campaign = Campaign(range(ITEMS), range(K), costs, plan=Plan(seed=seed), classifier_probs=probs)
    made: list[dict[str, Any]] = []
    while True:
        if asks := campaign.ask(None, 10):
            campaign.tell(source.answer(asks))
            if _is_due(campaign, made[-1]["at"] if made else 0):
                made.append(_forecasts(campaign, truth, seed))
        elif campaign.view.votes_since_refit:
            campaign.refit()
        else:
            break
    now = campaign.decide()
    came = {"stated": campaign.status().loss_per_item, "true": float(costs.errors[truth, now.codes].mean()),
            "votes": float(now.votes.mean())}  # fmt: skip
    return {**case._asdict(), "seed": seed, **came, "forecasts": made}


def _is_due(campaign: Campaign, before: int) -> bool:
    is_fitted = campaign.view.votes_since_refit == 0
    return is_fitted and campaign.view.vote_count >= GROWTH * before and not why_too_early(campaign)


def _forecasts(campaign: Campaign, truth: Codes, seed: int) -> dict[str, Any]:
    """The intervals of now, without and with the true classes of items that have votes."""
    voted = np.flatnonzero(campaign.view.items().votes[:, 0])[:KNOWN].tolist()
    known = {item: int(truth[item]) for item in voted}
    plain, informed = (
        forecast(campaign, gold=gold, runs=RUNS, level=LEVEL, seed=seed) for gold in (None, known)
    )
    return {"at": campaign.view.vote_count, "promised": list(plain.end("loss")),
            "promised_known": list(informed.end("loss")),
            "promised_votes": list(plain.end("votes"))}  # fmt: skip


def summary(campaigns: list[dict[str, Any]]) -> list[str]:
    """How many there are, medians promised and what came, and the share of intervals that hold it."""
    pairs = [(each, made) for each in campaigns for made in each["forecasts"]]
    stated, true, votes = np.array([[c[name] for name in ("stated", "true", "votes")] for c, _ in pairs]).T
    plain, informed, in_votes = (
        np.array([made[name] for _, made in pairs])
        for name in ("promised", "promised_known", "promised_votes")
    )
    ratio = float(np.median(plain[:, 1] / np.maximum(stated, 1e-9)))
    values = (
        plain[:, 1].mean(), informed[:, 1].mean(), stated.mean(), true.mean(), ratio, _held(plain, stated),
        _held(plain, true), _held(informed, true), _held(in_votes, votes),
    )  # fmt: skip
    counts = len(campaigns), sum(not c["forecasts"] for c in campaigns), len(pairs)
    return [*map(str, counts), *(f"{value:.3f}" for value in values)]


def _held(intervals: Floats, values: Floats) -> float:
    """The share of intervals (low, median, high) that contain what came."""
    low, _, high = intervals.T
    return float(((low - 1e-9 <= values) & (values <= high + 1e-9)).mean())


def without_forecast(campaigns: list[dict[str, Any]]) -> str:
    """What came of campaigns that ended before the votes told enough for a forecast."""
    some = [each for each in campaigns if not each["forecasts"]]
    if not some:
        return ""
    stated, true, votes = (np.mean([each[name] for each in some]) for name in ("stated", "true", "votes"))
    return (
        f"\n{len(some)} campaigns ended before a forecast, with {votes:.2f} votes per item. "
        f"They stated a loss of {stated:.3f}, and it was {true:.3f}.\n"
    )


def main(
    seeds: Annotated[int, typer.Option(help="Campaigns of each kind.")] = 8,
    output: Annotated[Path, typer.Option(help="Folder for forecast_hybrid.md and .json.")] = RESULTS,
) -> None:
    """Measure how well forecasts agree with what comes."""
    warnings.simplefilter("ignore", UserWarning)
    campaigns = [run(case, seed) for case in CASES for seed in range(seeds)]
    lines = []
    for classifier, misleading in product(CLASSIFIERS, MISLEADING):
        some = [c for c in campaigns if (c["classifier"], c["misleading"]) == (classifier, misleading)]
        if any(each["forecasts"] for each in some):
            lines.append((classifier, f"{misleading:.0%}", *summary(some)))
    text = (
        f"# Forecast of simulated campaigns\n\nLoss per item in the end, of {ITEMS} items; errors cost 1 and "
        f"votes 0.02; intervals at {LEVEL:.0%}. Known are the classes of up to {KNOWN} items with votes.\n\n"
        + markdown(HEADER, lines)
        + without_forecast(campaigns)
    )
    write(output, "forecast_hybrid", text, {"campaigns": campaigns})
    typer.echo(text)


if __name__ == "__main__":
    launch(main)
