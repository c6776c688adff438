"""Pull: all tasks and annotations of a project of Label Studio, or those that changed, as items and votes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.label_studio.importing import add_items, record_votes, to_new_item
from crowdpilot.service.label_studio.links import Link, annotators, refused_workers, see_task, user_numbers
from crowdpilot.service.platforms.label_studio.annotations import (
    Vote,
    own_predictions,
    read_time,
    read_vote,
)
from crowdpilot.service.platforms.label_studio.tasks import Item, annotations_of, name_of, read_item
from crowdpilot.service.store import Store, items, workers
from crowdpilot.service.store.answers import external_votes
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import connections, tasks
from crowdpilot.service.store.label_studio import votes as ls_votes
from crowdpilot.service.store.label_studio.votes import PLATFORM

MAX_PROBLEMS_PER_PULL = 5
WEBHOOK_SECONDS = 15.0  # in which a webhook has brought a vote


class Pulled(NamedTuple):
    """What was new: items, votes that were added, changed or withdrawn; and annotations that are no votes.

    `late` are the votes that a webhook should have brought before.
    """

    items: int = 0
    votes: int = 0
    skipped: int = 0
    late: int = 0


class _Task(NamedTuple):
    """A task that was read."""

    raw: Mapping[str, Any]
    item: Item
    annotations: list[dict[str, Any]]
    votes: list[Vote]


def pull(store: Store, link: Link, *, everything: bool) -> Pulled:
    """Write what Label Studio has to the database, page by page.

    Parameters
    ----------
    store
        The database.
    link
        To the project there.
    everything
        Whether all tasks are read, so that deleted ones are found, too; else those that changed.
    """
    since = None if everything else link.row.seen
    newest, counts, there = link.row.seen or "", Pulled(), set[int]()
    for page in link.client.tasks(link.number, since):
        newest = max([newest, *(str(task.get("updated_at") or "") for task in page)])
        part = _write_page(store, link, page)
        counts = Pulled(*(a + b for a, b in zip(counts, part, strict=True)))
        there.update(int(task["id"]) for task in page)
    with store.writing() as c:
        if since is None:
            withdraw(c, link.id, [row for row in tasks.list_all(c, link.id) if row.task not in there])
        connections.change(c, link.id, seen=newest or None)
    return counts


def name_workers_by_number(store: Store, link: Link) -> None:
    """Give workers the numbers of their users, whom an import before knew by their e-mail addresses alone."""
    with store.reading() as c:
        named = ls_votes.workers_by_name(c, link.id)
    if not any("@" in name for name in named):
        return
    numbers = user_numbers(link.client)
    with store.writing() as c:
        for name, worker in named.items():
            number = numbers.get(name.lower())
            if number is not None and number not in named:
                workers.change(c, link.id, worker, external=number)


def _write_page(store: Store, link: Link, page: Sequence[Mapping[str, Any]]) -> Pulled:
    """Write a page of tasks in one transaction."""
    with store.reading() as c:
        before = {row.task: row for row in tasks.find(c, link.id, [int(task["id"]) for task in page])}
    read, problems = _read_page(link, page, before)
    votes = [vote for task in read for vote in task.votes]
    keys = {vote.key for vote in votes}
    with store.writing() as c:
        people = annotators(one for task in read for one in task.annotations)
        refused = refused_workers(c, link, {*people, *(vote.worker for vote in votes)})
        added = add_items(c, link.project, [task.item for task in read])
        new = record_votes(c, link.id, [vote for vote in votes if vote.worker not in refused])
        ids = items.ids_by_name(c, link.id, [task.item.name for task in read])
        seen = {ids[task.item.name]: read_time(task.raw.get("updated_at")) for task in read}
        removed = _retract_missing(c, link.id, seen, keys)
        tasks.save(c, link.id, [
            see_task(task.raw, ids[task.item.name], task.annotations, keys, is_complete=True, refused=refused,
                     skips_count=link.row.skips_count, before=before.get(int(task.raw["id"])))
            for task in read
        ])  # fmt: skip
        for sentence in problems[:MAX_PROBLEMS_PER_PULL]:
            connections.add_problem(c, link.id, sentence)
    n_annotations = sum(len(task.annotations) for task in read)
    late = sum((vote.time or 0.0) < time.time() - WEBHOOK_SECONDS for vote in new)
    return Pulled(added, len(new) + removed, n_annotations - len(votes), late)


def _read_page(
    link: Link, page: Sequence[Mapping[str, Any]], before: Mapping[int, Row]
) -> tuple[list[_Task], list[str]]:
    """The tasks that can be read, and a sentence about each of the others."""
    read: dict[str, _Task] = {}
    problems: list[str] = []
    for task in page:
        name = name_of(task)
        try:
            if name in read:
                raise ValueError(f"two tasks are called {name}; remove one of them")
            known = before.get(int(task["id"]))
            read[name] = _read_task(link, task, name, set(known.ignored) if known else set())
        except ValueError as error:
            problems.append(str(error))
    return list(read.values()), problems


def _read_task(link: Link, task: Mapping[str, Any], name: str, ignored: set[int]) -> _Task:
    item = read_item(task, name, link.classes, link.config, link.row.address)
    to_new_item(item, link.project.spec)  # raises an error if it does not fit
    annotations = annotations_of(task, name)
    own = own_predictions(task.get("predictions"), name, link.classes, link.config)
    votes = [
        vote
        for one in annotations
        if not (one.get("id") in ignored and one.get("parent_prediction") is None)
        and (vote := read_vote(one, name, link.classes, link.config, own=own))
    ]
    return _Task(task, item, annotations, votes)


def _retract_missing(c: Connection, project: str, seen: Mapping[int, float | None], keys: set[str]) -> int:
    """Withdraw votes whose annotations are gone, or no votes any more; how many.

    Parameters
    ----------
    c, project
        A write transaction, and the project.
    seen
        When each of these items was last changed there, as it was read: a webhook may have brought votes
        since.
    keys
        Of the annotations on them that are votes.
    """
    stored = ls_votes.of_items(c, project, list(seen))
    gone = [
        row.key for row in stored if row.key and row.key not in keys and not _is_newer(row, seen[row.item])
    ]
    return external_votes.retract(c, project, PLATFORM, gone) if gone else 0


def _is_newer(vote: Row, moment: float | None) -> bool:
    return vote.time is not None and moment is not None and bool(vote.time > moment)


def withdraw(c: Connection, project: str, gone: Sequence[Row]) -> None:
    """Withdraw the items of tasks that were deleted there, in a write transaction.

    Votes on them still count in the skill of workers.
    """
    names = [row.name for row in gone if row.state != items.WITHDRAWN]
    tasks.remove(c, project, [row.task for row in gone])
    if names:
        items.change(c, project, names, state=items.WITHDRAWN)
