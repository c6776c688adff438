"""Forms about HITs: what was typed as a request to MTurk, or what is wrong beside each field."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError
from starlette.datastructures import FormData

from crowdpilot.service.errors import NotFoundError, RequestError
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.requesters.recruiting.mturk_hits import (
    BonusIn,
    ConfirmationError,
    ExtensionIn,
    HitIn,
    fee_rate,
    total_of,
)
from crowdpilot.service.schemas.fields import Strict

MAX_TYPED = 3000  # characters of a field
NEW = {"title": "", "description": "", "keywords": "", "reward": "", "assignments": "9", "minutes": "60",
       "days": "7", "percent_approved": "95", "number_approved": "100", "countries": "",
       "confirm_total": ""}  # fmt: skip
EXTENSION = {"assignments": "", "days": "", "confirm_total": ""}
BONUS = {"assignment": "", "amount": "", "reason": "", "confirm_total": ""}
DOLLARS = "Write dollars with a point, such as 0.50."
WORDS = {  # what to write, by the field
    "title": "Write a title of at most 128 characters.",
    "description": "Write a description of at most 2,000 characters.",
    "keywords": "Write at most 1,000 characters.",
    "reward": DOLLARS,
    "amount": DOLLARS,
    "reason": "Write a reason of at most 1,000 characters. The worker reads it.",
    "assignments": "Write a whole number up to 10,000.",
    "minutes": "Write a whole number of minutes, from 1 on.",
    "days": "Write a whole number of days, from 1 to 365.",
    "percent_approved": "Write a whole number from 0 to 100.",
    "number_approved": "Write a whole number from 0 to 1,000,000.",
    "countries": "Write codes of two letters, such as US, GB, DE.",
    "confirm_total": "Write the total in dollars, such as 4.50.",
    "token": "The page is out of date. Load it again.",
}
Request = TypeVar("Request", bound=Strict)


class Price(NamedTuple):
    """What workers get, and about what Amazon gets, in dollars."""

    workers: str
    fee: str


class Wrong(NamedTuple):
    """What is wrong with a form: beside its fields, or with the whole of it."""

    fields: Mapping[str, str]
    problem: str = ""


def empty(fields: Mapping[str, str]) -> dict[str, str]:
    """A form as it is at first; its token makes what is sent twice happen once."""
    return {**fields, "token": secrets.token_urlsafe(12)}


def read(form: FormData, fields: Mapping[str, str]) -> dict[str, str]:
    """What was typed, as text."""
    return {name: str(form.get(name, "")).strip()[:MAX_TYPED] for name in (*fields, "token")}


def to_hit(typed: Mapping[str, str]) -> HitIn | Wrong:
    """The HIT to create."""
    countries = [code.upper() for code in re.split(r"[\s,;]+", typed["countries"]) if code]
    optional = {name: typed[name] or "0" for name in ("percent_approved", "number_approved")}
    return _checked(HitIn, {**typed, **optional, "countries": countries})


def to_extension(typed: Mapping[str, str]) -> ExtensionIn | Wrong:
    """The extension of a HIT."""
    if not typed["assignments"] and not typed["days"]:
        return Wrong({"assignments": "Write how many more assignments or days you want."})
    values = {**typed, "assignments": typed["assignments"] or "0", "days": typed["days"] or None}
    return _checked(ExtensionIn, values)


def to_bonus(typed: Mapping[str, str]) -> BonusIn | Wrong:
    """The bonus for an assignment."""
    if not typed["assignment"]:
        return Wrong({"assignment": "Choose who gets it."})
    return _checked(BonusIn, {name: text for name, text in typed.items() if name != "assignment"})


def _checked(schema: type[Request], values: Mapping[str, Any]) -> Request | Wrong:
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        names = [str(one["loc"][0]) for one in error.errors()]
        return Wrong({name: WORDS[name] for name in names}, WORDS["token"] if "token" in names else "")


def refused(error: ValueError | RequestError) -> Wrong:
    """How a form shows that Crowdpilot or MTurk refuses it."""
    if isinstance(error, NotFoundError):
        raise error
    if isinstance(error, ConfirmationError):
        return Wrong({"confirm_total": sentence(str(error))})
    return Wrong({}, sentence(str(error)))


def price(reward: str, assignments: str, in_all: int | None = None) -> Price | None:
    """What assignments cost as far as it is typed, of a HIT with so many in all; None if it is not."""
    is_typed = re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,2})?", reward) and re.fullmatch(r"[0-9]{1,5}", assignments)
    if not is_typed:
        return None
    total = total_of(reward, int(assignments))
    return Price(f"{total:.2f}", f"{total * fee_rate(in_all or int(assignments)):.2f}")
