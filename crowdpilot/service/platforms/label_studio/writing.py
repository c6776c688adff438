"""Tasks for Label Studio, written from items, votes and decisions.

What is taken at import: https://labelstud.io/guide/tasks and https://labelstud.io/guide/predictions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from crowdpilot.io.numbers_and_times import utc_datetime
from crowdpilot.service.platforms.label_studio.annotations import MODEL_VERSION, WORKER_FIELD, Vote
from crowdpilot.service.platforms.label_studio.config import TAGS, Config, read_config, write_config
from crowdpilot.service.platforms.label_studio.tasks import ITEM_FIELD, Item


class Decision(NamedTuple):
    """The class of an item and its probability."""

    label: int
    probability: float


def write_tasks(
    items: Sequence[Item],
    votes: Iterable[Vote],
    decisions: Mapping[str, Decision],
    classes: Sequence[str],
    config: Config | None = None,
    *,
    users: Mapping[str, int] | None = None,
    address: str = "",
) -> list[dict[str, Any]]:
    """Tasks to be imported: each with our decision as a prediction and the votes as annotations.

    Parameters
    ----------
    items, votes, decisions
        Of the project; decisions by the name of the item.
    classes
        Of the project, in their order.
    config
        The labelling configuration of the project there, if it is not the one of `write_config`.
    users
        Number in Label Studio of those workers who have one. Label Studio refuses all tasks if one is
        completed by somebody it does not know, so that the others are left out there.
    address
        Of this service, to make the addresses of uploaded files complete.
    """
    config = (config or config_of(items, classes))._replace(classes=tuple(classes))
    annotations: dict[str, list[dict[str, Any]]] = {}
    for vote in votes:
        annotations.setdefault(vote.item, []).append(_annotation(vote, config, users or {}))
    return [
        _task(item, annotations.get(item.name, []), decisions.get(item.name), config, address)
        for item in items
    ]


def config_of(items: Iterable[Item], classes: Sequence[str]) -> Config:
    """The configuration that shows all that these items have."""
    shows = {kind for item in items for kind in item.content}
    return read_config(write_config(classes, shows=[kind for kind in TAGS if kind in shows] or ["text"]))


def write_result(label: int, config: Config) -> dict[str, Any]:
    """One choice, as a result of an annotation or a prediction."""
    chosen = {"choices": [config.classes[label]]}
    return {"from_name": config.control, "to_name": config.about, "type": "choices", "value": chosen}


def write_prediction(
    label: int, score: float, config: Config, version: str = MODEL_VERSION
) -> dict[str, Any]:
    """The predicted class of a task, with its probability."""
    return {"model_version": version, "score": score, "result": [write_result(label, config)]}


def _task(
    item: Item, annotations: list[dict[str, Any]], decision: Decision | None, config: Config, address: str
) -> dict[str, Any]:
    shown = {config.fields[kind]: value for kind, value in item.content.items() if kind in config.fields}
    if not shown:
        wanted = " or ".join(config.fields)
        raise ValueError(f"item {item.name} has no {wanted}; write a configuration that shows what it has")
    for kind in TAGS.keys() - {"text"}:
        field = config.fields.get(kind, "")
        if shown.get(field, "").startswith("/"):
            shown[field] = address + shown[field]
    predictions = [write_prediction(*decision, config)] if decision else []
    return {"data": {**shown, ITEM_FIELD: item.name}, "annotations": annotations, "predictions": predictions}


def _annotation(vote: Vote, config: Config, users: Mapping[str, int]) -> dict[str, Any]:
    known = {"completed_by": users[vote.worker]} if vote.worker in users else {}
    created = utc_datetime(vote.time)
    time = {} if created is None else {"created_at": created.isoformat()}
    about = {
        "was_cancelled": False,
        "ground_truth": False,
        "lead_time": vote.seconds,
        WORKER_FIELD: vote.worker,
    }
    return {**known, **time, **about, "result": [write_result(vote.label, config)]}
