"""Tasks of Label Studio, read as items and votes.

Format: https://labelstud.io/guide/task_format; predictions: https://labelstud.io/guide/predictions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from crowdpilot.service.platforms.label_studio.annotations import (
    OwnPredictions,
    Users,
    Vote,
    is_own,
    own_predictions,
    read_label,
    read_number,
    read_vote,
    records,
    users_of,
)
from crowdpilot.service.platforms.label_studio.config import Config, any_config

ITEM_FIELD = "crowdpilot_item"  # for our names, as Label Studio has its own ids
OWN_FIELDS = "crowdpilot_"  # how fields of task data begin that we write
SUFFIXES = {
    "image": (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp"),
    "audio": (".mp3", ".wav", ".ogg", ".flac", ".m4a"),
    "video": (".mp4", ".webm", ".mov"),
}


class Item(NamedTuple):
    """A text, an image or both; probabilities of the classes by a classifier, and the gold label, if any."""

    name: str
    content: dict[str, str]
    machine: tuple[float, ...] | None = None
    gold: int | None = None


class Export(NamedTuple):
    """Items and votes; annotations that are cancelled, empty, repeated or of no worker are skipped."""

    items: list[Item]
    votes: list[Vote]
    skipped: int


def read_tasks(
    tasks: Any,
    classes: Sequence[str],
    config: Config | None = None,
    *,
    address: str = "",
    users: Users | None = None,
    own: OwnPredictions | None = None,
) -> Export:
    """Items and votes of an export (JSON); of two annotations of a worker the later one counts.

    Parameters
    ----------
    tasks
        A list of records with data, annotations and predictions.
    classes
        Of the project, in their order.
    config
        The labelling configuration, if it is known.
    address
        Of the Label Studio server, for files that were uploaded there.
    users
        For annotations that name users by their e-mail addresses alone.
    own
        Our predictions, where the tasks have their numbers alone.
    """
    config = config or any_config(classes)
    items: dict[str, Item] = {}
    votes: dict[tuple[str, str], Vote] = {}
    seen = 0
    all_tasks = [(name_of(task, position), task) for position, task in enumerate(records(tasks, "tasks"))]
    known = {**(users or {}), **users_of([a for name, task in all_tasks for a in annotations_of(task, name)])}
    for name, task in all_tasks:
        if name in items:
            raise ValueError(f"the export has two tasks called {name}; remove one of them")
        items[name] = read_item(task, name, classes, config, address)
        predicted = {**(own or {}), **own_predictions(task.get("predictions"), name, classes, config)}
        for annotation in annotations_of(task, name):
            seen += 1
            if vote := read_vote(annotation, name, classes, config, own=predicted, users=known):
                before = votes.get((vote.item, vote.worker))
                if before is None or (before.time or 0.0) <= (vote.time or before.time or 0.0):
                    votes[vote.item, vote.worker] = vote
    return Export([*items.values()], [*votes.values()], seen - len(votes))


def read_item(
    task: Mapping[str, Any], name: str, classes: Sequence[str], config: Config, address: str = ""
) -> Item:
    """The item of a task; an annotation that is ground truth there is gold."""
    gold = None
    for annotation in annotations_of(task, name):
        if annotation.get("ground_truth") and not annotation.get("was_cancelled"):
            label = read_label(annotation, name, classes, config)
            gold = gold if label is None else label
    return Item(name, _content(task, name, config, address), _machine(task, classes, config), gold)


def annotations_of(task: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The annotations of a task."""
    return records(task.get("annotations") or [], f"annotations of task {name}")


def name_of(task: Mapping[str, Any], position: int = 0) -> str:
    """The name of the item of a task: our own, else the number of the task in Label Studio."""
    data = task.get("data")
    ours, number = (data.get(ITEM_FIELD) if isinstance(data, dict) else None), task.get("id")
    return str(ours or (position if number is None else number))


def _content(task: Mapping[str, Any], name: str, config: Config, address: str) -> dict[str, str]:
    data = task.get("data")
    data = data if isinstance(data, dict) else {}
    content: dict[str, str] = {}
    for kind, field in (_guess(data) or config.fields if config.control == "" else config.fields).items():
        value = _value(data, field)
        shown = _text(value) if kind == "text" else _media(value, address)
        if shown and kind != "text" and not shown.startswith(("http://", "https://", "/")):
            content.setdefault("text", shown)  # such as s3://, which no browser of ours can open
        elif shown:
            content[kind] = shown
    if not content:
        raise ValueError(
            f"task {name} has no {' or '.join(config.fields.values())} in its data; add it there"
        )
    return content


def _value(data: Mapping[str, Any], field: str) -> Any:
    """The value of a field, which may be one within another, such as `page.title`."""
    if field in data:
        return data[field]
    value: Any = data
    for part in field.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    """A text; of paragraphs what each author says, of other values their JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return "\n".join(": ".join(filter(None, map(_line, _said(one)))) for one in value)
    if isinstance(value, int | float):
        return str(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) and value else ""


def _said(paragraph: Mapping[str, Any]) -> tuple[Any, Any]:
    who = paragraph.get("author") or paragraph.get("name") or paragraph.get("speaker")
    return who, paragraph.get("text") or paragraph.get("dialogue") or paragraph.get("content")


def _line(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _media(value: Any, address: str) -> str:
    """An address; of several the first. Files that lie at the server have no host in theirs."""
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, str):
        return ""
    return address.rstrip("/") + value if value.startswith("/") else value


def _guess(data: Mapping[str, Any]) -> dict[str, str]:
    """The only text of a task, and its kind by how it ends, where no configuration says what is shown."""
    if any(isinstance(data.get(kind), str) for kind in ("text", *SUFFIXES)):
        return {}
    texts = [
        name for name, value in data.items() if isinstance(value, str) and not name.startswith(OWN_FIELDS)
    ]
    if len(texts) != 1:
        return {}
    try:
        ending = PurePosixPath(urlsplit(data[texts[0]]).path).suffix.lower()
    except ValueError:
        ending = ""
    kind = next((kind for kind, endings in SUFFIXES.items() if ending in endings), "text")
    return {kind: texts[0]}


def _machine(task: Mapping[str, Any], classes: Sequence[str], config: Config) -> tuple[float, ...] | None:
    """Probabilities of the last prediction with a score; what is left is shared by the other classes.

    Our own predictions are made from votes, which would count twice; of some only the number is given.
    """
    found = None
    predictions = task.get("predictions") or []
    if isinstance(predictions, list):
        predictions = [one for one in predictions if not isinstance(one, int)]
    for prediction in records(predictions, "predictions"):
        score = read_number(prediction.get("score"))
        label = read_label(prediction, name_of(task), classes, config)
        if label is not None and score is not None and score <= 1 and not is_own(prediction):
            rest = (1 - score) / (len(classes) - 1)
            found = tuple(score if k == label else rest for k in range(len(classes)))
    return found
