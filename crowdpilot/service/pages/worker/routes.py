"""Pages of workers: consent, instructions, quiz, items, completion code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import Connection

from crowdpilot.service.errors import ConflictError, UnsupportedMediaTypeError
from crowdpilot.service.http.auth import LabellingOf
from crowdpilot.service.http.schemas import VoteIn
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.labelling_service import Lent
from crowdpilot.service.labelling.sessions import Session, code_to_show
from crowdpilot.service.pages.rendering import page, render
from crowdpilot.service.pages.worker import progress, sign_in
from crowdpilot.service.pages.worker.progress import Visit
from crowdpilot.service.pages.worker.status_messages import state
from crowdpilot.service.platforms import PLATFORMS, Arrival
from crowdpilot.service.store import projects, votes
from crowdpilot.service.store.row import Record

T = TypeVar("T")
SessionOf = Annotated[Session, Depends(sign_in.session_of)]
OwnSession = Annotated[Session, Depends(sign_in.own_session)]  # of who posts from our own pages


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
        "/finish": finish,
    }  # fmt: skip
    for method, found in (("GET", shown), ("POST", posted)):
        for path, route in found.items():
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
            return progress.visit(c, session, sign_in.token_of(request, session))

    return await asyncio.to_thread(run)


def _page(now: Visit, template: str, **data: Any) -> Response:
    common = {"name": now.project.name, "home": now.home, "csrf": now.token}
    return page(template, platform=now.platform, **common, **data)


def _go(session: Session, where: str = "") -> Response:
    return RedirectResponse(f"/w/{session.project}{where}", 303, {"Cache-Control": "no-store"})


# Coming in ------------------------------------------------------------------------------------


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
    return _page(now, "worker/state.html", **state(stage, now))


async def from_prolific(project: str, request: Request) -> Response:
    """The door for workers of Prolific."""
    return await _arrive(project, request, "prolific")


async def from_mturk(project: str, request: Request) -> Response:
    """The door for workers of MTurk; who has not accepted the HIT sees the instructions only."""
    return await _arrive(project, request, "mturk")


async def _arrive(project: str, request: Request, platform: str) -> Response:
    settings, held = request.app.state.settings, sign_in.held_session(request)

    def come(c: Connection) -> tuple[Record, Arrival, Session | None]:
        row = projects.find(c, project)
        arrival = onboarding.arrive(settings, row, platform, request.query_params)
        return row, arrival, None if arrival.preview else sign_in.enter(c, settings, row, arrival, held)

    row, arrival, session = await _write(request, come)
    if session is not None:
        return sign_in.start_session(settings, session, arrival.submit)
    shown = {"name": row.name, "home": f"/w/{project}", "csrf": "", **progress.taught(row.spec)}
    return page("worker/instructions.html", platform=PLATFORMS[platform], **shown, start="", preview=True)


# Before the items -----------------------------------------------------------------------------


async def consent(session: SessionOf, request: Request) -> Response:
    """The text to agree to."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.CONSENT:
        return _go(session)
    version = onboarding.consent_version(now.spec)
    return _page(now, "worker/consent.html", **progress.taught(now.spec), consent=now.spec["consent"],
                 version=version)  # fmt: skip


async def agree(
    session: OwnSession, request: Request, version: Annotated[str, Form()], agree: Annotated[str, Form()]
) -> Response:
    """A worker agrees to the text they saw, or does not."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.CONSENT or version != onboarding.consent_version(now.spec):
        return _go(session)
    if agree != "yes":
        return _page(now, "worker/state.html", **state("declined", now))
    await _write(request, lambda c: onboarding.agree(c, session, now.spec))
    return _go(session)


async def instructions(session: SessionOf, request: Request) -> Response:
    """What to do, with examples."""
    now = await _visit(request, session)
    stage = progress.stage(now)
    if stage not in (progress.QUIZ, progress.LABEL):
        return _go(session)
    return _page(now, "worker/instructions.html", **progress.taught(now.spec), start=stage, preview=False)


async def quiz(session: SessionOf, request: Request) -> Response:
    """The quiz."""
    now = await _visit(request, session)
    return _quiz(now, None) if progress.stage(now) == progress.QUIZ else _go(session)


def _quiz(now: Visit, right: int | None) -> Response:
    shown = {"quiz": progress.quiz(now.spec), "needed": progress.needed(now.spec), "right": right}
    left = now.spec["quiz_tries"] - now.worker.tries
    return _page(now, "worker/quiz.html", **progress.taught(now.spec), **shown, left=left)


async def answer_quiz(session: OwnSession, request: Request) -> Response:
    """A try at the quiz."""
    now, form = await _visit(request, session), await request.form()
    if progress.stage(now) != progress.QUIZ:
        return _go(session)
    labels = [str(form.get(f"answer-{n}", "")) for n in range(len(now.spec["quiz"]))]
    await _write(request, lambda c: onboarding.take_quiz(c, session, now.spec, labels))
    after = await _visit(request, session)
    if (stage := progress.stage(after)) != progress.QUIZ:
        return _go(session, "/label" if stage == progress.LABEL else "")
    return _quiz(after, progress.count_right(now.spec, labels))


# The items ------------------------------------------------------------------------------------


async def label(session: SessionOf, request: Request, labelling: LabellingOf) -> Response:
    """One item at a time, from a batch that is in the page."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.LABEL:
        return _go(session)
    lent = await labelling.next(session, now.spec["batch"])
    if not lent:
        return _page(now, "worker/state.html", **state("nothing", now))
    return _page(now, "worker/label.html", items=lent, done=now.done, **progress.taught(now.spec))


def _items(now: Visit, lent: list[Lent]) -> Response:
    text = render("worker/items.html", items=lent, questions=progress.questions(now.spec))
    return HTMLResponse(text, headers={"Cache-Control": "no-store"})


async def batch(session: SessionOf, request: Request, labelling: LabellingOf) -> Response:
    """Items for the labelling page, which leaves out those that it has."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.LABEL:
        raise ConflictError("load the page again to see how it goes on")
    return _items(now, await labelling.next(session, now.spec["batch"]))


async def vote(session: OwnSession, request: Request, labelling: LabellingOf, given: VoteIn) -> Response:
    """Take an answer; the reply comes when it is safe."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise UnsupportedMediaTypeError("send the answer as application/json")
    said = None if given.label is None else labelling.label(session.project, given.label)
    answer = votes.Answer(session.worker, given.item, given.criterion, said, given.seconds, given.key)
    await labelling.vote(session, answer)
    return Response(status_code=204)


async def undo(session: OwnSession, request: Request, labelling: LabellingOf) -> Response:
    """Take the last answer back; a script gets the item, a form the page with it."""
    lent = await labelling.undo(session)
    if "X-CSRF-Token" not in request.headers:
        return _go(session, "/label")
    return _items(await _visit(request, session), [lent])


# Going ----------------------------------------------------------------------------------------


async def pause(session: OwnSession, request: Request) -> Response:
    """A worker goes for a while; what they hold goes to others."""
    await _write(request, lambda c: votes.give_back(c, session.project, session.worker))
    return _go(session, "/pause")


async def paused(session: SessionOf, request: Request) -> Response:
    """How to come back."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.LABEL:
        return _go(session)
    return _page(now, "worker/state.html", **state("away", now))


async def finish(session: OwnSession, labelling: LabellingOf) -> Response:
    """A worker has done enough."""
    await labelling.finish(session)
    return _go(session, "/done")


async def done(session: SessionOf, request: Request) -> Response:
    """The completion code, for those who have finished."""
    now = await _visit(request, session)
    if progress.stage(now) != progress.FINISHED:
        return _go(session)
    code = code_to_show(request.app.state.settings.secret, session, now.spec)
    back = sign_in.way_back(request, session, now.spec, code)
    return _page(now, "worker/done.html", code=code, done=now.done, back=back)
