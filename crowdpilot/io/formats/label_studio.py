"""Votes exported from Label Studio: JSON with annotations in each task, or JSON-MIN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crowdpilot.io.column_names import find_columns
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.nested_answers import Answer, from_answers
from crowdpilot.io.source import Source

RESULT_TYPES = ("choices", "rating", "number", "pairwise")  # results that are about the whole task
METADATA_FIELDS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")


def sniff(source: Source) -> bool:
    """Whether the first record has annotations with results, or is one of JSON-MIN."""
    record = source.record if isinstance(source.record, dict) else {}
    nested = isinstance(_annotations(record), list) and "data" in record
    return nested or {"id", "annotator", "annotation_id"} <= record.keys()


def parse(source: Source) -> VotesTable:
    """An answer for each control of each annotation; a cancelled annotation is none."""
    tasks = [record.get("id", number) for number, record in enumerate(source.records)]
    pairs = list(zip(tasks, source.records, strict=True))
    answers = [answer for task, record in pairs for answer in _answers(task, record)]
    return from_answers(_with_question(source), answers, tasks)


def _with_question(source: Source) -> Source:
    """In JSON-MIN answers and data are side by side: what is called like a label is the answer."""
    first = source.records[0] if source.records else {}
    label = find_columns(first.keys() - set(METADATA_FIELDS), ["label"]).get("label")
    is_open = source.question is None and "annotator" in first
    return replace(source, question=label) if label and is_open else source


def _annotations(record: dict[str, Any]) -> Any:
    return record.get("annotations", record.get("completions"))


def _answers(task: Any, record: dict[str, Any]) -> Iterator[Answer]:
    if "annotator" in record:
        yield from _min_answers(task, record)
    for annotation in _annotations(record) or ():
        times = annotation.get("lead_time"), annotation.get("created_at")
        worker = _worker(annotation.get("completed_by"))
        answers = {} if annotation.get("was_cancelled") else _results(annotation)
        for question, values in answers.items():
            gold = values if annotation.get("ground_truth") else None
            yield Answer(task, worker, question, values, *times, gold)
        if not answers:
            yield Answer(task, worker, None, None, *times)


def _results(annotation: dict[str, Any]) -> dict[str, list[Any]]:
    """The results of an annotation by the name of the control."""
    results: dict[str, list[Any]] = {}
    for result in annotation.get("result") or ():
        if result.get("type") in RESULT_TYPES:
            results.setdefault(str(result.get("from_name")), []).append(result.get("value"))
    return results


def _worker(user: Any) -> Any:
    return user.get("email", user.get("id")) if isinstance(user, dict) else user


def _min_answers(task: Any, record: dict[str, Any]) -> Iterator[Answer]:
    times = record.get("lead_time"), record.get("created_at")
    for name in record.keys() - set(METADATA_FIELDS):
        yield Answer(task, _worker(record["annotator"]), name, record[name], *times)


FORMAT = Format(
    "Label Studio export, JSON or JSON-MIN",
    sniff,
    parse,
    has_questions=True,
    sample='[{"id": "a", "data": {}, "annotations": [{"completed_by": "x", "result": [{"from_name": "q", '
    '"type": "choices", "value": {"choices": ["cat"]}}]}]}]',
)
