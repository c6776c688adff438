"""Studies on Prolific: drafted, published, paused, stopped, with more places, and what they cost.

Fields and states: https://docs.prolific.com/api-reference/studies/create-study and /the-study-object;
costs: the study cost calculator in the same place. Money is in hundredths of the currency of the account.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from crowdpilot.service.platforms.prolific.client import Client, read_id, read_number

DEVICES = "desktop", "tablet", "mobile"
UNPUBLISHED, PUBLISHING, ACTIVE, PAUSED = "UNPUBLISHED", "PUBLISHING", "ACTIVE", "PAUSED"
SCHEDULED, AWAITING_REVIEW, COMPLETED = "SCHEDULED", "AWAITING REVIEW", "COMPLETED"
PUBLISH, PAUSE, START, STOP = "PUBLISH", "PAUSE", "START", "STOP"
APPROVE, REVIEW, RETURN = "AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "REQUEST_RETURN"
PAGE = "https://app.prolific.com/researcher/studies/{study}"


@dataclass(frozen=True, kw_only=True)
class Codes:
    """The completion codes of a study, for who has done their share, failed the quiz, or came too late.

    Parameters
    ----------
    done, failed, complete
        The codes; those that are empty are left out.
    approve
        Whether Prolific approves who has done their share, or somebody reviews them.
    """

    done: str
    failed: str = ""
    complete: str = ""
    approve: bool = False

    def to_list(self) -> list[dict[str, Any]]:
        """The codes with what follows from them, as Prolific takes them."""
        done = {"action": APPROVE if self.approve else REVIEW}
        failed = {"action": RETURN, "return_reason": "The quiz about the instructions was not passed."}
        kinds: list[tuple[str, str, Mapping[str, str]]] = [
            (self.done, "COMPLETED", done), (self.failed, "FAILED_ATTENTION_CHECK", failed),
            (self.complete, "OTHER", {"action": REVIEW}),
        ]  # fmt: skip
        return [
            {"code": code, "code_type": kind, "actions": [dict(action)]}
            for code, kind, action in kinds
            if code
        ]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A study before it is published.

    Parameters
    ----------
    name, description
        What participants read in the list of studies.
    internal_name
        By which it is found again.
    url
        Of the work, with placeholders.
    codes
        With which participants leave.
    places, minutes, max_minutes
        How many participants it wants, how long it takes each, and how long it may take.
    reward
        For each, in hundredths.
    devices
        Some of `DEVICES`.
    signed
        Whether Prolific signs the links.
    """

    name: str
    description: str
    internal_name: str
    url: str
    codes: Codes
    places: int
    minutes: int
    max_minutes: int
    reward: int
    devices: Sequence[str] = DEVICES
    signed: bool = False

    def to_body(self) -> dict[str, Any]:
        """The study as Prolific takes it."""
        body: dict[str, Any] = {
            "name": self.name, "internal_name": self.internal_name, "description": self.description,
            "external_study_url": self.url, "prolific_id_option": "url_parameters",
            "completion_codes": self.codes.to_list(), "total_available_places": self.places,
            "estimated_completion_time": self.minutes, "maximum_allowed_time": self.max_minutes,
            "reward": self.reward, "device_compatibility": list(self.devices), "filters": [],
        }  # fmt: skip
        return {**body, "is_external_study_url_secure": True} if self.signed else body


class Study(NamedTuple):
    """A study as Prolific knows it now; the reward is in hundredths of its currency."""

    id: str
    name: str
    internal_name: str
    status: str
    places: int
    taken: int
    reward: int
    minutes: int
    currency: str

    @property
    def page(self) -> str:
        """Where it is shown on Prolific."""
        return PAGE.format(study=self.id)


class Cost(NamedTuple):
    """What places cost: for participants, for Prolific, and tax, in hundredths."""

    rewards: int
    fees: int
    tax: int
    total: int


def create(client: Client, draft: Draft) -> Study:
    """Make a draft; nobody sees it, and it costs nothing."""
    return _study(client.post("studies/", "create the study", draft.to_body()))


def find(client: Client, internal_name: str) -> Study | None:
    """The study of this internal name, if there is one."""
    for found in client.pages("studies/", "list the studies"):
        if found.get("internal_name") == internal_name:
            return read(client, read_id(found))
    return None


def read(client: Client, id: str) -> Study:
    """A study as it is now."""
    return _study(client.get(f"studies/{id}/", "show the study"))


def move(client: Client, id: str, action: str) -> Study:
    """Publish, pause, start again or stop a study."""
    client.post(f"studies/{id}/transition/", f"{action.lower()} the study", {"action": action})
    return read(client, id)


def set_places(client: Client, id: str, places: int) -> Study:
    """How many participants a study wants in all; of a published one it can only grow."""
    body = {"total_available_places": places}
    return _study(client.patch(f"studies/{id}/", "change the places of the study", body))


def cost(client: Client, reward: int, places: int) -> Cost:
    """What so many places cost, with the fee that Prolific takes from this account."""
    body = {"reward": reward, "total_available_places": places}
    found = client.post("study-cost-calculator/", "compute what the study costs", body)
    return Cost(*(read_number(found, name) for name in ("rewards", "fees", "vat", "total_cost")))


def _study(found: Mapping[str, Any]) -> Study:
    def text(name: str) -> str:
        return str(found.get(name) or "")

    return Study(
        read_id(found), text("name"), text("internal_name"), text("status"),
        read_number(found, "total_available_places"), read_number(found, "places_taken"),
        read_number(found, "reward"), read_number(found, "estimated_completion_time"),
        text("presentment_currency_code") or text("currency_code"),
    )  # fmt: skip
