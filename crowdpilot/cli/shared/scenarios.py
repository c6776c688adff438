"""Scenarios of `replay` and `forecast`: votes, truth and features from files; the option `--simulate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, Names, divide, first_of_each, has_repeats
from crowdpilot.cli.shared.labels import column_names, read_codes
from crowdpilot.cli.shared.output import show_status
from crowdpilot.cli.shared.reading_options import ReadingOptions
from crowdpilot.hybrid.logistic_regression import LogisticRegression
from crowdpilot.hybrid.replay.simulated_scenario import simulate_scenario
from crowdpilot.hybrid.replay.vote_source import Scenario
from crowdpilot.io.probabilities import read_probs
from crowdpilot.names import natural_order, to_names
from crowdpilot.option_strings import choose
from crowdpilot.votes import Votes

HOLDS = 1  # the code of the class that holds, with criteria
TEXT_PENALTIES, NUMBER_PENALTIES = (0.1, 0.3, 1.0), (3.0, 10.0, 30.0)  # L2 strengths that are tried


def read_scenario(
    dataset: Path,
    reading: ReadingOptions,
    *,
    truth: Path | None = None,
    machine: Sequence[str] = (),
    x: Path | None = None,
    criteria: str | None = None,
) -> Scenario:
    """Votes of a file, a folder or an included data set, with truth and features of their tasks.

    Parameters
    ----------
    dataset
        Where the votes are.
    reading
        How the votes are read; of repeated votes one counts.
    truth
        File with the true labels of tasks, if the votes do not come with them.
    machine
        Files of classifier probabilities; with criteria, NAME=FILE for each.
    x
        File with the content of tasks, on which a classifier is trained.
    criteria
        The column that names the criterion of each vote, if there are several.
    """
    if reading.repeats == "all":
        raise ValueError("--repeats is all, but a worker votes once on a task here: choose last or first")
    votes = {"": _read(dataset, reading)} if criteria is None else _read_criteria(dataset, reading, criteria)
    first = next(iter(votes.values()))
    if len(first.classes) < 2:
        raise ValueError(f"{dataset} has one class only; name all with --classes")
    items = first.tasks if criteria is None else _tasks(votes.values())
    rows, classifier = (None, None) if x is None else _content(x, items)
    return Scenario(
        items, first.classes, _truth(truth, items, first, criteria), votes,
        classifier_probs=_classifier_probs(machine, items, first.classes, tuple(votes)),
        features=rows, classifier=classifier,
    )  # fmt: skip


def parse_simulation(text: str) -> dict[str, Any]:
    """Options of `simulate_scenario` in a text such as `items=1000,skill=.7`."""
    _, options = choose(f"simulate[{text}]", {"simulate": simulate_scenario}, "crowd")
    try:
        simulate_scenario(0, **options)
    except ValueError as error:
        raise ValueError(f"--simulate cannot be used: {error}") from None
    return options


def _read(dataset: Path, reading: ReadingOptions) -> Votes:
    from crowdpilot.datasets import DATASETS, load

    known = str(dataset) in DATASETS and not dataset.exists()
    return _single(load(str(dataset)) if known else reading.read(dataset), dataset)


def _single(votes: Votes, dataset: Path) -> Votes:
    """Votes that can be drawn one by one, at most one of each worker on a task."""
    if votes.weight is not None and (votes.weight != 1).any():
        raise ValueError(
            f"{dataset} has votes with weights, but they are drawn one by one: give single votes"
        )
    if len(votes) == 0:
        raise ValueError(f"{dataset} has no vote")
    pair = votes.task.astype(np.int64) * len(votes.workers) + votes.worker
    return votes.take(first_of_each(pair)) if has_repeats(pair) else votes


def _read_criteria(dataset: Path, reading: ReadingOptions, column: str) -> dict[str, Votes]:
    """The votes on each criterion, all with the same two classes."""
    from crowdpilot import io

    with show_status(f"reading {dataset}"):
        parts = _split(dataset, column, reading.columns_by_role)
        common = reading.for_tables()
        votes = {name: io.read(table, columns=roles, **common) for name, (table, roles) in parts.items()}
    if reading.class_names is None:
        every = _tasks(votes.values(), "classes")
        again = common | {"classes": every[natural_order(every)].tolist()}
        votes = {name: io.read(table, columns=roles, **again) for name, (table, roles) in parts.items()}
    K = len(next(iter(votes.values())).classes)
    if K != 2:
        raise ValueError(
            f"{dataset} has {K} classes, but a criterion fails or holds: name both as --classes no,yes"
        )
    return {name: _single(part, dataset) for name, part in votes.items()}


def _split(file: Path, column: str, columns: Mapping[str, str]) -> dict[str, tuple[Any, dict[str, str]]]:
    """The rows of a table by the value of a column, and the names of the columns of each role."""
    from crowdpilot.io import FORMATS, LABEL_FORMATS
    from crowdpilot.io.detect import parse_source
    from crowdpilot.io.source import Source
    from crowdpilot.io.votes_tables import split_rows

    formats = {name: FORMATS[name] for name in LABEL_FORMATS}
    raw = parse_source(
        file, formats, None, Source(file, {**columns, "gold": column})
    )  # a role that this column may have
    roles = {role: name for role, name in raw.roles.items() if role in ("task", "worker", "label")}
    return {name: (table, roles) for name, table in split_rows(raw.table, column).items()}


def _tasks(parts: Any, names: str = "tasks") -> Names:
    return to_names(list(dict.fromkeys(name for votes in parts for name in getattr(votes, names).tolist())))


def _truth(file: Path | None, items: Names, votes: Votes, criteria: str | None) -> Codes:
    """The right decision about each item, -1 where it is not known."""
    if file is None:
        gold = votes.gold if criteria is None else None
        return np.full(len(items), -1, np.int32) if gold is None else gold
    if criteria is None or file.suffix == ".npy":
        return read_codes(file, items, len(items), votes.classes)
    from crowdpilot.io import read_labels

    if criteria not in column_names(file):
        return read_codes(file, items, len(items), votes.classes)
    code = {str(name): k for k, name in enumerate(votes.classes.tolist())}
    codes = []
    for table, roles in _split(file, criteria, {}).values():
        labels = {str(t): str(label) for t, label in read_labels(table, columns=roles).items()}
        if unknown := sorted(set(labels.values()) - code.keys()):
            raise ValueError(f"{file} has the label {unknown[0]!r}, which is none of {', '.join(code)}")
        codes.append([code.get(labels.get(str(item), ""), -1) for item in items.tolist()])
    fails, holds = (np.asarray(codes) == 1 - HOLDS).any(axis=0), (np.asarray(codes) == HOLDS).all(axis=0)
    return np.where(fails, 1 - HOLDS, np.where(holds, HOLDS, -1)).astype(np.int32)


def _classifier_probs(files: Sequence[str], items: Names, classes: Names, criteria: tuple[str, ...]) -> Any:
    """Probabilities, (items, classes); with criteria by their names."""
    if not files:
        return None
    if criteria == ("",):
        if len(files) > 1:
            raise ValueError("--machine is given twice, expected one file of probabilities")
        return read_probs(Path(files[0]), items, classes)
    parts = {text: text.partition("=") for text in files}
    if wrong := [text for text, (name, _, file) in parts.items() if name not in criteria or not file]:
        known = ", ".join(criteria)
        raise ValueError(f"--machine is {wrong[0]!r}, expected NAME=FILE for a criterion: {known}")
    return {name: read_probs(Path(file), items, classes) for name, _, file in parts.values()}


def _content(file: Path, items: Names) -> tuple[Any, list[LogisticRegression]]:
    """Features of each item, numbers of a file or TF-IDF of its texts; and candidate classifiers for them."""
    from crowdpilot.learning.data.content_files import read_x
    from crowdpilot.learning.encoders.tfidf import Tfidf

    with show_status(f"reading {file}"):
        tasks, content = read_x(file)
        if isinstance(content, list) and not isinstance(content[0], str):
            raise ValueError(f"{file} holds pictures; give numbers that describe them, one row for each task")
        names = [str(t) for t in (range(len(content)) if tasks is None else tasks.tolist())]
        row = {name: n for n, name in enumerate(names)}
        if tasks is None and len(content) == len(items):
            rows = list(range(len(items)))
        elif missing := [str(item) for item in items.tolist() if str(item) not in row]:
            raise ValueError(
                f"{file} has nothing of {len(missing)} of {len(items)} tasks, such as {missing[0]!r}"
            )
        else:
            rows = [row[str(item)] for item in items.tolist()]
        if isinstance(content, list):
            texts = [content[n] for n in rows]
            return Tfidf().fit(texts)(texts), [LogisticRegression(strength) for strength in TEXT_PENALTIES]
    numbers = np.asarray(content, np.float64)[rows].reshape(len(rows), -1)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{file} has something else than finite numbers")
    # The columns of a table have scales of their own, those of an array are of one kind.
    scale = numbers.std() if file.suffix in (".npy", ".npz") else numbers.std(axis=0)
    candidates = [LogisticRegression(strength) for strength in NUMBER_PENALTIES]
    return divide(numbers - numbers.mean(axis=0), scale, 0.0), candidates
