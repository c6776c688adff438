"""Answers inside the records of tasks: lists side by side, a list of records, or a dict by worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from crowdpilot.io.inference.column_names import candidates, find_columns
from crowdpilot.io.inference.similar_names import NUMBER, label_key

PART_FIELDS = frozenset(("start", "start_offset", "begin", "x", "rank"))  # of answers about a part
Record = Mapping[str, Any]


class InnerAnswers(NamedTuple):
    """A record for each answer, and the field from which each of its new fields comes."""

    records: list[dict[str, Any]]
    fields: dict[str, str]


def inner_answers(records: Sequence[Any], notes: list[str] | None = None) -> InnerAnswers | None:
    """The answers inside records; None if there are none, or if it is not clear which.

    Names that stand in each record may be workers or questions: they are read if `notes` can say so.

    Examples
    --------
    >>> inner_answers([{"id": 7, "annotators": ["x", "y"], "labels": ["cat", "dog"]}]).records[1]
    {'id': 7, 'worker': 'y', 'label': 'dog'}
    """
    if not records or not all(isinstance(record, Mapping) for record in records):
        return None
    names = list(dict.fromkeys(str(name) for record in records for name in record))
    lists = [name for name in names if _all_are(records, name, list)]
    inner = [name for name in lists if _all_are(_elements(records, name), None, Mapping)]
    by_worker = [name for name in names if _all_are(records, name, Mapping) and _are_votes(records, name)]
    beside = _side_by_side(records, [name for name in lists if name not in inner])
    if bool(beside) + len(inner) + len(by_worker) != 1:
        return None
    if inner:
        return _of_inner_records(records, inner[0])
    if find_columns(names, ("worker", "label")):
        return None
    worker, label = beside or (by_worker[0], by_worker[0])
    if by_worker and _are_in_all(records, worker):
        if notes is None:
            return None
        notes.append(f"the names in {worker!r} are read as workers; if they are questions, keep one of them")
    pairs = [_pairs(record, worker, label) for record in records]
    return InnerAnswers(
        [
            {**_plain(record), "worker": who, "label": what}
            for record, answers in zip(records, pairs, strict=True)
            for who, what in answers or [(None, None)]
        ],
        {"worker": worker, "label": label},
    )


def _all_are(records: Sequence[Any], name: str | None, kind: type) -> bool:
    """Whether a field, or each record itself, is of a kind or missing, and not missing everywhere."""
    values = [record if name is None else record.get(name) for record in records]
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, kind) for value in known)


def _elements(records: Sequence[Record], name: str) -> list[Any]:
    return [element for record in records for element in record.get(name) or ()]


def _plain(record: Record) -> dict[str, Any]:
    """The fields that hold one value."""
    return {str(name): value for name, value in record.items() if not isinstance(value, (list, dict))}


def _is_called(name: str, role: str) -> bool:
    """Whether a field is called like several of a role, as `annotators` or `worker_ids`."""
    singular = [name[: len(name) - cut] for cut in (0, 1, 2) if name[len(name) - cut :] in ("", "s", "es")]
    return bool(find_columns(singular, [role]))


def _side_by_side(records: Sequence[Record], lists: Sequence[str]) -> tuple[str, str] | None:
    """The list of workers and that of labels, if there is one of each and they are equally long."""
    workers = [name for name in lists if _is_called(name, "worker")]
    labels = [name for name in lists if _is_called(name, "label")]
    if len(workers) != 1 or len(labels) != 1:
        return None
    worker, label = workers[0], labels[0]
    are_plain = not any(isinstance(value, (list, dict)) for value in _elements(records, label))
    lengths = all(len(record.get(worker) or ()) == len(record.get(label) or ()) for record in records)
    return (worker, label) if are_plain and lengths else None


def _are_votes(records: Sequence[Record], name: str) -> bool:
    """Whether dicts hold a label by worker: texts that workers share, and no answers by question or class."""
    if not _is_called(name, "label") and not _is_called(name, "worker"):
        return False
    answers: dict[Any, set[Any]] = {}
    for record in records:
        for who, what in (record.get(name) or {}).items():
            answers.setdefault(who, set()).add(label_key(what) if isinstance(what, str) else None)
    known = set[Any]().union(*answers.values())
    if None in known or all(map(NUMBER.fullmatch, known)) or any(label_key(who) in known for who in answers):
        return False
    return len(answers) > 1 and all(
        own & set[Any]().union(*(labels for other, labels in answers.items() if other != who))
        for who, own in answers.items()
        if len(own) > 1
    )


def _are_in_all(records: Sequence[Record], name: str) -> bool:
    """Whether all dicts have the same names, as those of questions have."""
    return len({frozenset(record.get(name) or ()) for record in records}) == 1


def _pairs(record: Record, worker: str, label: str) -> list[tuple[Any, Any]]:
    answers = record.get(label) or {}
    if isinstance(answers, Mapping):
        return list(answers.items())
    return list(zip(record.get(worker) or (), answers, strict=True))


def _of_inner_records(records: Sequence[Record], name: str) -> InnerAnswers | None:
    """Records in a list, of which each says who has answered; the fields of the task stay beside them."""
    inner = list(dict.fromkeys(str(field) for element in _elements(records, name) for field in element))
    outer = {field for record in records for field in _plain(record)}
    workers, labels = candidates(inner, "worker"), candidates(inner, "label")
    if (
        not workers
        or PART_FIELDS.intersection(inner)
        or outer.intersection([*workers, *labels])
        or find_columns(outer, ["worker"])
    ):
        return None
    flat = [{**_plain(element), **_plain(record)} for record, element in _with_elements(records, name)]
    return InnerAnswers(flat, {})


def _with_elements(records: Sequence[Record], name: str) -> Iterator[tuple[Record, Record]]:
    for record in records:
        for element in record.get(name) or [{}]:
            yield record, element
