"""Errors of the form of a project: the field that each belongs to, and what to do, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdpilot.service.pages.dashboard.setup.fields import LABELS, ROWS, Row, Typed
from crowdpilot.service.pages.rendering import sentence

FIELD_OF_LOCATION: Mapping[tuple[Any, ...], str] = {
    ("costs", "prices", "crowd"): "price",
    ("costs", "prices", "expert"): "expert",
    ("costs", "prices"): "price",
    ("costs", "budget"): "budget",
    ("costs", "classifier"): "more",
    ("plan", "gold"): "gold",
    ("plan", "per_worker"): "per_worker",
    ("plan", "per_item"): "per_item",
    ("plan",): "more",
    ("policy",): "votes",
    ("guests", "per_hour"): "guests_per_hour",
    ("guests", "per_address"): "guests_per_address",
    ("guests", "checks"): "guests_checks",
    ("retention",): "retention_days",
    ("notify",): "emails",
    ("prolific", "signed"): "more",
    ("prolific", "keys"): "more",
    ("mturk", "hits"): "more",
    ("mturk",): "mturk",
}
FIELD_OF_WORDS = {  # in the message of an error about several fields
    "classes need": "classes",
    "the label": "quiz",
    "quiz_pass": "quiz_pass",
    "the key ": "classes",
    "policy": "votes",
    "votes": "votes",
    "prices": "price",
    "cost": "table",
    "errors": "table",
    "criteri": "criteria",
    "class": "classes",
}


def field_of(detail: Mapping[str, Any], typed: Typed, rows: Mapping[str, list[Row]]) -> str:
    """The field of the form for an error of the schema; "form" if it is of none."""
    location = tuple(detail["loc"])
    if location[:2] == ("costs", "errors"):
        return _cost_field(location[2:], typed, len(rows["classes"]))
    for n in range(len(location), 0, -1):
        if field := FIELD_OF_LOCATION.get(location[:n]):
            if field == "votes" and typed["policy"] == "other":
                return "policy_other"
            return field
    if location and location[0] == "class_details":
        return _detail_field(location, rows["classes"])
    if location and location[0] in ROWS:
        return _row_field(location, rows)
    if len(location) > 1 and location[0] == "prolific":
        return f"prolific_{location[1]}"
    if location and location[0] in LABELS:
        return str(location[0])
    return _field_of_words(str(detail["msg"]), rows)


def _cost_field(cell: tuple[Any, ...], typed: Typed, classes: int) -> str:
    if typed["each"] and typed["table"]:
        return "table"
    if classes == 2:
        field = "mistake" if cell[:2] == (0, 1) else "missed"
        return field if typed[field] else "wrong"
    return "wrong"


def _row_field(location: tuple[Any, ...], rows: Mapping[str, list[Row]]) -> str:
    """The cell of a row; the whole group if the error is about all of it."""
    group, found = str(location[0]), rows[str(location[0])]
    if len(location) == 1 or not isinstance(location[1], int) or location[1] >= len(found):
        return group
    name = str(location[2]) if len(location) > 2 else "name"
    return f"{group}-{found[location[1]].number}-{name}"


def _detail_field(location: tuple[Any, ...], classes: list[Row]) -> str:
    row = next((row for row in classes if len(location) > 1 and row.fields["name"] == location[1]), None)
    if row is None:
        return "classes"
    return f"classes-{row.number}-{location[2]}" if len(location) > 2 else f"classes-{row.number}-name"


def _field_of_words(message: str, rows: Mapping[str, list[Row]]) -> str:
    """The field that an error about the whole description means."""
    if "the label" in message:
        names = [row.fields["name"] for row in rows["classes"]]
        for group in ("examples", "quiz"):
            for row in rows[group]:
                if row.fields["label"] not in names:
                    return f"{group}-{row.number}-label"
    if "given twice" in message:
        names = [row.fields["name"] for row in rows["criteria"]]
        return "criteria" if len(set(names)) < len(names) else "classes"
    return next((field for words, field in FIELD_OF_WORDS.items() if words in message), "form")


def message_of(detail: Mapping[str, Any]) -> str:
    """What to do, in plain words."""
    kind, limits = str(detail["type"]), detail.get("ctx", {})
    if kind in ("float_parsing", "int_parsing", "int_from_float", "float_type", "finite_number"):
        return "Give a number." if "float" in kind else "Give a whole number."
    if kind in ("greater_than_equal", "less_than_equal", "greater_than"):
        return _bound(kind, limits, detail["loc"])
    if kind in ("too_short", "string_too_short"):
        is_list = detail["loc"] == ("classes",)
        return "Give at least two answers, one in each row." if is_list else "Fill this in."
    if kind == "too_long":
        return f"These are too many; {limits['max_length']} is the most."
    if kind == "string_too_long":
        return f"This is too long; {limits['max_length']:,} characters are the most."
    if kind == "string_pattern_mismatch":
        return _pattern(tuple(detail["loc"]))
    return sentence(str(detail["msg"]).removeprefix("Value error, "))


def _bound(kind: str, limits: Mapping[str, Any], location: tuple[Any, ...]) -> str:
    scale = {("plan", "gold"): 100, ("lease",): 1 / 60}.get(location, 1)
    if kind == "greater_than":
        return f"Give more than {limits['gt'] * scale:g}."
    bound = limits["ge" if kind == "greater_than_equal" else "le"] * scale
    return f"Give {bound:g} or {'more' if kind == 'greater_than_equal' else 'less'}."


def _pattern(location: tuple[Any, ...]) -> str:
    """What a text should look like."""
    expected = {
        "key": "Give one letter, or a digit from 1 to 9.",
        "color": "Give a colour such as #2858c5, or none.",
        "image": "Give an address that begins with https://, or choose a file.",
        "currency": "Choose a currency from the list.",
        "study": "The id of a study has 24 characters: digits, and letters from a to f.",
        "emails": "Give e-mail addresses, one in each line.",
        "webhook": "Give an address that begins with https://.",
    }
    words = next((expected[part] for part in reversed(location) if part in expected), "")
    return words or "Use letters, digits, - and _ only."
