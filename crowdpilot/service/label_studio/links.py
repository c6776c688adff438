"""Links to projects of Label Studio: a stored connection with its client and labelling configuration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.label_studio import tokens
from crowdpilot.service.labelling.workers.identities import was_erased
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.platforms.label_studio.annotations import (
    OwnPredictions,
    is_own,
    key_of,
    read_label,
    worker_of,
)
from crowdpilot.service.platforms.label_studio.client import LabelStudio, LabelStudioError
from crowdpilot.service.platforms.label_studio.config import Config, read_config
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import connections
from crowdpilot.service.store.label_studio import votes as ls_votes
from crowdpilot.service.store.label_studio.tasks import Seen


class Link(NamedTuple):
    """A project, its connection, and what is needed to follow it."""

    project: Row
    row: Row  # of the connection
    client: LabelStudio
    config: Config
    classes: Sequence[str]
    secret: str

    @property
    def id(self) -> str:
        """Of the project here."""
        return str(self.project.id)

    @property
    def number(self) -> int:
        """Of the project there."""
        return int(self.row.number)


def open_link(store: Store, settings: Settings, project: str) -> Link:
    """The link of a project; a `NotFoundError` if it is not connected."""
    with store.reading() as c:
        row, found = connections.find(c, project), projects.find(c, project)
    if row is None:
        raise NotFoundError("the project is not connected to Label Studio; connect it first")
    token = tokens.decrypt(settings.secret, project, row.token)
    client = LabelStudio(row.address, token, settings.webhook_networks)
    config = read_config(row.config, row.control)
    return Link(found, row, client, config, found.spec["classes"], settings.secret)


def backend_address(settings: Settings, project: str) -> str:
    """Where Label Studio reaches a project as an ML backend; its webhook is below."""
    return f"{settings.address}/label-studio/{project}/{backend.password(settings.secret, project)}"


def refused_workers(c: Connection, link: Link, names: Iterable[str]) -> set[str]:
    """Those of these users whose votes are not taken: they are blocked, or their data was erased."""
    blocked = ls_votes.blocked(c, link.id)
    return {
        name for name in set(names)
        if name in blocked or was_erased(c, link.secret, link.id, ls_votes.PLATFORM, name)
    }  # fmt: skip


def user_numbers(client: LabelStudio) -> dict[str, str]:
    """Numbers of users by their e-mail addresses."""
    return {
        str(user["email"]).lower(): str(user["id"])
        for user in client.users()
        if user.get("email") and user.get("id") is not None
    }


def find_own_predictions(
    client: LabelStudio, annotations: Iterable[Mapping[str, Any]], classes: Sequence[str], config: Config
) -> OwnPredictions:
    """Those of our predictions from which annotations were made, asked of the server where need be."""
    parents = {
        one["parent_prediction"]
        for one in annotations
        if isinstance(one.get("parent_prediction"), int) and not _shows_parent(one)
    }
    found: dict[int, int | None] = {}
    for number in parents:
        try:
            prediction = client.prediction(number)
        except LabelStudioError as error:
            if error.status != 404:
                raise
            continue
        if is_own(prediction):
            found[number] = read_label(prediction, str(prediction.get("task")), classes, config)
    return found


def _shows_parent(annotation: Mapping[str, Any]) -> bool:
    """Whether an annotation holds the prediction that it was made from."""
    shown = annotation.get("prediction")
    return isinstance(shown, dict) and shown.get("id") == annotation["parent_prediction"]


def see_task(
    task: Mapping[str, Any],
    item: int,
    annotations: Sequence[Mapping[str, Any]],
    votes: set[str],
    *,
    skips_count: bool,
    before: Row | None,
    is_complete: bool,
    refused: Collection[str] = (),
) -> Seen:
    """What is to be stored of a task.

    Parameters
    ----------
    task
        As Label Studio has it now.
    item
        The id of its item.
    annotations
        Those that are known now, all of them if it is complete.
    votes
        Keys of the annotations that are votes.
    skips_count
        Whether skipped tasks count as annotated there.
    before
        What was stored. Annotations that only repeated a prediction are remembered, because Label Studio
        forgets it when the prediction is deleted.
    is_complete
        Whether these are all annotations.
    refused
        Users whose votes are not taken; their numbers are not stored, as their data may have been erased.
    """
    users = annotators(annotations) - set(refused)
    repeated = {
        one["id"]
        for one in annotations
        if one.get("parent_prediction") and not one.get("was_cancelled") and key_of(one) not in votes
    }
    if before is not None:
        there = {one.get("id") for one in annotations}
        repeated |= {number for number in before.ignored if not is_complete or number in there}
        users |= set() if is_complete else set(before.annotators)
    return Seen(
        task=int(task["id"]),
        item=item,
        annotators=sorted(users),
        annotations=count_annotations(task, skips_count=skips_count),
        ignored=sorted(repeated),
        is_open=not task.get("is_labeled"),
    )


def annotators(annotations: Iterable[Mapping[str, Any]]) -> set[str]:
    """The users who have given annotations."""
    return {user for one in annotations if (user := worker_of(one.get("completed_by")))}


def count_annotations(task: Mapping[str, Any], *, skips_count: bool) -> int:
    """How many annotations of a task count towards its overlap."""
    skipped = int(task.get("cancelled_annotations") or 0) if skips_count else 0
    return int(task.get("total_annotations") or 0) + skipped
