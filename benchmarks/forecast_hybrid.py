"""Promised against final loss of simulated campaigns: `python -m benchmarks.forecast_hybrid`.

Crowds of independent workers and crowds that are misled by some items, with and without a classifier. A
forecast is made once the votes tell enough, and whenever they have grown by half, as the service does. Its
interval of the loss in the end is compared with the expected loss that the campaign states in the end, by
the posterior with which it decides, and with the true one, which only a simulation knows.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from benchmarks.process import launch
from benchmarks.tables import RESULTS, markdown, write
from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid import Campaign, Costs, Plan, SimulatedVotes
from crowdpilot.hybrid.forecast import Forecast, forecast
from crowdpilot.hybrid.forecast.readiness import why_too_early

LEVEL, RUNS, ITEMS, GROWTH = 0.9, 8, 200, 1.5
SKILLS = {
    "mixed": (0.97,) * 8 + (0.9,) * 12 + (0.75,) * 6 + (0.5,) * 2,
    "good": (0.92,) * 20,
    "fair": (0.8,) * 20,
}


class Case(NamedTuple):
    """One kind of campaign: its workers, classes, share of misleading items, and whether it is hybrid."""

    skill: str
    classes: int
    misleading: float
    classifier: bool


CASES = [
    Case(skill, K, misleading, classifier)
    for classifier in (False, True)
    for misleading in (0.0, 0.1)
    for skill, K in (("mixed", 4), ("good", 2), ("fair", 2))
]


def classifier_probs(truth: Codes, K: int, rng: np.random.Generator) -> Floats:
    """Probabilities of a calibrated classifier that is right in about 90 % of the items."""
    sure = 0.5 + 0.5 * rng.beta(4, 1, len(truth))
    other = (truth + rng.integers(1, K, len(truth))) % K
    probs = np.repeat(((1 - sure) / (K - 1))[:, None], K, axis=1)
    probs[np.arange(len(truth)), np.where(rng.random(len(truth)) < sure, truth, other)] = sure
    return probs


def run(case: Case, seed: int) -> list[dict[str, Any]]:
    """The forecasts of one campaign, each with what came."""
    rng, K = np.random.default_rng(seed), case.classes
    truth = rng.integers(0, K, ITEMS).astype(np.int32)
    seen = np.where(rng.random(ITEMS) < case.misleading, rng.integers(0, K, ITEMS), truth)
    skill = np.array(SKILLS[case.skill])[:, None, None]
    confusion = np.where(np.eye(K, dtype=bool), skill, (1 - skill) / (K - 1))
    source = SimulatedVotes(np.arange(ITEMS), np.arange(K), seen, confusion, seed)
    probs = classifier_probs(truth, K, rng) if case.classifier else None
    costs = Costs.equal(K, crowd=0.02)
    campaign = Campaign(range(ITEMS), range(K), costs, plan=Plan(seed=seed), classifier_probs=probs)
    found: list[tuple[int, Forecast]] = []
    while True:
        if asks := campaign.ask(None, 10):
            campaign.tell(source.answer(asks))
            if _is_due(campaign, found[-1][0] if found else 0):
                made = forecast(campaign, runs=RUNS, level=LEVEL, seed=seed)
                found.append((campaign.view.vote_count, made))
        elif campaign.view.votes_since_refit:
            campaign.refit()
        else:
            break
    now = campaign.decide()
    came = {"stated": campaign.status().loss_per_item, "true": float(costs.errors[truth, now.codes].mean()),
            "votes": float(now.votes.mean())}  # fmt: skip
    return [{**case._asdict(), "at": at, "promised": list(each.end("loss")), **came,
             "promised_votes": list(each.end("votes"))} for at, each in found]  # fmt: skip


def _is_due(campaign: Campaign, before: int) -> bool:
    is_fitted = campaign.view.votes_since_refit == 0
    return is_fitted and campaign.view.vote_count >= GROWTH * before and not why_too_early(campaign)


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """Medians promised and what came, their ratio, and the share of intervals that hold it."""
    low, median, high = np.array([row["promised"] for row in rows]).T
    stated, true = (np.array([row[name] for row in rows]) for name in ("stated", "true"))
    held = [float(((low - 1e-9 <= v) & (v <= high + 1e-9)).mean()) for v in (stated, true)]
    votes_low, _, votes_high = np.array([row["promised_votes"] for row in rows]).T
    votes = np.array([row["votes"] for row in rows])
    in_votes = float(((votes_low - 1e-9 <= votes) & (votes <= votes_high + 1e-9)).mean())
    ratio = float(np.median(median / np.maximum(stated, 1e-9)))
    values = (median.mean(), stated.mean(), true.mean(), ratio, *held, in_votes)
    return [f"{value:.3f}" for value in values]


def main(
    seeds: Annotated[int, typer.Option(help="Campaigns of each kind.")] = 4,
    output: Annotated[Path, typer.Option(help="Folder for forecast_hybrid.md and .json.")] = RESULTS,
) -> None:
    """Measure how well forecasts agree with what comes."""
    warnings.simplefilter("ignore", UserWarning)
    rows = [row for case in CASES for seed in range(seeds) for row in run(case, seed)]
    header = ("campaigns", "forecasts", "promised", "stated at the end", "true", "promised / stated",
              "holds stated", "holds true", "holds votes")  # fmt: skip
    lines = []
    for classifier in (False, True):
        for misleading in (0.0, 0.1):
            some = [r for r in rows if (r["classifier"], r["misleading"]) == (classifier, misleading)]
            if not some:
                continue
            name = f"{'with' if classifier else 'without'} a classifier, {misleading:.0%} misleading"
            lines.append((name, str(len(some)), *summary(some)))
    text = (
        f"# Forecast of simulated campaigns\n\nLoss per item in the end, of {ITEMS} items; errors cost 1 and "
        f"votes 0.02; intervals at {LEVEL:.0%}.\n\n" + markdown(header, lines)
    )
    write(output, "forecast_hybrid", text, {"rows": rows})
    typer.echo(text)


if __name__ == "__main__":
    launch(main)
