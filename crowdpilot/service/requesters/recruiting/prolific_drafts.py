"""Drafts of studies on Prolific: one for the token of a request, also if an answer gets lost."""

from __future__ import annotations

import secrets
import time
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from crowdpilot.service.errors import ConflictError, InvalidRequestError, RequestError
from crowdpilot.service.platforms.prolific import studies as prolific
from crowdpilot.service.platforms.prolific import study_url
from crowdpilot.service.platforms.prolific.client import Client
from crowdpilot.service.platforms.prolific.studies import Codes, Draft, Study
from crowdpilot.service.requesters.recruiting.prolific_studies import (
    MAX_TOTAL,
    Amount,
    ChangeSettings,
    Places,
    Token,
    log_study,
    remember,
    units,
)
from crowdpilot.service.schemas.fields import Plain, Strict
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import prolific_studies
from crowdpilot.service.store.engine import Row, Store

CREATING_SECONDS = 60.0  # in which nobody else creates the study of a token
WAIT_SECONDS, POLL_SECONDS = 15.0, 0.2  # for somebody else who creates it now
Device = Literal["desktop", "tablet", "mobile"]


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


def create(
    store: Store, settings: Settings, project: str, actor: str, new: StudyIn, change: ChangeSettings
) -> Row:
    """Draft a study that leads to the project; the same token makes one study. Its row.

    `change` changes settings of a project: codes, reward and the id of the study.
    """
    reward = _hundredths(new.reward)
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
        client = Client()
        codes = _codes(store, settings, project, actor, new, change)
        made = _draft(client, settings, project, new, codes, is_repeated=known is not None)
    except (RequestError, ValueError):
        with store.writing() as c:  # another attempt need not wait
            prolific_studies.change(c, project, new.token, begun=0.0)
        raise
    with store.writing() as c:
        values = {"study": made.id, "title": made.name, "reward": made.reward, "places": made.places}
        prolific_studies.change(c, project, new.token, **values, currency=made.currency[:3])
        log_study(c, actor, "create study", project, made.id, places=made.places, reward=units(made.reward))
        row = prolific_studies.find(c, project, made.id)
    remember(store, settings, project, actor, made, change)
    return row


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


def _draft(
    client: Client, settings: Settings, project: str, new: StudyIn, codes: Codes, *, is_repeated: bool
) -> Study:
    """The draft on Prolific; if an earlier attempt has made it, that one."""
    draft = Draft(
        name=new.title, description=new.description, internal_name=f"crowdpilot-{project}-{new.token}",
        url=study_url(f"{settings.address}/w/{project}/prolific"), codes=codes, places=new.places,
        minutes=new.minutes, max_minutes=max(3 * new.minutes, new.minutes + 30),
        reward=_hundredths(new.reward), devices=new.devices, signed=new.signed,
    )  # fmt: skip
    made = prolific.find(client, draft.internal_name) if is_repeated else None
    return made or prolific.create(client, draft)


def _codes(
    store: Store, settings: Settings, project: str, actor: str, new: StudyIn, change: ChangeSettings
) -> Codes:
    """The completion codes of the project, which gets those that it has not."""
    with store.reading() as c:
        spec = projects.find(c, project).spec
    study = spec["prolific"] or {}
    names = ("code", "code_failed", "code_complete") if spec["quiz"] else ("code", "code_complete")
    missing = {name: f"C{secrets.token_hex(4).upper()}" for name in names if not study.get(name)}
    wanted = {**missing, "signed": new.signed}
    known = change(store, settings, project, actor, {"prolific": wanted}).spec["prolific"]
    return Codes(
        done=known["code"], failed=known["code_failed"], complete=known["code_complete"], approve=new.approve
    )


def _hundredths(amount: str) -> int:
    return int(Decimal(amount) * 100)
