"""The form of a project: its description as typed fields, and back with what is wrong by field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from crowdpilot.service.pages.dashboard.setup import error_costs
from crowdpilot.service.pages.dashboard.setup.currencies import CURRENCIES
from crowdpilot.service.pages.dashboard.setup.fields import (
    LABELS,
    MAX_ROWS,
    ROWS,
    YES,
    Row,
    Typed,
    label_of,
    plain_number,
    read_rows,
    read_typed,
    shortest,
    shown_rows,
    try_scaled,
    write_rows,
)
from crowdpilot.service.pages.dashboard.setup.form_errors import field_of, message_of
from crowdpilot.service.pages.dashboard.setup.other_settings import (
    merge_others,
    other_settings,
    prices_of,
    read_others,
)
from crowdpilot.service.project_changes import GROUPS as SETTINGS_IN_PARTS
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.schemas.project import LANGUAGES, NOTIFIED_EVENTS

Spec = Mapping[str, Any]
FIXED = re.compile(r"fixed\[votes=(\d+)\]")
COPIED = "name", "question", "instructions", "consent", "machine", "currency", "language", "webhook"
TICKED = "markdown", "comments", "flags"
NUMBERS = "quiz_pass", "quiz_tries", "batch", "min_answers", "seconds_per_answer"
PROLIFIC = "study", "code", "code_failed", "code_complete", "reward", "places"
GUESTS = "per_hour", "per_address", "checks"
LANGUAGE_NAMES = dict(zip(LANGUAGES, ("English", "Deutsch", "Français", "Español", "العربية"), strict=True))


def new_typed() -> dict[str, str]:
    """The form of a new project: a wrong label costs as much as 20 answers of 0.05 each."""
    empty = ProjectIn(name="-", classes=["-", "--"]).model_dump()
    typed = to_typed({**empty, "name": "", "classes": []})
    return {**typed, "price": "0.05", "wrong": "20", "missed": "20", "mistake": "20", "votes": "3"}


def to_typed(spec: Spec) -> dict[str, str]:
    """The fields of the form for a description, as `ProjectIn` dumps it."""
    details, quiz, costs = spec["class_details"], spec["quiz"], spec["costs"]
    classes = [{"name": name, **details.get(name, {})} for name in spec["classes"]]
    price = error_costs.answer_price(costs["prices"])
    return {
        **{name: spec[name] for name in COPIED},
        **{name: YES if spec[name] else "" for name in TICKED},
        **{name: plain_number(spec[name]) for name in NUMBERS},
        **write_rows("classes", classes),
        **write_rows("criteria", spec["criteria"]),
        **write_rows("pictures", spec["pictures"]),
        **write_rows("examples", spec["examples"]),
        **write_rows("quiz", quiz),
        **error_costs.to_typed(costs["errors"], price, len(classes)),
        "price": plain_number((costs["prices"] or {}).get("crowd")),
        "expert": plain_number((costs["prices"] or {}).get("expert")),
        "kinds": json.dumps(list(costs["prices"] or {})),
        "budget": plain_number(costs["budget"]),
        **_policy_typed(spec["policy"]),
        **_plan_typed(spec["plan"]),
        "lease": shortest(spec["lease"], 60.0),
        **{f"guests_{name}": plain_number(spec["guests"][name]) for name in GUESTS},
        "retention_days": plain_number(spec["retention"]["days"]),
        "retention_delete": YES if spec["retention"]["delete_project"] else "",
        "emails": "\n".join(spec["notify"]["emails"]),
        **{f"notify_{event}": YES if event in spec["notify"]["events"] else "" for event in NOTIFIED_EVENTS},
        **_platforms_typed(spec),
        "more": other_settings(spec),
    }


def _policy_typed(policy: str) -> dict[str, str]:
    if found := FIXED.fullmatch(policy):
        return {"policy": "fixed", "votes": found[1], "policy_other": ""}
    is_value = policy == "value"
    return {
        "policy": "value" if is_value else "other",
        "votes": "",
        "policy_other": "" if is_value else policy,
    }


def _plan_typed(plan: Mapping[str, Any]) -> dict[str, str]:
    limits = {name: plain_number(plan[name]) for name in ("per_worker", "per_item")}
    return {**limits, "gold": shortest(plan["gold"], 0.01) if plan["gold"] else "0"}


def _platforms_typed(spec: Spec) -> dict[str, str]:
    study, mturk = spec["prolific"] or {}, spec["mturk"]
    shown = {name: study.get(name) for name in PROLIFIC}
    texts = {name: value if isinstance(value, str) else plain_number(value) for name, value in shown.items()}
    return {
        "prolific": "" if spec["prolific"] is None else YES,
        **{f"prolific_{name}": text for name, text in texts.items()},
        "mturk": "" if mturk is None else "sandbox" if mturk["sandbox"] else "live",
    }


def parse_form(typed: Typed) -> tuple[ProjectIn | None, dict[str, str]]:
    """The project that a form describes, or None and what is wrong by the fields of the form.

    `typed` is of `read_typed`, or of `to_typed`; fields of rows may be missing.
    """
    rows = {group: read_rows(typed, group) for group in ROWS}
    wrong: dict[str, str] = {}
    others: dict[str, Any] = {}
    try:
        others = read_others(typed["more"])
    except ValueError as error:
        wrong["more"] = str(error)
    fields = _schema_fields(typed, rows, _prices(typed, prices_of(others)))
    try:
        project = ProjectIn.model_validate(merge_others(fields, others))
    except ValidationError as error:
        for detail in error.errors():
            wrong.setdefault(field_of(detail, typed, rows), message_of(detail))
        return None, wrong
    return (None, wrong) if wrong else (project, {})


def parse_changes(typed: Typed, before: Spec) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """The settings of a form that are not those it was made from, or None and what is wrong by field.

    What the form cannot tell apart, such as a name with a space at its end from one without, is no change.
    """
    project, wrong = parse_form(typed)
    if project is None:
        return None, wrong
    same, _ = parse_form(read_typed(to_typed(before)))
    new = project.model_dump()
    return (new if same is None else _differing(new, same.model_dump())), {}


def _differing(new: Mapping[str, Any], same: Mapping[str, Any]) -> dict[str, Any]:
    differing = {name: value for name, value in new.items() if value != same[name]}
    return {
        name: {part: inner for part, inner in value.items() if inner != same[name][part]}
        if name in SETTINGS_IN_PARTS and value is not None and same[name] is not None
        else value
        for name, value in differing.items()
    }


def _schema_fields(
    typed: Typed, rows: Mapping[str, list[Row]], prices: Mapping[str, Any]
) -> dict[str, Any]:  # fmt: skip
    """The fields of the schema, with texts where it has numbers: it parses them."""
    lists = {group: [row.fields for row in found] for group, found in rows.items()}
    names = [row["name"] for row in lists["classes"]]
    price = _price(prices)
    return {
        **{name: typed[name] for name in COPIED},
        **{name: bool(typed[name]) for name in TICKED},
        **_filled({name: typed[name] for name in NUMBERS}),
        **lists,
        "classes": names,
        "class_details": _class_details(lists["classes"]),
        "costs": {
            "errors": error_costs.parse(typed, price, len(names)),
            "prices": prices or None,
            "budget": typed["budget"] or None,
        },
        "policy": _policy(typed),
        "plan": _filled(
            {
                "per_worker": typed["per_worker"],
                "per_item": typed["per_item"],
                "gold": try_scaled(typed["gold"].removesuffix("%"), 0.01) if typed["gold"] else "",
            }
        ),
        **_filled({"lease": try_scaled(typed["lease"], 60.0) if typed["lease"] else ""}),
        "guests": _filled({name: typed[f"guests_{name}"] for name in GUESTS}),
        "retention": {
            "days": typed["retention_days"] or None,
            "delete_project": bool(typed["retention_delete"]),
        },
        "notify": {
            "emails": typed["emails"].replace(",", " ").replace(";", " ").split(),
            "events": [event for event in NOTIFIED_EVENTS if typed[f"notify_{event}"]],
        },
        "prolific": _filled({name: typed[f"prolific_{name}"] for name in PROLIFIC})
        if typed["prolific"]
        else None,
        "mturk": {"sandbox": typed["mturk"] == "sandbox"} if typed["mturk"] else None,
    }


def _class_details(rows: list[dict[str, str]]) -> dict[str, dict[str, str]]:
    """Details of the classes that have any."""
    details = {row["name"]: {name: row[name] for name in ("description", "key", "color")} for row in rows}
    return {name: detail for name, detail in details.items() if any(detail.values())}


def _policy(typed: Typed) -> str:
    choices = {"fixed": f"fixed[votes={typed['votes']}]", "other": typed["policy_other"]}
    return choices.get(typed["policy"], "value")


def _prices(typed: Typed, others: Mapping[str, Any]) -> dict[str, Any]:
    """Prices by kind of worker, in the order of before: the first kind is that of new links."""
    prices = {**_filled({"crowd": typed["price"], "expert": typed["expert"]}), **others}
    return {**{kind: prices[kind] for kind in _kinds(typed["kinds"]) if kind in prices}, **prices}


def _kinds(text: str) -> list[str]:
    try:
        kinds = json.loads(text)
    except ValueError:
        return []
    return [kind for kind in kinds if isinstance(kind, str)] if isinstance(kinds, list) else []


def _price(prices: Mapping[str, Any]) -> float | None:
    """The price of an answer, as far as it is a number."""
    try:
        return error_costs.answer_price({kind: float(price) for kind, price in prices.items()})
    except (TypeError, ValueError):
        return None


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value != ""}


def form_data(typed: Typed, wrong: Mapping[str, str]) -> dict[str, Any]:
    """What the templates of `dashboard/setup/` need to show the fields."""
    rows = shown_rows(typed)
    blank = {
        f"{group}-{n}-{name}": "" for group, shown in rows.items() for n in shown for name in ROWS[group]
    }
    return {
        "typed": {**blank, **typed},
        "wrong": wrong,
        "rows": rows,
        "max_rows": MAX_ROWS,
        "labels": LABELS,
        "label_of": label_of,
        "names": [row.fields["name"] for row in read_rows(typed, "classes")],
        "criteria": [row.fields["name"] for row in read_rows(typed, "criteria")],
        "currencies": CURRENCIES,
        "languages": LANGUAGE_NAMES,
        "pairs": _pairs,
    }


def _pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Names as options of a select, which are their own values."""
    return [(name, name) for name in names]
