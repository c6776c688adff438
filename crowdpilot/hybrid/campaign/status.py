"""Status: where a campaign stands, in plain numbers (items, votes, money, expected loss)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.campaign.decisions import Decisions
from crowdpilot.hybrid.campaign.parts import Parts
from crowdpilot.notebook_html import facts, number, panel


@dataclass(frozen=True)
class Status:
    """Where a campaign stands.

    Parameters
    ----------
    items
        All items that it holds; dropped ones are not among them.
    open, done
        Items that are neither withdrawn nor closed; those of them where no further vote is worth its price.
    withdrawn, closed, dropped
        Other items.
    votes
        That have arrived, for each kind of worker.
    spent, reserved, left
        Money for votes that have arrived, for open leases, and the rest of the budget.
    unpaid
        Votes that nobody asked for and the budget did not pay for.
    loss, loss_per_item
        Expected cost of wrong decisions about items that are not withdrawn.
    error_rate
        Expected share of these decisions that are not the best for the true class.
    workers
        That are known by name.
    training_value
        Of one more label, through what the classifier learns from it.
    refit_due
        Whether confusion matrices and classifier should be fitted again.
    """

    items: int
    open: int
    done: int
    withdrawn: int
    closed: int
    dropped: int
    votes: Mapping[str, int]
    spent: float
    reserved: float
    left: float
    unpaid: int
    loss: float
    loss_per_item: float
    error_rate: float
    workers: int
    training_value: float
    refit_due: bool

    @property
    def summary(self) -> str:
        """Items, votes and money in a line."""
        kinds = ", ".join(f"{count:,} by {kind}" for kind, count in self.votes.items())
        budget = f" of {number(self.spent + self.reserved + self.left)}" if np.isfinite(self.left) else ""
        return f"{self.items:,} items, {self.done:,} done; votes: {kinds}; spent {number(self.spent)}{budget}"

    def _repr_html_(self) -> str:
        numbers = {name.replace("_", " "): value for name, value in asdict(self).items() if name != "votes"}
        return panel("Status", self.summary, facts(numbers))


def campaign_html(status: Status, decisions: Decisions) -> str:
    """What a notebook shows of a campaign: where it stands, and its decisions so far."""
    expected = {"expected loss": status.loss, "expected error rate": status.error_rate}
    return panel("Campaign", status.summary, facts(expected), decisions._repr_html_())


def make_status(decisions: Decisions, errors: Floats, parts: Parts, *, refit_due: bool) -> Status:
    """The status that follows from the present decisions, with error costs (classes, decisions)."""
    items, workers, ledger = parts.items, parts.workers, parts.ledger
    open_ = items.open
    wrong = errors > errors.min(axis=1, keepdims=True)
    error_probability = np.einsum("ik,ki->i", decisions.probs, wrong[:, decisions.codes])
    n = max(len(decisions), 1)
    return Status(
        items=len(items),
        open=int(open_.sum()),
        done=int((decisions.done & open_[~items.withdrawn]).sum()),
        withdrawn=int(items.withdrawn.sum()),
        closed=int((items.closed >= 0).sum()),
        dropped=items.dropped,
        votes=dict(zip(workers.kinds, workers.votes_by_kind, strict=True)),
        spent=ledger.spent,
        reserved=ledger.reserved,
        left=ledger.left,
        unpaid=ledger.unpaid,
        loss=float(decisions.expected.sum()),
        loss_per_item=float(decisions.expected.sum() / n),
        error_rate=float(error_probability.sum() / n),
        workers=sum(name is not None for name in workers.names),
        training_value=parts.values.training_value,
        refit_due=refit_due,
    )
