"""What changed when: entries of the log about settings, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.pages.dashboard.setup.fields import LABELS
from crowdpilot.service.project_changes import ACTION
from crowdpilot.service.requesters.log import read_entries
from crowdpilot.service.store.requesters.action_log import PROJECT, Filter

MAX_ENTRIES = 50
STATE_WORDS = {
    "open": "opened the project", "paused": "paused the project", "closed": "stopped the project",
    "archive": "archived the project", "restore": "took the project out of the archive",
    "create": "created the project",
}  # fmt: skip
FIELD_WORDS: Mapping[str, str] = {  # of settings that have no field of the same name in the form
    "costs.prices": "Price of an answer", "costs.budget": "Budget", "costs.errors": "Costs of mistakes",
    "costs.classifier": "Price of the classifier", "policy": "How many answers", "machine": "Classifier",
    "class_details": "Descriptions of the answers", "criteria.questions": "Questions of the criteria",
    "plan.gold": "Known answers", "plan.per_worker": "Answers of one worker",
    "plan.per_item": "Answers on one item", "guests.per_hour": "New guests in an hour",
    "guests.per_address": "New guests from one address",
    "guests.checks": "Known answers before a guest counts", "retention.days": "Days until data is erased",
    "retention.delete_project": "Delete the project", "notify.emails": "E-mail addresses",
    "notify.events": "When messages are sent", "prolific.study": "Study id on Prolific",
    "prolific.code": "Completion code", "prolific.code_failed": "Code for a failed quiz",
    "prolific.code_complete": "Code when the study is complete", "prolific.reward": "Reward on Prolific",
    "prolific.places": "Places on Prolific", "prolific.keys": "Keys of signed links",
    "prolific.signed": "Signed links of Prolific",
    "mturk.hits": "HITs on Mechanical Turk", "mturk.sandbox": "Sandbox of Mechanical Turk",
}  # fmt: skip


class FieldChange(NamedTuple):
    """One setting that changed, in words."""

    name: str
    before: str
    after: str


class Entry(NamedTuple):
    """What somebody did to a project."""

    time: float
    who: str
    words: str
    changes: list[FieldChange]


def field_words(name: str) -> str:
    """What a setting is called on the page."""
    return FIELD_WORDS.get(name) or LABELS.get(name) or name.replace(".", ": ").replace("_", " ")


def show_value(value: Any) -> str:
    """A setting as people write it.

    Examples
    --------
    >>> show_value(None), show_value(True), show_value({"crowd": 0.05}), show_value([]), show_value(2.0)
    ('nothing', 'yes', 'crowd 0.05', 'nothing', '2')
    """
    if value is None or value in ("", [], {}):
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(show_value(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {show_value(one)}" for name, one in value.items())
    return str(value)


def show_changes(changes: Mapping[str, Any]) -> list[FieldChange]:
    """Changes of settings, each a pair of before and after, in words."""
    return [
        FieldChange(field_words(name), show_value(before), show_value(after))
        for name, (before, after) in changes.items()
    ]


def read_history(c: Connection, project: str) -> list[Entry]:
    """What was changed in a project, the newest first."""
    wanted = Filter(project, (PROJECT,), actions=(ACTION, *STATE_WORDS))
    return [_describe(entry) for entry in read_entries(c, wanted, n=MAX_ENTRIES)]


def _describe(entry: Mapping[str, Any]) -> Entry:
    words = STATE_WORDS.get(entry["action"], "changed settings")
    return Entry(entry["time"], entry["name"], words, show_changes(entry["detail"].get("changes", {})))
