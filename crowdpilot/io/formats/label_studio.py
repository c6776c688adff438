"""Votes exported from Label Studio: JSON with annotations in each task, or JSON-MIN.

Layout: https://labelstud.io/guide/task_format and https://labelstud.io/guide/export
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from crowdpilot.io.columns import table_of
from crowdpilot.io.engine import engine
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.formats.label_studio_csv import ABOUT, ANNOTATION, TIMES, answer_column, plain_answer
from crowdpilot.io.inference.column_names import listed
from crowdpilot.io.nested_answers import Answer, from_answers
from crowdpilot.io.source import Source

RESULT_TYPES = ("choices", "rating", "number", "pairwise", "taxonomy")  # about the whole task
REGION_FIELDS = {"x", "start", "points", "ranges", "sequence", "rle"}  # of a part of the task
FIELDS = {
    "task": "id",
    "worker": "completed_by",
    "seconds": "lead_time",
    "time": TIMES[0],
    "gold": "ground_truth",
}
Emails = Mapping[Any, Any]


def sniff(source: Source) -> bool:
    """Whether the first record has annotations with results, or is one of JSON-MIN."""
    record = source.record if isinstance(source.record, dict) else {}
    nested = isinstance(_annotations(record), list) and "data" in record
    return nested or _is_min(record)


def _is_min(record: Mapping[str, Any]) -> bool:
    return {"id", "annotator", ANNOTATION} <= record.keys()


def parse(source: Source) -> VotesTable:
    """An answer for each control of each annotation; a cancelled annotation is none."""
    if any(map(_is_min, source.records[:1])):
        return _parse_min(source)
    tasks = [record.get("id", number) for number, record in enumerate(source.records)]
    emails = _emails(source)
    pairs = zip(tasks, source.records, strict=True)
    answers = [answer for task, record in pairs for answer in _answers(source, task, record, emails)]
    if not any(answer.question for answer in answers):
        _check_types(source)
    return from_answers(source, answers, tasks, [*_notes(source)], FIELDS)


def _annotations(record: Mapping[str, Any]) -> Any:
    return record.get("annotations", record.get("completions"))


def _answers(source: Source, task: Any, record: dict[str, Any], emails: Emails) -> Iterator[Answer]:
    for annotation in _annotations(record) or ():
        if not isinstance(annotation, dict):
            problem = (
                f"task {task!r} has the number of an annotation ({annotation}) instead of the annotation"
            )
            raise source.error(f"{problem}; export the annotations in full")
        seconds, time = annotation.get("lead_time"), moment(annotation)
        worker = _worker(annotation.get("completed_by"), emails)
        void = _void(annotation)
        answers = {} if void else _results(annotation)
        for question, values in answers.items():
            gold = values if annotation.get("ground_truth") else None
            yield Answer(task, worker, question, values, seconds, time, gold)
        if not answers:
            yield Answer(task, worker, None, None, seconds, time, void=void or "empty")
    for _ in record.get("drafts") or ():
        yield Answer(task, None, None, None, void="draft")


def moment(annotation: Mapping[str, Any]) -> Any:
    """When an annotation was last changed, else when it was made."""
    return next((annotation[name] for name in TIMES if annotation.get(name)), None)


def _void(annotation: Mapping[str, Any]) -> str:
    """Why an annotation is no vote; empty if it is one."""
    if annotation.get("was_cancelled") or annotation.get("skipped"):
        return "cancelled"
    reviews = annotation.get("reviews") or [{}]
    return "rejected by a reviewer" if reviews[-1].get("accepted") is False else ""


def _results(annotation: dict[str, Any]) -> dict[str, list[Any]]:
    """The results about the whole task, by the name of the control."""
    results: dict[str, list[Any]] = {}
    for result in annotation.get("result") or ():
        if _is_about_task(result):
            value = plain_answer(result.get("value"))
            results.setdefault(str(result.get("from_name")), []).append(value)
    return results


def _is_about_task(result: Mapping[str, Any]) -> bool:
    value = result.get("value")
    is_part = isinstance(value, dict) and bool(value.keys() & REGION_FIELDS)
    return result.get("type") in RESULT_TYPES and not is_part


def _check_types(source: Source) -> None:
    """Raise if there are results, but none that is a label of a task."""
    annotations = [one for record in source.records for one in _annotations(record) or ()]
    types = Counter(str(result.get("type")) for one in annotations for result in one.get("result") or ())
    if types and not all(map(_void, annotations)):
        found = f"found results of {', '.join(sorted(types))} only"
        raise source.error(f"{found}, expected {', '.join(RESULT_TYPES)} about whole tasks")


def _emails(source: Source) -> dict[Any, Any]:
    """The e-mail of each user of whom the file has the number and the e-mail."""
    annotations = [one for record in source.records for one in _annotations(record) or ()]
    users = [one.get("completed_by") for one in annotations if isinstance(one, dict)]
    records = [user for user in users if isinstance(user, dict) and user.get("email")]
    return {str(user["id"]): user["email"] for user in records if "id" in user}


def _worker(user: Any, emails: Emails) -> Any:
    """One name for each user, who may be a number, an e-mail or a record with both."""
    if isinstance(user, dict):
        return user.get("email") or emails.get(str(user.get("id")), user.get("id"))
    return emails.get(str(user), user)


def _notes(source: Source) -> Iterator[str]:
    annotations = [one for record in source.records for one in _annotations(record) or ()]
    begun = sum(one.get("parent_prediction") is not None and not _void(one) for one in annotations)
    if begun:
        which = f"{begun} of {len(annotations)} annotations began as a prediction of a model"
        yield f"{which}: a worker who accepts it unchanged gives no opinion of their own"
    if not annotations and any(record.get("predictions") for record in source.records):
        yield "there are predictions and no annotations; predictions of models are no votes"


# JSON-MIN -------------------------------------------------------------------------------------


def _parse_min(source: Source) -> VotesTable:
    """Answers and task data are fields of one record; `answer_column` finds the answers."""
    records = source.records
    if wrong := [record for record in records if not _is_min(record)]:
        raise source.error(f"found a record with {listed(list(wrong[0]))}, expected an annotator in each")
    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: engine().column([_text(record.get(name)) for record in records]) for name in names}
    notes: list[str] = []
    name = answer_column(source, table_of(columns), columns["id"], notes)
    answers = [_min_answer(record, name) for record in records]
    tasks = [answer.task for answer in answers]
    votes = from_answers(
        replace(source, question=name), answers, tasks, notes, {**FIELDS, "worker": "annotator"}
    )
    return replace(votes, ignored=[other for other in names if other not in (name, *ABOUT)])


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _min_answer(record: dict[str, Any], name: str) -> Answer:
    worker = record["annotator"]
    worker = _worker(worker, {}) if isinstance(worker, dict) else worker
    value = None if name in ABOUT else plain_answer(record.get(name))
    return Answer(record["id"], worker, name, value, record.get("lead_time"), moment(record))


FORMAT = Format(
    "Label Studio export, JSON or JSON-MIN",
    sniff,
    parse,
    has_questions=True,
    sample='[{"id": "a", "data": {}, "annotations": [{"completed_by": "x", "result": [{"from_name": "q", '
    '"type": "choices", "value": {"choices": ["cat"]}}]}]}]',
)
