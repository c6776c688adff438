"""All layouts, and those of people: how they arrange votes in a table."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.io.mutated.crowd import SENTENCES, Crowd, Vote
from tests.io.mutated.draft import Column, Draft
from tests.io.mutated.programs import (
    appen,
    by_task,
    doccano,
    label_studio,
    label_studio_csv,
    label_studio_min,
    mturk,
    prodigy,
    qualtrics,
    toloka,
)
from tests.io.mutated.traps import (
    answers_inside,
    class_counts,
    joined_labels,
    rows_of_workers,
    ticked,
    two_answers,
)

KNOWN = {
    "task": ("task", "item", "item_id", "Task ID", "document_id", "unit_id", "example", "question_id"),
    "worker": ("worker", "annotator", "rater", "worker_id", "user", "participant", "coder"),
    "label": ("label", "rating", "answer", "response", "annotation", "class", "judgment", "category"),
}
FOREIGN = {
    "task": ("tweet_id", "image", "sentence", "id", "filename", "url", "post", "stimulus", "clip"),
    "worker": ("respondent", "PROLIFIC_PID", "email", "pid", "nurse", "initials", "Name"),
    "label": ("sentiment", "is_spam", "verdict", "stance", "q1", "outcome", "toxic"),
}


KINDS = 4 * (("csv", ".csv"),) + (("jsonl", ".jsonl"), ("json", ".json"), ("frame", ""), ("xlsx", ".xlsx"))


def long(random: Random, crowd: Crowd, names: dict[str, tuple[str, ...]], layout: str) -> Draft:
    """A row for each vote."""
    columns = [
        Column(random.choice(names[role]), [getattr(vote, role) for vote in crowd.votes], role)
        for role in ("task", "worker", "label")
    ]
    kind, suffix = random.choice(KINDS)
    return Draft(layout, columns, [[vote] for vote in crowd.votes], kind=kind, suffix=suffix)


def known_names(random: Random, crowd: Crowd) -> Draft:
    """A row for each vote, below names that crowdsourcing uses."""
    return long(random, crowd, KNOWN, "long, known names")


def foreign_names(random: Random, crowd: Crowd) -> Draft:
    """A row for each vote, below names that the field of the data uses."""
    return long(random, crowd, FOREIGN, "long, other names")


def wide_votes(crowd: Crowd) -> tuple[list[Column], list[list[Vote]]]:
    """A column for each worker, and the votes in each row."""
    rows = [[vote for vote in crowd.votes if vote.task == task] for task in crowd.tasks]
    said = [{vote.worker: vote.label for vote in row} for row in rows]
    return [Column(worker, [row.get(worker, "") for row in said], "votes") for worker in crowd.workers], rows


def wide(random: Random, crowd: Crowd) -> Draft:
    """A row for each task, with its name."""
    columns, votes = wide_votes(crowd)
    first = Column(
        random.choice((*KNOWN["task"], "image", "tweet_id", "id", "filename")), list(crowd.tasks), "task"
    )
    kind, suffix = random.choice(KINDS)
    return Draft("wide, tasks named", [first, *columns], votes, kind=kind, suffix=suffix)


def wide_plain(random: Random, crowd: Crowd) -> Draft:
    """A row for each task, and nothing but workers."""
    columns, votes = wide_votes(crowd)
    kind, suffix = random.choice(KINDS)
    return Draft("wide, no name of tasks", columns, votes, tasks_named=False, kind=kind, suffix=suffix)


def wide_index(random: Random, crowd: Crowd) -> Draft:
    """A row for each task, numbered in a column without a name."""
    columns, votes = wide_votes(crowd)
    first = Column("", [str(n) for n in range(len(votes))])
    return Draft("wide, index", [first, *columns], votes, tasks_named=False)


def wide_text(random: Random, crowd: Crowd) -> Draft:
    """A row for each task, with its text."""
    columns, votes = wide_votes(crowd)
    first = Column("text", list(SENTENCES[: len(votes)]))
    return Draft("wide, text", [first, *columns], votes, tasks_named=False)


def wide_numbers(random: Random, crowd: Crowd) -> Draft:
    """A row for each task, classes as numbers, -1 or NaN where there is no vote."""
    columns, votes = wide_votes(crowd)
    codes = {label: str(n) for n, label in enumerate(crowd.classes)}
    missing = random.choice(("-1", "NaN", ""))
    for column in columns:
        column.values = [codes.get(value, missing) for value in column.values]
    coded = [[vote._replace(label=codes[vote.label]) for vote in row] for row in votes]
    layout = f"wide, numbers, {missing or 'empty'} for no vote"
    return Draft(layout, columns, coded, tasks_named=False, words=["first line"])


def matrix(random: Random, crowd: Crowd) -> Draft:
    """Numbers with blanks between them, -1 where there is no vote; tasks and workers are numbered."""
    columns, votes = wide_votes(crowd)
    codes = {label: str(n) for n, label in enumerate(crowd.classes)}
    rows = zip(*([codes.get(value, "-1") for value in column.values] for column in columns), strict=True)
    numbers = {worker: str(n) for n, worker in enumerate(crowd.workers)}
    coded = [
        vote._replace(label=codes[vote.label], worker=numbers[vote.worker]) for row in votes for vote in row
    ]
    text = "".join(" ".join(row) + "\n" for row in rows)
    return Draft("matrix", votes=[coded], text=text, kind="text", suffix=".txt", tasks_named=False)


LAYOUTS: dict[str, tuple[Callable[[Random, Crowd], Draft], int]] = {  # how, and how often
    "known": (known_names, 6),
    "foreign": (foreign_names, 4),
    "wide": (wide, 4),
    "wide plain": (wide_plain, 2),
    "wide index": (wide_index, 2),
    "wide text": (wide_text, 2),
    "wide numbers": (wide_numbers, 2),
    "by task": (by_task, 1),
    "label studio": (label_studio, 2),
    "label studio min": (label_studio_min, 2),
    "label studio csv": (label_studio_csv, 2),
    "doccano": (doccano, 1),
    "mturk": (mturk, 1),
    "toloka": (toloka, 1),
    "appen": (appen, 1),
    "qualtrics": (qualtrics, 1),
    "matrix": (matrix, 1),
    "prodigy": (prodigy, 1),
    "class counts": (class_counts, 1),
    "ticked": (ticked, 1),
    "rows of workers": (rows_of_workers, 1),
    "two answers": (two_answers, 1),
    "joined labels": (joined_labels, 1),
    "answers inside": (answers_inside, 1),
}
