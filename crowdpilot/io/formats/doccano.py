"""Votes exported from doccano: JSON lines, JSON or CSV, one file for each user, as a folder or an archive.

Layout: https://doccano.github.io/doccano and what versions 1.0 to 1.8 write. A shared ("collaborative")
project is exported as one file `all`, which does not say who has labelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from crowdpilot.io.csv_reading import read_columns
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.inference.column_names import listed
from crowdpilot.io.nested_answers import Answer, from_answers
from crowdpilot.io.source import Source
from crowdpilot.io.tables.inner_answers import inner_answers

LABELS = ("label", "labels", "cats", "annotations")
CSV_FIELDS = {"id", "label", "Comments"}
USERS = (
    "annotator", "user", "username", "worker", "annotator_id", "user_id", "worker_id", "annotated_by",
    "labeler", "rater", "annotation_approver",
)  # fmt: skip
FILE_NAME = "file name"  # instead of a field: the worker is called like the file
SHARED_FILES = ("all", "unknown")  # names of files that hold the labels of everybody
SUFFIXES = (".jsonl", ".json", ".csv")
MAX_CHECKED_FILES = 20  # for a user without labels has a file without them
FAST_TEXT = re.compile(r'^"?__label__', re.MULTILINE)
OWN_FIELDS = {"id", "text", "data", "filename", "meta", "Comments", "entities", "relations", *LABELS}


class Row(NamedTuple):
    """A record and the name of the file in which it stands, without its suffix."""

    file: str
    record: dict[str, Any]


def sniff(source: Source) -> bool:
    """Whether the first record has an id and a list of labels, or these are several such files."""
    if source.path.is_dir() or source.members:
        files = _files(source)
        return bool(files) and (all(map(sniff, files)) or _are_fast_text(files))
    if _is_fast_text(source):
        return True
    if source.opening not in ("{", "["):
        return "\0" not in source.start and CSV_FIELDS.issubset(source.header)
    record = source.record if isinstance(source.record, dict) else {}
    if "id" not in record or not any(map(_are_labels, map(record.get, LABELS))):
        return False
    return _has_users(Row("", record)) or inner_answers([record]) is None


def _are_labels(value: Any) -> bool:
    """Whether a field holds a list of labels, or a score for each class."""
    if isinstance(value, dict):
        return all(isinstance(score, (int, float)) for score in value.values())
    return isinstance(value, list)


def parse(source: Source) -> VotesTable:
    """The user is named by the file, or in the annotations, or in a field that the user of this names."""
    files = _files(source)
    if any(map(_is_fast_text, files)):
        problem = "fastText has no names of tasks, so that nobody can tell who gave which label to what"
        raise source.error(f"{problem}; export JSONL, JSON or CSV from doccano")
    rows = [row for file in files for row in _rows(file)]
    _check_columns(source, rows)
    label = source.columns.get("label") or _label_field(source, rows)
    notes: list[str] = []
    try:
        worker = _worker_field(source, rows, notes)
    except ValueError:
        _votes(source, rows, FILE_NAME, label)  # first what is wrong with labels, which no option settles
        raise
    is_text = any(file.opening not in ("{", "[") for file in files)
    votes = _votes(source, rows, worker, label)
    return replace(votes, numbers_as_text=is_text, chosen_roles=source.columns.keys(), notes=notes)


def _votes(source: Source, rows: list[Row], worker: str, label: str) -> VotesTable:
    answers = [answer for row in rows for answer in _answers(source, row, worker, label)]
    fields = {"task": "id", "worker": "user" if all(map(_has_users, rows)) else worker, **source.columns}
    origins = {role: name or FILE_NAME for role, name in fields.items()} | {"label": label}
    return from_answers(source, answers, [answer.task for answer in answers], fields=origins)


def _files(source: Source) -> list[Source]:
    """The file, or those in the folder or the archive; files of fastText only if there are no others."""
    if not source.members and not source.path.is_dir():
        return [source]
    folder = sorted(source.path.iterdir()) if source.path.is_dir() else []
    files = source.members or [replace(source, path=path) for path in folder if path.is_file()]
    return [file for file in files if file.path.suffix in SUFFIXES] or [
        file for file in files if file.path.suffix == ".txt"
    ]


def _are_fast_text(files: list[Source]) -> bool:
    some = files[:MAX_CHECKED_FILES]
    return some[0].path.suffix == ".txt" and any(map(_is_fast_text, some))


def _is_fast_text(file: Source) -> bool:
    is_text = file.opening not in ("{", "[") and "__label__" in file.start
    return is_text and bool(FAST_TEXT.search(file.start))


def _rows(file: Source) -> Iterator[Row]:
    name = Path(file.path.name).stem
    if file.opening in ("{", "["):
        yield from (Row(name, record) for record in file.records)
        return
    table = read_columns(file, file.header)
    values = zip(*(column.values() for column in table.columns), strict=True)
    yield from (Row(name, dict(zip(table.column_names, row, strict=True))) for row in values)


def _check_columns(source: Source, rows: list[Row]) -> None:
    known = {name for row in rows for name in row.record} | {FILE_NAME}
    if absent := [name for name in source.columns.values() if name is not None and name not in known]:
        raise source.error(f"there is no field {absent[0]!r}, only {listed(sorted(known))}")


# Who has labelled -----------------------------------------------------------------------------


def _worker_field(source: Source, rows: list[Row], notes: list[str]) -> str:
    """The field of the worker; FILE_NAME if it is the name of the file.

    doccano writes uploaded data beside the labels, so that a field `user` may be the author of a text.
    Data are the same wherever a record occurs; what differs between records of one id is the worker.
    """
    if "worker" in source.columns:
        return source.columns["worker"] or FILE_NAME
    if all(map(_has_users, rows)):
        return FILE_NAME  # which is not needed
    fields = [name for name in USERS if any(row.record.get(name) is not None for row in rows)]
    varying = [name for name in fields if _differs(rows, name)]
    files = {row.file for row in rows}
    if len(varying) == 1 and (len(files) == 1 or _is_one_per_file(rows, varying[0])):
        return varying[0]
    is_data = len({row.record.get("id") for row in rows}) < len(rows) and not varying
    if fields and not is_data:
        names = [*varying, *(name for name in fields if name not in varying)]
        raise _ambiguous(source, names, files)
    _check_file_names(source, files)
    if len(files) == 1:
        notes.append(
            f"the only worker is called {min(files)!r} after the file, since doccano writes a file for each "
            "user; columns= (--columns worker=NAME) names a field with the worker"
        )
    return FILE_NAME


def _has_users(row: Row) -> bool:
    """Whether each annotation says whose it is."""
    annotations = row.record.get("annotations")
    return isinstance(annotations, list) and all(
        isinstance(one, dict) and one.get("user") is not None for one in annotations
    )


def _differs(rows: list[Row], name: str) -> bool:
    """Whether records of one id have different values of a field."""
    first: dict[Any, Any] = {}
    return any(
        first.setdefault(row.record.get("id"), row.record.get(name)) != row.record.get(name) for row in rows
    )


def _is_one_per_file(rows: list[Row], name: str) -> bool:
    pairs = {(row.file, str(row.record.get(name))) for row in rows}
    return len(pairs) == len({file for file, _ in pairs}) == len({value for _, value in pairs})


def _ambiguous(source: Source, fields: list[str], files: set[str]) -> ValueError:
    shown = " or ".join(map(repr, fields))
    problem = f"the worker may be in the field {shown}, or these are uploaded data"
    if files <= {*SHARED_FILES}:
        then = "and the export of a shared project does not say who gave which label"
        return source.error(f"{problem}, {then}; if it is the worker, use --columns worker={fields[0]}")
    then = f"and the worker is called like the file ({min(files)})"
    settle = f'--columns worker={fields[0]} or --columns "worker={FILE_NAME}"'
    return source.error(f"{problem}, {then}; name it with columns= ({settle})")


def _check_file_names(source: Source, files: set[str]) -> None:
    if shared := sorted(files & {*SHARED_FILES}):
        problem = f"the file {shared[0]!r} holds the labels of all users and does not say who gave which"
        then = "export a project that is not shared, with a file for each user"
        raise source.error(
            f'{problem}; {then}, or use --columns "worker={FILE_NAME}" to read it as one worker'
        )


# What the label is ----------------------------------------------------------------------------


def _label_field(source: Source, rows: list[Row]) -> str:
    """The field with lists of labels; a field of uploaded data may have a similar name."""
    lists = [name for name in LABELS if any(isinstance(row.record.get(name), (list, dict)) for row in rows)]
    found = lists or ["label"]  # which it is in CSV
    if len(found) > 1:
        shown = " or ".join(map(repr, found))
        raise source.error(f"the labels may be in {shown}; name the field with --columns label={found[0]}")
    return found[0]


def _answers(source: Source, row: Row, worker: str, label: str) -> Iterator[Answer]:
    record, named = row.record, source.columns
    task = record.get(named.get("task") or "id")
    user = row.file if worker == FILE_NAME else record.get(worker)
    seconds, time, gold = (record.get(named.get(role) or "") for role in ("seconds", "time", "gold"))
    for name, labels in _labels_by_user(record.get(label), user).items():
        value = _value(source, task, labels)
        void = "unlabelled" if value in ([], None, "") else ""
        yield Answer(task, name, "label", value, seconds, time, gold, void)


def _labels_by_user(labels: Any, user: Any) -> dict[Any, Any]:
    """Old versions of doccano list annotations, each with its user."""
    if not isinstance(labels, list) or not any(isinstance(one, dict) and "user" in one for one in labels):
        return {user: labels}
    by_user: dict[Any, Any] = {}
    for one in labels:
        by_user.setdefault(one.get("user", user), []).append(one.get("label"))
    return by_user


def _value(source: Source, task: Any, labels: Any) -> Any:
    """The labels as a list; of the scores of all classes, those of one half or more."""
    if isinstance(labels, dict):
        return [name for name, score in labels.items() if isinstance(score, (int, float)) and score >= 0.5]
    if isinstance(labels, str):
        parts = labels.split("#")  # how doccano joins several in CSV
        return parts if all(parts) else labels
    if isinstance(labels, list) and any(isinstance(one, (list, dict)) for one in labels):
        raise source.error(f"task {task!r} has spans or boxes as labels, expected labels of the whole")
    return labels


FORMAT = Format(
    "doccano export, JSON lines, JSON or CSV; also a folder or an archive with one file for each user",
    sniff,
    parse,
    has_columns=True,
    sample='{"id": "a", "text": "?", "annotations": [{"label": "cat", "user": "x"}]}',
)
