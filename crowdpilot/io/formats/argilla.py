"""Votes exported from Argilla: records with the responses of users to questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.nested_answers import Answer, from_answers
from crowdpilot.io.source import Source

FLAT = ".responses"  # question.responses, .responses.users and .responses.status are lists side by side
SUBMITTED = ("submitted", None)  # discarded and draft responses are no votes


def sniff(source: Source) -> bool:
    """Whether the first record has responses, in one of three layouts."""
    record = source.record if isinstance(source.record, dict) else {}
    return isinstance(record.get("responses"), (list, dict)) or any(name.endswith(FLAT) for name in record)


def parse(source: Source) -> VotesTable:
    """An answer for each response to each question."""
    tasks = [record.get("id", record.get("_server_id", n)) for n, record in enumerate(source.records)]
    pairs = zip(tasks, source.records, strict=True)
    return from_answers(source, [answer for pair in pairs for answer in _answers(*pair)], tasks)


def _answers(task: Any, record: dict[str, Any]) -> Iterator[Answer]:
    responses = record.get("responses") or ()
    if isinstance(responses, dict):
        for question, answers in responses.items():
            for one in answers or ():
                yield _answer(task, one.get("user_id"), question, one.get("value"), one.get("status"))
    else:
        for one in responses:
            yield from _by_user(task, one)
    for name in record:
        if name.endswith(FLAT):
            yield from _by_question(task, record, name)


def _by_user(task: Any, response: dict[str, Any]) -> Iterator[Answer]:
    """One response of a user answers all questions."""
    user, status, values = (response.get(name) for name in ("user_id", "status", "values"))
    if status not in SUBMITTED or not values:
        yield Answer(task, user, None, None)
        return
    for question, value in values.items():
        yield Answer(task, user, question, value)


def _by_question(task: Any, record: dict[str, Any], name: str) -> Iterator[Answer]:
    """Three lists side by side: values, users, status."""
    values = record[name] or []
    users = record.get(f"{name}.users") or [None] * len(values)
    status = record.get(f"{name}.status") or [None] * len(values)
    for value, user, state in zip(values, users, status, strict=False):
        yield _answer(task, user, name.removesuffix(FLAT), value, state)


def _answer(task: Any, user: Any, question: str, value: Any, status: Any) -> Answer:
    return Answer(task, user, question, value if status in SUBMITTED else None)


FORMAT = Format(
    "Argilla records with responses, JSON lines or a JSON array",
    sniff,
    parse,
    has_questions=True,
    sample='{"id": "a", "responses": [{"user_id": "x", "values": {"q": {"value": "cat"}}}]}',
)
