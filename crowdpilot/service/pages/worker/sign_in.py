"""Doors: how workers come in from a link or a platform, the cookies that they keep, and the way back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from crowdpilot.service.errors import AuthenticationError, ForbiddenError, RequestError
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.sessions import Session, form_token, read_session, sign_session
from crowdpilot.service.platforms import Arrival, mturk, prolific
from crowdpilot.service.settings import Settings
from crowdpilot.service.signing import same, sign, unsign
from crowdpilot.service.store import workers
from crowdpilot.service.store.row import Record

SESSION, BACK = "worker_session", "back"  # cookies: the session, and where a platform wants its form


def session_of(request: Request) -> Session:
    """The session of who asks, by their cookie; refused with 401 if they have none for this project."""
    session = read_session(request.app.state.settings.secret, request.cookies.get(SESSION, ""))
    if session.project != request.path_params["project"]:
        raise AuthenticationError("the session belongs to another project; open the link to this one again")
    request.app.state.limits.check(("worker", session.worker), time.monotonic())
    return session


def token_of(request: Request, session: Session) -> str:
    """What the pages of a worker send along with whatever they post."""
    return form_token(request.app.state.settings.secret, session)


async def own_session(request: Request) -> Session:
    """The session of who posts from one of our own pages; refused with 403 if another page made them post."""
    session = session_of(request)
    given = request.headers.get("X-CSRF-Token") or (await request.form()).get("csrf")
    if not isinstance(given, str) or not same(given, token_of(request, session)):
        raise ForbiddenError("the page is out of date; load it again and repeat what you did")
    return session


def held_session(request: Request) -> Session | None:
    """The session of who asks, if they have one that is still good."""
    try:
        return session_of(request)
    except RequestError:
        return None


def enter(
    c: Connection, settings: Settings, project: Record, arrival: Arrival, held: Session | None
) -> Session:
    """A session for somebody who has arrived; a guest who comes again through the same link keeps theirs."""
    if held is not None and _is_guest(arrival.platform, arrival.external):
        worker = workers.find(c, project.id, held.worker)
        if worker.kind == arrival.kind and _is_guest(worker.platform, worker.external):
            return held._replace(expires=time.time() + settings.session_seconds)
    return onboarding.open_session(c, settings, project, arrival)


def _is_guest(platform: str, external: str | None) -> bool:
    return platform == "link" and external is not None and external.startswith("guest-")


def start_session(settings: Settings, session: Session, submit: str) -> Response:
    """Send a worker to their pages, with the cookies that they need there."""
    response = RedirectResponse(f"/w/{session.project}", 303, {"Cache-Control": "no-store"})
    _give(response, settings, session, SESSION, sign_session(settings.secret, session))
    if submit:
        _give(response, settings, session, BACK, sign(settings.secret, BACK, submit))
    return response


def _give(response: Response, settings: Settings, session: Session, name: str, value: str) -> None:
    """A cookie that no script reads, for the pages of one project; MTurk shows them in a frame of its own."""
    rules = "SameSite=Lax; Secure" if settings.secure else "SameSite=Lax"
    if settings.secure and session.platform == "mturk":
        rules = "SameSite=None; Secure; Partitioned"
    place = f"Path=/w/{session.project}; Max-Age={int(settings.session_seconds)}"
    response.headers.append("Set-Cookie", f"{name}={value}; {place}; HttpOnly; {rules}")


def way_back(request: Request, session: Session, spec: Mapping[str, Any], code: str) -> dict[str, Any] | None:
    """How a worker who has finished goes back to their platform, if they came from one."""
    if session.platform == "prolific":
        return {"kind": "link", "address": prolific.completion_url(code), "name": prolific.PLATFORM.title}
    if session.platform == "mturk":
        fields = mturk.form_fields(Arrival("mturk", str(session.worker), session.assignment), code)
        return {"kind": "form", "address": _submit(request, spec), "name": "MTurk", "fields": fields}
    return None


def _submit(request: Request, spec: Mapping[str, Any]) -> str:
    """Where MTurk wants the form: as it said on arrival, else as the project says."""
    try:
        return str(unsign(request.app.state.settings.secret, BACK, request.cookies.get(BACK, "")))
    except ValueError:
        return mturk.submit_url(mturk.ORIGINS[bool(spec["mturk"] and spec["mturk"]["sandbox"])])
