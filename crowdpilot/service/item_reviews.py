"""What a requester decides about single items: gold, override, more votes, resolved flags; and undo.

An override is what an expert decides. It is final and certain: decisions, expected costs, exports, reports
and audits use it. It does not judge workers, unlike gold, which is for that; making an item gold therefore
removes its override, and a gold item cannot be overridden. With criteria this holds for each of them: what is
decided about one leaves the others as they are.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from crowdpilot.service.access import Requester
from crowdpilot.service.errors import ConflictError
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.store import items, jobs, projects
from crowdpilot.service.store.answers import comments
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log, reviews
from crowdpilot.service.uploads.item_columns import check_gold, criteria_of

REVEAL, OVERRIDE, ASK_AGAIN = "reveal", "override", "ask again"
UNDOABLE = REVEAL, OVERRIDE, ASK_AGAIN
Changes = dict[str, dict[str, Any]]  # columns of items by name


def override(store: Store, project: str, requester: Requester, labels: Mapping[str, Any]) -> int:
    """Decide about items as an expert, or (None) take that back; with criteria labels are mappings.

    Criteria that a mapping leaves out stay as they are; `by` and `time` are those of the last decision.
    `ConflictError` if an item is gold or withdrawn. Returns how many were changed.
    """
    with store.writing() as c:
        projects.next_change(c, project)
        spec = projects.find(c, project).spec
        found = reviews.find(c, project, list(labels))
        changes: Changes = {}
        for name, label in labels.items():
            _check_may_override(found[name], label)
            known = None if label is None else _merge(found[name].override, check_gold(label, spec))
            by = {"label": known, "by": requester.name, "time": time.time()}
            changes[name] = {"override": None if known is None else by}
        _write(c, project, requester, OVERRIDE, found, changes)
    return len(labels)


def _check_may_override(item: Row, label: Any) -> None:
    if item.state == items.WITHDRAWN:
        raise ConflictError(f"the item {item.name!r} is withdrawn; nothing is decided about it")
    criteria = set(label) if isinstance(label, dict) else {""}
    known = set(item.gold) if isinstance(item.gold, dict) else {""} if item.gold is not None else set()
    if label is not None and criteria & known:
        raise ConflictError(f"the item {item.name!r} is gold; change its gold label instead")


def _merge(before: dict[str, Any] | None, label: Any) -> Any:
    """What an expert decides now, with what was decided about other criteria before."""
    return {**before["label"], **label} if before and isinstance(label, dict) else label


def make_gold(store: Store, project: str, requester: Requester, gold: Mapping[str, Any]) -> int:
    """Make the classes of items known, by which workers are judged; overrides of the same end; how many.

    `ValueError` if a label is no class of the project, as it is now.
    """
    with store.writing() as c:
        projects.next_change(c, project)
        spec = projects.find(c, project).spec
        checked = {name: check_gold(label, spec) for name, label in gold.items()}
        merged = items.merge_gold(c, project, checked)
        found = reviews.find(c, project, list(gold))
        changes = {
            name: {"gold": label, **_without(found[name].override, label)} for name, label in merged.items()
        }
        _write(c, project, requester, REVEAL, found, changes)
        judge_anew(c, project)
    return len(gold)


def _without(override: dict[str, Any] | None, gold: Any) -> dict[str, Any]:
    """The column of an override that says nothing about what is gold; nothing if there was none."""
    if not override:
        return {}
    decided = override["label"] if isinstance(gold, dict) else {}
    left = {criterion: label for criterion, label in decided.items() if criterion not in gold}
    return {"override": {**override, "label": left} if left else None}


def judge_anew(c: Connection, project: str) -> None:
    """Decide about guests and fit workers again, in a write transaction: what they are judged by changed."""
    row = projects.find(c, project)
    trust.review_all(c, project, row.spec)
    fit_anew(c, project)


def fit_anew(c: Connection, project: str) -> None:
    """Fit to all votes again, though no new ones have come; in a write transaction."""
    projects.change(c, project, fitted=0)
    jobs.enqueue_refit(c, project)


def ask_again(store: Store, project: str, requester: Requester, names: Sequence[str], votes: int) -> int:
    """Ask for so many more votes on each of these items; stopped ones open again; how many.

    `ConflictError` if an item is gold or withdrawn, or the project is closed.
    """
    with store.writing() as c:
        row = projects.next_change(c, project)
        if row.state == projects.CLOSED:
            raise ConflictError("the project is closed; open it before you ask for more votes")
        criteria = len(criteria_of(projects.find(c, project).spec))
        found = reviews.find(c, project, names)
        counts = reviews.votes_that_count(c, [item.id for item in found.values()], criteria)
        changes: Changes = {}
        for name, item in found.items():
            if item.state == items.WITHDRAWN or item.gold is not None:
                why = "withdrawn" if item.state == items.WITHDRAWN else "gold"
                raise ConflictError(f"the item {name!r} is {why}; no votes are asked for")
            wanted = max(counts[item.id], item.votes_wanted or 0) + votes
            changes[name] = {"votes_wanted": wanted, "state": items.OPEN}
        _write(c, project, requester, ASK_AGAIN, found, changes, votes=votes)
        projects.change(c, project, done=False)
    return len(names)


def resolve(store: Store, project: str, requester: Requester, item: int) -> None:
    """Note that the comments and flags on an item are seen to."""
    with store.writing() as c:
        name = items.find(c, project, item).name
        if comments.resolve(c, project, item):
            action_log.write(c, requester.actor, "resolve", project, item=name)


def undo(store: Store, project: str, requester: Requester) -> int:
    """Undo the last of these that the requester did to one item, if it is still so; the id of the item."""
    with store.writing() as c:
        projects.next_change(c, project)
        last = reviews.last_review(c, project, requester.actor, UNDOABLE)
        if last is None:
            raise ConflictError("there is nothing to undo")
        before, after, name = last.detail["before"], last.detail["after"], last.detail["item"]
        item = reviews.find(c, project, [name])[name]
        if any(getattr(item, column) != value for column, value in after.items()):
            raise ConflictError(f"the item {name!r} was changed again since; look at it before you go on")
        reviews.write(c, project, {item.id: before})
        action_log.write(c, requester.actor, reviews.UNDO, project, item=name, undoes=last.id)
        if last.action == REVEAL:
            judge_anew(c, project)
        return int(item.id)


def _write(
    c: Connection, project: str, requester: Requester, action: str, found: Mapping[str, Row],
    changes: Changes, **detail: Any,
) -> None:  # fmt: skip
    """Write changes of items, and one entry in the log, from which that of one item can be undone."""
    reviews.write(c, project, {found[name].id: values for name, values in changes.items()})
    if len(changes) == 1:
        [(name, after)] = changes.items()
        before = {column: getattr(found[name], column) for column in after}
        detail = {**detail, "item": name, "before": before, "after": after}
    action_log.write(c, requester.actor, action, project, items=len(changes), **detail)
