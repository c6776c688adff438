"""`next_votes`: which items people should label next, what is decided until now, and why it may end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats, Names
from crowdpilot.data_frames import data_frame
from crowdpilot.hybrid.campaign.decisions import Decisions
from crowdpilot.hybrid.campaign.ledger import BUDGET_TOLERANCE
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.replay.run import BATCHES_PER_PASS
from crowdpilot.hybrid.vote_requests.items import ItemColumns
from crowdpilot.hybrid.vote_requests.resumed_campaign import ResumedCampaign, resume_campaign
from crowdpilot.names import to_names
from crowdpilot.notebook_html import histogram, panel, table

PILOT, VALUE = "pilot", "value"  # why a vote is asked for
MORE_VOTES = 20  # for which a budget is named, when one is spent
OWN_COLUMNS = ("task", "worker", "label", "value", "why", "votes", "confidence", "decided_by")


@dataclass(frozen=True, eq=False)
class VoteRequests:
    """Votes to ask for, the most valuable first, and the labels until now.

    Parameters
    ----------
    rows
        The item of each vote to ask for, by its row in `items`.
    workers
        Who is to give each of them; None if anyone may.
    value
        What each is expected to save in the cost of errors, for its price; NaN in the pilot.
    items
        All items, with their content.
    classes
        Their names.
    decisions
        The label of each item until now, with its posterior.
    votes
        Number of votes until now.
    spent, left
        Price of these votes and of the classifier, and what is left of the budget.
    expected_errors
        How many labels are expected to be wrong now.
    summary
        One sentence about votes, money and expected errors.
    reason
        Why nothing is asked for, in a sentence; empty if something is.
    """

    rows: NDArray[np.intp]
    workers: Names | None
    value: Floats
    items: ItemColumns
    classes: Names
    decisions: Decisions
    votes: int
    spent: float
    left: float
    expected_errors: float
    summary: str
    reason: str

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tasks.tolist())

    def __repr__(self) -> str:
        what = f"{len(self)} votes to ask for" if len(self) else self.reason
        return f"VoteRequests({what}; {self.summary})"

    def _repr_html_(self) -> str:
        sparks = [
            histogram(self.decisions.votes, "votes per item"),
            histogram(self.confidence, "confidence of labels"),
            histogram(self.value, "value of votes asked for"),
        ]
        return panel("VoteRequests", repr(self)[13:-1], table(self.columns()), sparks=sparks)

    @property
    def done(self) -> bool:
        """Whether nothing is asked for; `reason` says why."""
        return not len(self)

    @property
    def tasks(self) -> Names:
        """The names of the items to ask about."""
        return self.items.names[self.rows]

    @property
    def labels(self) -> Names:
        """The label of every item until now."""
        codes = self.decisions.codes
        return self.classes[codes] if self._decides_classes else codes

    @property
    def _decides_classes(self) -> bool:
        return self.decisions.labels.dtype == object

    @property
    def confidence(self) -> Floats:
        """The posterior of the label of every item; of the best class where a label is no class."""
        probs = self.decisions.probs
        if not self._decides_classes:
            return np.asarray(probs.max(axis=1))
        return np.asarray(probs[np.arange(len(probs)), self.decisions.codes])

    def columns(self) -> dict[str, Any]:
        """A row for each vote to ask for: its value, and what is known of the item until now."""
        return {
            self.items.column: self.tasks,
            **({} if self.workers is None else {"worker": self.workers}),
            **self._content(),
            "value": self.value,
            "why": to_names([PILOT if np.isnan(value) else VALUE for value in self.value.tolist()]),
            "votes": self.decisions.votes[self.rows],
            "label": self.labels[self.rows],
            "confidence": self.confidence[self.rows],
        }

    def to_fill_in(self) -> dict[str, Any]:
        """The same for those who answer: a row for each vote, its label empty, and no hint at it."""
        empty: Names = np.full(len(self), None, object)
        workers = empty if self.workers is None else self.workers
        return {self.items.column: self.tasks, **self._content(), "worker": workers, "label": empty}

    def label_columns(self) -> dict[str, Any]:
        """A row for each item: its label until now, the confidence in it, and what it rests on."""
        return {
            self.items.column: self.items.names,
            "label": self.labels,
            "confidence": self.confidence,
            "votes": self.decisions.votes,
            "decided_by": self.decisions.decided_by,
            **{f"p_{name}": p for name, p in zip(self.classes.tolist(), self.decisions.probs.T, strict=True)},
        }

    def to_pandas(self) -> Any:
        """`columns` as a pandas data frame."""
        return data_frame(self.columns(), "pandas", "to_pandas()")

    def to_polars(self) -> Any:
        """The same as a polars data frame."""
        return data_frame(self.columns(), "polars", "to_polars()")

    def _content(self) -> dict[str, Any]:
        return {
            name: to_names([values[row] for row in self.rows.tolist()])
            for name, values in self.items.content.items()
            if name not in OWN_COLUMNS
        }


def next_votes(
    items: Any = None,
    votes: Any = None,
    probs: Any = None,
    *,
    costs: Costs | str | Mapping[str, Any] | None = None,
    budget: float | None = None,
    n: int | None = None,
    workers: Any = None,
    classes: Sequence[Any] | None = None,
    gold: Any = None,
    plan: Plan | None = None,
) -> VoteRequests:
    """Which items people should label next: those where a vote saves more than it costs, the best first.

    Nothing is kept between two calls. Append the answers to the votes and call it again: votes that are there
    count as paid. Each item is asked about once, since its next vote often needs no other.

    Parameters
    ----------
    items
        Their names, or a table with a column of them: a path, a data frame, records. Other columns, such as a
        text, are carried along. If not given, the tasks of votes and probabilities.
    votes
        Until now, in any form that `crowdpilot.read` takes; None for none. Votes on other items only teach
        how good workers are.
    probs
        Class probabilities of a classifier: a table with columns task and p_CLASS, a dict from items to rows,
        or an array (items, classes).
    costs
        Of errors and votes: `Costs`, or a text such as `"fp=1,fn=5,crowd=0.05"`. If not given, money is
        counted in votes: a vote costs 1 and a wrong label 20.
    budget
        Most that may be spent in all, in the unit of the costs.
    n
        How many votes to ask for now; if not given, 50, or a fiftieth of the items if that is more.
    workers
        Who is there to answer, a name or several: each is asked what they have not answered. If not given,
        anyone.
    classes
        All classes in their order; if not given, those of votes and probabilities. Of two, the second is the
        positive one.
    gold
        The true label of some items, by name or as a table: they are not asked about, and workers are judged
        by them.
    plan
        Other settings of the campaign.

    Examples
    --------
    >>> votes = [("owl", "ann", 1), ("owl", "bob", 1), ("eel", "ann", 0), ("eel", "bob", 1)]
    >>> asked = next_votes(["owl", "eel", "emu"], votes, budget=10, n=2)
    >>> asked.tasks.tolist()
    ['emu', 'eel']
    >>> asked.spent, asked.left
    (4.0, 6.0)
    """
    resumed = resume_campaign(
        items, votes, probs, costs=costs, budget=budget, classes=classes, gold=gold, plan=plan
    )
    return request_votes(resumed, n, workers)


def request_votes(resumed: ResumedCampaign, n: int | None = None, workers: Any = None) -> VoteRequests:
    """The next votes of a campaign, which leases them: see `next_votes`."""
    if n is not None and n < 1:
        raise ValueError(f"n is {n}, expected one vote or more")
    who = None if workers is None else [workers] if isinstance(workers, (str, int)) else list(workers)
    campaign = resumed.campaign
    values = campaign.view.vote_values()[:, 0]
    decisions, status, left = campaign.decide(), campaign.status(), resumed.left
    count = max(campaign.plan.refit_every, len(decisions) // BATCHES_PER_PASS) if n is None else n
    asks = _ask(resumed, count, who)
    rows = campaign.view.item_rows([item for item, _ in asks])
    gain = (values[rows] + 1) * resumed.price
    return VoteRequests(
        rows, None if who is None else to_names([worker for _, worker in asks]),
        np.where(np.isfinite(gain), gain, np.nan), resumed.items, resumed.classes, decisions, resumed.votes,
        resumed.spent, left, status.error_rate * len(decisions), _summary(resumed, status.error_rate),
        "" if asks else why_nothing(resumed, who),
    )  # fmt: skip


def _ask(resumed: ResumedCampaign, n: int, workers: list[Any] | None) -> list[tuple[str, Any]]:
    """Items and who is to answer: workers take turns, so that the best votes are shared."""
    campaign = resumed.campaign
    if workers is None:
        return [(ask.item, None) for ask in campaign.ask(None, n)]
    asks: list[tuple[str, Any]] = []
    active = list(dict.fromkeys(map(str, workers)))
    while active and len(asks) < n:
        for worker in list(active):
            more = campaign.ask(worker, 1) if len(asks) < n else []
            asks += [(ask.item, worker) for ask in more]
            if not more:
                active.remove(worker)
    return asks


def _summary(resumed: ResumedCampaign, error_rate: float) -> str:
    votes = f"{resumed.votes:,} vote{'' if resumed.votes == 1 else 's'}"
    items = len(resumed.items.names)
    errors = f"about {error_rate * items:.3g} of {items:,} labels are expected to be wrong"
    spent, budget = resumed.money(resumed.spent), resumed.campaign.costs.budget
    if np.isinf(budget):
        return f"spent {spent} ({votes}); {errors}"
    left = resumed.money(resumed.left)
    return f"spent {spent} of {resumed.money(budget)} ({votes}), {left} left; {errors}"


def why_nothing(resumed: ResumedCampaign, workers: list[Any] | None = None) -> str:
    """Why nothing is asked for, of these workers or of anyone."""
    if resumed.left + BUDGET_TOLERANCE < resumed.price:
        budget, more = resumed.campaign.costs.budget, resumed.spent + MORE_VOTES * resumed.price
        spent = (
            f"the budget of {resumed.money(budget)}, which covers the {resumed.votes:,} votes that there are"
        )
        return f"{spent}, is spent; {resumed.money(more)} pays for {MORE_VOTES} more"
    if not (resumed.campaign.view.vote_values() > 0).any():
        return f"no further vote is worth its price of {resumed.money(resumed.price)}"
    people = list(dict.fromkeys(map(str, workers or ())))
    nobody = f"{people[0]} cannot" if len(people) == 1 else f"none of these {len(people)} people can"
    return f"{nobody} add a vote that is worth its price; others may"
