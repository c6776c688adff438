"""Connections: a project that follows and drives one of Label Studio, from the first pull to the last label."""

from __future__ import annotations

from typing import Any, NamedTuple

from crowdpilot.service.errors import NotReadyError
from crowdpilot.service.label_studio.importing import Counts
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store


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
        "connecting" (tasks are still pulled), "running", "finished" (no vote is wanted), "stopped" (the
        project here is paused or closed), "failing" (the last synchronisation did not succeed).
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
    """Connect a project: pull tasks, annotations and ground truth, install webhook and ML backend, open tasks.

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
    raise NotReadyError("connections to Label Studio are not there yet")


def disconnect(store: Store, settings: Settings, project_id: str, actor: str) -> None:
    """Remove webhook and ML backend there, and forget the token; tasks there stay as they are."""
    raise NotReadyError("connections to Label Studio are not there yet")


def find(store: Store, project_id: str) -> Connection | None:
    """The connection of a project, if it has one."""
    return None


def sync(store: Store, settings: Settings, project_id: str) -> Counts:
    """Compare all tasks and annotations with Label Studio now, and open and close tasks; what was new."""
    raise NotReadyError("connections to Label Studio are not there yet")


def project_spec(
    settings: Settings, address: str, token: str, ls_project: int, control: str | None = None
) -> dict[str, Any]:
    """Name, question, classes and kinds of content of a project there, to create one here that fits it.

    Keys: `name`, `question`, `classes`, `instructions` (as the API for new projects takes them), and
    `shows`, a list of "text", "image", "audio" and "video".
    """
    raise NotReadyError("connections to Label Studio are not there yet")
