"""Votes exported from Prodigy by `db-out`: JSON lines, one record for each annotation.

Layout: https://prodi.gy/docs/api-interfaces and https://prodi.gy/docs/api-database
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.nested_answers import Answer, from_answers
from crowdpilot.io.source import Source

TASKS = ("_input_hash", "_task_hash")
WORKERS = ("_annotator_id", "_session_id")
FIELDS = {"task": TASKS[0], "worker": WORKERS[0], "time": "_timestamp"}
CHOICE = "choice"  # the question where annotators choose among options
SESSION = re.compile(r"(.*-)?\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")  # named by the time when it was started
Record = dict[str, Any]


def sniff(source: Source) -> bool:
    """Whether the first record has a hash and an answer of the buttons."""
    record = source.record if isinstance(source.record, dict) else {}
    return any(name in record for name in TASKS) and record.get("answer") in ("accept", "reject", "ignore")


def parse(source: Source) -> VotesTable:
    """An answer for each record."""
    answers = [_answer(source, record) for record in source.records]
    if source.records and not any(_has_label(record) for record in source.records):
        problem = "found neither options that were chosen (accept) nor a label that was accepted or rejected"
        raise source.error(f"{problem}; spans, relations and texts are no labels of whole tasks")
    return from_answers(source, answers, [answer.task for answer in answers], [*_notes(answers)], FIELDS)


def _has_label(record: Record) -> bool:
    return isinstance(record.get("accept"), list) or record.get("label") is not None


def _answer(source: Source, record: Record) -> Answer:
    """The option that was chosen; of a record with a label only, whether it was accepted."""
    task, worker = (
        next((record[n] for n in names if record.get(n) is not None), None) for names in (TASKS, WORKERS)
    )
    answer, time = record.get("answer"), record.get("_timestamp")
    if isinstance(record.get("accept"), list) or "options" in record:
        chosen = record.get("accept") or []
        void = "" if answer == "accept" and chosen else _reason(answer)
        return Answer(task, worker, CHOICE, chosen, time=time, void=void)
    if record.get("label") is None:
        return Answer(task, worker, None, None, time=time, void="without a label")
    void = "" if answer in ("accept", "reject") else _reason(answer)
    return Answer(task, worker, str(record["label"]), answer, time=time, void=void)


def _reason(answer: Any) -> str:
    return {"ignore": "ignored", "reject": "rejected", "accept": "without a choice"}.get(answer, "unanswered")


def _notes(answers: list[Answer]) -> Iterator[str]:
    workers = {str(answer.worker) for answer in answers if answer.worker is not None}
    if sessions := sorted(filter(SESSION.fullmatch, workers)):
        yield (
            f"{len(sessions)} of {len(workers)} workers are sessions without a name ({sessions[0]}), "
            "so that one person with two of them counts as two; ?session=NAME in the address names a session"
        )


FORMAT = Format(
    "Prodigy annotations of choices or of single labels, JSON lines",
    sniff,
    parse,
    has_questions=True,
    sample='{"_input_hash": "a", "accept": ["cat"], "answer": "accept", "_annotator_id": "x"}',
)
