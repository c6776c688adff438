"""Parsing of the form of a new project into the schema of the API, with an error for each field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.schemas import ProjectIn

Typed = Mapping[str, str]
DEFAULTS: Typed = {
    "name": "", "question": "", "classes": "", "instructions": "", "examples": "", "consent": "",
    "error": "1", "fp": "", "fn": "", "price": "0.05", "expert": "", "budget": "", "policy": "value",
    "votes": "3", "machine": "none", "gold": "0", "per_worker": "", "per_item": "", "batch": "10",
    "prolific": "", "mturk": "", "webhook": "",
}  # fmt: skip
LABELS: Typed = {  # of fields, where an error is shown away from them
    "name": "Name", "question": "Question", "classes": "Answers", "files": "File",
    "error": "Cost of an error", "price": "Price of a vote", "budget": "Budget",
    "fp": "False positive", "fn": "False negative",
    "expert": "Price of an expert’s vote", "instructions": "Instructions", "examples": "Examples",
    "consent": "Consent", "policy": "How many votes", "votes": "Votes for each item", "machine": "Machine",
    "gold": "Gold items", "batch": "Items in a batch", "per_worker": "Votes of one worker",
    "per_item": "Votes on one item", "prolific": "Prolific", "mturk": "Mechanical Turk", "webhook": "Webhook",
}  # fmt: skip
FIELD_OF_LOCATION: Mapping[tuple[Any, ...], str] = {  # the field of the form for a part of the schema
    ("costs", "errors", 0, 1): "fp",
    ("costs", "errors", 1, 0): "fn",
    ("costs", "errors"): "error",
    ("costs", "prices", "crowd"): "price",
    ("costs", "prices", "expert"): "expert",
    ("costs", "budget"): "budget",
    ("plan", "gold"): "gold",
    ("plan", "per_worker"): "per_worker",
    ("plan", "per_item"): "per_item",
    ("policy",): "votes",
    ("mturk",): "mturk",
    ("prolific",): "prolific",
}
FIELD_OF_WORDS = {
    "the label": "examples",
    "class": "classes",
    "votes": "votes",
    "prices": "price",
}  # in the message of an error


def parse_form(typed: Typed) -> tuple[ProjectIn | None, dict[str, str]]:
    """The project that a form describes, or None and what is wrong by the fields of the form."""
    wrong: dict[str, str] = {}
    fields = _schema_fields(typed, wrong)
    try:
        project = ProjectIn.model_validate(fields)
    except ValidationError as error:
        for detail in error.errors():
            wrong.setdefault(_field(detail["loc"], typed, str(detail["msg"])), _message(detail))
        return None, wrong
    return (None, wrong) if wrong else (project, {})


def _schema_fields(typed: Typed, wrong: dict[str, str]) -> dict[str, Any]:
    classes = lines(typed["classes"])
    gold = typed["gold"].removesuffix("%").strip()
    plan = {"gold": _share(gold), "per_worker": typed["per_worker"], "per_item": typed["per_item"]}
    fields: dict[str, Any] = {
        "classes": classes,
        "examples": _examples(typed["examples"], wrong),
        "costs": {
            "errors": _errors(typed, len(classes)),
            "prices": _filled({"crowd": typed["price"], "expert": typed["expert"]}) or None,
            "budget": typed["budget"] or None,
        },
        "policy": "value" if typed["policy"] == "value" else f"fixed[votes={typed['votes']}]",
        "plan": _filled(plan),
        "prolific": {} if typed["prolific"] else None,
        "mturk": {"sandbox": typed["mturk"] == "sandbox"} if typed["mturk"] else None,
    }
    names = "name", "question", "instructions", "consent", "machine", "batch", "webhook"
    return {**fields, **{name: typed[name] for name in names}}


def lines(text: str) -> list[str]:
    """Lines that are not empty."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _errors(typed: Typed, classes: int) -> list[list[str]] | None:
    """The cost of every decision about every class; with two classes the two kinds may differ."""
    if classes < 2:
        return None
    cost = [["0" if k == d else typed["error"] or "1" for d in range(classes)] for k in range(classes)]
    if classes == 2:
        cost[0][1], cost[1][0] = typed["fp"] or cost[0][1], typed["fn"] or cost[1][0]
    return cost


def _examples(text: str, wrong: dict[str, str]) -> list[dict[str, str]]:
    """One example for each line: class | text | why."""
    examples = []
    for line in lines(text):
        label, _, rest = (part.strip() for part in line.partition("|"))
        what, _, why = (part.strip() for part in rest.partition("|"))
        if not what:
            wrong["examples"] = f"Write “class | text | why” in each line; this one has no text: {line[:60]}"
        image = what.startswith(("https://", "http://")) and " " not in what
        examples.append({"label": label, "image" if image else "text": what, "why": why})
    return examples


def _filled(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}


def _share(percent: str) -> str:
    """A share from what was typed as percent; left alone if it is not a number."""
    try:
        return str(float(percent) / 100) if percent else ""
    except ValueError:
        return percent


def _field(location: tuple[int | str, ...], typed: Typed, message: str) -> str:
    """The field of the form for a part of the schema."""
    for n in range(len(location), 0, -1):
        if field := FIELD_OF_LOCATION.get(tuple(location[:n]), ""):
            return field if field not in ("fp", "fn") or typed[field] else "error"
    if location and location[0] in DEFAULTS:
        return str(location[0])
    return next((field for words, field in FIELD_OF_WORDS.items() if words in message), "form")


def _message(detail: Mapping[str, Any]) -> str:
    """What to do, in plain words."""
    kind, limits = str(detail["type"]), detail.get("ctx", {})
    if kind in ("float_parsing", "int_parsing", "int_from_float", "float_type", "finite_number"):
        return "Give a number." if "float" in kind else "Give a whole number."
    if kind == "greater_than_equal":
        return f"Give {limits['ge']:g} or more."
    if kind == "less_than_equal":
        return f"Give {limits['le']:g} or less."
    if kind in ("too_short", "string_too_short"):
        is_list = detail["loc"] == ("classes",)
        return "Give at least two classes, one in each line." if is_list else "Fill this in."
    if kind in ("too_long", "string_too_long"):
        return f"This is too long; {limits['max_length']} is the most."
    return sentence(str(detail["msg"]).removeprefix("Value error, "))
