"""Studies of a project on Prolific: published, paused, stopped and given more places from here.

Money is paid only with the token of the server, only for studies that were created here, and only if the
total was typed. A draft costs nothing. Every action is in the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field
from sqlalchemy import Connection

from crowdpilot.service.errors import ConflictError, InvalidRequestError
from crowdpilot.service.network_addresses import is_loopback
from crowdpilot.service.platforms.prolific import studies as prolific
from crowdpilot.service.platforms.prolific.client import Client, UncertainError
from crowdpilot.service.platforms.prolific.studies import Cost, Study
from crowdpilot.service.schemas.fields import Plain, Strict
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import prolific_studies, submissions
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log

MAX_TOTAL = Decimal(100_000)  # for one study, without the fee
RUNNING = prolific.PUBLISHING, prolific.ACTIVE
Token = Annotated[Plain, Field(pattern=r"^[0-9A-Za-z_-]{8,40}$")]
Amount = Annotated[Plain, Field(pattern=r"^[0-9]{1,4}(\.[0-9]{1,2})?$")]
Total = Annotated[Plain, Field(max_length=20)]
Places = Annotated[int, Field(ge=1, le=10_000)]
ChangeSettings = Callable[[Store, Settings, str, str, Mapping[str, Any]], Row]
Move = Literal["pause", "start", "stop"]
MOVES: dict[Move, tuple[str, tuple[str, ...], tuple[str, ...]]] = {  # action, from where, and where it leads
    "pause": (prolific.PAUSE, (prolific.ACTIVE,), (prolific.PAUSED,)),
    "start": (prolific.START, (prolific.PAUSED,), RUNNING),
    "stop": (prolific.STOP, (prolific.ACTIVE, prolific.PAUSED),
             (prolific.AWAITING_REVIEW, prolific.COMPLETED)),
}  # fmt: skip


class PublishIn(Strict):
    """What participants get in all, as it was typed to confirm it."""

    confirm_total: Total = ""


class SizeIn(Strict):
    """How many places a study has in all from now on; see `PublishIn` for those that are new."""

    places: Places
    confirm_total: Total = ""


class ConfirmationError(ConflictError):
    """The total was not typed, or another one."""


class StudyView(NamedTuple):
    """A study as Prolific knows it now, and what its places cost, or why that cannot be read."""

    study: Study | None
    cost: Cost | None = None
    problem: str = ""


def units(hundredths: int) -> str:
    """An amount in units of a currency.

    Examples
    --------
    >>> units(1250)
    '12.50'
    """
    return f"{Decimal(hundredths) / 100:.2f}"


def remember(
    store: Store, settings: Settings, project: str, actor: str, made: Study, change: ChangeSettings
) -> None:
    """The project admits participants of the study, and knows what it pays."""
    with store.reading() as c:
        spec = projects.find(c, project).spec
        is_used = bool(submissions.list_all(c, project, "prolific"))  # also by a study that has no name here
    values: dict[str, Any] = {"places": made.places}
    if not is_used and not (spec["prolific"] or {}).get("study"):
        values["study"] = made.id
    if spec["currency"] in ("", made.currency):
        values["reward"] = made.reward / 100
    change(store, settings, project, actor, {"prolific": values})


def view(row: Row, *, with_cost: bool = True) -> StudyView:
    """A study as Prolific knows it now; it never fails."""
    study = None
    try:
        client = Client(quick=True)
        study = prolific.read(client, row.study)
        cost = prolific.cost(client, study.reward, study.places) if with_cost else None
        return StudyView(study, cost)
    except ValueError as error:
        return StudyView(study, problem=str(error))


def read(store: Store, project: str, study: str) -> tuple[Row, Study, Cost]:
    """A study of a project, as it is on Prolific, and what its places cost."""
    row, client = find(store, project, study), Client()
    seen = prolific.read(client, study)
    return row, seen, prolific.cost(client, seen.reward, seen.places)


def publish(
    store: Store, settings: Settings, project: str, actor: str, study: str, confirmed: PublishIn
) -> Study:
    """Publish a draft: participants see it, and what they will get is set aside on Prolific."""
    find(store, project, study)
    client = Client()
    host = urlsplit(settings.address).hostname or ""
    if is_loopback(host) or host == "localhost":
        raise ConflictError(
            f"participants cannot reach {settings.address}; start the service with its public --address first"
        )
    with store.reading() as c:
        if projects.find(c, project).state != projects.OPEN:
            raise ConflictError("the project takes no workers now; open it first")
    seen = prolific.read(client, study)
    if seen.status in RUNNING:
        return seen
    if seen.status != prolific.UNPUBLISHED:
        raise ConflictError(f"this study is {seen.status.lower()} on Prolific; only a draft can be published")
    confirm(seen.reward * seen.places, confirmed.confirm_total, seen.currency)
    about: dict[str, Any] = {"places": seen.places, "total": units(seen.reward * seen.places)}
    with lost_answers(store, actor, "publish study", project, study, **about):
        moved = prolific.move(client, study, prolific.PUBLISH)
    with store.writing() as c:
        log_study(c, actor, "publish study", project, study, **about)
    return moved


def move(store: Store, project: str, actor: str, study: str, action: Move) -> Study:
    """Pause a study, start it again or stop it; one that is there already stays."""
    find(store, project, study)
    client, (verb, before, after) = Client(), MOVES[action]
    seen = prolific.read(client, study)
    if seen.status in after:
        return seen
    if seen.status not in before:
        raise ConflictError(f"this study is {seen.status.lower()} on Prolific; it cannot {action} now")
    with lost_answers(store, actor, f"{action} study", project, study):
        moved = prolific.move(client, study, verb)
    with store.writing() as c:
        log_study(c, actor, f"{action} study", project, study)
    return moved


def set_places(
    store: Store, settings: Settings, project: str, actor: str, study: str, new: SizeIn,
    change: ChangeSettings,
) -> Study:  # fmt: skip
    """Raise the number of places of a study; as many as it has change nothing.

    `change` changes settings of the project, which knows what the study pays.
    """
    row, client = find(store, project, study), Client()
    seen = prolific.read(client, study)
    if new.places == seen.places:
        return seen
    if new.places < seen.places and seen.status != prolific.UNPUBLISHED:
        raise InvalidRequestError(f"this study has {seen.places} places already; Prolific takes none away")
    if seen.status != prolific.UNPUBLISHED:
        confirm(seen.reward * (new.places - seen.places), new.confirm_total, seen.currency)
    with lost_answers(store, actor, "raise places", project, study, places=new.places):
        changed = prolific.set_places(client, study, new.places)
    with store.writing() as c:
        prolific_studies.change(c, project, row.token, places=changed.places)
        log_study(c, actor, "raise places", project, study, places=changed.places)
    remember(store, settings, project, actor, changed, change)
    return changed


def find(store: Store, project: str, study: str) -> Row:
    """The row of a study that was created for a project."""
    with store.reading() as c:
        return prolific_studies.find(c, project, study)


def confirm(hundredths: int, typed: str, currency: str) -> None:
    """The total for participants has to be typed."""
    total = Decimal(hundredths) / 100
    if total > MAX_TOTAL:
        raise InvalidRequestError(f"{total:.2f} is more than {MAX_TOTAL} at once; ask for less")
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,2})?", typed) or Decimal(typed) != total:
        words = f"{currency} {total:.2f}".strip()
        raise ConfirmationError(
            f"participants get {words}, and Prolific its fee; type {total:.2f} to confirm it"
        )


@contextmanager
def lost_answers(
    store: Store, actor: str, action: str, project: str, study: str, **detail: Any
) -> Iterator[None]:
    """What Prolific is asked to do inside is in the log also if its answer is lost: it may have done it."""
    try:
        yield
    except UncertainError:
        with store.writing() as c:
            log_study(c, actor, action, project, study, **detail, answer="lost")
        raise


def log_study(c: Connection, actor: str, action: str, project: str, study: str, **detail: Any) -> None:
    """Write what was done with a study to the log."""
    action_log.write(c, actor, action, project, category=action_log.WORKER, study=study, **detail)
