"""Votes exported from doccano: JSON lines, one file for each user or the user in each record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.nested_answers import Answer, from_answers
from crowdpilot.io.source import Source

LABELS = ("label", "labels", "cats", "annotations")
USERS = ("annotator", "user", "username", "annotation_approver")


def sniff(source: Source) -> bool:
    """Whether the first record has an id and a list of labels, or is a folder of such files."""
    if source.path.is_dir():
        files = _files(source)
        return bool(files) and all(map(sniff, files))
    record = source.record if isinstance(source.record, dict) else {}
    return "id" in record and any(isinstance(record.get(name), (list, dict)) for name in LABELS)


def parse(source: Source) -> VotesTable:
    """The user is named in the record, else by the name of the file."""
    pairs = [(file.path.stem, record) for file in _files(source) for record in file.records]
    answers = [answer for stem, record in pairs for answer in _answers(stem, record)]
    return from_answers(source, answers, [record.get("id") for _, record in pairs])


def _files(source: Source) -> list[Source]:
    if not source.path.is_dir():
        return [source]
    return [replace(source, path=path) for path in sorted(source.path.glob("*.jsonl"))]


def _answers(stem: str, record: dict[str, Any]) -> Iterator[Answer]:
    task = record.get("id")
    user = next((record[name] for name in USERS if record.get(name) is not None), stem)
    if not isinstance(record.get("annotations"), list):
        labels = next((record[name] for name in LABELS if name in record), None)
        yield Answer(task, user, "label", _ticked(labels))
        return
    by_user: dict[Any, list[Any]] = {}
    for one in record["annotations"]:
        by_user.setdefault(one.get("user", user), []).append(one.get("label"))
    for user, labels in by_user.items():
        yield Answer(task, user, "label", labels)


def _ticked(labels: Any) -> Any:
    """Of the scores of all classes, those of one half or more."""
    if not isinstance(labels, dict):
        return labels
    return [name for name, score in labels.items() if isinstance(score, (int, float)) and score >= 0.5]


FORMAT = Format(
    "doccano export, JSON lines; a folder with one file for each user too",
    sniff,
    parse,
    sample='{"id": "a", "text": "?", "label": ["cat"], "annotator": "x"}',
)
