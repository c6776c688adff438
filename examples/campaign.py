"""A whole campaign with a simulated crowd: ask, tell, stop, decide, and audit the decisions."""

from __future__ import annotations

import json

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import crowdpilot as cp
from crowdpilot.hybrid import LogisticRegression

ITEMS, WORKERS, PREVALENCE = 600, 25, 0.25  # PREVALENCE is the share of items that are "yes"
COSTS = cp.Costs.binary(fp=1, fn=5, crowd=0.02, budget=40)
CLASSES = ("no", "yes")

console = Console(width=100, highlight=False)
rng = np.random.default_rng(0)
truth = rng.random(ITEMS) < PREVALENCE
features = np.stack([truth + rng.normal(0, 0.8, ITEMS), rng.normal(0, 1, ITEMS)], axis=1)  # of the classifier
skill = rng.beta(12, 3, WORKERS)


def main() -> None:
    """Run the campaign, print its progress, save and load it, and audit its decisions."""
    plan = cp.Plan(policy="value", per_worker=120, seed=0)
    classifier = [LogisticRegression(0.3), LogisticRegression(3.0)]
    campaign = cp.Campaign(range(ITEMS), CLASSES, COSTS, plan=plan, features=features, classifier=classifier)
    console.print(
        f"\n{ITEMS} items, {WORKERS} workers with a mean accuracy of {skill.mean():.0%}, and a classifier "
        "that is trained on the way.\nA missed “yes” costs 5, a false one 1, a vote 0.02.\n"
    )
    run(campaign)
    saved = json.loads(json.dumps(campaign.to_dict()))
    loaded = cp.Campaign.from_dict(saved, features=features, classifier=classifier)
    same = np.array_equal(loaded.decide().codes, campaign.decide().codes)
    console.print(f"Saved as JSON and loaded, it decides the same: {'yes' if same else 'no'}.\n")
    check(campaign)


def run(campaign: cp.Campaign) -> None:
    """Workers arrive at random and take up to ten items each, until no vote is worth its price."""
    table = Table("votes", "spent", "items done", "expected loss", "true loss", box=SIMPLE_HEAD)
    row(table, campaign)
    idle = shown = 0
    while idle < WORKERS:
        worker = int(rng.integers(WORKERS))
        asks = campaign.ask(f"worker {worker}", 10)
        idle = 0 if asks else idle + 1
        if rng.random() < 0.05:
            campaign.release(f"worker {worker}")  # left without answers: the items go to others
            continue
        right = rng.random(len(asks)) < skill[worker]
        labels = [CLASSES[int(truth[ask.item] == r)] for ask, r in zip(asks, right, strict=True)]
        campaign.tell(
            [(ask.item, f"worker {worker}", label) for ask, label in zip(asks, labels, strict=True)]
        )
        if (votes := campaign.status().votes["crowd"]) >= shown + 150:
            shown = votes
            row(table, campaign)
    campaign.refit()
    row(table, campaign)
    console.print(table)


def row(table: Table, campaign: cp.Campaign) -> None:
    """Add the status of the campaign and its true loss to the table."""
    now, status = campaign.decide(), campaign.status()
    lost = COSTS.errors[truth.astype(int), now.codes].mean()
    table.add_row(
        f"{status.votes['crowd']}", f"{status.spent:.2f}", f"{status.done}", f"{now.expected.mean():.3f}",
        f"{lost:.3f}",
    )  # fmt: skip


def check(campaign: cp.Campaign) -> None:
    """An expert checks some decisions; the bound on the loss of all holds for any posterior."""
    now = campaign.decide()
    audit = cp.audit(now, COSTS, seed=1, planned=90)
    items = audit.draw(90)
    audit.add_answers(items, truth[items].astype(int))
    bound, lost = audit.bound(), COSTS.errors[truth.astype(int), now.codes].mean()
    console.print(
        f"The campaign expects a loss of {now.expected.mean():.3f} per item. After {bound.checked} checks by "
        f"an expert it is\nat least {bound.cost_low:.3f} and at most {bound.cost:.3f} with 95 % confidence. "
        f"The true loss is {lost:.3f}.\n"
    )
    majority = 5 * COSTS.price("crowd") * ITEMS
    console.print(
        f"Five votes on every item would have cost {majority:.0f} instead of {campaign.status().spent:.2f}."
    )


if __name__ == "__main__":
    main()
