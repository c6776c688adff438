"""Settings that have no field in the form, as JSON: the plan, other kinds of workers, HITs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from crowdpilot.service.schemas.project import PlanIn

Spec = Mapping[str, Any]
PLAN = ("fusion", "pilot", "pilot_votes", "explore", "refit_every", "refit_growth", "online", "seed")
KINDS_WITH_A_FIELD = ("crowd", "expert")
SIGNING = ("signed", "keys")  # of links from Prolific
MAX_CHARACTERS = 100_000


def other_settings(spec: Spec) -> str:
    """What a description says besides the fields of the form, as JSON; "" if that is nothing."""
    plan, usual, costs = spec["plan"], PlanIn().model_dump(), spec["costs"]
    prices = {
        kind: price for kind, price in (costs["prices"] or {}).items() if kind not in KINDS_WITH_A_FIELD
    }
    others = {
        "plan": {name: plan[name] for name in PLAN if plan[name] != usual[name]},
        "costs": _filled({"classifier": costs["classifier"], "prices": prices}),
        "prolific": _filled({name: (spec["prolific"] or {}).get(name) for name in SIGNING}),
        "mturk": _filled({"hits": (spec["mturk"] or {}).get("hits")}),
    }
    found = _filled(others)
    return json.dumps(found, indent=2) if found else ""


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def read_others(text: str) -> dict[str, Any]:
    """The settings that `other_settings` has written; a `ValueError` if there are others."""
    others = _read(text)
    allowed = {"plan": PLAN, "costs": ("classifier", "prices"), "prolific": SIGNING, "mturk": ("hits",)}
    for part, settings in others.items():
        if part not in allowed or not isinstance(settings, dict):
            raise ValueError(
                f"Here are only {', '.join(allowed)}; “{part[:40]}” has its own field or is unknown."
            )
        if unknown := [name for name in settings if name not in allowed[part]]:
            raise ValueError(f"“{part}.{unknown[0][:40]}” has its own field or is unknown.")
    if not isinstance(prices_of(others), dict):
        raise ValueError('“costs.prices” is no JSON object. Write it as {"costs": {"prices": {...}}}.')
    return others


def prices_of(others: Mapping[str, Any]) -> Any:
    """The prices of kinds of workers that have no field in the form."""
    return others.get("costs", {}).get("prices", {})


def merge_others(fields: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the schema with settings of `read_others`; prices are in the fields already."""
    merged = dict(fields)
    for part, settings in others.items():
        if fields[part] is not None:  # else Prolific or Mechanical Turk is not used
            merged[part] = {**settings, **fields[part]}
    return merged


def _read(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        others = json.loads(text) if len(text) <= MAX_CHARACTERS else None
    except (ValueError, RecursionError):
        others = None
    if not isinstance(others, dict):
        raise ValueError('This is no JSON object. Write it as {"plan": {...}}, or leave it empty.')
    return others
