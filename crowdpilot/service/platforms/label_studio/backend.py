"""The service as a machine learning backend of Label Studio: setup, predict, webhook and health.

Requests and answers: https://labelstud.io/guide/ml_create; events:
https://labelstud.io/guide/webhook_reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from crowdpilot.service.platforms.label_studio.annotations import (
    MODEL_VERSION,
    OwnPredictions,
    Users,
    Vote,
    key_of,
    read_vote,
    records,
)
from crowdpilot.service.platforms.label_studio.config import Config, any_config, read_config
from crowdpilot.service.platforms.label_studio.tasks import name_of
from crowdpilot.service.platforms.label_studio.writing import write_prediction
from crowdpilot.service.signing import derive, is_derived

CREATED_EVENTS = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED")
UPDATED_EVENT, DELETED_EVENT = "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED"
TASKS_CREATED, TASKS_DELETED, PROJECT_UPDATED = "TASKS_CREATED", "TASKS_DELETED", "PROJECT_UPDATED"


class Change(NamedTuple):
    """A vote to be added, changed or taken back; one that is taken back is known by its key only."""

    action: Literal["add", "change", "remove"]
    key: str
    vote: Vote | None = None


def password(secret: str, project: str) -> str:
    """The secret part of the address under which Label Studio reaches a project.

    The webhook that it makes for a backend carries no headers, so that only the address shows who calls.
    """
    return derive(secret, "label_studio", project)


def is_password(secret: str, project: str, text: str) -> bool:
    """Whether this is the password, of any key of the secret, compared in constant time."""
    return text.isascii() and is_derived(secret, text, "label_studio", project)


def health() -> dict[str, str]:
    """The answer to `GET /health`."""
    return {"status": "UP", "model_class": MODEL_VERSION}


def model_version(update_number: int) -> str:
    """The version of predictions after so many model updates: the same until the next, and sorted as text.

    Label Studio asks for predictions again only where a task has none of the version of now.
    """
    return f"{MODEL_VERSION}-{update_number:08d}"


def setup(
    body: Mapping[str, Any], classes: Sequence[str], *, version: str = MODEL_VERSION, control: str = ""
) -> dict[str, str]:
    """The answer to `POST /setup`; a `ValueError` if the labelling configuration does not fit the project.

    Label Studio asks again for predictions only if the version has changed: give one that changes when
    the probabilities do. `control` is the name of the choices that are asked, where there are several.
    """
    config = read_config(_text(body, "schema"), control)
    check_classes(config, classes)
    return {"model_version": version}


def check_classes(config: Config, classes: Sequence[str]) -> None:
    """Check that the choices are the classes of the project; a `ValueError` if not."""
    if {*config.classes} != {*classes}:
        raise ValueError(
            f"the choices in Label Studio are not those of the project; use {', '.join(classes)}"
        )


def predict(
    body: Mapping[str, Any],
    posterior: Mapping[str, Sequence[float]],
    classes: Sequence[str],
    *,
    version: str = MODEL_VERSION,
    control: str = "",
) -> dict[str, Any]:
    """The answer to `POST /predict`: a result for each task in its order, empty where we know nothing.

    Parameters
    ----------
    body
        The request of Label Studio; `requested_items` says which items it is about.
    posterior
        Probabilities of the classes, by the name of the item.
    classes
        Of the project, in their order.
    version, control
        As in `setup`.
    """
    config = read_config(_text(body, "label_config"), control)._replace(classes=tuple(classes))
    results = [_prediction(posterior.get(name), config, version) for name in requested_items(body)]
    return {"results": results, "model_version": version}


def requested_items(body: Mapping[str, Any]) -> list[str]:
    """The items that a request to predict is about."""
    return [name_of(task, position) for position, task in enumerate(records(body.get("tasks"), "tasks"))]


def changes(
    body: Mapping[str, Any],
    classes: Sequence[str],
    config: Config | None = None,
    *,
    own: OwnPredictions | None = None,
    users: Users | None = None,
) -> list[Change]:
    """The changes of votes by an event (`POST /webhook`); none if it is not about annotations.

    Parameters
    ----------
    body
        The event.
    classes
        Of the project, in their order.
    config
        The labelling configuration, if it is known; else the one of the event.
    own, users
        As for `read_vote`.
    """
    action = body.get("action")
    if action == DELETED_EVENT:
        deleted = records(body.get("annotations"), "annotations")
        return [Change("remove", key_of(one)) for one in deleted if key_of(one)]
    if action not in (*CREATED_EVENTS, UPDATED_EVENT):
        return []
    config = config or event_config(body, classes)
    tasks = {str(task.get("id")): name_of(task) for task in tasks_of(body)}
    found: list[Change] = []
    for annotation in annotations_of(body):
        key, number = key_of(annotation), str(annotation.get("task"))
        if not key or annotation.get("task") is None:
            raise ValueError("an annotation has no id or no task; send the payload with the event")
        item, is_new = tasks.get(number, number), action != UPDATED_EVENT
        if vote := read_vote(annotation, item, classes, config, own=own, users=users):
            found.append(Change("add" if is_new else "change", key, vote))
        elif not is_new:
            found.append(Change("remove", key))
    return found


def annotations_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The annotations that an event is about, in full."""
    is_about = body.get("action") in (*CREATED_EVENTS, UPDATED_EVENT)
    return _several(body.get("annotation"), "annotation") if is_about else []


def tasks_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tasks in an event: those that were created, or those that were annotated."""
    if body.get("action") == TASKS_CREATED:
        return _several(body.get("tasks"), "tasks")
    return _several(body.get("task") or [], "task")


def deleted_tasks(body: Mapping[str, Any]) -> list[int]:
    """Numbers of the tasks that an event says were deleted."""
    if body.get("action") != TASKS_DELETED:
        return []
    return [one["id"] for one in _several(body.get("tasks"), "tasks") if isinstance(one.get("id"), int)]


def event_config(body: Mapping[str, Any], classes: Sequence[str]) -> Config:
    """The labelling configuration that an event carries; if it has none, one that takes any choices."""
    project = body.get("project")
    text = project.get("label_config") if isinstance(project, dict) else None
    return read_config(text) if isinstance(text, str) and text else any_config(classes)


def _prediction(probs: Sequence[float] | None, config: Config, version: str) -> dict[str, Any]:
    if probs is None:
        return {"result": [], "score": 0.0, "model_version": version}
    label = max(range(len(probs)), key=probs.__getitem__)
    return write_prediction(label, float(probs[label]), config, version)


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if isinstance(value, str):
        return value
    raise ValueError(f"the request has no {name}; connect Label Studio to this address as an ML backend")


def _several(value: Any, what: str) -> list[dict[str, Any]]:
    return records([value] if isinstance(value, dict) else value, what)
