"""Back into Label Studio: decisions and confidence as data of tasks, predictions, gold as ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.service.label_studio.driving import ReadReplica
from crowdpilot.service.label_studio.links import Link
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.platforms.label_studio.annotations import MODEL_VERSION
from crowdpilot.service.platforms.label_studio.client import LabelStudioError
from crowdpilot.service.platforms.label_studio.writing import write_prediction
from crowdpilot.service.store import Store
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import connections, tasks
from crowdpilot.service.store.label_studio import votes as ls_votes

LABEL_FIELD, CONFIDENCE_FIELD = "crowdpilot_label", "crowdpilot_confidence"  # in the data of tasks
MIN_CHANGE = 0.02  # of the confidence, for which a task is written again
MAX_TASKS_PER_SYNC = 200  # that are written, so that a synchronisation ends
PREDICTIONS_PER_CALL = 500


class Decided(NamedTuple):
    """The decision about an item, its probability, and whether no more votes are wanted."""

    label: int
    confidence: float
    is_done: bool


def write_back(store: Store, link: Link, read: ReadReplica[Any]) -> None:
    """Write decisions that are new or have changed, gold, and (at the end) predictions."""
    decided: dict[str, Decided] = read(find_decisions)
    with store.reading() as c:
        rows, row = tasks.list_all(c, link.id), connections.find(c, link.id)
        is_finished = row is not None and row.state == connections.FINISHED
        voted = ls_votes.keys(c, link.id)
    changed = [
        one for one in rows if _is_due(one, decided.get(one.name), link.classes, is_finished=is_finished)
    ]
    for one in changed[:MAX_TASKS_PER_SYNC]:
        _write_decision(store, link, one, decided[one.name])
    for one in rows:
        if one.gold is not None and "gold" not in (one.written or {}):
            _write_gold(store, link, one, voted)
    _write_predictions(link, rows, decided, is_finished=is_finished)


def find_decisions(replica: Replica, _: Row) -> dict[str, Decided]:
    """The decision about each item of which something is known: votes, a classifier, or its class."""
    campaign = replica.campaign
    table, found = campaign.view.items(), campaign.decide()
    known = dict(zip(table.names, has_evidence(replica).tolist(), strict=True))
    done = dict(zip(table.names, table.done.tolist(), strict=True))
    codes = np.minimum(found.codes, found.probs.shape[1] - 1)
    rows = zip(found.items.tolist(), codes.tolist(), found.probs.tolist(), strict=True)
    return {
        str(name): Decided(code, float(probs[code]), done[name]) for name, code, probs in rows if known[name]
    }


def has_evidence(replica: Replica) -> NDArray[np.bool_]:
    """Which items have votes, a known or decided class, or probabilities of a classifier, (items,)."""
    campaign = replica.campaign
    table = campaign.view.items()
    known = (table.votes > 0).any(axis=1) | (table.gold >= 0).any(axis=1) | (table.override >= 0).any(axis=1)
    probs = campaign.view.estimates(campaign.criteria[0]).classifier_probs
    if probs is not None:
        known |= np.ptp(probs, axis=1) > 0
    return np.asarray(known)


def _is_due(row: Row, decided: Decided | None, classes: Sequence[str], *, is_finished: bool) -> bool:
    """Whether a decision is final for now and not what stands in the task."""
    if decided is None or not (decided.is_done or is_finished):
        return False
    before = row.written or {}
    is_close = abs(before.get("confidence", -1.0) - decided.confidence) < MIN_CHANGE
    return not (before.get("label") == classes[decided.label] and is_close)


def _write_decision(store: Store, link: Link, row: Row, decided: Decided) -> None:
    """Write label and confidence beside the data, which Label Studio replaces as a whole."""
    ours = {
        LABEL_FIELD: link.classes[decided.label],
        CONFIDENCE_FIELD: round(decided.confidence, 4),
    }
    task = _change_task(link, row.task)  # as it is stored, without addresses that were resolved
    if task is None or not isinstance(task.get("data"), dict):
        return
    _change_task(link, row.task, data={**task["data"], **ours})
    written = {"label": ours[LABEL_FIELD], "confidence": ours[CONFIDENCE_FIELD]}
    with store.writing() as c:
        tasks.set_written(c, link.id, row.task, {**(row.written or {}), **written})


def _write_gold(store: Store, link: Link, row: Row, voted: Sequence[Row]) -> None:
    """Mark an annotation with the known class as ground truth, if there is one."""
    right = [one.key for one in voted if one.item == row.item and link.classes[one.label] == row.gold]
    if not right:
        return
    number = int(min(right, key=len).removeprefix("label_studio-"))
    try:
        link.client.change_annotation(number, ground_truth=True)
    except LabelStudioError as error:
        if error.status != 404:
            raise
        return
    with store.writing() as c:
        found = tasks.find(c, link.id, [row.task])
        written = (found[0].written or {}) if found else {}
        tasks.set_written(c, link.id, row.task, {**written, "gold": number})


def _write_predictions(
    link: Link, rows: Sequence[Row], decided: dict[str, Decided], *, is_finished: bool
) -> None:
    """Write predictions when the project is finished; those of earlier model versions are removed.

    Before, Label Studio asks the ML backend for them where somebody wants to see them.
    """
    version = backend.model_version(link.project.update_number)
    own = [name for name in link.client.model_versions(link.number) if name.startswith(MODEL_VERSION)]
    if is_finished and version not in own:
        config = link.config._replace(classes=tuple(link.classes))
        new = [
            {"task": row.task, **write_prediction(one.label, one.confidence, config, version)}
            for row in rows
            if (one := decided.get(row.name))
        ]
        for start in range(0, len(new), PREDICTIONS_PER_CALL):
            link.client.add_predictions(link.number, new[start : start + PREDICTIONS_PER_CALL])
    for name in own:
        if name != version:
            link.client.delete_predictions(link.number, name)


def _change_task(link: Link, number: int, **values: Any) -> dict[str, Any] | None:
    """The task after the change; None if it is gone, which the next pull notices."""
    try:
        return link.client.change_task(number, **values)
    except LabelStudioError as error:
        if error.status == 404:
            return None
        raise
