"""The form of a new project: from what was typed to a description that the API would take too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from crowdpilot.service.http.schemas import ProjectIn

Typed = Mapping[str, str]
DEFAULTS: Typed = {
    "name": "", "question": "", "classes": "", "instructions": "", "examples": "", "consent": "",
    "error": "1", "fp": "", "fn": "", "price": "0.05", "expert": "", "budget": "", "policy": "value",
    "votes": "3", "machine": "none", "gold": "0", "per_worker": "", "per_item": "", "batch": "10",
    "prolific": "", "mturk": "", "webhook": "",
}  # fmt: skip
LABELS: Typed = {  # of fields, where an error is told away from them
    "name": "Name", "question": "Question", "classes": "Answers", "files": "File",
    "error": "Cost of an error", "price": "Price of a vote", "budget": "Budget",
    "fp": "False positive", "fn": "False negative",
    "expert": "Price of an expert’s vote", "instructions": "Instructions", "examples": "Examples",
    "consent": "Consent", "policy": "How many votes", "votes": "Votes for each item", "machine": "Machine",
    "gold": "Gold items", "batch": "Items in a batch", "per_worker": "Votes of one worker",
    "per_item": "Votes on one item", "prolific": "Prolific", "mturk": "Mechanical Turk", "webhook": "Webhook",
}  # fmt: skip
PLACES: Mapping[tuple[Any, ...], str] = {  # where a part of the description stands in the form
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
ABOUT = {
    "the label": "examples",
    "class": "classes",
    "votes": "votes",
    "prices": "price",
}  # words of an error


def described(typed: Typed) -> tuple[ProjectIn | None, dict[str, str]]:
    """The description that a form asks for; else what is wrong, by the fields of the form."""
    wrong: dict[str, str] = {}
    given = _given(typed, wrong)
    try:
        made = ProjectIn.model_validate(given)
    except ValidationError as error:
        for found in error.errors():
            field, words = _place(found["loc"], typed, str(found["msg"])), _words(found)
            wrong.setdefault(field, words)
        return None, wrong
    return (None, wrong) if wrong else (made, {})


def _given(typed: Typed, wrong: dict[str, str]) -> dict[str, Any]:
    classes = lines(typed["classes"])
    gold = typed["gold"].removesuffix("%").strip()
    plan = {"gold": _share(gold), "per_worker": typed["per_worker"], "per_item": typed["per_item"]}
    given: dict[str, Any] = {
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
    return {**given, **{name: typed[name] for name in names}}


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
    found = []
    for line in lines(text):
        label, _, rest = (part.strip() for part in line.partition("|"))
        what, _, why = (part.strip() for part in rest.partition("|"))
        if not what:
            wrong["examples"] = f"Write “class | text | why” in each line; this one has no text: {line[:60]}"
        image = what.startswith(("https://", "http://")) and " " not in what
        found.append({"label": label, "image" if image else "text": what, "why": why})
    return found


def _filled(given: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in given.items() if value}


def _share(percent: str) -> str:
    """A share from what was typed as percent; left alone if it is not a number."""
    try:
        return str(float(percent) / 100) if percent else ""
    except ValueError:
        return percent


def _place(loc: tuple[int | str, ...], typed: Typed, words: str) -> str:
    """The field of the form for a part of the description."""
    for n in range(len(loc), 0, -1):
        if place := PLACES.get(tuple(loc[:n]), ""):
            return place if place not in ("fp", "fn") or typed[place] else "error"
    if loc and loc[0] in DEFAULTS:
        return str(loc[0])
    return next((field for word, field in ABOUT.items() if word in words), "form")


def _words(found: Mapping[str, Any]) -> str:
    """What to do, in plain words."""
    kind, limits = str(found["type"]), found.get("ctx", {})
    if kind in ("float_parsing", "int_parsing", "int_from_float", "float_type", "finite_number"):
        return "Give a number." if "float" in kind else "Give a whole number."
    if kind == "greater_than_equal":
        return f"Give {limits['ge']:g} or more."
    if kind == "less_than_equal":
        return f"Give {limits['le']:g} or less."
    if kind in ("too_short", "string_too_short"):
        listed = found["loc"] == ("classes",)
        return "Give at least two classes, one in each line." if listed else "Fill this in."
    if kind in ("too_long", "string_too_long"):
        return f"This is too long; {limits['max_length']} is the most."
    words = str(found["msg"]).removeprefix("Value error, ")
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."
