"""Status: where a campaign stands, in plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from crowdpilot.hybrid.campaign.campaign import Campaign


@dataclass(frozen=True)
class Status:
    """Where a campaign stands.

    Parameters
    ----------
    items
        All that it knows of; `forgotten` ones are not among them.
    open, done
        Items that are neither withdrawn nor closed; those of them where no further vote is wanted.
    withdrawn, closed, forgotten
        Other items.
    votes
        That came, for each kind of worker.
    spent, aside, left
        Money for votes that came, for votes that were asked for, and for others.
    gifts
        Votes that nobody asked for and that there was no money for.
    loss, loss_per_item
        What wrong decisions about items that are not withdrawn are expected to cost.
    error_rate
        Share of these decisions that are expected not to be the best for the true class.
    workers
        That are known by name.
    training
        What one more label is worth for what it teaches the machine.
    due
        Whether it is time to learn workers and machine anew.
    """

    items: int
    open: int
    done: int
    withdrawn: int
    closed: int
    forgotten: int
    votes: Mapping[str, int]
    spent: float
    aside: float
    left: float
    gifts: int
    loss: float
    loss_per_item: float
    error_rate: float
    workers: int
    training: float
    due: bool


def status_of(campaign: Campaign) -> Status:
    """Where a campaign stands now."""
    now, errors = campaign.decide(), campaign.costs.errors
    pool, ledger, staff = campaign.pool, campaign.ledger, campaign.staff
    open_ = pool.open
    wrong = errors > errors.min(axis=1, keepdims=True)
    mistaken = np.einsum("ik,ki->i", now.probs, wrong[:, now.codes])
    return Status(
        items=len(pool),
        open=int(open_.sum()),
        done=int((now.done & open_[~pool.withdrawn]).sum()),
        withdrawn=int(pool.withdrawn.sum()),
        closed=int((pool.closed >= 0).sum()),
        forgotten=pool.forgotten,
        votes=dict(zip(staff.kinds, staff.votes, strict=True)),
        spent=ledger.spent,
        aside=ledger.aside,
        left=ledger.left,
        gifts=ledger.gifts,
        loss=float(now.expected.sum()),
        loss_per_item=float(now.expected.sum() / max(len(now), 1)),
        error_rate=float(mistaken.sum() / max(len(now), 1)),
        workers=sum(name is not None for name in staff.names),
        training=campaign.wishes.training,
        due=campaign.due,
    )
