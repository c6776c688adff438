"""Connections: a project follows and drives one of Label Studio, from the first pull to the last label."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import Any, NamedTuple

from crowdpilot.service.errors import ConflictError, NotFoundError, RequestError
from crowdpilot.service.label_studio import tokens
from crowdpilot.service.label_studio.driving import ReadReplica, Wanted, drive
from crowdpilot.service.label_studio.importing import Counts, find_single_question_project
from crowdpilot.service.label_studio.links import Link, backend_address, open_link
from crowdpilot.service.label_studio.pulling import Pulled, name_workers_by_number, pull
from crowdpilot.service.label_studio.reading import replica_reader
from crowdpilot.service.label_studio.server_settings import (
    changed_settings,
    close_all,
    install,
    restore,
    settings_before,
    skips_count,
)
from crowdpilot.service.label_studio.writing_back import write_back
from crowdpilot.service.platforms.label_studio.backend import check_classes
from crowdpilot.service.platforms.label_studio.client import LabelStudio
from crowdpilot.service.platforms.label_studio.config import read_config, read_question
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import connections, tasks, votes
from crowdpilot.service.store.requesters import action_log

EVERYTHING_SECONDS = 3600.0  # after which all tasks are read again, not only those that changed
MISSED = (
    "{} votes were found that no webhook had brought; if this goes on, Label Studio cannot reach the "
    "service, which its protection against requests to private addresses may prevent"
)
logger = logging.getLogger(__name__)


class Problem(NamedTuple):
    """What went wrong between the two programs, in one sentence, and when (seconds since 1970)."""

    time: float
    sentence: str


class Connection(NamedTuple):
    """A project of Label Studio that is connected, and where it stands.

    Parameters
    ----------
    address
        Of the Label Studio server.
    ls_project, title
        Number and title of the project there.
    control
        Name of the choices that are asked.
    state
        "connecting" (tasks are still pulled), "running", "waiting" (tasks are open, and no vote has come for
        an hour), "finished" (no vote is wanted that somebody there could give), "stopped" (the project here
        is paused or closed), "failing" (the last synchronisation did not succeed).
    tasks, votes, open_tasks
        Tasks there that are items here; votes that came from there; tasks that annotators are given now.
    last_sync
        When all was last compared, in seconds since 1970; None before the first time.
    problems
        The newest first.
    """

    address: str
    ls_project: int
    title: str
    control: str
    state: str
    tasks: int
    votes: int
    open_tasks: int
    last_sync: float | None
    problems: list[Problem]


def connect(
    store: Store, settings: Settings, project_id: str, actor: str, *, address: str, token: str,
    ls_project: int, control: str | None = None,
) -> Connection:  # fmt: skip
    """Connect a project: pull tasks, annotations and ground truth, install webhook and backend, open tasks.

    Nothing stays connected if any of it fails.

    Parameters
    ----------
    store, settings
        Of the service; `settings.address` is what Label Studio calls.
    project_id
        Of the project here, whose classes have to be the choices there.
    actor
        Who does it, for the log.
    address, token, ls_project
        Of the Label Studio server, an access token of one of its users (legacy or personal), and the
        number of the project there.
    control
        Name of the choices that are asked; needed only where the labelling configuration has several.
    """
    project = find_single_question_project(store, project_id)
    with store.reading() as c:
        if connections.find(c, project_id) is not None:
            raise ConflictError("the project is connected to Label Studio already; disconnect it first")
    client = LabelStudio(address, token, settings.webhook_networks)
    client.user()  # a sentence about the token, if it is not accepted
    there = client.project(ls_project)
    values = _checked(project, there, control or "")
    stored = {
        **values,
        "address": client.address,
        "token": tokens.encrypt(settings.secret, project_id, token),
    }
    with store.writing() as c:
        if connections.find_by_number(c, client.address, values["number"]) is not None:
            raise ConflictError(
                "another project is connected to this one of Label Studio; disconnect it first"
            )
        connections.create(c, project_id, stored)
        action_log.write(
            c, actor, "connect label studio", project_id, server=client.address, number=ls_project
        )
    try:
        _begin(store, settings, open_link(store, settings, project_id))
    except BaseException:
        with suppress(Exception):
            disconnect(store, settings, project_id, actor)
        raise
    found = find(store, project_id)
    if found is None:
        raise ConflictError("the project was disconnected meanwhile; connect it again")
    return found


def _checked(project: Row, there: dict[str, Any], control: str) -> dict[str, Any]:
    """What is stored of a project there; a `ValueError` if it does not fit the project here."""
    text = str(there.get("label_config") or "")
    config = read_config(text, control)
    check_classes(config, project.spec["classes"])
    return {
        "number": int(there["id"]), "title": str(there.get("title") or ""), "config": text,
        "control": config.control, "settings_before": settings_before(there),
        "skips_count": skips_count(there),
    }  # fmt: skip


def _begin(store: Store, settings: Settings, link: Link) -> None:
    """The first pull, then webhook and ML backend; last the tasks, when nothing can be missed any more."""
    close_all(link)
    name_workers_by_number(store, link)
    pull(store, link, everything=True)
    problems = install(settings, link)
    with store.writing() as c:
        for sentence in problems:
            connections.add_problem(c, link.id, sentence)
        connections.change(c, link.id, synced=time.time(), state=connections.RUNNING)
    link = open_link(store, settings, link.id)
    pull(store, link, everything=False)  # what came while the webhook was not there yet
    drive(store, link, replica_reader(store, link.id))


def disconnect(store: Store, settings: Settings, project_id: str, actor: str) -> None:
    """Remove webhook and ML backend there, and forget the token.

    Label Studio follows its own settings again, as they were before. If it cannot be reached, the
    connection ends all the same.
    """
    with store.reading() as c:
        row = connections.find(c, project_id)
    if row is None:
        raise NotFoundError("the project is not connected to Label Studio")
    try:
        link = open_link(store, settings, project_id)
        link.client.uninstall(link.number, backend_address(settings, project_id))
        restore(link)
    except (ValueError, RequestError) as error:
        logger.warning("project %s was disconnected without Label Studio: %s", project_id, error)
    with store.writing() as c:
        connections.remove(c, project_id)
        action_log.write(c, actor, "disconnect label studio", project_id, server=row.address)


def find(store: Store, project_id: str) -> Connection | None:
    """The connection of a project, if it has one."""
    with store.reading() as c:
        row = connections.find(c, project_id)
        if row is None:
            return None
        n_tasks, n_open = tasks.count(c, project_id)
        n_votes = votes.count(c, project_id)
    return Connection(
        address=row.address, ls_project=row.number, title=row.title, control=row.control, state=row.state,
        tasks=n_tasks, votes=n_votes, open_tasks=n_open, last_sync=row.synced,
        problems=[Problem(*problem) for problem in row.problems],
    )  # fmt: skip


def sync(
    store: Store, settings: Settings, project_id: str, *, read: ReadReplica[Any] | None = None,
    everything: bool = True,
) -> Counts:  # fmt: skip
    """Compare tasks and annotations with Label Studio now, and open and close tasks; what was new.

    Parameters
    ----------
    store, settings
        Of the service.
    project_id
        Of the project.
    read
        Applies a function to the replica of the project, if the caller has one.
    everything
        Whether all tasks are read, or only those that changed, unless that was long ago.
    """
    link = open_link(store, settings, project_id)
    is_due = link.row.synced is None or time.time() - link.row.synced > EVERYTHING_SECONDS
    reader: ReadReplica[Any] = read or replica_reader(store, project_id)
    try:
        there = link.client.project(link.number)
        link = _take_over(store, settings, link, there)
        if changed_settings(there):
            close_all(link)
        is_closed = link.project.state == projects.CLOSED  # it takes no more votes
        everything = everything or is_due or changed_settings(there)
        found = Pulled() if is_closed else pull(store, link, everything=everything)
        _drive_again(store, link, reader)
        write_back(store, open_link(store, settings, project_id), reader)
    except Exception as error:
        with store.writing() as c:
            connections.add_problem(c, project_id, f"Label Studio could not be synchronised: {error}")
            connections.change(c, project_id, state=connections.FAILING)
        raise
    with store.writing() as c:
        if everything:
            connections.change(c, project_id, synced=time.time())
        if found.late:
            connections.add_problem(c, project_id, MISSED.format(found.late))
    return Counts(found.items, found.votes, found.skipped)


def _drive_again(store: Store, link: Link, read: ReadReplica[Wanted]) -> None:
    """Open and close tasks after a pull."""
    with store.writing() as c:
        if link.row.state == connections.FAILING:
            connections.change(c, link.id, state=connections.RUNNING)
    drive(store, link, read)


def _take_over(store: Store, settings: Settings, link: Link, there: dict[str, Any]) -> Link:
    """The link after title, choices and rules there may have changed; a `ValueError` if they do not fit."""
    now = _checked(link.project, there, link.row.control)
    kept = {name: value for name, value in now.items() if name not in ("settings_before", "number")}
    if all(getattr(link.row, name) == value for name, value in kept.items()):
        return link
    with store.writing() as c:
        connections.change(c, link.id, **kept)
    return open_link(store, settings, link.id)


def project_spec(
    settings: Settings, address: str, token: str, ls_project: int, control: str | None = None
) -> dict[str, Any]:
    """Name, question, classes and kinds of content of a project there, to create one here that fits it.

    Keys: `name`, `question`, `classes`, `instructions` (as the API for new projects takes them), and
    `shows`, a list of "text", "image", "audio" and "video".
    """
    client = LabelStudio(address, token, settings.webhook_networks)
    client.user()
    there = client.project(ls_project)
    text = str(there.get("label_config") or "")
    config = read_config(text, control or "")
    return {
        "name": (str(there.get("title") or "").strip() or "Label Studio")[:200],
        "question": read_question(text, config.control),
        "classes": list(config.classes),
        "instructions": str(there.get("expert_instruction") or "")[:20_000],
        "shows": list(config.fields),
    }
