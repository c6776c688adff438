"""Item table: the decisions about all items as arrays, and which of them a filter and an order show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from crowdpilot.arrays import Codes
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.status.decision_confidence import confidence_in
from crowdpilot.service.store import items
from crowdpilot.service.store.answers import comments
from crowdpilot.service.store.engine import Row

MAX_QUERY_CHARACTERS = 200
FILTERS = {
    "": "All", "decided": "Decided", "open": "Open", "gold": "Known answer", "overridden": "Decided by hand",
    "flagged": "Flagged", "commented": "With comments",
}  # fmt: skip
ORDERS = {"": "As they came", "hard": "Hardest first", "votes": "Most answers first"}


class ItemTable(NamedTuple):
    """Decisions about all items that are not withdrawn; each array has shape `(items,)`."""

    ids: NDArray[np.int64]
    names: NDArray[Any]
    labels: list[str]
    codes: NDArray[np.int32]
    probs: NDArray[np.float64]  # of the decided class, by the model
    expected: NDArray[np.float64]  # cost of a wrong decision, by the model
    votes: NDArray[np.int32]
    done: NDArray[np.bool_]
    gold: NDArray[np.bool_]  # whether known answers settle the label
    certain: NDArray[np.bool_]  # whether known answers and decisions by hand settle it
    decided_by: NDArray[Any]
    rivals: NDArray[np.int32]  # the likeliest class beside the decided one
    is_likeliest: NDArray[np.bool_]  # whether the decided class is; another may cost less on average


class Query(NamedTuple):
    """Which items are wanted, and in which order."""

    q: str = ""
    only: str = ""
    order: str = ""

    @classmethod
    def of(cls, q: str, only: str, order: str) -> Query:
        """A query with values that exist."""
        return cls(
            q.strip()[:MAX_QUERY_CHARACTERS],
            only if only in FILTERS else "",
            order if order in ORDERS else "",
        )


def read_items(replica: Replica, _: Row | None = None) -> ItemTable:
    """The decisions of the campaign about all items."""
    campaign = replica.campaign
    now = campaign.decide()
    table = campaign.view.items()
    kept = ~table.withdrawn
    gold, certain = _settles(table.gold), _settles(np.where(table.gold >= 0, table.gold, table.override))
    ids = np.fromiter(replica.item_ids.values(), np.int64, len(kept))[kept]  # in the order of the campaign
    labels = ["out", "in"] if campaign.has_criteria else [str(name) for name in campaign.classes]
    over = now.done | (table.final[kept] >= 0)
    sure = confidence_in(campaign, now)
    own = np.minimum(now.codes, sure.probs.shape[1] - 1)
    every = np.arange(len(ids))
    others = sure.probs.copy()
    others[every, own] = -1
    rivals = others.argmax(axis=1).astype(np.int32)
    prob = sure.probs[every, own]
    return ItemTable(
        ids, now.items, labels, now.codes, prob, sure.expected, now.votes, over, gold[kept], certain[kept],
        now.decided_by, rivals, prob >= others.max(axis=1),
    )  # fmt: skip


def _settles(known: Codes) -> NDArray[np.bool_]:
    """Whether known classes of questions settle the label: all are known, or one criterion does not hold."""
    is_out = (known == 0).any(axis=1) if known.shape[1] > 1 else False
    return np.asarray((known >= 0).all(axis=1) | is_out)


def find_rows(c: Connection, project: str, table: ItemTable, query: Query) -> NDArray[np.intp]:
    """The rows of the table that a query wants, in its order."""
    mask = _mask(c, project, table, query.only)
    if query.q:
        mask = mask & np.isin(table.ids, list(items.search(c, project, query.q)))
    rows = np.flatnonzero(mask)
    if query.order:
        keys = table.expected if query.order == "hard" else table.votes
        rows = rows[np.argsort(-keys[rows], kind="stable")]
    return rows


def _mask(c: Connection, project: str, table: ItemTable, only: str) -> NDArray[np.bool_]:
    if only == "flagged":
        return np.isin(table.ids, list(comments.open_flags(c, project)))
    if only == "commented":
        return np.isin(table.ids, [row.item for row in comments.list_all(c, project) if row.text])
    masks = {"decided": table.done, "open": ~table.done, "gold": table.gold,
             "overridden": table.decided_by == "expert"}  # fmt: skip
    return np.asarray(masks.get(only, np.ones(len(table.ids), bool)))


def describe_row(table: ItemTable, n: int, content: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """One item, for templates."""
    id = int(table.ids[n])
    return {"id": id, "name": str(table.names[n]), "content": content.get(id, {}),
            "label": table.labels[table.codes[n]], "prob": float(table.probs[n]),
            "votes": int(table.votes[n]), "done": bool(table.done[n]),
            "gold": bool(table.gold[n]), "certain": bool(table.certain[n]),
            "expected": float(table.expected[n]),
            "by": str(table.decided_by[n]), "is_likeliest": bool(table.is_likeliest[n])}  # fmt: skip
