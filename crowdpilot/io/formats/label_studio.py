"""Votes exported from Label Studio: JSON with annotations in each task, or JSON-MIN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crowdpilot.io.column_names import find_columns
from crowdpilot.io.format import Format, Raw
from crowdpilot.io.nested_answers import Answer, from_answers
from crowdpilot.io.source import Source

KINDS = ("choices", "rating", "number", "pairwise")  # results that say one thing about the whole task
ABOUT = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")


def sniff(source: Source) -> bool:
    """Whether the first record has annotations with results, or is one of JSON-MIN."""
    record = source.record if isinstance(source.record, dict) else {}
    given = _given(record)
    nested = isinstance(given, list) and "data" in record
    return nested or {"id", "annotator", "annotation_id"} <= record.keys()


def parse(source: Source) -> Raw:
    """An answer for each control of each annotation; a cancelled annotation is none."""
    tasks = [record.get("id", place) for place, record in enumerate(source.records)]
    pairs = list(zip(tasks, source.records, strict=True))
    answers = [answer for task, record in pairs for answer in _answers(task, record)]
    return from_answers(_asked(source), answers, tasks)


def _asked(source: Source) -> Source:
    """In JSON-MIN answers and data are side by side: what is called like a label is the answer."""
    first = source.records[0] if source.records else {}
    label = find_columns(first.keys() - set(ABOUT), ["label"]).get("label")
    is_open = source.question is None and "annotator" in first
    return replace(source, question=label) if label and is_open else source


def _given(record: dict[str, Any]) -> Any:
    return record.get("annotations", record.get("completions"))


def _answers(task: Any, record: dict[str, Any]) -> Iterator[Answer]:
    if "annotator" in record:
        yield from _min_answers(task, record)
    for annotation in _given(record) or ():
        times = annotation.get("lead_time"), annotation.get("created_at")
        worker = _worker(annotation.get("completed_by"))
        said = {} if annotation.get("was_cancelled") else _said(annotation)
        for question, values in said.items():
            gold = values if annotation.get("ground_truth") else None
            yield Answer(task, worker, question, values, *times, gold)
        if not said:
            yield Answer(task, worker, None, None, *times)


def _said(annotation: dict[str, Any]) -> dict[str, list[Any]]:
    """What an annotation says, by the name of the control."""
    said: dict[str, list[Any]] = {}
    for result in annotation.get("result") or ():
        if result.get("type") in KINDS:
            said.setdefault(str(result.get("from_name")), []).append(result.get("value"))
    return said


def _worker(by: Any) -> Any:
    return by.get("email", by.get("id")) if isinstance(by, dict) else by


def _min_answers(task: Any, record: dict[str, Any]) -> Iterator[Answer]:
    times = record.get("lead_time"), record.get("created_at")
    for name in record.keys() - set(ABOUT):
        yield Answer(task, _worker(record["annotator"]), name, record[name], *times)


FORMAT = Format(
    "Label Studio export, JSON or JSON-MIN",
    sniff,
    parse,
    has_questions=True,
    sample='[{"id": "a", "data": {}, "annotations": [{"completed_by": "x", "result": [{"from_name": "q", '
    '"type": "choices", "value": {"choices": ["cat"]}}]}]}]',
)
