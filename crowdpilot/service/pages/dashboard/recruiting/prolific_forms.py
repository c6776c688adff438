"""Forms about studies on Prolific: what was typed as a request, or what is wrong beside each field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from crowdpilot.service.errors import NotFoundError, RequestError
from crowdpilot.service.pages.dashboard.recruiting.hit_forms import Wrong
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.platforms.prolific.studies import DEVICES
from crowdpilot.service.platforms.prolific.submissions import CATEGORIES, MIN_MESSAGE_CHARACTERS
from crowdpilot.service.requesters.recruiting.prolific_drafts import StudyIn
from crowdpilot.service.requesters.recruiting.prolific_studies import ConfirmationError, PublishIn, SizeIn
from crowdpilot.service.requesters.recruiting.prolific_submissions import MAX_REVIEWED, BonusIn, RejectionIn
from crowdpilot.service.schemas.fields import Strict

NEW = {"title": "", "description": "", "reward": "", "places": "", "minutes": "", "approve": "", "signed": "",
       **dict.fromkeys(DEVICES, "yes")}  # fmt: skip
PUBLISH = {"confirm_total": ""}
PLACES = {"places": "", "confirm_total": ""}
REVIEW = {"category": "", "message": ""}
BONUS = {"submission": "", "amount": "", "confirm_total": ""}
MAX_MESSAGE_CHARACTERS = 2000
MONEY = "Write an amount with a point, such as 1.20."
WORDS = {  # what to write, by the field
    "title": "Write a title of at most 200 characters.",
    "description": "Write a description of at most 5,000 characters.",
    "reward": MONEY,
    "amount": MONEY,
    "places": "Write a whole number from 1 to 10,000.",
    "minutes": "Write a whole number of minutes, from 1 to 600.",
    "devices": "Choose at least one kind of device.",
    "confirm_total": "Write the total with a point, such as 4.80.",
    "token": "The page is out of date. Load it again.",
    "submissions": "Tick submissions of the list.",
}
Request = TypeVar("Request", bound=Strict)


def to_study(typed: Mapping[str, str]) -> StudyIn | Wrong:
    """The study to draft; a box that is not ticked is empty."""
    values = {name: typed[name] for name in ("title", "description", "reward", "places", "minutes", "token")}
    flags = {name: typed[name] == "yes" for name in ("approve", "signed")}
    devices = [name for name in DEVICES if typed[name]]
    return _checked(StudyIn, {**values, **flags, "devices": devices})


def to_publication(typed: Mapping[str, str]) -> PublishIn | Wrong:
    """The total that was typed."""
    return _checked(PublishIn, {"confirm_total": typed["confirm_total"]})


def to_places(typed: Mapping[str, str]) -> SizeIn | Wrong:
    """How many places there are to be."""
    return _checked(SizeIn, {name: typed[name] for name in PLACES})


def to_rejection(typed: Mapping[str, Any]) -> RejectionIn | Wrong:
    """The rejection of submissions."""
    if typed["category"] not in CATEGORIES:
        return Wrong({"category": "Choose why you reject."})
    n = len(" ".join(typed["message"].split()))
    if not MIN_MESSAGE_CHARACTERS <= n <= MAX_MESSAGE_CHARACTERS:
        limits = f"{MIN_MESSAGE_CHARACTERS} to {MAX_MESSAGE_CHARACTERS:,}"
        return Wrong({"message": f"Write {limits} characters. These are {n:,}."})
    about = {"category": typed["category"], "message": typed["message"]}
    return _checked(RejectionIn, {"submissions": typed["submission"], **about})


def check_chosen(verdict: str, chosen: list[str]) -> Wrong | None:
    """What is wrong with what was ticked, if anything."""
    if verdict in ("approve", "reject") and 1 <= len(chosen) <= MAX_REVIEWED:
        return None
    return Wrong({}, f"Tick one to {MAX_REVIEWED} submissions, and choose what to do with them.")


def to_bonus(typed: Mapping[str, str]) -> BonusIn | Wrong:
    """The bonus for a submission."""
    if not typed["submission"]:
        return Wrong({"submission": "Choose who gets it."})
    return _checked(BonusIn, {name: typed[name] for name in ("amount", "confirm_total", "token")})


def _checked(schema: type[Request], values: Mapping[str, Any]) -> Request | Wrong:
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        names = [str(one["loc"][0]) for one in error.errors()]
        whole = [WORDS[name] for name in names if name in ("token", "submissions")]
        return Wrong({name: WORDS[name] for name in names}, whole[0] if whole else "")


def refused(error: ValueError | RequestError) -> Wrong:
    """How a form shows that Crowdpilot or Prolific refuses it."""
    if isinstance(error, NotFoundError):
        raise error
    if isinstance(error, ConfirmationError):
        return Wrong({"confirm_total": sentence(str(error))})
    return Wrong({}, sentence(str(error)))
