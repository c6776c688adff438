"""Sign-in of workers from a link or a platform: session cookies, CSRF tokens, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from crowdpilot.service.errors import AuthenticationError, ForbiddenError, RequestError
from crowdpilot.service.http.auth import check_worker_rate
from crowdpilot.service.http.base_path import url
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.sessions import (
    Session,
    form_token,
    is_form_token,
    read_session,
    sign_session,
)
from crowdpilot.service.pages.worker.progress import Visit
from crowdpilot.service.platforms import Arrival, mturk_external_question, prolific
from crowdpilot.service.settings import Settings
from crowdpilot.service.signing import TokenError, sign, unsign
from crowdpilot.service.store.arrivals import assignments
from crowdpilot.service.store.engine import Row

SESSION_COOKIE, SUBMIT_COOKIE = "worker_session", "submit_to"  # the session; where MTurk takes its form


def session_of(request: Request) -> Session:
    """The session of the worker's cookie; an `AuthenticationError` if there is none for this project."""
    settings: Settings = request.app.state.settings
    session = read_session(settings.secret, request.cookies.get(SESSION_COOKIE, ""), settings.session_seconds)
    if session.project != request.path_params["project"]:
        raise AuthenticationError("the session belongs to another project; open the link to this one again")
    check_worker_rate(request, session)
    return session


def csrf_token(request: Request, session: Session) -> str:
    """What the pages of a worker send along with whatever they post."""
    return form_token(request.app.state.settings.secret, session)


async def posting_session(request: Request) -> Session:
    """The session of a worker who posts from our own pages; a `ForbiddenError` without the CSRF token."""
    session = session_of(request)
    token = request.headers.get("X-CSRF-Token") or (await request.form()).get("csrf")
    if not isinstance(token, str) or not is_form_token(request.app.state.settings.secret, session, token):
        raise ForbiddenError("the page is out of date; load it again and repeat what you did")
    return session


def current_session(request: Request) -> Session | None:
    """The session of the worker's cookie, if it is still valid."""
    try:
        return session_of(request)
    except RequestError:
        return None


def kept_session(c: Connection, project: Row, arrival: Arrival, current: Session | None) -> Session | None:
    """The session of a guest who comes again through the same link, if they are one."""
    if current is None or not arrival.guest:
        return None
    worker = assignments.find_many(c, project.id, [current.assignment]).get(current.assignment)
    is_same = worker is not None and (worker.id, worker.nonce) == (current.worker, current.nonce)
    return current if worker and is_same and worker.guest and worker.kind == arrival.kind else None


def open_session(
    c: Connection, settings: Settings, project: Row, arrival: Arrival, current: Session | None
) -> Session:
    """A session for a worker who has arrived; a guest who comes again through the same link keeps theirs."""
    kept = kept_session(c, project, arrival, current)
    return kept or onboarding.open_session(c, settings, project, arrival)


def redirect_with_session(settings: Settings, session: Session, submit: str) -> Response:
    """Send a worker to their pages, with the session in a cookie, signed anew."""
    response = RedirectResponse(url(f"/w/{session.project}"), 303, {"Cache-Control": "no-store"})
    _set_cookie(response, settings, session, SESSION_COOKIE, sign_session(settings.secret, session))
    if submit:
        _set_cookie(response, settings, session, SUBMIT_COOKIE, sign(settings.secret, SUBMIT_COOKIE, submit))
    return response


def _set_cookie(
    response: Response,
    settings: Settings,
    session: Session,
    name: str,
    value: str,
    max_age_seconds: float | None = None,
) -> None:
    """A cookie that no script reads, for the pages of one project; MTurk shows them in a frame of its own."""
    rules = "SameSite=Lax; Secure" if settings.secure else "SameSite=Lax"
    if settings.secure and session.platform == "mturk":
        rules = "SameSite=None; Secure; Partitioned"
    age = settings.session_seconds if max_age_seconds is None else max_age_seconds
    scope = f"Path={settings.base}/w/{session.project}; Max-Age={int(age)}"
    response.headers.append("Set-Cookie", f"{name}={value}; {scope}; HttpOnly; {rules}")


def without_session(settings: Settings, session: Session, response: Response) -> Response:
    """The same response, which deletes the cookies of a session."""
    for name in (SESSION_COOKIE, SUBMIT_COOKIE):
        _set_cookie(response, settings, session, name, "", max_age_seconds=0)
    return response


def way_back(request: Request, now: Visit, code: str) -> dict[str, Any] | None:
    """How a worker who has finished goes back to their platform, if they came from one."""
    if now.session.platform == "prolific":
        return {"kind": "link", "address": prolific.completion_url(code), "name": prolific.PLATFORM.title}
    if now.session.platform == "mturk":
        arrival = Arrival("mturk", str(now.session.worker), now.assignment.external)
        fields = mturk_external_question.form_fields(arrival, code)
        return {"kind": "form", "address": _submit_url(request, now.spec), "name": "MTurk", "fields": fields}
    return None


def _submit_url(request: Request, spec: Mapping[str, Any]) -> str:
    """Where MTurk takes the form: as given on arrival, else as the project says."""
    try:
        token = request.cookies.get(SUBMIT_COOKIE, "")
        return str(unsign(request.app.state.settings.secret, SUBMIT_COOKIE, token))
    except TokenError:
        return mturk_external_question.submit_url(
            mturk_external_question.ORIGINS[bool(spec["mturk"] and spec["mturk"]["sandbox"])]
        )
