"""Labels of forms: the classes that an expert chose on a page, and how many votes they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData

from crowdpilot.service.errors import InvalidRequestError

MAX_VOTES_ASKED = 100


def chosen_labels(form: FormData, spec: Mapping[str, Any]) -> Any:
    """The class chosen, or with criteria a mapping of those chosen; empty if nothing was."""
    if not spec["criteria"]:
        return str(form.get("label") or "")
    chosen = {c["name"]: str(form.get(f"label-{n}") or "") for n, c in enumerate(spec["criteria"])}
    return {name: label for name, label in chosen.items() if label}


def votes_asked(form: FormData) -> int:
    """How many more votes are asked for, one if it does not say."""
    asked = str(form.get("votes") or "1").strip()
    if not asked.isdecimal() or not 1 <= int(asked) <= MAX_VOTES_ASKED:
        raise InvalidRequestError(f"give a number of answers from 1 to {MAX_VOTES_ASKED}")
    return int(asked)


def class_keys(spec: Mapping[str, Any]) -> dict[str, str]:
    """The key that chooses each class: that of the project, else digits, then letters that are free."""
    taken = {"s", "g", "a", "r", "u"}  # of the actions
    own = {
        name: str(spec["class_details"].get(name, {}).get("key") or "").lower() for name in spec["classes"]
    }
    used = taken | {key for key in own.values() if key not in taken}
    free = [key for key in "123456789bcdefhijklmnopqrtvwxyz" if key not in used]
    keys = {}
    for name in spec["classes"]:
        key = own[name] if own[name] and own[name] not in taken else (free.pop(0) if free else "")
        keys[name] = key
    return keys
