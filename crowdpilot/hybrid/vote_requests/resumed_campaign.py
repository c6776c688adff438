"""The campaign that items, votes, probabilities and costs describe, as if it had run until now."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot import io
from crowdpilot.arrays import Names, last_of_each, pair
from crowdpilot.hybrid.campaign.campaign import Campaign
from crowdpilot.hybrid.costs import CROWD, EXPERT, Costs
from crowdpilot.hybrid.costs_text import as_costs
from crowdpilot.hybrid.plan import MIN_PILOT_ITEMS, Plan
from crowdpilot.hybrid.vote_requests.items import ItemColumns, find_items
from crowdpilot.io.probabilities import ClassProbs, parse_probs
from crowdpilot.names import lookup, natural_order, to_names
from crowdpilot.votes import Votes

KINDS = (CROWD, EXPERT)  # of workers, one of which answers
COST_NAMES = "fp and fn, error or matrix; crowd, the price of a vote; classifier; budget"
VOTES_PER_ERROR = 20.0  # what a wrong label costs where nothing is said, as with the default price of a vote


@dataclass(frozen=True, eq=False)
class ResumedCampaign:
    """A campaign whose items and workers are known by the texts of their names, and what these stand for.

    Parameters
    ----------
    campaign
        Holds all votes so far; votes on other items only count in the confusion matrices of workers.
    items
        Names and content of the items; row *n* is row *n* of the campaign.
    classes
        Their names, as they were given.
    votes
        Number of votes so far, on all items.
    votes_elsewhere
        Of these, on items that are not to be labelled.
    has_classifier
        Whether the items have probabilities of a classifier.
    counts_votes
        Whether no costs were given, so that money is counted in votes.
    """

    campaign: Campaign
    items: ItemColumns
    classes: Names
    votes: int
    votes_elsewhere: int
    has_classifier: bool
    counts_votes: bool

    @property
    def price(self) -> float:
        """Of a vote."""
        return next(iter(self.campaign.costs.prices.values()))

    @property
    def spent(self) -> float:
        """Price of all votes so far and of the classifier, also if it is more than the budget."""
        status = self.campaign.status()
        return status.spent + status.unpaid * self.price

    @property
    def left(self) -> float:
        """What is left of the budget."""
        return max(0.0, self.campaign.costs.budget - self.spent)

    def money(self, amount: float) -> str:
        """An amount for a sentence."""
        return f"{amount:g}" if self.counts_votes or amount == np.inf else f"{amount:.2f}"


def resume_campaign(
    items: Any = None,
    votes: Any = None,
    probs: Any = None,
    *,
    costs: Costs | str | Mapping[str, Any] | None = None,
    budget: float | None = None,
    classes: Sequence[Any] | None = None,
    gold: Any = None,
    plan: Plan | None = None,
) -> ResumedCampaign:
    """The campaign that all this describes, fitted to the votes; parameters are those of `next_votes`."""
    counted = _read_votes(votes)
    classifier = None if probs is None else _read_probs(probs, classes, counted)
    wanted = _items(items, counted, classifier)
    names = _classes(classes, counted, classifier)
    prices = _costs(costs, budget, len(names))
    elsewhere = lookup(counted.tasks, wanted.names)[counted.task] < 0
    _check_names(wanted.names, counted, elsewhere)
    campaign = Campaign(
        _texts(wanted.names), _texts(names), prices, plan=_plan(plan, counted, ~elsewhere),
        classifier_probs=None if classifier is None else classifier.align(wanted.names, names),
        gold=_gold(gold, counted, wanted.names, names),
    )  # fmt: skip
    _tell(campaign, counted, elsewhere)
    has_classifier, counts_votes = classifier is not None, costs is None
    return ResumedCampaign(
        campaign, wanted, names, len(counted), int(elsewhere.sum()), has_classifier, counts_votes
    )


def _read_votes(source: Any) -> Votes:
    """Votes of anything, one for each worker and task; none of None and of an empty file."""
    if source is None or (isinstance(source, (str, os.PathLike)) and _is_empty_file(Path(source))):
        none = np.zeros(0, np.int32)
        return Votes(none, none, none, to_names([]), to_names([]), to_names([]))
    votes = io.as_votes(source)
    if votes.weight is not None and (votes.weight != 1).any():
        raise ValueError("the votes have weights, but they are paid one by one: give single votes")
    return votes.take(last_of_each(pair(votes.task, votes.worker, (len(votes.tasks), len(votes.workers)))))


def _read_probs(probs: Any, classes: Sequence[Any] | None, votes: Votes) -> ClassProbs:
    known = votes.classes if classes is None else to_names(list(classes))
    return parse_probs(probs, known if len(known) else None)


def _is_empty_file(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == 0


def _items(items: Any, votes: Votes, classifier: ClassProbs | None) -> ItemColumns:
    listed = [] if classifier is None or classifier.tasks is None else classifier.tasks.tolist()
    known = dict.fromkeys([*map(str, votes.tasks.tolist()), *map(str, listed)])
    if items is not None:
        return find_items(items, known.keys())
    by_text = {str(name): name for name in [*listed, *votes.tasks.tolist()]}
    if not by_text:
        raise ValueError("there is nothing to ask about: give items, votes, or probabilities by item")
    return ItemColumns(to_names([by_text[text] for text in known]), {})


def _classes(classes: Sequence[Any] | None, votes: Votes, classifier: ClassProbs | None) -> Names:
    listed = [] if classifier is None or classifier.classes is None else classifier.classes.tolist()
    if classes is None:
        by_text = {str(name): name for name in [*listed, *votes.classes.tolist()]}
        found = to_names(list(by_text.values()))
        names = found[natural_order(found)]
    else:
        names = to_names(list(classes))
        if (unknown := lookup(votes.classes, names) < 0).any():
            label = str(votes.classes[int(np.argmax(unknown))])
            raise ValueError(f"the votes have the label {label!r}, which is none of {_list(names)}")
    if len(names) < 2:
        one = (
            f"there is one class only, {str(names[0])!r}"
            if len(names)
            else "nothing says what the classes are"
        )
        raise ValueError(f"{one}; name all with classes= (--classes no,yes)")
    return names


def _costs(costs: Any, budget: Any, classes: int) -> Costs:
    if costs is None:
        known = Costs.equal(classes, error=VOTES_PER_ERROR, crowd=1.0)
    else:
        known = as_costs(costs, classes)
    if not isinstance(costs, Costs) and (other := [kind for kind in known.prices if kind not in KINDS]):
        raise ValueError(f"the costs name {other[0]!r}, expected {COST_NAMES}")
    if len(known.prices) > 1:
        kinds = " and ".join(known.prices)
        raise ValueError(
            f"the costs have prices for {kinds}, but everybody here is of one kind: give {CROWD}="
        )
    if not min(known.prices.values()) > 0:
        raise ValueError(f"a vote costs 0, so that all are worth it: give {CROWD}= a price above 0")
    if budget is None:
        return known
    if isinstance(budget, str) or not budget > 0:
        raise ValueError(f"the budget is {str(budget).removesuffix('.0')}, expected a number above 0")
    if known.budget not in (np.inf, budget):
        raise ValueError(f"the budget is {budget:g} and, in the costs, {known.budget:g}; give one of them")
    return replace(known, budget=float(budget))


def _check_names(items: Names, votes: Votes, elsewhere: Any) -> None:
    if len(votes) and elsewhere.all():
        names = f"{str(votes.tasks[0])!r} there and {str(items[0])!r} here"
        raise ValueError(f"the votes are on none of the {len(items)} items, which are called {names}")


def _plan(plan: Plan | None, votes: Votes, on_items: Any) -> Plan:
    """The plan, without a pilot once enough items have votes: a pilot is there to learn from."""
    plan = Plan() if plan is None else plan
    if plan.policy.partition("[")[0] != "value":
        raise ValueError(
            f"votes are asked for by their value here, not by {plan.policy}: use Campaign for it"
        )
    voted = len(np.unique(votes.task[on_items]))
    return replace(plan, pilot=0) if plan.pilot is None and voted >= MIN_PILOT_ITEMS else plan


def _gold(gold: Any, votes: Votes, items: Names, classes: Names) -> dict[str, str]:
    """The known label of each item by its text: those of the votes, and those given, which win."""
    labels: dict[str, str] = {}
    if votes.gold is not None:
        for task, code in zip(votes.tasks.tolist(), votes.gold.tolist(), strict=True):
            labels |= {str(task): str(votes.classes[code])} if code >= 0 else {}
    is_plain = isinstance(gold, Mapping) and not any(isinstance(v, (list, np.ndarray)) for v in gold.values())
    named = {} if gold is None else gold if is_plain else io.read_labels(gold)
    labels |= {str(task): str(label) for task, label in named.items()}
    if unknown := [label for label in labels.values() if label not in _texts(classes)]:
        raise ValueError(f"a known label is {unknown[0]!r}, which is none of {_list(classes)}")
    wanted = set(_texts(items))
    return {task: label for task, label in labels.items() if task in wanted}


def _tell(campaign: Campaign, votes: Votes, elsewhere: Any) -> None:
    """Add all votes; items that are not to be labelled are withdrawn, after they were voted on."""
    others = list(dict.fromkeys(str(task) for task in votes.tasks[votes.task[elsewhere]].tolist()))
    if others:
        campaign.add(others)
        campaign.withdraw(others)
    if len(votes):
        tasks, workers, classes = (
            to_names(_texts(names)) for names in (votes.tasks, votes.workers, votes.classes)
        )
        campaign.tell(replace(votes, tasks=tasks, workers=workers, classes=classes), refit=True)


def _texts(names: Names) -> list[str]:
    return list(map(str, names.tolist()))


def _list(names: Names) -> str:
    return ", ".join(_texts(names)[:10])
