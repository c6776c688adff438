"""Layouts of programs: exports of tools and platforms, as they write them."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from datetime import UTC, datetime
from random import Random
from typing import Any

from tests.io.mutated.crowd import SENTENCES, Crowd
from tests.io.mutated.draft import Column, Draft, iso


def pacific(time: int) -> str:
    """A time as Mechanical Turk writes it."""
    return datetime.fromtimestamp(time - 8 * 3600, UTC).strftime("%a %b %d %H:%M:%S PST %Y")


def prodigy(random: Random, crowd: Crowd) -> Draft:
    """`db-out` of Prodigy: JSON lines with the accepted options."""
    lines = [
        {
            "text": SENTENCES[crowd.tasks.index(vote.task)], "_input_hash": vote.task, "_task_hash": n,
            "options": [{"id": name, "text": name} for name in crowd.classes], "accept": [vote.label],
            "answer": "accept", "_session_id": vote.worker, "_annotator_id": vote.worker,
            "_view_id": "choice", "_timestamp": vote.time,
        }
        for n, vote in enumerate(crowd.votes)
    ]  # fmt: skip
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return Draft("Prodigy", votes=[list(crowd.votes)], text=text, kind="text", suffix=".jsonl")


def nested(layout: str, crowd: Crowd, value: Any, suffix: str = ".json") -> Draft:
    """JSON that holds all votes."""
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    return Draft(layout, votes=[list(crowd.votes)], text=text, kind="text", suffix=suffix)


def by_task(random: Random, crowd: Crowd) -> Draft:
    """`{task: {worker: label}}`."""
    value: dict[str, dict[str, str]] = {}
    for vote in crowd.votes:
        value.setdefault(vote.task, {})[vote.worker] = vote.label
    return nested("JSON, task and worker as keys", crowd, value)


def label_studio(random: Random, crowd: Crowd) -> Draft:
    """JSON of Label Studio; a cancelled annotation and a draft are no votes."""
    tasks = []
    for n, task in enumerate(crowd.tasks):
        annotations: list[dict[str, Any]] = [
            {
                "id": 1000 + 50 * n + m, "completed_by": {"id": m, "email": vote.worker},
                "result": _choice(vote.label), "was_cancelled": False, "lead_time": 4.5,
                "created_at": iso(vote.time), "updated_at": iso(vote.time),
            }
            for m, vote in enumerate(vote for vote in crowd.votes if vote.task == task)
        ]  # fmt: skip
        if random.random() < 0.3:
            skipped = {"id": 5000 + n, "completed_by": {"id": 99, "email": "zoe@example.org"}, "result": []}
            annotations.append({**skipped, "was_cancelled": True})
        random.shuffle(annotations)
        data = {"text": SENTENCES[n], "category": "news", "label": "imported"}
        tasks.append({"id": task, "data": data, "annotations": annotations, "drafts": [], "predictions": []})
    return nested("Label Studio, JSON", crowd, tasks)


def _choice(label: str) -> list[dict[str, Any]]:
    return [{"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": [label]}}]


def label_studio_min(random: Random, crowd: Crowd) -> Draft:
    """JSON-MIN of Label Studio: data, then the id, then the answer, the newest first."""
    positions = {task: n for n, task in enumerate(crowd.tasks)}
    records = [
        {
            "text": SENTENCES[positions[vote.task]], "category": ("news", "sport")[positions[vote.task] % 2],
            "id": vote.task, "mood": vote.label, "annotator": vote.worker, "annotation_id": 100 + n,
            "created_at": iso(vote.time), "updated_at": iso(vote.time), "lead_time": 3.5,
        }
        for n, vote in enumerate(crowd.votes)
    ]  # fmt: skip
    return nested("Label Studio, JSON-MIN", crowd, records[::-1])


def label_studio_csv(random: Random, crowd: Crowd) -> Draft:
    """CSV of Label Studio: columns sorted by name."""
    positions = {task: n for n, task in enumerate(crowd.tasks)}
    votes = crowd.votes[::-1]
    columns = [
        Column("annotation_id", [str(900 - n) for n in range(len(votes))]),
        Column("annotator", [vote.worker for vote in votes], "worker"),
        Column("created_at", [iso(vote.time) for vote in votes], "time"),
        Column("id", [vote.task for vote in votes], "task"),
        Column("lead_time", ["3.5"] * len(votes)),
        Column("mood", [vote.label for vote in votes], "label"),
        Column("text", [SENTENCES[positions[vote.task]] for vote in votes]),
        Column("updated_at", [iso(vote.time) for vote in votes], "time"),
    ]
    return Draft("Label Studio, CSV", columns, [[vote] for vote in votes])


def doccano(random: Random, crowd: Crowd) -> Draft:
    """The zip file of doccano, a file for each member; metadata is called user."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for worker in crowd.workers:
            said = {vote.task: vote.label for vote in crowd.votes if vote.worker == worker}
            lines = [
                {"id": task, "text": text, "user": "importer", "label": [said[task]] if task in said else []}
                for task, text in zip(crowd.tasks, SENTENCES, strict=False)
            ]
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            archive.writestr(f"{worker}.jsonl", text)
    return Draft(
        "doccano, zip", votes=[list(crowd.votes)], archive=stream.getvalue(), kind="zip", suffix=".zip"
    )


def mturk(random: Random, crowd: Crowd) -> Draft:
    """Batch results of Mechanical Turk."""
    votes = crowd.votes
    columns = [
        Column("HITId", [vote.task for vote in votes], "task"),
        Column("Title", ["Judge a text"] * len(votes)),
        Column("AssignmentId", [f"3A{n:04}" for n in range(len(votes))]),
        Column("WorkerId", [vote.worker for vote in votes], "worker"),
        Column("AssignmentStatus", ["Approved"] * len(votes)),
        Column("SubmitTime", [pacific(vote.time) for vote in votes], "time"),
        Column("WorkTimeInSeconds", [str(10 + n % 7) for n in range(len(votes))]),
        Column("Input.text", [SENTENCES[crowd.tasks.index(vote.task)] for vote in votes]),
        Column("Answer.mood.label", [vote.label for vote in votes], "label"),
    ]
    return Draft("Mechanical Turk", columns, [[vote] for vote in votes], time_text=pacific)


def toloka(random: Random, crowd: Crowd) -> Draft:
    """Assignments of Toloka."""
    votes = crowd.votes
    columns = [
        Column("INPUT:text", [SENTENCES[crowd.tasks.index(vote.task)] for vote in votes]),
        Column("OUTPUT:mood", [vote.label for vote in votes], "label"),
        Column("ASSIGNMENT:task_id", [vote.task for vote in votes], "task"),
        Column("ASSIGNMENT:worker_id", [vote.worker for vote in votes], "worker"),
        Column("ASSIGNMENT:status", ["APPROVED"] * len(votes)),
        Column("ASSIGNMENT:submitted", [iso(vote.time) for vote in votes], "time"),
    ]
    return Draft("Toloka", columns, [[vote] for vote in votes], delimiter="\t", suffix=".tsv")


def appen(random: Random, crowd: Crowd) -> Draft:
    """The full report of Appen."""
    votes = crowd.votes
    columns = [
        Column("_unit_id", [vote.task for vote in votes], "task"),
        Column("_created_at", [iso(vote.time) for vote in votes], "time"),
        Column("_id", [str(77000 + n) for n in range(len(votes))]),
        Column("_tainted", ["false"] * len(votes)),
        Column("_channel", ["neodev"] * len(votes)),
        Column("_trust", ["0.9"] * len(votes)),
        Column("_worker_id", [vote.worker for vote in votes], "worker"),
        Column("mood", [vote.label for vote in votes], "label"),
        Column("mood_gold", [""] * len(votes)),
        Column("text", [SENTENCES[crowd.tasks.index(vote.task)] for vote in votes]),
    ]
    return Draft("Appen", columns, [[vote] for vote in votes])


def qualtrics(random: Random, crowd: Crowd) -> Draft:
    """A survey: three rows of names, a row for each respondent, a column for each task."""
    names = ["StartDate", "Status", "Progress", "Finished", "ResponseId"]
    tasks = [f"Q{n + 1}" for n in range(len(crowd.tasks))]
    said = {(vote.worker, vote.task): vote.label for vote in crowd.votes}
    rows = [
        [*names, *tasks],
        ["Start Date", "Response Type", "Progress", "Finished", "Response ID", *SENTENCES[: len(tasks)]],
        [f'{{"ImportId":"{name}"}}' for name in [*names, *(f"QID{n + 1}" for n in range(len(tasks)))]],
    ]
    for worker in crowd.workers:
        fixed = ["2026-03-01 10:00:00", "IP Address", "100", "True", worker]
        rows.append(fixed + [said.get((worker, task), "") for task in crowd.tasks])
    renamed = dict(zip(crowd.tasks, tasks, strict=True))
    votes = [vote._replace(task=renamed[vote.task]) for vote in crowd.votes]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return Draft("Qualtrics", votes=[votes], text=stream.getvalue(), kind="text")
