"""Audit of a project: draw finished items for experts, add their answers, and bound the cost of all errors.

An audit is about the decisions as they were when it began, which are saved with it. It runs in web requests;
its results are recorded as jobs.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid import Audit, Costs
from crowdpilot.hybrid.audit.pool import wrong_decisions
from crowdpilot.service.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    ServiceUnavailableError,
)
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import items, jobs, saved_state
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log

Data = dict[str, Any]
Answers = Mapping[str, str | Mapping[str, str]]

MAX_ATTEMPTS = 8  # to write a change, if other processes write too
MAX_SHOWN_ITEMS = 500  # drawn items that are shown at once
DEFAULT_LEVEL = 0.95
STATE_VERSION = 1  # of an audit in the database
NO_AUDIT = "no audit has begun; draw items first with POST"
CHANGED = "{} decisions have changed since the audit began; the bound is about those of that time"


class Pool(NamedTuple):
    """The decisions about the finished items of a project."""

    project: str
    votes: int
    names: list[str]
    codes: Codes
    probs: Floats
    costs: Costs
    classes: list[str]
    criteria: tuple[str, ...]


def read_pool(replica: Replica, project: Row) -> Pool:
    """The decisions about finished items as they are now."""
    campaign = replica.campaign
    now = campaign.decide()
    now = now.only(now.done)
    names = [str(name) for name in now.items.tolist()]
    criteria = campaign.criteria if campaign.has_criteria else ()
    classes = [str(name) for name in campaign.classes.tolist()]
    return Pool(project.id, project.votes, names, now.codes, now.probs, campaign.costs, classes, criteria)


def draw(store: Store, pool: Pool, n: int, level: float | None, target: float | None, who: str) -> Data:
    """Draw the next items to be checked, and begin an audit if there is none; returns its summary."""

    def change(data: Data | None) -> Data:
        if data is None:
            data = _begin(pool, n, level)
        audit = _read(data)
        if level is not None and level != audit.level:
            raise ConflictError(
                f"the audit has begun with the level {audit.level:g}; remove it to begin another"
            )
        audit.draw(n)
        target_ = data["target"] if target is None else target
        return {**data, "audit": audit.to_dict(), "target": target_}

    return _change(store, pool, change, who, "audit", n=n)


def answer(store: Store, pool: Pool, answers: Answers, who: str) -> Data:
    """Add the answers of experts about drawn items; returns the summary of the audit."""

    def change(data: Data | None) -> Data:
        if data is None:
            raise ConflictError(NO_AUDIT)
        audit = _read(data)
        fresh = _new_answers(pool, data, audit, answers)
        audit.add_answers(list(fresh), list(fresh.values()))
        return {**data, "audit": audit.to_dict()}

    return _change(store, pool, change, who, "audit answers", n=len(answers))


def read_summary(store: Store, pool: Pool) -> Data:
    """Drawn items without an answer, and the bound; `NotFoundError` if no audit has begun."""
    with store.reading() as c:
        row = saved_state.read_audit(c, pool.project)
    if row is None:
        raise NotFoundError(NO_AUDIT)
    return _summary(store, pool, row.data)


def remove(store: Store, project: str, who: str) -> None:
    """Remove an audit, so that another can begin; `NotFoundError` if there is none."""
    with store.writing() as c:
        if not saved_state.remove_audit(c, project):
            raise NotFoundError(NO_AUDIT)
        action_log.write(c, who, "remove audit", project)


def _begin(pool: Pool, planned: int, level: float | None) -> Data:
    if not pool.names:
        raise ConflictError("no item is decided yet, so that there is nothing to check; wait for the first")
    audit = Audit(
        pool.costs, pool.codes, pool.probs, level=DEFAULT_LEVEL if level is None else level,
        seed=secrets.randbelow(2**31), planned=planned,
    )  # fmt: skip
    about = {"names": pool.names, "begun": time.time(), "votes": pool.votes, "target": None}
    return {"version": STATE_VERSION, **about, "audit": audit.to_dict()}


def _read(data: Data) -> Audit:
    """The audit as it was saved."""
    if data.get("version") != STATE_VERSION:
        raise ConflictError("the audit was saved by another version; remove it to begin another")
    return Audit.from_dict(data["audit"])


def _change(
    store: Store, pool: Pool, change: Callable[[Data | None], Data], who: str, what: str, **detail: Any
) -> Data:
    """Change an audit with optimistic locking: the long work holds no lock, and is repeated on conflict."""
    for _ in range(MAX_ATTEMPTS):
        with store.reading() as c:
            row = saved_state.read_audit(c, pool.project)
        data = change(None if row is None else row.data)
        summary = _summary(store, pool, data)
        with store.writing() as c:
            if saved_state.write_audit(c, pool.project, data, 0 if row is None else row.version):
                action_log.write(c, who, what, pool.project, **detail)
                jobs.record_done(c, pool.project, "audit", {**summary, "drawn": None})
                return summary
    raise ServiceUnavailableError("many change the audit at once; try again")


def _new_answers(pool: Pool, data: Data, audit: Audit, answers: Answers) -> dict[int, int]:
    """New answers by row of the pool; those known already must be the same."""
    row_of = {name: n for n, name in enumerate(data["names"])}
    waiting, known, fresh = set(audit.pending), audit.answers, {}
    for name, answer in answers.items():
        code, n = _code(pool, answer), row_of.get(name, -1)
        if n not in waiting and n not in known:
            raise ConflictError(
                f"the item {name!r} was not drawn; answers about others would make the bound invalid"
            )
        if known.get(n, code) != code:
            raise ConflictError(f"there is another answer about {name!r} already; the first one counts")
        if n in waiting:
            fresh[n] = code
    return fresh


def _code(pool: Pool, answer: str | Mapping[str, str]) -> int:
    """The class that an expert names; with criteria an item is in if all of them hold."""
    if not isinstance(answer, str):
        if set(answer) != set(pool.criteria):
            needed = ", ".join(pool.criteria) or "none"
            raise InvalidRequestError(
                f"an answer is one class, or one for each criterion; these are: {needed}"
            )
        return min(_code(pool, label) for label in answer.values())
    if answer not in pool.classes:
        raise InvalidRequestError(f"{answer!r} is not a class; there are {', '.join(pool.classes)}")
    return pool.classes.index(answer)


def _summary(store: Store, pool: Pool, data: Data) -> Data:
    audit, names = _read(data), data["names"]
    bound, decided = audit.bound(), audit.decided.tolist()
    wrong = wrong_decisions(audit.errors)
    errors = sum(bool(wrong[truth, decided[n]]) for n, truth in audit.answers.items())
    waiting = [names[n] for n in audit.pending]
    now = dict(zip(pool.names, pool.codes.tolist(), strict=True))
    changed = sum(now.get(name) != code for name, code in zip(names, decided, strict=True))
    return {
        "begun": data["begun"], "level": audit.level, "target": data["target"],
        "reached": None if data["target"] is None else bool(bound.cost <= data["target"]),
        "bound": bound.to_dict(), "estimate": audit.estimate() if bound.checked else None,
        "answered": len(audit.answers), "errors": errors, "waiting": len(waiting),
        "drawn": _contents(store, pool.project, waiting[:MAX_SHOWN_ITEMS]),
        "changed": changed, "note": CHANGED.format(changed) if changed else "",
    }  # fmt: skip


def _contents(store: Store, project: str, names: list[str]) -> list[Data]:
    """Contents for experts, without the decisions, which would bias them."""
    with store.reading() as c:
        ids = items.ids_by_name(c, project, names)
        found = items.contents(c, list(ids.values()))
    return [{"item": name, "content": found[ids[name]]} for name in names if name in ids]
