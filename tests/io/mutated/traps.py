"""Layouts that look like others: counts of votes, ticked classes, rows that are workers, two answers."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.io.mutated.crowd import SENTENCES, Crowd
from tests.io.mutated.draft import Column, Draft

ANSWERS = ("label", "rating", "answer", "sentiment", "topic", "stance", "emotion", "relevance")


def class_counts(random: Random, crowd: Crowd) -> Draft:
    """How many workers chose each class, the same number for each task; nobody knows who."""
    said = {task: [random.choice(crowd.classes) for _ in crowd.workers] for task in crowd.tasks}
    columns = [Column("item", list(crowd.tasks), "task")]
    for label in crowd.classes:
        columns.append(Column(label, [str(said[task].count(label)) for task in crowd.tasks]))
    return Draft("counts of votes", columns, [[] for _ in crowd.tasks], words=["count", *crowd.classes])


def ticked(random: Random, crowd: Crowd) -> Draft:
    """A row for each vote and a column for each class, 1 in that of the vote."""
    votes = crowd.votes
    columns = [
        Column("item", [vote.task for vote in votes], "task"),
        Column("worker", [vote.worker for vote in votes], "worker"),
    ]
    yes, no = random.choice((("1", "0"), ("TRUE", "FALSE"), ("1", "")))
    for label in crowd.classes:
        columns.append(Column(label, [yes if vote.label == label else no for vote in votes]))
    return Draft("ticked classes", columns, [[vote] for vote in votes], words=list(crowd.classes))


def rows_of_workers(random: Random, crowd: Crowd) -> Draft:
    """A row for each worker and a column for each task."""
    said = {(vote.worker, vote.task): vote.label for vote in crowd.votes}
    is_flat = len(crowd.tasks) > 2 * len(crowd.workers)  # else nobody could know without a name
    name = random.choice(("worker", "annotator", "rater", "name", "") if is_flat else ("worker", "rater"))
    first = Column(name, list(crowd.workers))
    columns = [
        Column(task, [said.get((worker, task), "") for worker in crowd.workers]) for task in crowd.tasks
    ]
    rows = [[vote for vote in crowd.votes if vote.worker == worker] for worker in crowd.workers]
    return Draft("rows are workers", [first, *columns], rows, words=["worker", "row"], columns_are_tasks=True)


def two_answers(random: Random, crowd: Crowd) -> Draft:
    """Each worker answers two questions; which one is wanted nobody has said, so no reading is right."""
    names = random.sample(ANSWERS, 2)
    columns = [
        Column("item", [vote.task for vote in crowd.votes]),
        Column("worker", [vote.worker for vote in crowd.votes]),
        Column(names[0], [vote.label for vote in crowd.votes]),
        Column(names[1], [random.choice(("low", "high")) for _ in crowd.votes]),
    ]
    return Draft("two answers", columns, [[] for _ in crowd.votes], words=names)


def joined_labels(random: Random, crowd: Crowd) -> Draft:
    """Some workers gave two labels, which stand in one cell."""
    mark = random.choice(";|/")
    labels = [vote.label for vote in crowd.votes]
    joined = sorted(random.sample(range(len(labels)), max(2, len(labels) // 5)))
    for n in joined:
        labels[n] = mark.join(random.sample(crowd.classes, 2))
    columns = [
        Column("item", [vote.task for vote in crowd.votes], "task"),
        Column("worker", [vote.worker for vote in crowd.votes], "worker"),
        Column("label", labels),
    ]
    votes = [[] if n in joined else [vote] for n, vote in enumerate(crowd.votes)]
    return Draft("labels joined in a cell", columns, votes, words=[mark, *(labels[n] for n in joined)])


def answers_inside(random: Random, crowd: Crowd) -> Draft:
    """A record for each task with all answers inside, in the ways of many data sets."""
    style = random.choice(("records", "by worker", "side by side"))
    records = []
    for n, task in enumerate(crowd.tasks):
        said = [(vote.worker, vote.label) for vote in crowd.votes if vote.task == task]
        inside: dict[str, Any] = {"annotations": [{"annotator": w, "label": label} for w, label in said]}
        if style == "by worker":
            inside = {"labels": dict(said)}
        elif style == "side by side":
            inside = {"annotators": [w for w, _ in said], "labels": [label for _, label in said]}
        records.append({"id": task, "text": SENTENCES[n], **inside})
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    whole = json.dumps(records, ensure_ascii=False)
    text, suffix = random.choice(((lines, ".jsonl"), (whole, ".json")))
    layout = f"answers inside records, {style}"
    return Draft(layout, votes=[list(crowd.votes)], text=text, kind="text", suffix=suffix)
