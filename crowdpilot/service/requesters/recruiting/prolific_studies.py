"""Studies of a project on Prolific: drafted, published, paused, stopped and given more places from here.

Money is paid only with the token of the server, only for studies that were created here, and only if the
total was typed. A draft costs nothing. Every action is in the log.
"""

from __future__ import annotations

import re
import secrets
import time
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field
from sqlalchemy import Connection

from crowdpilot.service import project_changes
from crowdpilot.service.errors import ConflictError, InvalidRequestError
from crowdpilot.service.network_addresses import is_loopback
from crowdpilot.service.platforms.prolific import studies as prolific
from crowdpilot.service.platforms.prolific import study_url
from crowdpilot.service.platforms.prolific.client import Client
from crowdpilot.service.platforms.prolific.studies import Codes, Cost, Draft, Study
from crowdpilot.service.schemas.fields import Plain, Strict
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import prolific_studies
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log

CREATING_SECONDS = 60.0  # in which nobody else creates the study of a token
WAIT_SECONDS, POLL_SECONDS = 15.0, 0.2  # for somebody else who creates it now
MAX_TOTAL = Decimal(100_000)  # for one study, without the fee
RUNNING = prolific.PUBLISHING, prolific.ACTIVE
Token = Annotated[Plain, Field(pattern=r"^[0-9A-Za-z_-]{8,40}$")]
Amount = Annotated[Plain, Field(pattern=r"^[0-9]{1,4}(\.[0-9]{1,2})?$")]
Total = Annotated[Plain, Field(max_length=20)]
Places = Annotated[int, Field(ge=1, le=10_000)]
Device = Literal["desktop", "tablet", "mobile"]
Move = Literal["pause", "start", "stop"]
MOVES: dict[Move, tuple[str, tuple[str, ...], tuple[str, ...]]] = {  # action, from where, and where it leads
    "pause": (prolific.PAUSE, (prolific.ACTIVE,), (prolific.PAUSED,)),
    "start": (prolific.START, (prolific.PAUSED,), RUNNING),
    "stop": (prolific.STOP, (prolific.ACTIVE, prolific.PAUSED),
             (prolific.AWAITING_REVIEW, prolific.COMPLETED)),
}  # fmt: skip


class StudyIn(Strict):
    """A study that is to be drafted; `reward` is in the currency of the account on Prolific."""

    title: Annotated[Plain, Field(min_length=1, max_length=200)]
    description: Annotated[Plain, Field(min_length=1, max_length=5000)]
    reward: Amount
    places: Places
    minutes: Annotated[int, Field(ge=1, le=600)]
    devices: Annotated[tuple[Device, ...], Field(min_length=1, max_length=3)] = (
        "desktop", "tablet", "mobile",
    )  # fmt: skip
    approve: bool = False  # whether Prolific approves who has done their share, without a review
    signed: bool = False  # whether Prolific signs the links
    token: Token


class PublishIn(Strict):
    """What participants get in all, as it was typed to confirm it."""

    confirm_total: Total = ""


class PlacesIn(Strict):
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


def create(store: Store, settings: Settings, project: str, actor: str, new: StudyIn) -> Row:
    """Draft a study that leads to the project; the same token makes one study. Its row."""
    reward = int(Decimal(new.reward) * 100)
    if reward < 1:
        raise InvalidRequestError("a reward of nothing is not possible on Prolific; pay something")
    if Decimal(reward) * new.places / 100 > MAX_TOTAL:
        raise InvalidRequestError(f"this costs more than {MAX_TOTAL} at once; ask for fewer places")
    with store.writing() as c:
        projects.find(c, project)
        values = {"title": new.title, "reward": reward, "places": new.places}
        known = prolific_studies.claim(c, project, new.token, **values)
    if known is not None and known.study is None:
        known = _wait(store, project, known)
    if known is not None and known.study is not None:
        return known
    try:
        return _create(store, settings, project, actor, new, reward, is_repeated=known is not None)
    except ValueError:
        with store.writing() as c:  # another attempt need not wait
            prolific_studies.change(c, project, new.token, begun=0.0)
        raise


def _wait(store: Store, project: str, known: Row) -> Row:
    """The study of a token that another request creates now, or began to and did not finish."""
    until = time.monotonic() + WAIT_SECONDS
    while known.study is None:
        if time.time() - known.begun >= CREATING_SECONDS:
            with store.writing() as c:
                if prolific_studies.take_over(c, known):
                    return known
        if time.monotonic() > until:
            raise ConflictError("this study is being created; load the page again in a minute")
        time.sleep(POLL_SECONDS)
        with store.reading() as c:
            known = prolific_studies.find_by_token(c, project, known.token)
    return known


def _create(
    store: Store, settings: Settings, project: str, actor: str, new: StudyIn, reward: int, *,
    is_repeated: bool,
) -> Row:  # fmt: skip
    client = Client()
    codes = _codes(store, settings, project, actor, new)
    draft = Draft(
        name=new.title, description=new.description, internal_name=f"crowdpilot-{project}-{new.token}",
        url=study_url(f"{settings.address}/w/{project}/prolific"), codes=codes, places=new.places,
        minutes=new.minutes, max_minutes=max(3 * new.minutes, new.minutes + 30), reward=reward,
        devices=new.devices, signed=new.signed,
    )  # fmt: skip
    made = prolific.find(client, draft.internal_name) if is_repeated else None
    made = made or prolific.create(client, draft)
    with store.writing() as c:
        values = {"study": made.id, "title": made.name, "reward": made.reward, "places": made.places}
        prolific_studies.change(c, project, new.token, **values, currency=made.currency[:3])
        reward_words = units(made.reward)
        _log(c, actor, "create study", project, made.id, places=made.places, reward=reward_words)
        row = prolific_studies.find(c, project, made.id)
    _remember(store, settings, project, actor, made)
    return row


def _codes(store: Store, settings: Settings, project: str, actor: str, new: StudyIn) -> Codes:
    """The completion codes of the project, which gets those that it has not."""
    with store.reading() as c:
        spec = projects.find(c, project).spec
    study = spec["prolific"] or {}
    names = ("code", "code_failed", "code_complete") if spec["quiz"] else ("code", "code_complete")
    missing = {name: f"C{secrets.token_hex(4).upper()}" for name in names if not study.get(name)}
    wanted = {**missing, "signed": new.signed}
    spec = project_changes.change_settings(store, settings, project, actor, {"prolific": wanted}).spec
    known = spec["prolific"]
    return Codes(
        done=known["code"], failed=known["code_failed"], complete=known["code_complete"], approve=new.approve
    )


def _remember(store: Store, settings: Settings, project: str, actor: str, made: Study) -> None:
    """The project admits participants of the study, and knows what it pays."""
    with store.reading() as c:
        spec = projects.find(c, project).spec
    study = spec["prolific"] or {}
    values: dict[str, Any] = {"study": study.get("study") or made.id, "places": made.places}
    if spec["currency"] in ("", made.currency):
        values["reward"] = made.reward / 100
    project_changes.change_settings(store, settings, project, actor, {"prolific": values})


def view(row: Row) -> StudyView:
    """A study as Prolific knows it now; it never fails."""
    study = None
    try:
        client = Client(quick=True)
        study = prolific.read(client, row.study)
        return StudyView(study, prolific.cost(client, study.reward, study.places))
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
    row, client = find(store, project, study), Client()
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
    moved = prolific.move(client, study, prolific.PUBLISH)
    with store.writing() as c:
        total = units(seen.reward * seen.places)
        _log(c, actor, "publish study", project, row.study, places=seen.places, total=total)
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
    moved = prolific.move(client, study, verb)
    with store.writing() as c:
        _log(c, actor, f"{action} study", project, study)
    return moved


def set_places(
    store: Store, settings: Settings, project: str, actor: str, study: str, new: PlacesIn
) -> Study:
    """Raise the number of places of a study; as many as it has change nothing."""
    row, client = find(store, project, study), Client()
    seen = prolific.read(client, study)
    if new.places == seen.places:
        return seen
    if new.places < seen.places and seen.status != prolific.UNPUBLISHED:
        raise InvalidRequestError(f"this study has {seen.places} places already; Prolific takes none away")
    if seen.status != prolific.UNPUBLISHED:
        confirm(seen.reward * (new.places - seen.places), new.confirm_total, seen.currency)
    changed = prolific.set_places(client, study, new.places)
    with store.writing() as c:
        prolific_studies.change(c, project, row.token, places=changed.places)
        _log(c, actor, "raise places", project, study, places=changed.places)
    _remember(store, settings, project, actor, changed)
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


def _log(c: Connection, actor: str, action: str, project: str, study: str, **detail: Any) -> None:
    action_log.write(c, actor, action, project, category=action_log.WORKER, study=study, **detail)
