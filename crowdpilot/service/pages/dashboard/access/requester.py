"""The requester who is signed in to the dashboard, and what they may do: dependencies of its routes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.datastructures import FormData

from crowdpilot.service import access
from crowdpilot.service.errors import ForbiddenError, RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf
from crowdpilot.service.http.base_path import url
from crowdpilot.service.pages.dashboard.access.sessions import (
    SESSION_SECONDS,
    csrf_token,
    is_csrf_token,
    read_session,
)
from crowdpilot.service.pages.rendering import page
from crowdpilot.service.signing import TokenError
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.requesters import keys, sessions

SESSION_COOKIE = "session"
MAX_FILES_PER_FORM, MAX_FIELDS_PER_FORM = 5000, 3000
STALE_PAGE = "the page is out of date; load it again and repeat what you did"


class SignInRequiredError(Exception):
    """The sender is not signed in, or not any more."""


class Requester(NamedTuple):
    """Somebody who is signed in, and looks at a project or at none.

    Parameters
    ----------
    access
        Who they are, and the most that their key allows.
    session
        The id of their session.
    csrf
        The CSRF token of the session.
    right
        The most that they may do in the project that the page is about; the scope of the key otherwise.
    """

    access: access.Requester
    session: str
    csrf: str
    right: str

    @property
    def id(self) -> str:
        """What the log of actions calls them."""
        return self.access.actor

    @property
    def name(self) -> str:
        """The name of the member."""
        return self.access.name

    @property
    def labels(self) -> bool:
        """Whether they may run the labelling: workers, links, stopping items."""
        return access.allows(self.right, access.LABEL_OPS)

    @property
    def writes(self) -> bool:
        """Whether they may change projects."""
        return access.allows(self.right, access.WRITE)

    @property
    def admin(self) -> bool:
        """Whether they may change members and keys."""
        return access.allows(self.right, access.ADMIN)

    @property
    def operator(self) -> bool:
        """Whether they may administer the whole service."""
        return access.is_operator(self.access)

    @property
    def manages_keys(self) -> bool:
        """Whether they may make and revoke keys."""
        return self.access.has(access.ADMIN) and self.access.projects is None


class DashboardRoute(APIRoute):
    """A route of the dashboard: who is not signed in is sent to do so, and errors are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def respond(request: Request) -> Response:
            try:
                return await handle(request)
            except SignInRequiredError:
                if "hx-request" in request.headers:
                    return Response(status_code=204, headers={"HX-Redirect": url("/login")})
                back = f"?next={quote(request.url.path)}" if request.method == "GET" else ""
                return go(f"/login{back}")
            except RequestError as error:
                if "text/html" not in request.headers.get("accept", ""):
                    raise
                return page("dashboard/error.html", error.status, words=str(error))

        return respond


def signed_in(request: Request, store: StoreOf, settings: SettingsOf) -> Requester:
    """The requester of the session cookie, who may read the project of the page if it is about one."""
    try:
        id = read_session(settings.secret, request.cookies.get(SESSION_COOKIE, ""))
    except TokenError:
        raise SignInRequiredError from None
    project = request.path_params.get("id")
    with store.reading() as c:
        session = sessions.find(c, id, SESSION_SECONDS)
        key = None if session is None or session.key is None else keys.find_by_id(c, session.key)
        if session is None or (session.key is not None and key is None):
            raise SignInRequiredError
        who = access.requester_of_key(key) if key is not None else _member(session)
        right = who.scope if project is None else access.check(c, who, project, access.READ)
    return Requester(who, id, csrf_token(settings.secret, id), right)


def _member(session: Row) -> access.Requester:
    """A member who signed in without a key, and so may do whatever their roles allow."""
    return access.Requester(
        session.member, session.name, session.operator, access.ADMIN, None, session.member
    )


Reading = Annotated[Requester, Depends(signed_in)]


async def read_form(request: Request) -> AsyncIterator[FormData]:
    """The form of a request, with its files."""
    async with request.form(max_files=MAX_FILES_PER_FORM, max_fields=MAX_FIELDS_PER_FORM) as form:
        yield form


Form = Annotated[FormData, Depends(read_form)]


def posting(request: Request, requester: Reading, form: Form, settings: SettingsOf) -> Requester:
    """A requester who posts a form of our own pages; a `ForbiddenError` without its CSRF token."""
    token = request.headers.get("X-CSRF-Token") or form.get("csrf")
    if not isinstance(token, str) or not is_csrf_token(settings.secret, requester.session, token):
        raise ForbiddenError(STALE_PAGE)
    return requester


def may(scope: str, requester: Requester) -> Requester:
    """The same requester; a `ForbiddenError` if they may not do this."""
    if not access.allows(requester.right, scope):
        raise ForbiddenError(f"your right here is {requester.right}, and this needs {scope}; ask its owner")
    return requester


def labelling(requester: Annotated[Requester, Depends(posting)]) -> Requester:
    """A requester who posts a form and may run the labelling."""
    return may(access.LABEL_OPS, requester)


def writing(requester: Annotated[Requester, Depends(posting)]) -> Requester:
    """A requester who posts a form and may change the project."""
    return may(access.WRITE, requester)


def reading_as_admin(requester: Reading) -> Requester:
    """A requester who may see keys and members."""
    return may(access.ADMIN, requester)


def posting_as_admin(requester: Annotated[Requester, Depends(posting)]) -> Requester:
    """A requester who posts a form and may change keys and members."""
    return may(access.ADMIN, requester)


Posting = Annotated[Requester, Depends(posting)]
Labelling = Annotated[Requester, Depends(labelling)]
Writing = Annotated[Requester, Depends(writing)]
ReadingAsAdmin = Annotated[Requester, Depends(reading_as_admin)]
PostingAsAdmin = Annotated[Requester, Depends(posting_as_admin)]


def go(where: str) -> Response:
    """Send somebody to another page, such as after a change."""
    return RedirectResponse(url(where), 303, {"Cache-Control": "no-store"})
