"""Page of one worker: answers beside the truth, confusion matrix, gold, times, pieces of work, pay, notes."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.arrays import Floats
from crowdpilot.service import requester_actions
from crowdpilot.service.http.auth import LabellingOf, StoreOf, WorkerId
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.workers import worker_quality
from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.access.requester import Form, Labelling, Reading, go
from crowdpilot.service.pages.dashboard.formatting import percent, router, show
from crowdpilot.service.pages.dashboard.workers.messages import message_of
from crowdpilot.service.pages.dashboard.workers.worker_list import read_workers
from crowdpilot.service.store import workers
from crowdpilot.service.store.arrivals import worker_history
from crowdpilot.service.store.engine import Row, Store

ANSWERS_PER_PAGE = 25
MAX_NOTES_CHARACTERS = 5000
MAX_MATRIX_CLASSES = 12  # of a confusion matrix that is drawn
TIME_BINS = 12
OUTCOMES = {"done": "finished their share", "complete": "nothing was left to do", "failed": "failed the quiz"}


class Answers(NamedTuple):
    """What the campaign says about the items that a worker has answered."""

    matrix: Floats  # expected number of answers, (true, said)
    shares: dict[tuple[int, int], tuple[str, float]]  # likeliest class and its probability, by vote


def pages() -> APIRouter:
    """Routes about one worker."""
    one = "/projects/{id}/workers/{worker}"
    return router([("GET", one, show_worker), ("POST", f"{one}/notes", write_notes)])


async def show_worker(
    id: str, worker: WorkerId, requester: Reading, store: StoreOf, labelling: LabellingOf, page: int = 1
) -> Response:
    """All about one worker."""
    stored = await asyncio.to_thread(_read_store, store, id, worker, page)
    seen = await labelling.read(id, worker_quality.read_votes)
    project, quality = await asyncio.to_thread(read_workers, store, id, seen)
    answers = await labelling.read(id, lambda replica, _: _look(replica, stored["labels"], stored["answers"]))
    mine = next(row for row in quality if row["worker"] == worker)
    shown = {
        **mine, "answers": [_answer(row, answers, project.spec) for row in stored["answers"]],
        "matrix": _matrix(answers.matrix, project.spec["classes"]), "times": _times(stored["labels"]),
        "fast": _fast_share(stored["labels"], quality),
    }  # fmt: skip
    return show(
        "workers/worker.html", requester, project, row=stored["row"], one=shown, page=stored["page"],
        last=stored["last"], work=stored["work"], outcomes=OUTCOMES, span=svg_charts.span,
        message=message_of(stored["row"], project.spec),
    )  # fmt: skip


def _read_store(store: Store, id: str, worker: int, page: int) -> dict[str, Any]:
    with store.reading() as c:
        row = workers.find(c, id, worker)
        labels = worker_history.list_labels(c, worker)
        last = max(1, -(-worker_history.count_answers(c, worker) // ANSWERS_PER_PAGE))
        page = min(max(page, 1), last)
        answers = worker_history.list_answers(c, worker, ANSWERS_PER_PAGE, (page - 1) * ANSWERS_PER_PAGE)
        work = worker_history.list_assignments(c, id, worker)
    return {"row": row, "labels": labels, "answers": answers, "work": work, "page": page, "last": last}


def _look(replica: Replica, labels: list[Row], answers: list[Row]) -> Answers:
    """The confusion matrix by the present posterior, and the likeliest class of the items shown."""
    campaign, K = replica.campaign, len(replica.campaign.classes)
    posteriors = [campaign.view.estimates(criterion).posterior for criterion in campaign.criteria]
    known = [row for row in labels if row.item in replica.item_names]
    rows = campaign.view.item_rows([replica.item_names[row.item] for row in known])
    matrix = np.zeros((K, K))
    for row, n in zip(known, rows.tolist(), strict=True):
        matrix[:, row.label] += posteriors[row.criterion][n]
    shares = {}
    for row in answers:
        if row.item in replica.item_names:
            n = int(campaign.view.item_rows([replica.item_names[row.item]])[0])
            probs = posteriors[row.criterion][n]
            shares[row.item, row.criterion] = str(campaign.classes[probs.argmax()]), float(probs.max())
    return Answers(matrix, shares)


def _answer(row: Row, answers: Answers, spec: dict[str, Any]) -> dict[str, Any]:
    """An answer beside the truth, or what is likeliest."""
    criterion = spec["criteria"][row.criterion]["name"] if spec["criteria"] else ""
    label = None if row.label is None else spec["classes"][row.label]
    expert = None if row.override is None else _own(row.override["label"], criterion)
    gold = _own(row.gold, criterion)
    likeliest, share = answers.shares.get((row.item, row.criterion), ("", 0.0))
    truth, source = (
        (gold, "known") if gold else (expert, "by hand") if expert else (likeliest, percent(share))
    )
    agrees = None if label is None or not truth else label == truth
    return {"item": row.item, "name": row.name, "content": row.content, "question": criterion, "label": label,
            "truth": truth, "source": source, "agrees": agrees, "seconds": row.seconds}  # fmt: skip


def _own(label: Any, criterion: str) -> str | None:
    return label.get(criterion) if isinstance(label, dict) else label


def _matrix(matrix: Floats, classes: list[str]) -> list[dict[str, Any]]:
    """Rows of the confusion matrix with the share of each answer; none if there are no answers."""
    if matrix.sum() == 0 or len(classes) > MAX_MATRIX_CLASSES:
        return []
    totals = matrix.sum(axis=1)
    return [
        {"name": name, "total": float(totals[k]), "cells": [
            {"share": 0.0 if totals[k] < 0.05 else float(matrix[k, said] / totals[k]),
             "count": float(matrix[k, said]), "right": k == said}
            for said in range(len(classes))
        ]}
        for k, name in enumerate(classes)
    ]  # fmt: skip


def _times(labels: list[Row]) -> Any:
    """A histogram of the seconds of answers; None with fewer than two."""
    seconds = np.array([row.seconds for row in labels if row.seconds is not None])
    if len(seconds) < 2:
        return None
    most = max(float(np.quantile(seconds, 0.95)), 1.0)
    counts, edges = np.histogram(np.minimum(seconds, most), bins=TIME_BINS, range=(0, most))
    names = [f"{edges[n]:.0f} s" for n in range(TIME_BINS - 1)] + [f"{edges[-2]:.0f} s or more"]
    return svg_charts.columns("Time of each answer", counts.tolist(), names, x="seconds", y="answers")


def _fast_share(labels: list[Row], quality: list[dict[str, Any]]) -> float | None:
    """The share of answers much faster than the usual worker's; None if it cannot be said."""
    paces = [row["seconds"] for row in quality if row["seconds"] is not None]
    seconds = [row.seconds for row in labels if row.seconds is not None]
    if len(paces) < 2 or not seconds:
        return None
    limit = worker_quality.RULES.fast_ratio * float(np.median(paces))
    return float(np.mean(np.array(seconds) < limit))


def write_notes(id: str, worker: WorkerId, form: Form, requester: Labelling, store: StoreOf) -> Response:
    """Write the notes about a worker."""
    notes = str(form.get("notes") or "").replace("\x00", "")[:MAX_NOTES_CHARACTERS]
    requester_actions.write_notes(store, id, requester.id, worker, notes)
    return go(f"/projects/{id}/workers/{worker}#notes")
