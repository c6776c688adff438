"""Mutations of columns; those that may be misread leave words that a warning about it must have."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.io.mutated.crowd import SENTENCES
from tests.io.mutated.draft import Column, Draft


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


def gold_column(random: Random, draft: Draft) -> None:
    """The true label of each task, of some of them only."""
    labels = sorted({vote.label for row in draft.votes for vote in row})
    name = random.choice(("gold", "truth", "ground_truth", "gold_label", "true_label"))
    _add(random, draft, name, _by_task(draft, (*labels, "")))


def free_text(random: Random, draft: Draft) -> None:
    """What workers write beside their votes, most of them nothing."""
    name = random.choice(("comment", "remarks", "reason", "feedback"))
    _add(random, draft, name, [random.choice(("", "", "not sure", "hard to say", "ok")) for _ in draft.votes])


def doubled_column(random: Random, draft: Draft) -> None:
    """A column that is there twice, under the same name or as pandas calls it."""
    column = random.choice(draft.columns)
    name = random.choice((column.name, f"{column.name}.1"))
    draft.columns.append(Column(name, list(column.values)))
    draft.words += [column.name]


def respelled_names(random: Random, draft: Draft) -> None:
    """Names of columns in capital letters, with blanks around or instead of lines."""
    change = random.choice(
        (str.upper, str.title, lambda name: f" {name} ", lambda name: name.replace("_", " "))
    )
    for column in draft.columns:
        if column.role != "votes":  # these are the names of workers
            column.name = change(column.name)


def _by_task(draft: Draft, values: Sequence[str]) -> list[str]:
    """The same value in all rows of a task."""
    task = draft.column("task")
    names = task.values if task else [str(n) for n in range(len(draft.votes))]
    positions = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return [values[positions[name] % len(values)] for name in names]


def _add(random: Random, draft: Draft, name: str, values: list[str]) -> None:
    if name not in [column.name for column in draft.columns]:
        draft.columns.insert(random.randint(0, len(draft.columns)), Column(name, values))
        draft.words += [name]
        task = draft.column("task")
        names = task.values if task else list(map(str, range(len(values))))
        if len(set(names)) == len(set(values)) == len(set(zip(names, values, strict=True))):
            draft.tasks_named = False  # by either name a task is the same
