"""Events: what Label Studio sends when tasks and annotations come, change and go."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.errors import RequestError
from crowdpilot.service.label_studio.driving import ReadReplica, drive
from crowdpilot.service.label_studio.importing import Counts, apply_changes, to_new_item
from crowdpilot.service.label_studio.links import (
    Link,
    annotators,
    find_own_predictions,
    open_link,
    refused_workers,
    see_task,
)
from crowdpilot.service.label_studio.pulling import withdraw
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.platforms.label_studio.config import Config
from crowdpilot.service.platforms.label_studio.tasks import Item, name_of, read_item
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, items, jobs
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import connections, tasks

JOB_KIND = "label_studio"
FOLLOWED_BY_SYNC = (backend.DELETED_EVENT, backend.PROJECT_UPDATED)  # they do not say all that has changed
DRIVING = (  # after which other tasks may be wanted than before
    *backend.CREATED_EVENTS, backend.UPDATED_EVENT, backend.DELETED_EVENT, backend.TASKS_CREATED,
    backend.TASKS_DELETED,
)  # fmt: skip
REFUSED = "Votes of a user of Label Studio are not taken: they are blocked here, or their data was erased"
logger = logging.getLogger(__name__)


class _New(NamedTuple):
    """Items of the tasks in an event, and why some cannot be taken."""

    items: list[Item]
    problems: list[str]


def apply_event(store: Store, settings: Settings, project: Row, body: Mapping[str, Any]) -> Counts:
    """Apply an event to a project, connected or not; what cannot be applied is noted and raised.

    Parameters
    ----------
    store, settings
        Of the service.
    project
        Its row.
    body
        The event.
    """
    link = find_link(store, settings, project.id)
    if link is None:
        config = backend.event_config(body, project.spec["classes"])
        changes = backend.changes(body, project.spec["classes"], config)
        new = _new_items(project, body, project.spec["classes"], config, "")
        _withdraw_named(store, project.id, [str(number) for number in backend.deleted_tasks(body)])
        return apply_changes(store, project, changes, new.items)
    try:
        return _apply(store, link, body)
    except (ValueError, RequestError) as error:
        with store.writing() as c:
            connections.add_problem(c, project.id, f"An event could not be applied: {error}")
            jobs.enqueue(c, project.id, JOB_KIND)
        raise


def _withdraw_named(store: Store, project: str, names: Sequence[str]) -> None:
    """Withdraw items that have the numbers of deleted tasks as their names."""
    if not names:
        return
    with store.writing() as c:
        found = [name for name, row in items.named(c, project, names).items() if row.state != items.WITHDRAWN]
        if found:
            items.change(c, project, found, state=items.WITHDRAWN)


def drive_after(store: Store, settings: Settings, project: str, read: ReadReplica[Any]) -> None:
    """Open and close tasks after an event; if that fails it is noted, and a job tries again."""
    link = find_link(store, settings, project)
    if link is None:
        return
    try:
        drive(store, link, read)
    except (ValueError, RequestError) as error:
        logger.warning("tasks of project %s could not be opened and closed: %s", project, error)
        with store.writing() as c:
            connections.add_problem(c, project, f"Tasks could not be opened and closed: {error}")
            jobs.enqueue(c, project, JOB_KIND)


def find_link(store: Store, settings: Settings, project: str) -> Link | None:
    """The link of a project that is connected."""
    with store.reading() as c:
        if connections.find(c, project) is None:
            return None
    return open_link(store, settings, project)


def _apply(store: Store, link: Link, body: Mapping[str, Any]) -> Counts:
    annotations = backend.annotations_of(body)
    own = find_own_predictions(link.client, annotations, link.classes, link.config)
    changes = backend.changes(body, link.classes, link.config, own=own)
    with store.reading() as c:
        voters = [one.vote.worker for one in changes if one.vote is not None]
        refused = refused_workers(c, link, {*annotators(annotations), *voters})
    changes = [one for one in changes if one.vote is None or one.vote.worker not in refused]
    new = _new_items(link.project, body, link.classes, link.config, link.row.address)
    counts = apply_changes(store, link.project, changes, new.items)
    keys = {change.key for change in changes if change.vote is not None}
    with store.writing() as c:
        _save_tasks(c, link, body, annotations, keys, refused)
        withdraw(c, link.id, tasks.find(c, link.id, backend.deleted_tasks(body)))
        for sentence in new.problems:
            connections.add_problem(c, link.id, sentence)
        if refused:
            connections.add_problem(c, link.id, REFUSED)
        if body.get("action") in FOLLOWED_BY_SYNC:
            jobs.enqueue(c, link.id, JOB_KIND)
    return counts


def _new_items(
    project: Row, body: Mapping[str, Any], classes: Sequence[str], config: Config, address: str
) -> _New:
    """Items from the tasks of an event that hold their data."""
    found = _New([], [])
    for task in backend.tasks_of(body):
        if not isinstance(task.get("data"), dict) or task.get("id") is None:
            continue
        try:
            item = read_item(task, name_of(task), classes, config, address)
            to_new_item(item, project.spec)
            found.items.append(item)
        except ValueError as error:
            found.problems.append(str(error))
    return found


def _save_tasks(
    c: Connection,
    link: Link,
    body: Mapping[str, Any],
    annotations: Sequence[Mapping[str, Any]],
    keys: set[str],
    refused: set[str],
) -> None:
    """Store what an event says of tasks, in a write transaction."""
    there = {int(task["id"]): task for task in backend.tasks_of(body) if isinstance(task.get("id"), int)}
    ids = items.ids_by_name(c, link.id, [name_of(task) for task in there.values()])
    before = {row.task: row for row in tasks.find(c, link.id, list(there))}
    tasks.save(c, link.id, [
        see_task(task, ids[name_of(task)], [one for one in annotations if one.get("task") == number], keys,
                 skips_count=link.row.skips_count, before=before.get(number), is_complete=False,
                 refused=refused)
        for number, task in there.items()
        if name_of(task) in ids
    ])  # fmt: skip
