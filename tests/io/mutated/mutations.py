"""Mutations: what happens to files on the way, each with words that a warning about it must have."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from random import Random

from tests.io.mutated.crowd import FIRST_TIME, SENTENCES, Vote
from tests.io.mutated.draft import Column, Draft, iso

MISSING = ("", "NaN", "nan", "NA", "null", "None", "N/A", "-", "?")
Mutation = Callable[[Random, Draft], None]


# Columns ---------------------------------------------------------------------------------------


def shuffled_columns(random: Random, draft: Draft) -> None:
    """Columns in another order."""
    random.shuffle(draft.columns)


def unnamed_index(random: Random, draft: Draft) -> None:
    """A first column without a name that numbers the rows."""
    draft.columns.insert(
        0, Column(random.choice(("", "Unnamed: 0")), [str(n) for n in range(len(draft.votes))])
    )


def text_column(random: Random, draft: Draft) -> None:
    """A column with a sentence in each row."""
    name = random.choice(("text", "comment", "description", "notes"))
    _add(random, draft, name, _by_task(draft, SENTENCES))


def label_like_column(random: Random, draft: Draft) -> None:
    """A column that is called or filled like answers or workers, and is none."""
    size = len(draft.votes)
    name, values = random.choice((
        ("category", _by_task(draft, ("news", "sport"))),
        ("user", ["importer"] * size),
        ("status", [random.choice(("done", "open")) for _ in range(size)]),
        ("score", [f"0.{random.randint(10, 99)}" for _ in range(size)]),
        ("split", _by_task(draft, ("train", "test", "train"))),
        ("batch", [str(random.randint(1, 3)) for _ in range(size)]),
        ("country", [random.choice(("DE", "US", "FR")) for _ in range(size)]),
        ("label_source", ["crowd"] * size),
    ))  # fmt: skip
    _add(random, draft, name, values)


def id_column(random: Random, draft: Draft) -> None:
    """A column with a number of its own for each row."""
    name = random.choice(("annotation_id", "row_id", "assignment_id", "label_id", "id"))
    first = random.randint(1000, 9000)
    _add(random, draft, name, [str(first + n) for n in range(len(draft.votes))])


def number_column(random: Random, draft: Draft) -> None:
    """Seconds or a share, some with a decimal comma."""
    mark = random.choice(".,")
    name = random.choice(("seconds", "duration", "confidence", "agreement"))
    _add(random, draft, name, [f"{random.randint(0, 9)}{mark}{random.randint(1, 9)}" for _ in draft.votes])


def doubled_column(random: Random, draft: Draft) -> None:
    """A column that is there twice, under the same name or as pandas calls it."""
    column = random.choice(draft.columns)
    name = random.choice((column.name, f"{column.name}.1"))
    draft.columns.append(Column(name, list(column.values)))
    draft.words += [column.name]


def _by_task(draft: Draft, values: Sequence[str]) -> list[str]:
    """The same value in all rows of a task."""
    task = draft.column("task")
    names = task.values if task else [str(n) for n in range(len(draft.votes))]
    places = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return [values[places[name] % len(values)] for name in names]


def _add(random: Random, draft: Draft, name: str, values: list[str]) -> None:
    if name not in [column.name for column in draft.columns]:
        draft.columns.insert(random.randint(0, len(draft.columns)), Column(name, values))
        draft.words += [name]
        if draft.column("label") is None and len(set(values)) == len(values):
            draft.tasks_named = False  # by either name a task is the same


# Rows ------------------------------------------------------------------------------------------


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
    draft.words += [repr(marker) if len(marker) < 2 else marker]
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


def header_again(random: Random, draft: Draft) -> None:
    """The header once more between the rows, as when files are joined."""
    names = [column.name for column in draft.columns]
    draft.insert(random.randint(1, len(draft.votes)), names, [])
    draft.words += [name for name in names if name]


def total_row(random: Random, draft: Draft) -> None:
    """A last row that counts."""
    cells = ["" for _ in draft.columns]
    cells[-1] = str(len(draft.votes))
    cells[0] = random.choice(("Total", "TOTAL", "Sum"))
    draft.insert(len(draft.votes), cells, [])
    draft.words += [cells[0], cells[-1]]


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


# Text ------------------------------------------------------------------------------------------


def other_delimiter(random: Random, draft: Draft) -> None:
    """Semicolons, tabs or bars."""
    draft.delimiter = random.choice((";", "\t", "|"))


def quoted_cells(random: Random, draft: Draft) -> None:
    """A quote around each cell."""
    draft.quoting = csv.QUOTE_ALL


def no_header(random: Random, draft: Draft) -> None:
    """The first row holds votes."""
    draft.has_header = False
    draft.words += ["header", "name"]


def comment_lines(random: Random, draft: Draft) -> None:
    """Lines before the header that are no table."""
    draft.before = random.choice(("# exported on 2026-03-01\n", "# a\n# b\n", "Results of March\n\n"))


def blank_lines(random: Random, draft: Draft) -> None:
    """Empty lines at the beginning."""
    draft.before = "\n" * random.randint(1, 3)


def trailing_delimiter(random: Random, draft: Draft) -> None:
    """A delimiter at the end of each line."""
    draft.columns.append(Column("", [""] * len(draft.votes)))


def byte_order_mark(random: Random, draft: Draft) -> None:
    """UTF-8 as Excel writes it."""
    draft.encoding = "utf-8-sig"


def utf_16(random: Random, draft: Draft) -> None:
    """UTF-16 with a mark."""
    draft.encoding = "utf-16"


def western(random: Random, draft: Draft) -> None:
    """The encoding of Windows in Western Europe."""
    draft.encoding = "cp1252"


def carriage_returns(random: Random, draft: Draft) -> None:
    """Ends of lines as Windows has them."""
    draft.newline = "\r\n"


def cut_off(random: Random, draft: Draft) -> None:
    """The end of the file is lost."""
    draft.kept_share = random.uniform(0.6, 0.999)
    draft.words += ["line", "end", "cut"]


def wrong_suffix(random: Random, draft: Draft) -> None:
    """A name that speaks of another format."""
    draft.suffix = random.choice([s for s in (".csv", ".tsv", ".txt", ".json", ".dat") if s != draft.suffix])


COLUMNS: tuple[Mutation, ...] = (  # in this order
    text_column, label_like_column, id_column, number_column, doubled_column, shuffled_columns, unnamed_index,
)  # fmt: skip
ROWS: tuple[Mutation, ...] = (
    repeated_votes, missing_labels, spellings, shuffled_rows, header_again, total_row,
)  # fmt: skip
CSV_TEXT: tuple[Mutation, ...] = (
    other_delimiter, quoted_cells, no_header, comment_lines, blank_lines, trailing_delimiter, wrong_suffix,
)  # fmt: skip
TEXT: tuple[Mutation, ...] = (
    other_delimiter, quoted_cells, no_header, comment_lines, blank_lines, trailing_delimiter, wrong_suffix,
)  # fmt: skip
TEXT: tuple[Mutation, ...] = (byte_order_mark, utf_16, western, carriage_returns, cut_off)
LONG_ONLY = (repeated_votes,)
JSON_BARRED = (header_again, total_row, unnamed_index, doubled_column)  # nobody writes such records


def fitting(draft: Draft) -> list[Mutation]:
    """The mutations that make sense for a draft."""
    if draft.archive is not None:
        return [wrong_suffix]
    if draft.text is not None:
        barred = () if draft.text[:1] in "[{" else (cut_off, carriage_returns)  # lines inside cells
        return [mutation for mutation in (*TEXT, blank_lines, wrong_suffix) if mutation not in barred]
    if draft.kind != "csv":
        return [mutation for mutation in (*COLUMNS, *ROWS, *TEXT) if _fits(mutation, draft)]
    return [mutation for mutation in (*COLUMNS, *ROWS, *CSV_TEXT, *TEXT) if _fits(mutation, draft)]


def _fits(mutation: Mutation, draft: Draft) -> bool:
    is_long = draft.column("label") is not None
    if draft.kind != "csv" and mutation in JSON_BARRED:
        return False
    return is_long or mutation not in LONG_ONLY


def without_conflicts(mutations: list[Mutation]) -> list[Mutation]:
    """The same with one encoding, and one thing before the header, at most."""
    chosen = {_kind(mutation): mutation for mutation in mutations}
    return list(chosen.values())


def _kind(mutation: Mutation) -> str:
    if mutation in (byte_order_mark, utf_16, western):
        return "encoding"
    return "before" if mutation in (comment_lines, blank_lines) else mutation.__name__


def apply(random: Random, draft: Draft, mutation: Mutation) -> None:
    """Mutate a draft, and note it; what cannot be written in an encoding is left as it was."""
    mutation(random, draft)
    draft.mutations.append(mutation.__name__)
    if draft.encoding == "cp1252":
        try:
            draft.content()
        except UnicodeEncodeError:
            draft.encoding = "utf-8"
