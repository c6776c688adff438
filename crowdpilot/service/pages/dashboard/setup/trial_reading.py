"""Trial reading of an upload, for a project whose answers may not be chosen yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from crowdpilot.service.requesters.project_creation import PLACEHOLDER
from crowdpilot.service.uploads import items
from crowdpilot.service.uploads.files import parts_of, unpack
from crowdpilot.service.uploads.item_columns import Columns, find
from crowdpilot.service.uploads.table_records import SUFFIXES, read_records

MAX_FOLDERS_OFFERED = 30  # as answers
FORMAT_NAMES = {
    "text/csv": "table (CSV)",
    "application/x-ndjson": "table (NDJSON)",
    "application/json": "table (JSON)",
}


class Names(NamedTuple):
    """Names in files before items are read: columns, known answers by how often they occur, folders."""

    format: str
    header: list[str]
    known: Counter[str]
    folders: list[str]


class Attempt(NamedTuple):
    """A way to read files: for which answers, and whether probabilities count."""

    classes: list[str]
    with_probabilities: bool


def look_into(files: Sequence[items.File], criteria: Sequence[str]) -> Names:
    """The names in files; of several tables none is looked into, because only one is allowed."""
    unpacked = unpack(files)
    tables = [(type, file) for file in unpacked if (type := SUFFIXES.get(_suffix(file.name)))]
    header, known = _known_answers(*tables[0], criteria) if len(tables) == 1 else ([], Counter())
    parents = Counter(parts[-2] for file in unpacked if len(parts := parts_of(file.name)) > 1)
    is_choice = 2 <= len(parents) <= MAX_FOLDERS_OFFERED and not criteria and not tables
    return Names(_format(unpacked, tables), header, known, sorted(parents) if is_choice else [])


def final_attempt(names: Names, classes: Sequence[str], criteria: Sequence[str]) -> Attempt:
    """How files are read when the project is created; a `ValueError` if columns are missing."""
    attempt = Attempt(list(classes), True)
    columns = find_columns(names.header, attempt, criteria)
    has_probabilities = "machine" in names.header or bool(columns and columns.machine)
    return attempt._replace(with_probabilities=has_probabilities)


def find_attempts(names: Names, classes: Sequence[str], criteria: Sequence[str]) -> list[Attempt]:
    """Ways to read files, the best first; the last ignores probabilities."""
    starts = [f"p_{criterion}_" for criterion in criteria] or ["p_"]
    columns = [name.removeprefix(starts[0]) for name in names.header if name.startswith(starts[0])]
    named = list(dict.fromkeys([*classes, *names.known]))

    def fit(some: Sequence[str]) -> bool:
        return bool(some) and all(start + name in names.header for start in starts for name in some)

    lists = [named] if fit(named) or "machine" in names.header else []
    lists += [columns] if fit(columns) and {*names.known} <= {*columns} else []
    return [*(Attempt(some, True) for some in lists), Attempt(named, False)]


def read_first(
    files: Sequence[items.File], attempts: Sequence[Attempt], criteria: Sequence[str]
) -> tuple[items.Upload, Attempt, list[str]]:
    """The items by the first way in which all can be read, or by the last, with what is wrong then."""
    body = items.Body("", files=files)
    for attempt in attempts:
        problems: list[str] = []
        try:
            read = items.read_items(
                PLACEHOLDER, _spec(attempt, criteria), body, problems=problems,
                probabilities=attempt.with_probabilities,
            )  # fmt: skip
        except ValueError:
            if attempt is attempts[-1]:
                raise
            continue
        if not problems:
            break
    return read, attempt, problems


def _spec(attempt: Attempt, criteria: Sequence[str]) -> dict[str, Any]:
    return {
        "classes": attempt.classes,
        "criteria": [{"name": name} for name in criteria],
        "machine": "given" if attempt.with_probabilities else "none",
    }


def find_columns(header: Sequence[str], attempt: Attempt, criteria: Sequence[str]) -> Columns | None:
    """What the columns of a table mean when it is read so; None if there is no table."""
    seen = [name for name in header if attempt.with_probabilities or not items.holds_probabilities(name)]
    return find(seen, _spec(attempt, criteria)) if seen else None


def _known_answers(
    type: str, file: items.File, criteria: Sequence[str]
) -> tuple[list[str], Counter[str]]:  # fmt: skip
    """The columns of a table, and how often each known answer occurs in it."""
    header, records = read_records(type, file.data)
    columns = find_columns(header, Attempt([], False), criteria)
    found: Counter[str] = Counter()
    for _, record in records:
        gold = record.get("gold")
        names = () if columns is None else columns.gold.values()
        cells = gold.values() if isinstance(gold, dict) else (record.get(name) for name in names)
        found.update(str(cell).strip() for cell in cells if isinstance(cell, str | int | float))
    del found[""]
    return header, found


def _format(files: Sequence[items.File], tables: Sequence[tuple[str, items.File]]) -> str:
    rest = len(files) - len(tables)
    names = [FORMAT_NAMES[type] for type, _ in tables]
    if rest:
        names.append(f"{rest:,} file{'s' * (rest > 1)}")
    return " and ".join(names)


def _suffix(name: str) -> str:
    return name[name.rfind(".") :].lower()
