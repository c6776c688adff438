"""Nested exports of annotation tools: answers of workers to questions about tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from crowdpilot.io.engine import engine
from crowdpilot.io.format import Raw
from crowdpilot.io.source import Source

HOLDERS = ("choices", "labels", "label", "choice", "value", "rating", "number", "selected")


class Answer(NamedTuple):
    """What a worker said; without a question it is no answer to any of them."""

    task: Any
    worker: Any
    question: str | None
    value: Any
    seconds: Any = None
    time: Any = None
    gold: Any = None


def from_answers(source: Source, answers: Sequence[Answer], tasks: Iterable[Any]) -> Raw:
    """The answers to the one question that was asked, and the tasks in their order."""
    questions = {answer.question for answer in answers if answer.question is not None}
    chosen = source.choose(sorted(questions)) if questions or source.question else None
    rows = [answer for answer in answers if answer.question in (chosen, None)]
    columns = {role: [getattr(row, role) for row in rows] for role in ("task", "worker", "seconds", "time")}
    for role, values in (("label", "value"), ("gold", "gold")):
        columns[role] = [_label(source, row, getattr(row, values)) for row in rows]
    table = engine().table({role: engine().column(values) for role, values in columns.items()})
    roles = {role: role for role in columns}
    return Raw(table, roles, tasks=engine().column(list(dict.fromkeys(tasks))), name=str(source.path))


def label_of(value: Any) -> Any:
    """The one label in an answer, however it is wrapped; None if there is none.

    Examples
    --------
    >>> label_of({"choices": ["cat"]}), label_of({"cat": True, "dog": False}), label_of([])
    ('cat', 'cat', None)
    """
    if isinstance(value, dict):
        return label_of(_unwrap(value))
    if not isinstance(value, list):
        return None if value == "" else value
    labels = list(dict.fromkeys(label_of(inner) for inner in value))
    if len(labels) > 1:
        raise ValueError(f"{len(labels)} labels ({', '.join(map(str, labels))})")
    return labels[0] if labels else None


def _unwrap(value: dict[str, Any]) -> Any:
    for name in HOLDERS:
        if name in value:
            return value[name]
    if all(isinstance(ticked, bool) for ticked in value.values()):
        return [name for name, ticked in value.items() if ticked]
    raise ValueError(f"an answer that is no label ({', '.join(value)})")


def _label(source: Source, answer: Answer, value: Any) -> Any:
    try:
        return label_of(value)
    except ValueError as error:
        where = f"worker {answer.worker!r} about task {answer.task!r}"
        raise source.error(f"found {error} of {where}, expected one label") from error
