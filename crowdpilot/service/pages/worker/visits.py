"""Visits: what the routes of the worker pages share, from the session to the page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from crowdpilot.service.http.base_path import url
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.pages.languages import use_project
from crowdpilot.service.pages.rendering import page
from crowdpilot.service.pages.worker import progress, sign_in
from crowdpilot.service.pages.worker.progress import Visit

T = TypeVar("T")
SessionOf = Annotated[Session, Depends(sign_in.session_of)]
PostingSession = Annotated[Session, Depends(sign_in.posting_session)]


async def write(request: Request, function: Callable[[Connection], T]) -> T:
    """The result of a function in a write transaction, in a thread of its own."""

    def run() -> T:
        with request.app.state.store.writing() as c:
            return function(c)

    return await asyncio.to_thread(run)


async def read(request: Request, function: Callable[[Connection], T]) -> T:
    """The same in a read transaction."""

    def run() -> T:
        with request.app.state.store.reading() as c:
            return function(c)

    return await asyncio.to_thread(run)


async def visit(request: Request, session: Session) -> Visit:
    """The worker and the project of a session as they are now; the response is in the project's language."""
    token = sign_in.csrf_token(request, session)
    now = await read(request, lambda c: progress.visit(c, session, token))
    use_project(request.app, now.project.id, now.spec)
    return now


def show(now: Visit, template: str, **data: Any) -> Response:
    """A page of the worker."""
    common = {"name": now.project.name, "home": now.home, "csrf": now.token}
    return page(template, platform=now.platform, **common, **data)


def go(session: Session, where: str = "") -> Response:
    """Send the worker to another page of theirs."""
    return RedirectResponse(url(f"/w/{session.project}{where}"), 303, {"Cache-Control": "no-store"})
