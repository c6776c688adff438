"""Tasks of Label Studio, read as items and votes.

Format: https://labelstud.io/guide/task_format; predictions: https://labelstud.io/guide/predictions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from crowdpilot.io.nested_answers import label_of
from crowdpilot.io.numbers_and_times import MAX_SECONDS
from crowdpilot.service.platforms.label_studio.config import Config, any_config

MAX_VOTE_SECONDS = 86_400.0  # that a vote may have taken, as in our own pages; more is taken as that
MODEL_VERSION = "crowdpilot"  # of our predictions, or its beginning
ITEM_FIELD, WORKER_FIELD = (
    "crowdpilot_item",
    "crowdpilot_worker",
)  # fields for our names, as Label Studio has its own ids


class Item(NamedTuple):
    """A text, an image or both; probabilities of the classes by a classifier, and the gold label, if any."""

    name: str
    content: dict[str, str]
    machine: tuple[float, ...] | None = None
    gold: int | None = None


class Vote(NamedTuple):
    """A vote of a worker for the class of this number; the key names the annotation."""

    key: str
    item: str
    worker: str
    label: int
    seconds: float | None = None
    time: float | None = None


class Export(NamedTuple):
    """Items and votes; annotations that are cancelled, empty, repeated or of no worker are skipped."""

    items: list[Item]
    votes: list[Vote]
    skipped: int


def read_tasks(tasks: Any, classes: Sequence[str], config: Config | None = None) -> Export:
    """Items and votes of an export (JSON); of two annotations of a worker the later one counts.

    Parameters
    ----------
    tasks
        A list of records with data, annotations and predictions.
    classes
        Of the project, in their order.
    config
        The labelling configuration, if it is known.
    """
    config = config or any_config(classes)
    items: dict[str, Item] = {}
    votes: dict[tuple[str, str], Vote] = {}
    seen = 0
    for position, task in enumerate(records(tasks, "tasks")):
        name = name_of(task, position)
        if name in items:
            raise ValueError(f"the export has two tasks called {name}; remove one of them")
        annotations = records(task.get("annotations") or [], f"annotations of task {name}")
        seen += len(annotations)
        gold = None
        for annotation in annotations:
            if vote := read_vote(annotation, name, classes, config):
                votes[vote.item, vote.worker] = vote
                gold = vote.label if annotation.get("ground_truth") else gold
        items[name] = Item(name, _content(task, name, config), _machine(task, classes, config), gold)
    return Export([*items.values()], [*votes.values()], seen - len(votes))


def read_vote(
    annotation: Mapping[str, Any], item: str, classes: Sequence[str], config: Config
) -> Vote | None:
    """The vote of an annotation; None if it is cancelled, empty or of nobody."""
    worker = annotation.get(WORKER_FIELD) or _worker(annotation.get("completed_by"))
    label = None if annotation.get("was_cancelled") else read_label(annotation, item, classes, config)
    if label is None or worker is None:
        return None
    moment = _moment(annotation.get("updated_at") or annotation.get("created_at"))
    seconds = _number(annotation.get("lead_time"))
    seconds = None if seconds is None else min(seconds, MAX_VOTE_SECONDS)
    return Vote(key_of(annotation), item, str(worker), label, seconds, moment)


def read_label(holder: Mapping[str, Any], item: str, classes: Sequence[str], config: Config) -> int | None:
    """The number of the class in an annotation or a prediction; None if it has none."""
    results = records(holder.get("result") or [], f"results of task {item}")
    values = [one.get("value") for one in results if one.get("type") == "choices" and _asked(one, config)]
    try:
        label = label_of(values)
        return None if label is None else list(classes).index(str(label))
    except (ValueError, RecursionError):
        raise ValueError(f"task {item} has an answer that is not one of {', '.join(classes)}") from None


def records(value: Any, what: str) -> list[dict[str, Any]]:
    """A list of records; a `ValueError` if it is anything else."""
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return value
    raise ValueError(f"{what} are not a list of records; send JSON as Label Studio writes it")


def name_of(task: Mapping[str, Any], position: int = 0) -> str:
    """The name of the item of a task: our own, else the number of the task in Label Studio."""
    data = task.get("data")
    ours, number = (data.get(ITEM_FIELD) if isinstance(data, dict) else None), task.get("id")
    return str(ours or (position if number is None else number))


def key_of(annotation: Mapping[str, Any]) -> str:
    """What names an annotation among the votes of a project; empty if it has no number."""
    number = annotation.get("id")
    return "" if number is None else f"label_studio-{number}"[:64]


def _content(task: Mapping[str, Any], name: str, config: Config) -> dict[str, str]:
    data = task.get("data")
    found = {kind: data.get(field) for kind, field in config.fields.items()} if isinstance(data, dict) else {}
    content = {kind: value for kind, value in found.items() if isinstance(value, str) and value}
    if not content:
        raise ValueError(
            f"task {name} has no {' or '.join(config.fields.values())} in its data; add it there"
        )
    return content


def _machine(task: Mapping[str, Any], classes: Sequence[str], config: Config) -> tuple[float, ...] | None:
    """Probabilities of the last prediction with a score; what is left is shared by the other classes.

    Our own predictions are made from votes, which would count twice.
    """
    found = None
    for prediction in records(task.get("predictions") or [], "predictions"):
        score = _number(prediction.get("score"))
        label = read_label(prediction, name_of(task), classes, config)
        is_ours = str(prediction.get("model_version")).startswith(MODEL_VERSION)
        if label is not None and score is not None and score <= 1 and not is_ours:
            rest = (1 - score) / (len(classes) - 1)
            found = tuple(score if k == label else rest for k in range(len(classes)))
    return found


def _asked(result: Mapping[str, Any], config: Config) -> bool:
    return config.control in ("", result.get("from_name"))


def _worker(by: Any) -> Any:
    return by.get("email", by.get("id")) if isinstance(by, dict) else by


def _number(value: Any) -> float | None:
    """A number that is not negative; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) and value >= 0 else None
    except OverflowError:
        return None


def _moment(text: Any) -> float | None:
    """Seconds since 1970 of a time as Label Studio writes it; None if it is none, 0 if it is before."""
    try:
        found = datetime.fromisoformat(text)
        seconds = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        return min(max(seconds, 0.0), MAX_SECONDS)
    except (TypeError, ValueError, OverflowError):
        return None
