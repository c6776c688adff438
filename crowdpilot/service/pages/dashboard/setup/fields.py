"""Fields of the form of a project: numbers as typed, groups of fields, and rows of repeated fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Context, Decimal
from typing import Any, NamedTuple

from crowdpilot.service.capacity import MAX_CLASSES

Typed = Mapping[str, str]
YES = "yes"  # of a ticked box
ROWS: Mapping[str, tuple[str, ...]] = {  # lists of the schema, and the fields of each row
    "classes": ("name", "description", "key", "color"),
    "criteria": ("name", "question"),
    "pictures": ("image", "caption"),
    "examples": ("text", "image", "label", "criterion", "why"),
    "quiz": ("text", "image", "label", "criterion", "why"),
}
MAX_ROWS = {"classes": MAX_CLASSES, "criteria": 20, "pictures": 20, "examples": 50, "quiz": 50}  # shown
EMPTY_ROWS = {"classes": 2, "criteria": 1, "pictures": 1, "examples": 1, "quiz": 1}  # shown at the end
GROUPS: Mapping[str, tuple[str, ...]] = {  # the fields of each partial template, besides those of its rows
    "question": ("name", "question", "language", "markdown", "comments", "flags"),
    "classes": ("classes", "criteria"),
    "readings": ("instructions", "consent", "quiz_pass", "quiz_tries", "pictures", "examples", "quiz"),
    "costs": ("price", "currency", "expert", "kinds", "budget", "wrong", "missed", "mistake", "table",
              "each"),
    "people": ("policy", "votes", "policy_other", "per_item", "machine", "gold"),
    "limits": ("per_worker", "min_answers", "batch", "lease", "seconds_per_answer", "guests_per_hour",
               "guests_per_address", "guests_checks", "retention_days", "retention_delete"),
    "platforms": ("prolific", "prolific_study", "prolific_code", "prolific_code_failed",
                  "prolific_code_complete", "prolific_reward", "prolific_places", "mturk"),
    "notify": ("emails", "notify_done", "notify_stuck", "notify_budget", "notify_worker", "webhook"),
    "more": ("more",),
}  # fmt: skip
LABELS: Mapping[str, str] = {  # of fields, where an error is shown away from them
    "name": "Name", "question": "Question", "language": "Language", "markdown": "Markdown",
    "comments": "Comments", "flags": "Flags", "classes": "Answers", "criteria": "Criteria",
    "instructions": "Instructions", "pictures": "Pictures", "examples": "Examples", "consent": "Consent",
    "quiz": "Quiz", "quiz_pass": "Right answers to pass", "quiz_tries": "Tries", "files": "Items",
    "price": "Price of an answer", "currency": "Currency", "expert": "Price of an expert’s answer",
    "budget": "Budget", "wrong": "Cost of a wrong label", "missed": "Cost of a missed item",
    "mistake": "Cost of a mistake", "table": "Costs of all mistakes", "each": "Costs of all mistakes",
    "policy": "How many answers", "votes": "Answers for each item", "policy_other": "Another rule",
    "per_item": "Answers on one item", "machine": "Classifier", "gold": "Known answers",
    "per_worker": "Answers of one worker", "min_answers": "Answers before the code", "batch": "Items at once",
    "lease": "Time for an item", "seconds_per_answer": "Seconds for an answer",
    "guests_per_hour": "New guests in an hour", "guests_per_address": "New guests from one address",
    "guests_checks": "Known answers before a guest counts", "retention_days": "Days until data is erased",
    "retention_delete": "Delete the project", "prolific": "Prolific", "prolific_study": "Study id",
    "prolific_code": "Completion code", "prolific_code_failed": "Code for a failed quiz",
    "prolific_code_complete": "Code when the study is complete", "prolific_reward": "Reward",
    "prolific_places": "Places", "mturk": "Mechanical Turk", "emails": "E-mail", "notify_done": "E-mail",
    "notify_stuck": "E-mail", "notify_budget": "E-mail", "notify_worker": "E-mail", "webhook": "Webhook",
    "more": "More settings",
}  # fmt: skip
ROW_FIELD = re.compile(r"(classes|criteria|pictures|examples|quiz)-([0-9]{1,9})-([a-z]+)")
DIGITS = 3, 4, 6, 9, 12, 15, 17, 28  # that a number may be typed with; the last are exact


class Row(NamedTuple):
    """A row that is filled in: its number in the form, and its fields."""

    number: int
    fields: dict[str, str]


def read_typed(form: Mapping[str, Any]) -> dict[str, str]:
    """What was typed into the fields that the form of a project has; files and other fields are left out."""
    names = [name for group in GROUPS.values() for name in group if name not in ROWS]
    typed = {name: _text(form.get(name)) for name in names}
    rows = {name: _text(value) for name, value in form.items() if _is_row_field(name)}
    return {**typed, **rows}


def _is_row_field(name: str) -> bool:
    found = ROW_FIELD.fullmatch(name)
    return found is not None and found[3] in ROWS[found[1]]


def _text(value: Any) -> str:
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else ""


def read_rows(typed: Typed, group: str) -> list[Row]:
    """The rows of a group in which something is typed, in their order; a colour alone is nothing."""
    rows: dict[int, dict[str, str]] = {}
    for name, value in typed.items():
        found = ROW_FIELD.fullmatch(name)
        if found and found[1] == group:
            rows.setdefault(int(found[2]), {})[found[3]] = value
    filled = [Row(n, {field: row.get(field, "") for field in ROWS[group]}) for n, row in sorted(rows.items())]
    return [row for row in filled if any(value for field, value in row.fields.items() if field != "color")]


def write_rows(group: str, records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Records as the fields of rows."""
    return {
        f"{group}-{n}-{field}": str(record.get(field, ""))
        for n, record in enumerate(records)
        for field in ROWS[group]
    }


def shown_rows(typed: Typed, groups: Sequence[str] = tuple(ROWS)) -> dict[str, list[int]]:
    """The numbers of the rows that a page shows: those that are filled in, and some that are empty.

    Where there would be more than there can be, it shows those that are filled in.
    """
    shown = {}
    for group in groups:
        filled = [row.number for row in read_rows(typed, group)]
        least = 2 if group == "classes" else 0
        count = max(max(filled, default=-1) + 1 + EMPTY_ROWS[group] - (group == "classes"), least + 1)
        shown[group] = list(range(count)) if count <= MAX_ROWS[group] else filled
    return shown


def group_of(field: str) -> str:
    """The group that a field belongs to, or "" if there is none."""
    found = ROW_FIELD.fullmatch(field)
    name = found[1] if found else field
    return next((group for group, names in GROUPS.items() if name in names), "")


def label_of(field: str) -> str:
    """What a field is called, with its row.

    Examples
    --------
    >>> label_of("budget"), label_of("classes-2-key"), label_of("unknown")
    ('Budget', 'Answers, row 3', '')
    """
    found = ROW_FIELD.fullmatch(field)
    return f"{LABELS[found[1]]}, row {int(found[2]) + 1}" if found else LABELS.get(field, "")


def plain_number(value: float | None) -> str:
    """A number as somebody would type it, and "" for none.

    Examples
    --------
    >>> plain_number(0.05), plain_number(20.0), plain_number(1e9), plain_number(None)
    ('0.05', '20', '1000000000', '')
    """
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else repr(value)


def shortest(value: float, scale: float) -> str:
    """The shortest number that `scaled` turns into `value`.

    Examples
    --------
    >>> shortest(0.07, 0.01), shortest(1.0, 0.05), shortest(1 / 3, 0.01)
    ('7', '20', '33.33333333333333')
    """
    parts = Decimal(repr(value)), Decimal(repr(scale))
    texts = [f"{Context(prec=digits).divide(*parts).normalize():f}" for digits in DIGITS]
    return next((text for text in texts if scaled(text, scale) == value), texts[-1])


def scaled(text: str, scale: float) -> float:
    """The typed number times `scale`, in decimal arithmetic: so 7 times 0.01 is 0.07.

    Examples
    --------
    >>> scaled("7", 0.01), scaled("20", 0.05)
    (0.07, 1.0)
    """
    return float(Decimal(text) * Decimal(repr(scale)))


def try_scaled(text: str, scale: float) -> str | float:
    """The typed number times `scale`; what is no number is left alone, for the schema to refuse."""
    try:
        return scaled(text, scale)
    except (ArithmeticError, ValueError):
        return text
