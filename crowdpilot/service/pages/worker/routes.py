"""Routes of the worker pages: arrival, consent, instructions, quiz, labelling, break, completion code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import Connection

from crowdpilot.service.errors import ConflictError, UnsupportedMediaTypeError
from crowdpilot.service.http.auth import LabellingOf
from crowdpilot.service.http.base_path import url
from crowdpilot.service.labelling import finishing, onboarding
from crowdpilot.service.labelling.labelling_service import LeasedItem
from crowdpilot.service.labelling.sessions import Session, code_to_show
from crowdpilot.service.pages.rendering import page, render
from crowdpilot.service.pages.worker import progress, sign_in
from crowdpilot.service.pages.worker.progress import Visit
from crowdpilot.service.pages.worker.status_messages import status_message
from crowdpilot.service.platforms import PLATFORMS, Arrival
from crowdpilot.service.schemas import VoteIn
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row

T = TypeVar("T")
SessionOf = Annotated[Session, Depends(sign_in.session_of)]
PostingSession = Annotated[Session, Depends(sign_in.posting_session)]


def worker_pages() -> APIRouter:
    """The routes of the workers' pages."""
    routes = APIRouter(prefix="/w/{project}", include_in_schema=False)
    shown: dict[str, Callable[..., Any]] = {
        "": home, "/prolific": from_prolific, "/mturk": from_mturk, "/consent": consent,
        "/instructions": instructions, "/quiz": quiz, "/label": label, "/batch": batch, "/pause": paused,
        "/done": done,
    }  # fmt: skip
    posted: dict[str, Callable[..., Any]] = {
        "/consent": agree, "/quiz": answer_quiz, "/vote": vote, "/undo": undo, "/pause": pause,
        "/finish": finish, "/sign-out": sign_out,
    }  # fmt: skip
    for method, paths in (("GET", shown), ("POST", posted)):
        for path, route in paths.items():
            routes.add_api_route(path, route, methods=[method], response_model=None)
    return routes


async def _write(request: Request, write: Callable[[Connection], T]) -> T:
    def run() -> T:
        with request.app.state.store.writing() as c:
            return write(c)

    return await asyncio.to_thread(run)


async def _visit(request: Request, session: Session) -> Visit:
    def run() -> Visit:
        with request.app.state.store.reading() as c:
            return progress.visit(c, session, sign_in.csrf_token(request, session))

    return await asyncio.to_thread(run)


def _page(now: Visit, template: str, **data: Any) -> Response:
    common = {"name": now.project.name, "home": now.home, "csrf": now.token}
    return page(template, platform=now.platform, **common, **data)


def _go(session: Session, where: str = "") -> Response:
    return RedirectResponse(url(f"/w/{session.project}{where}"), 303, {"Cache-Control": "no-store"})


# Arrival ---------------------------------------------------------------------------------------


async def home(project: str, request: Request) -> Response:
    """The page that is next for a worker; with an invitation they come in first."""
    if "invite" in request.query_params:
        return await _arrive(project, request, "link")
    now = await _visit(request, sign_in.session_of(request))
    stage = progress.stage(now)
    if stage == progress.LABEL:
        return _go(now.session, "/label" if now.done else "/instructions")
    where = {progress.FINISHED: "/done", progress.CONSENT: "/consent", progress.QUIZ: "/instructions"}
    if stage in where:
        return _go(now.session, where[stage])
    return _page(now, "worker/state.html", **status_message(stage, now))


async def from_prolific(project: str, request: Request) -> Response:
    """Arrival of workers from Prolific."""
    return await _arrive(project, request, "prolific")


async def from_mturk(project: str, request: Request) -> Response:
    """Arrival of workers from MTurk; a preview of the HIT shows the instructions only."""
    return await _arrive(project, request, "mturk")


async def _arrive(project: str, request: Request, platform: str) -> Response:
    settings, current = request.app.state.settings, sign_in.current_session(request)

    def arrive(c: Connection) -> tuple[Row, Arrival, Session | None]:
        row = projects.find(c, project)
        arrival = onboarding.arrive(c, settings, row, platform, request.query_params)
        if arrival.preview:
            return row, arrival, None
        return row, arrival, sign_in.open_session(c, settings, row, arrival, current)

    row, arrival, session = await _write(request, arrive)
    if session is not None:
        return sign_in.redirect_with_session(settings, session, arrival.submit)
    shown = {"name": row.name, "home": f"/w/{project}", "csrf": "", **progress.instructions_data(row.spec)}
    return page("worker/instructions.html", platform=PLATFORMS[platform], **shown, start="", preview=True)


# Before the items -----------------------------------------------------------------------------


async def consent(session: SessionOf, request: Request) -> Response:
    """The text to agree to."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.CONSENT:
        return _go(session)
    shown = {"consent": now.spec["consent"], "version": onboarding.consent_version(now.spec)}
    return _page(now, "worker/consent.html", **progress.instructions_data(now.spec), **shown)


async def agree(
    session: PostingSession, request: Request, version: Annotated[str, Form()], agree: Annotated[str, Form()]
) -> Response:
    """A worker agrees to the text they saw, or does not."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.CONSENT or version != onboarding.consent_version(now.spec):
        return _go(session)
    if agree != "yes":
        return _page(now, "worker/state.html", **status_message("declined", now))
    await _write(request, lambda c: onboarding.agree(c, session, now.spec))
    return _go(session)


async def instructions(session: SessionOf, request: Request) -> Response:
    """What to do, with examples."""
    now = await _visit(request, session)
    stage = progress.stage(now)
    if stage not in (progress.QUIZ, progress.LABEL):
        return _go(session)
    return _page(
        now, "worker/instructions.html", **progress.instructions_data(now.spec), start=stage, preview=False
    )


async def quiz(session: SessionOf, request: Request) -> Response:
    """The quiz."""
    now = await _visit(request, session)
    return _quiz(now, None) if progress.stage(now) == progress.QUIZ else _go(session)


def _quiz(now: Visit, right: int | None) -> Response:
    shown = {
        "quiz": progress.quiz_questions(now.spec),
        "needed": onboarding.quiz_pass_mark(now.spec),
        "right": right,
    }
    left = now.spec["quiz_tries"] - now.worker.tries
    return _page(now, "worker/quiz.html", **progress.instructions_data(now.spec), **shown, left=left)


async def answer_quiz(session: PostingSession, request: Request) -> Response:
    """A try at the quiz."""
    now, form = await _visit(request, session), await request.form()
    if progress.stage(now) != progress.QUIZ:
        return _go(session)
    labels = [str(form.get(f"answer-{n}", "")) for n in range(len(now.spec["quiz"]))]
    await _write(request, lambda c: onboarding.take_quiz(c, session, now.spec, labels))
    after = await _visit(request, session)
    if (stage := progress.stage(after)) != progress.QUIZ:
        return _go(session, "/label" if stage == progress.LABEL else "")
    return _quiz(after, onboarding.quiz_score(now.spec, labels))


# The items ------------------------------------------------------------------------------------


async def label(session: SessionOf, request: Request, labelling: LabellingOf) -> Response:
    """One item at a time, from a batch that is in the page."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.LABEL:
        return _go(session)
    lent = await labelling.lease(session, now.spec["batch"])
    if not lent:
        return _page(now, "worker/state.html", **status_message("nothing", now))
    shown = {"done": now.done, "needed": now.needed, **progress.instructions_data(now.spec)}
    return _page(now, "worker/label.html", items=lent, **shown)


def _items(now: Visit, lent: list[LeasedItem]) -> Response:
    html = render("worker/items.html", items=lent, questions=progress.questions(now.spec))
    return HTMLResponse(html, headers={"Cache-Control": "no-store"})


async def batch(session: SessionOf, request: Request, labelling: LabellingOf) -> Response:
    """Items for the labelling page, which leaves out those that it has."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.LABEL:
        raise ConflictError("load the page again to see how it goes on")
    return _items(now, await labelling.lease(session, now.spec["batch"]))


async def vote(session: PostingSession, request: Request, labelling: LabellingOf, body: VoteIn) -> Response:
    """Record an answer; the response comes when it is committed."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise UnsupportedMediaTypeError("send the answer as application/json")
    await labelling.vote(session, body)
    return Response(status_code=204)


async def undo(session: PostingSession, request: Request, labelling: LabellingOf) -> Response:
    """Undo the last answer; a script gets the item, a form the page with it."""
    lent = await labelling.undo(session)
    if "X-CSRF-Token" not in request.headers:
        return _go(session, "/label")
    return _items(await _visit(request, session), [lent])


# Break and end ---------------------------------------------------------------------------------


async def pause(session: PostingSession, labelling: LabellingOf) -> Response:
    """A worker takes a break; their leases end."""
    await labelling.release(session)
    return _go(session, "/pause")


async def paused(session: SessionOf, request: Request) -> Response:
    """The page of a break."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.LABEL:
        return _go(session)
    return _page(now, "worker/state.html", **status_message("away", now))


async def finish(session: PostingSession, labelling: LabellingOf) -> Response:
    """A worker finishes."""
    await labelling.finish(session)
    return _go(session, "/done")


async def sign_out(session: PostingSession, request: Request) -> Response:
    """All sessions of a worker end, on whatever machine."""
    now = await _visit(request, session)
    await _write(request, lambda c: finishing.sign_out(c, session))
    return sign_in.without_session(
        request.app.state.settings, session, _page(now, "worker/state.html", **status_message("left", now))
    )


async def done(session: SessionOf, request: Request) -> Response:
    """The completion code, for those who have finished."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.FINISHED:
        return _go(session)
    code = code_to_show(request.app.state.settings.secret, session.project, now.assignment, now.spec)
    back = sign_in.way_back(request, now, code)
    return _page(now, "worker/done.html", code=code, done=now.done, back=back)
