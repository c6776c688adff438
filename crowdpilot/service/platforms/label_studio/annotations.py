"""Annotations of Label Studio, read as votes: whose vote it is, for which class, and which are no votes.

Fields: https://labelstud.io/guide/task_format and https://labelstud.io/guide/export#Label-Studio-JSON-format.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from crowdpilot.io.nested_answers import label_of
from crowdpilot.io.numbers_and_times import MAX_SECONDS
from crowdpilot.service.platforms.label_studio.config import Config

MAX_VOTE_SECONDS = 86_400.0  # that a vote may have taken, as in our own pages; more is taken as that
MIN_EDIT_SECONDS = 1.0  # between creation and change, else somebody wrote it for somebody else
MODEL_VERSION = "crowdpilot"  # of our predictions, or its beginning
WORKER_FIELD = "crowdpilot_worker"  # for our names, as Label Studio has its own ids
OwnPredictions = Mapping[int, int | None]  # the class of each prediction of ours, by its number
Users = Mapping[str, str]  # numbers of users by their e-mail addresses


class Vote(NamedTuple):
    """A vote of a worker for the class of this number; the key names the annotation.

    `changed_by` is another worker who has written to the annotation, if any, and `is_edit` whether that was
    after it had been given: else they wrote it down for the worker, or made it ground truth.
    """

    key: str
    item: str
    worker: str
    label: int
    seconds: float | None = None
    time: float | None = None
    changed_by: str = ""
    is_edit: bool = False


def read_vote(
    annotation: Mapping[str, Any],
    item: str,
    classes: Sequence[str],
    config: Config,
    *,
    own: OwnPredictions | None = None,
    users: Users | None = None,
) -> Vote | None:
    """The vote of an annotation; None if it is cancelled, empty, of nobody, or repeats our own prediction.

    Parameters
    ----------
    annotation
        As Label Studio writes it, in an export, a webhook or its API.
    item
        Name of the item.
    classes, config
        Of the project, in their order, and the labelling configuration.
    own
        Our predictions about the task.
    users
        For annotations that name users by their e-mail addresses alone.
    """
    worker = annotation.get(WORKER_FIELD) or worker_of(annotation.get("completed_by"), users)
    label = None if annotation.get("was_cancelled") else read_label(annotation, item, classes, config)
    if label is None or worker is None or repeats_prediction(annotation, label, own, classes, config):
        return None
    moment = read_time(annotation.get("updated_at")) or read_time(annotation.get("created_at"))
    seconds = read_number(annotation.get("lead_time"))
    seconds = None if seconds is None else min(seconds, MAX_VOTE_SECONDS)
    changed_by = _other_writer(annotation, users)
    is_edit = bool(changed_by) and _was_changed_later(annotation) and not annotation.get("ground_truth")
    return Vote(key_of(annotation), item, str(worker), label, seconds, moment, changed_by, is_edit)


def read_label(holder: Mapping[str, Any], item: str, classes: Sequence[str], config: Config) -> int | None:
    """The number of the class in an annotation or a prediction; None if it has none."""
    results = records(holder.get("result") or [], f"results of task {item}")
    values = [one.get("value") for one in results if one.get("type") == "choices" and _asked(one, config)]
    try:
        label = label_of(values)
        return None if label is None else list(classes).index(str(label))
    except (ValueError, RecursionError):
        raise ValueError(f"task {item} has an answer that is not one of {', '.join(classes)}") from None


def repeats_prediction(
    annotation: Mapping[str, Any],
    label: int,
    own: OwnPredictions | None,
    classes: Sequence[str],
    config: Config,
) -> bool:
    """Whether an annotation was made from a prediction of ours and says the same: it would count twice."""
    parent, shown = annotation.get("parent_prediction"), annotation.get("prediction")
    if not isinstance(parent, int):
        return False
    if own and parent in own:
        return own[parent] == label
    if not isinstance(shown, dict) or shown.get("id") != parent or not is_own(shown):
        return False
    return read_label(shown, str(annotation.get("task")), classes, config) == label


def is_own(prediction: Mapping[str, Any]) -> bool:
    """Whether a prediction is one of ours."""
    return str(prediction.get("model_version")).startswith(MODEL_VERSION)


def own_predictions(predictions: Any, item: str, classes: Sequence[str], config: Config) -> OwnPredictions:
    """Our predictions among those of a task, which may also be given as numbers alone."""
    found = [one for one in predictions or [] if isinstance(one, dict) and is_own(one)]
    return {
        one["id"]: read_label(one, item, classes, config) for one in found if isinstance(one.get("id"), int)
    }


def worker_of(by: Any, users: Users | None = None) -> str | None:
    """The name of a worker: the number of the user, else the e-mail address; None if it is nobody."""
    if isinstance(by, dict):
        number = by.get("id")
        by = by.get("email") if number is None else number
    if by is None or isinstance(by, bool | list | dict) or by == "":
        return None
    return (users or {}).get(str(by).lower(), str(by))


def users_of(annotations: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Numbers of users by their e-mail addresses, from annotations that have both."""
    named = [by for one in annotations for by in (one.get("completed_by"),) if isinstance(by, dict)]
    return {
        str(by["email"]).lower(): str(by["id"])
        for by in named
        if by.get("email") and by.get("id") is not None
    }


def key_of(annotation: Mapping[str, Any]) -> str:
    """What names an annotation among the votes of a project; empty if it has no number."""
    number = annotation.get("id")
    return "" if number is None else f"label_studio-{number}"[:64]


def records(value: Any, what: str) -> list[dict[str, Any]]:
    """A list of records; a `ValueError` if it is anything else."""
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return value
    raise ValueError(f"{what} are not a list of records; send JSON as Label Studio writes it")


def read_number(value: Any) -> float | None:
    """A number that is not negative; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) and value >= 0 else None
    except OverflowError:
        return None


def read_time(text: Any) -> float | None:
    """Seconds since 1970 of a time as Label Studio writes it; None if it is none, 0 if it is before."""
    try:
        found = datetime.fromisoformat(text)
        seconds = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        return min(max(seconds, 0.0), MAX_SECONDS)
    except (TypeError, ValueError, OverflowError):
        return None


def _other_writer(annotation: Mapping[str, Any], users: Users | None) -> str:
    """Who has written to an annotation of somebody else; empty if nobody has."""
    writer = worker_of(annotation.get("updated_by"), users)
    is_other = writer != worker_of(annotation.get("completed_by"), users)
    return writer if writer is not None and is_other else ""


def _was_changed_later(annotation: Mapping[str, Any]) -> bool:
    created, changed = read_time(annotation.get("created_at")), read_time(annotation.get("updated_at"))
    return created is not None and changed is not None and changed - created >= MIN_EDIT_SECONDS


def _asked(result: Mapping[str, Any], config: Config) -> bool:
    return config.control in ("", result.get("from_name"))
