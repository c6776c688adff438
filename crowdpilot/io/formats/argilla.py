"""Votes exported from Argilla: records with the responses of users to questions, JSON, Parquet or Arrow.

Layout: https://docs.argilla.io/latest/how_to_guides/import_export and
https://docs.v1.argilla.io (`FeedbackDataset`, `TextClassificationRecord`); what versions 1.29 and 2.8 write.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.formats import arrow_file
from crowdpilot.io.formats.parquet import MAGIC
from crowdpilot.io.nested_answers import Answer, from_answers
from crowdpilot.io.source import Source

FLAT = ".responses"  # question.responses, .responses.users and .responses.status are lists side by side
SUGGESTION = "-suggestion"  # beside each question of a FeedbackDataset
ANNOTATION, AGENT = "annotation", "annotation_agent"  # of a TextClassificationRecord
IDS = ("id", "_server_id", "external_id")
COUNTED = ("submitted", "Validated", None)  # drafts, discarded and edited ones are no votes
UNVALIDATED = ("Default", "Edited")
NO_STATUS = (
    "the responses have no status, so that drafts and discarded ones count as votes; an export with "
    "flatten=True (or to_datasets) has it"
)
Record = dict[str, Any]


def sniff(source: Source) -> bool:
    """Whether the first record has responses, in one of the layouts."""
    if _is_arrow(source):
        return _has_responses(dict.fromkeys(_column_names(source)))
    record = source.record if isinstance(source.record, dict) else {}
    return _has_responses(record) or (_is_index(record) and all(map(_has_responses, record.values())))


def _has_responses(record: Record) -> bool:
    return _is_nested(record) or any(name.endswith(FLAT) for name in record) or _is_old(record)


def _is_nested(record: Record) -> bool:
    """Whether there are responses of users, or none of a record that has fields as Argilla's have."""
    responses = record.get("responses")
    if isinstance(record.get("id"), list):
        return isinstance(responses, list) and all(isinstance(one, (dict, list)) for one in responses)
    if isinstance(responses, dict):
        found = [one for rows in responses.values() if isinstance(rows, list) for one in rows]
    else:
        found = responses if isinstance(responses, list) else [None]
    are_users = all(isinstance(one, dict) and "user_id" in one for one in found)
    return are_users and (bool(found) or "fields" in record)


def _is_old(names: Any) -> bool:
    """Whether these are the fields of Argilla 1."""
    return {ANNOTATION, AGENT} <= {*names} or any(
        name.removesuffix("-metadata").endswith(SUGGESTION) for name in names
    )


def _is_arrow(source: Source) -> bool:
    return source.head.startswith(MAGIC) or arrow_file.sniff(source)


def _column_names(source: Source) -> list[str]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if source.head.startswith(MAGIC):
            return list(pq.read_schema(_parquet(source)).names)
        file = pa.memory_map(str(source.path)) if source.content is None else pa.BufferReader(source.content)
        has_footer = source.head.startswith(arrow_file.FILE_MAGIC)
        return list((pa.ipc.open_file if has_footer else pa.ipc.open_stream)(file).schema.names)
    except (ImportError, OSError, ValueError):
        return []


def _parquet(source: Source) -> Any:
    return source.path if source.content is None else io.BytesIO(source.content)


def _arrow_table(source: Source) -> Any:
    import pyarrow.parquet as pq

    if source.head.startswith(MAGIC):
        return pq.read_table(_parquet(source))
    with source.open_bytes() as stream:
        return arrow_file.read_stream(stream.read(), source.head.startswith(arrow_file.FILE_MAGIC))


def parse(source: Source) -> VotesTable:
    """An answer for each response to each question."""
    records = _records(source)
    tasks = _tasks(records)
    pairs = zip(tasks, records, strict=True)
    answers = [answer for task, record in pairs for answer in _answers(source, task, record)]
    has_status = any("status" in answer for record in records for answer in _by_question(record))
    answered = any(answer.value is not None for answer in answers)
    is_silent = answered and not has_status and any(isinstance(one.get("responses"), dict) for one in records)
    return from_answers(source, answers, tasks, [NO_STATUS] if is_silent else [], _fields(records))


def _records(source: Source) -> list[Record]:
    """The records: one by one, in columns, by their id, or in a file of Parquet or Arrow."""
    if _is_arrow(source):
        return list(_arrow_table(source).to_pylist())
    first = source.record
    if isinstance(first, dict) and isinstance(first.get("id"), list):
        columns: Record = source.document
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if isinstance(first, dict) and _is_index(first):
        return [{"id": name, **record} for name, record in source.document.items()]
    return source.records


def _is_index(record: Record) -> bool:
    return bool(record) and all(isinstance(one, dict) and "responses" in one for one in record.values())


def _fields(records: list[Record]) -> dict[str, str]:
    """Where the task and the worker come from."""
    task = next((name for name in IDS if any(one.get(name) is not None for one in records)), "its place")
    is_old = any({ANNOTATION, AGENT} <= one.keys() for one in records)
    return {"task": task, "worker": AGENT if is_old else "user_id", "time": "updated_at"}


def _tasks(records: list[Record]) -> list[Any]:
    """The ids; a record without one is called by its place."""
    ids = [next((record[name] for name in IDS if record.get(name) is not None), None) for record in records]
    if all(one is None for one in ids):
        return list(range(len(records)))
    return [f"record {n + 1}" if one is None else one for n, one in enumerate(ids)]


def _answers(source: Source, task: Any, record: Record) -> Iterator[Answer]:
    if {ANNOTATION, AGENT} <= record.keys():
        yield _answer(task, record[AGENT], ANNOTATION, record[ANNOTATION], record.get("status"))
        return
    if isinstance(record.get("responses"), list):
        for one in record["responses"]:
            yield from _by_user(task, one)
    for one in _by_question(record):
        yield _answer(task, one.get("user_id"), one["question"], one.get("value"), one.get("status"))
    for name in record:
        if name.endswith(FLAT):
            yield from _side_by_side(source, task, record, name)


def _by_user(task: Any, response: Record) -> Iterator[Answer]:
    """One response of a user answers all questions."""
    user, status, values = (response.get(name) for name in ("user_id", "status", "values"))
    time = response.get("updated_at") or response.get("inserted_at")
    if status not in COUNTED or not values:
        yield Answer(
            task, user, None, None, time=time, void=str(status) if status not in COUNTED else "empty"
        )
        return
    for question, value in values.items():
        yield Answer(task, user, question, value, time=time)


def _by_question(record: Record) -> Iterator[Record]:
    """The responses of Argilla 2 by question, and those of a FeedbackDataset, where a question is a field."""
    by_question = record.get("responses")
    if not isinstance(by_question, dict):
        fields = [name.removesuffix(SUGGESTION) for name in record if name.endswith(SUGGESTION)]
        by_question = {name: record[name] for name in fields if name in record}
    for question, responses in by_question.items():
        for one in _rows(responses):
            yield {"question": question, **one}


def _rows(responses: Any) -> list[Record]:
    """Records, which Arrow may hold as lists side by side."""
    if not isinstance(responses, Mapping):
        return [one for one in responses or () if one is not None]
    return [dict(zip(responses, row, strict=True)) for row in zip(*responses.values(), strict=True)]


def _side_by_side(source: Source, task: Any, record: Record, name: str) -> Iterator[Answer]:
    """Three lists: values, users, status."""
    values = record[name] or []
    users, status = (record.get(f"{name}.{part}") for part in ("users", "status"))
    if values and (users is None or len(users) != len(values)):
        problem = (
            f"task {task!r} has {len(values)} responses in {name!r} and {len(users or ())} users of them"
        )
        raise source.error(f"{problem}, so that it does not say who gave which; export {name}.users as well")
    for n, value in enumerate(values):
        state = status[n] if status else None
        yield _answer(task, users[n] if users else None, name.removesuffix(FLAT), value, state)


def _answer(task: Any, user: Any, question: str, value: Any, status: Any) -> Answer:
    if status in COUNTED:
        return Answer(task, user, question, value)
    reason = "not validated" if status in UNVALIDATED else str(status).lower()
    return Answer(task, user, question, None, void="unlabelled" if value is None else reason)


FORMAT = Format(
    "Argilla records with responses, JSON lines, JSON, Parquet or Arrow",
    sniff,
    parse,
    has_questions=True,
    sample='{"id": "a", "responses": [{"user_id": "x", "values": {"q": {"value": "cat"}}}]}',
)
