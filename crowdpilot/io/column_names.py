"""Column aliases: the names under which the columns of a table of votes are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

ALIASES: Mapping[str, tuple[str, ...]] = {
    "task": ("task", "item", "example", "unit", "subject", "question", "instance", "document", "hit"),
    "worker": (
        "worker", "annotator", "rater", "performer", "user", "assessor", "labeler", "labeller", "judge",
        "coder", "participant",
    ),
    "label": (
        "label", "rating", "value", "answer", "response", "annotation", "class", "category", "choice", "vote",
        "judgment",
    ),
    "weight": ("weight",),
    "seconds": (
        "seconds", "duration", "leadtime", "worktime", "worktimeinseconds", "timespent", "responsetime",
    ),
    "time": ("time", "timestamp", "createdat", "submittedat", "submittime", "datetime", "date"),
    "gold": ("gold", "goldlabel", "goldanswer", "truth", "groundtruth", "truelabel", "trueclass"),
}  # fmt: skip
NAME_ROLES = ("task", "worker", "label", "gold")  # the other roles hold numbers
MAX_LISTED_NAMES = 8


def find_columns(names: Iterable[str], roles: Iterable[str] = ALIASES) -> dict[str, str]:
    """The column of each role that has one; earlier aliases come before later ones.

    Examples
    --------
    >>> find_columns(["Item ID", "annotator", "answer", "text"])
    {'task': 'Item ID', 'worker': 'annotator', 'label': 'answer'}
    """
    by_key: dict[str, str] = {}
    for name in names:
        by_key.setdefault(_key(name), name)
    columns: dict[str, str] = {}
    for role in roles:
        keys = (alias + end for alias in ALIASES[role] for end in ("", "id", "name"))
        if (key := next((key for key in keys if key in by_key), None)) is not None:
            columns[role] = by_key[key]
    return columns


def is_known(name: str) -> bool:
    """Whether a column of this name has a role."""
    return bool(find_columns([name]))


def resolve(
    names: Sequence[str], chosen: Mapping[str, str | None], preset: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The column of each role: as the user says, else as the format says, else by its name."""
    if unknown := [role for role in chosen if role not in ALIASES]:
        raise ValueError(f"columns names {unknown[0]!r}, expected one of {', '.join(ALIASES)}")
    if absent := [name for name in chosen.values() if name is not None and name not in names]:
        raise ValueError(f"there is no column {absent[0]!r}, only {listed(names)}")
    roles = {**(preset or find_columns(names)), **chosen}
    return {role: name for role, name in roles.items() if name is not None}


def listed(names: Sequence[str]) -> str:
    """The first names, for a sentence."""
    shown = ", ".join(map(repr, names[:MAX_LISTED_NAMES])) or "nothing"
    more = len(names) - MAX_LISTED_NAMES
    return f"{shown}, and {more} more" if more > 0 else shown


def _key(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())
