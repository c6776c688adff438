"""What the audit of a project proves, for its overview: about which labels, and about which nothing."""

from __future__ import annotations

import asyncio
import math
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from crowdpilot.service.http.auth import LabellingOf
from crowdpilot.service.jobs.audit import STATE_VERSION
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.pages.dashboard.formatting import count
from crowdpilot.service.store import saved_state, statistics
from crowdpilot.service.store.engine import Row, Store

Codes = NDArray[np.int64]


class AuditClaim(NamedTuple):
    """What an audit proves, in words."""

    claim: str
    checked: int
    items: int  # that it is about
    most_wrong: int  # of these
    note: str  # what it says nothing about; empty if there is nothing


class AuditedDecisions(NamedTuple):
    """The decisions that an audit is about, and the rows of their items in a campaign."""

    version: int  # of the audit
    deletion_number: int  # of the project, after which items have other rows
    rows: Codes  # (audited items,); -1 where an item was deleted
    codes: Codes  # (audited items,)


class Changes(NamedTuple):
    """How decisions differ from those that an audit is about."""

    changed: int  # of the audited items
    added: int  # items that are decided now, and were not then


_KNOWN: WeakKeyDictionary[Replica, AuditedDecisions] = WeakKeyDictionary()  # of the audit of each replica


async def claim_of_audit(id: str, labelling: LabellingOf) -> AuditClaim | None:
    """What the audit of a project proves; None without one, or before its first answer."""
    version, bound = await asyncio.to_thread(_read_bound, labelling.store, id)
    if bound is None:
        return None
    changes = await labelling.read(id, lambda replica, row: _count_if_known(replica, row, version))
    if changes is None:
        names, codes = await asyncio.to_thread(_read_decisions, labelling.store, id)
        changes = await labelling.read(
            id, lambda replica, row: _count_changes(replica, _remember(replica, row, version, names, codes))
        )
    return _describe(bound, changes)


def _read_bound(store: Store, id: str) -> tuple[int, dict[str, Any] | None]:
    with store.reading() as c:
        return saved_state.audit_version(c, id), statistics.audit_bound(c, id)


def _read_decisions(store: Store, id: str) -> tuple[list[str], Codes]:
    """Names of the audited items, and their decisions; none if another version has saved them."""
    with store.reading() as c:
        row = saved_state.read_audit(c, id)
    if row is None or row.data.get("version") != STATE_VERSION:
        return [], np.zeros(0, np.int64)
    return row.data["names"], np.asarray(row.data["audit"]["decisions"], np.int64)


def _remember(replica: Replica, row: Row, version: int, names: list[str], codes: Codes) -> AuditedDecisions:
    row_of = {name: n for n, name in enumerate(replica.item_ids)}
    rows = np.fromiter((row_of.get(name, -1) for name in names), np.int64, len(names))
    _KNOWN[replica] = AuditedDecisions(version, row.deletion_number, rows, codes)
    return _KNOWN[replica]


def _count_if_known(replica: Replica, row: Row, version: int) -> Changes | None:
    known = _KNOWN.get(replica)
    if known is None or known[:2] != (version, row.deletion_number):
        return None
    return _count_changes(replica, known)


def _count_changes(replica: Replica, audited: AuditedDecisions) -> Changes:
    """A decision has changed if there is another, or none at present."""
    now, withdrawn = replica.campaign.decide(), replica.campaign.view.items().withdrawn
    codes = np.full(len(withdrawn) + 1, -1, np.int64)  # the last is for deleted items
    codes[np.flatnonzero(~withdrawn)] = np.where(now.done, now.codes, -1)
    changed = int((codes[audited.rows] != audited.codes).sum())
    codes[audited.rows] = -1
    return Changes(changed, int((codes >= 0).sum()))


def _describe(bound: dict[str, Any], changes: Changes) -> AuditClaim:
    n = int(bound["items"])
    about = f"the labels of the {count(n, 'item')} decided when the audit began"
    notes = []
    if changes.changed:
        verbs = ("has", "waits") if changes.changed == 1 else ("have", "wait")
        notes.append(f"{changes.changed:,} of these labels {verbs[0]} changed since, or {verbs[1]} for more "
                     "answers: the audit is about the labels of that time.")  # fmt: skip
    if changes.added:
        notes.append(f"It says nothing about {count(changes.added, 'item')} decided since.")
    right = _floor(100 * (1 - bound["error_rate"]))
    return AuditClaim(
        f"At least {right}% of {about} are right", int(bound["checked"]), n,
        _floor(bound["error_rate"] * n), " ".join(notes),
    )  # fmt: skip


def _floor(bound: float) -> int:
    """The largest whole number that is not above a bound, which may be a little too low by rounding."""
    return math.floor(bound + 1e-9)
