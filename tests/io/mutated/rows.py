"""Mutations of rows: repeats, missing labels, lines that are no votes."""

from __future__ import annotations

from random import Random

from tests.io.mutated.crowd import FIRST_TIME, Vote
from tests.io.mutated.draft import Column, Draft, iso

MISSING = ("", "NaN", "nan", "NA", "null", "None", "N/A", "-", "?")


def shuffled_rows(random: Random, draft: Draft) -> None:
    """Rows in another order."""
    order = list(range(len(draft.votes)))
    random.shuffle(order)
    for column in draft.columns:
        column.values = [column.values[n] for n in order]
    draft.votes = [draft.votes[n] for n in order]


def missing_labels(random: Random, draft: Draft) -> None:
    """Cells that say that there is no answer."""
    label = draft.column("label")
    marker = random.choice(MISSING)
    draft.words += [marker]
    if label is not None:
        for _ in range(random.randint(1, 3)):
            row = dict(
                zip([column.role for column in draft.columns], random.choice(draft.rows()), strict=True)
            )
            row |= {"label": marker, "worker": random.choice(("zoe", "yann"))}
            draft.insert(random.randint(0, len(draft.votes)), [row[c.role] for c in draft.columns], [])
        return
    for column in draft.columns:
        if column.role == "votes":
            column.values = [value or marker for value in column.values]


def repeated_votes(random: Random, draft: Draft) -> None:
    """Workers who vote again; a column of times says when, in any order."""
    votes = [vote for row in draft.votes for vote in row]
    labels = sorted({vote.label for vote in votes})
    if draft.column("time") is None:
        times = [iso(row[0].time if row else FIRST_TIME) for row in draft.votes]
        draft.columns.append(Column(random.choice(("timestamp", "created_at", "time")), times, "time"))
    for vote in random.sample(votes, min(3, len(votes))):
        again = Vote(vote.task, vote.worker, random.choice(labels), vote.time + random.choice((-90, 90)) * 60)
        row = draft.rows()[draft.votes.index([vote])]
        new = {"label": again.label, "time": draft.time_text(again.time)}
        cells = [new.get(column.role, cell) for column, cell in zip(draft.columns, row, strict=True)]
        draft.insert(random.randint(0, len(draft.votes)), cells, [again])
    draft.words += ["repeat", "again", "time"]


def doubled_rows(random: Random, draft: Draft) -> None:
    """Rows that are there twice."""
    for _ in range(random.randint(1, 3)):
        n = random.randrange(len(draft.votes))
        draft.insert(n + 1, draft.rows()[n], list(draft.votes[n]))
    draft.words += ["repeat", "twice", "again"]


def described_header(random: Random, draft: Draft) -> None:
    """A second line that says what the columns are."""
    cells = [f"The {column.name or 'number'} of the row" for column in draft.columns]
    draft.insert(0, cells, [])
    draft.row_words += cells


def header_again(random: Random, draft: Draft) -> None:
    """The header once more between the rows, as when files are joined."""
    names = [column.name for column in draft.columns]
    draft.insert(random.randint(1, len(draft.votes)), names, [])
    draft.row_words += [name for name in names if name]


def total_row(random: Random, draft: Draft) -> None:
    """A last row that counts."""
    cells = ["" for _ in draft.columns]
    cells[-1] = str(len(draft.votes))
    cells[0] = random.choice(("Total", "TOTAL", "Sum"))
    draft.insert(len(draft.votes), cells, [])
    draft.row_words += [cells[0], cells[-1]]


def spellings(random: Random, draft: Draft) -> None:
    """Labels that differ in case, in blanks or as numbers."""
    for column in draft.columns:
        if column.role in ("label", "votes"):
            for n, value in enumerate(column.values):
                if value and random.random() < 0.3:
                    column.values[n] = _respelled(random, value)
                    draft.words += [column.values[n].strip()]
    draft.merges_spellings = True


def _respelled(random: Random, value: str) -> str:
    if value.lstrip("-").isdigit():
        return random.choice((f"{value}.0", f" {value}"))
    return random.choice((value.upper(), value.capitalize(), f" {value}", f"{value} "))
