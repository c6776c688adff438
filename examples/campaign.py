"""A whole campaign with a crowd that is made up: ask, tell, stop, decide, and let an expert check."""

from __future__ import annotations

import json

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from crowdpilot.hybrid import Audit, Campaign, Costs, LogisticRegression, Plan

ITEMS, WORKERS, RICH = 600, 25, 0.25  # RICH is the share of items that are "yes"
COSTS = Costs.binary(fp=1, fn=5, crowd=0.02, budget=40)
CLASSES = ("no", "yes")

console = Console(width=100, highlight=False)
rng = np.random.default_rng(0)
truth = rng.random(ITEMS) < RICH
seen = np.stack([truth + rng.normal(0, 0.8, ITEMS), rng.normal(0, 1, ITEMS)], axis=1)  # what the machine sees
skill = rng.beta(12, 3, WORKERS)


def main() -> None:
    """Run it, show what happened on the way, and compare the end with the truth."""
    plan = Plan(policy="value", per_worker=120, seed=0)
    campaign = Campaign(
        range(ITEMS), CLASSES, COSTS, plan=plan, features=seen, classifier=[LogisticRegression(0.3), LogisticRegression(3.0)]
    )
    console.print(
        f"\n{ITEMS} items, {WORKERS} workers who are right in {skill.mean():.0%} of cases, a machine that "
        "learns on the way.\nA missed “yes” costs 5, a false one 1, a vote 0.02.\n"
    )
    run(campaign)
    again = Campaign.from_dict(
        json.loads(json.dumps(campaign.to_dict())), features=seen, classifier=[LogisticRegression(0.3), LogisticRegression(3.0)]
    )
    same = np.array_equal(again.decide().codes, campaign.decide().codes)
    console.print(f"Written down as JSON and read again it decides the same: {'yes' if same else 'no'}.\n")
    check(campaign)


def run(campaign: Campaign) -> None:
    """Workers come and go; each is given ten questions that are worth their price, until none is."""
    table = Table("votes", "spent", "items done", "expected loss", "true loss", box=SIMPLE_HEAD)
    row(table, campaign)
    idle = shown = 0
    while idle < WORKERS:
        worker = int(rng.integers(WORKERS))
        asks = campaign.ask(f"worker {worker}", 10)
        idle = 0 if asks else idle + 1
        if rng.random() < 0.05:
            campaign.release(f"worker {worker}")  # left without an answer: others are asked
            continue
        right = rng.random(len(asks)) < skill[worker]
        said = [CLASSES[int(truth[ask.item] == r)] for ask, r in zip(asks, right, strict=True)]
        campaign.tell([(ask.item, f"worker {worker}", label) for ask, label in zip(asks, said, strict=True)])
        if (votes := campaign.status().votes["crowd"]) >= shown + 150:
            shown = votes
            row(table, campaign)
    campaign.refit()
    row(table, campaign)
    console.print(table)


def row(table: Table, campaign: Campaign) -> None:
    """Where the campaign stands, beside what only we know."""
    now, status = campaign.decide(), campaign.status()
    lost = COSTS.errors[truth.astype(int), now.codes].mean()
    table.add_row(
        f"{status.votes['crowd']}", f"{status.spent:.2f}", f"{status.done}", f"{now.expected.mean():.3f}",
        f"{lost:.3f}",
    )  # fmt: skip


def check(campaign: Campaign) -> None:
    """An expert looks at some decisions, and a bound on the loss of all follows, whatever the posterior was."""
    now = campaign.decide()
    audit = Audit(COSTS, now.codes, now.probs, seed=1, planned=90)
    items = audit.draw(90)
    audit.add_answers(items, truth[items].astype(int))
    bound, lost = audit.bound(), COSTS.errors[truth.astype(int), now.codes].mean()
    console.print(
        f"The campaign expects a loss of {now.expected.mean():.3f} per item. After {bound.checked} checks by "
        f"an expert it is\nat least {bound.cost_low:.3f} and at most {bound.cost:.3f} with 95 % confidence; "
        f"in truth it is {lost:.3f}.\n"
    )
    majority = 5 * COSTS.price("crowd") * ITEMS
    console.print(
        f"Five votes on every item would have cost {majority:.0f} instead of {campaign.status().spent:.2f}."
    )


if __name__ == "__main__":
    main()
