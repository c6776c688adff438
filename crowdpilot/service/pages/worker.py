"""Pages of workers: consent, instructions, quiz, items, completion code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import Connection

from crowdpilot.service import reception
from crowdpilot.service.api.auth import DeskOf
from crowdpilot.service.api.models import VoteIn
from crowdpilot.service.desk import Lent
from crowdpilot.service.pages import doors, journey
from crowdpilot.service.pages.journey import Visit
from crowdpilot.service.pages.rendering import page, render
from crowdpilot.service.pages.states import state
from crowdpilot.service.platforms import PLATFORMS, Arrival
from crowdpilot.service.refusals import Refused
from crowdpilot.service.seats import Seat, code_to_show
from crowdpilot.service.store import projects, votes
from crowdpilot.service.store.record import Record

T = TypeVar("T")
SeatOf = Annotated[Seat, Depends(doors.seat_of)]
OwnSeat = Annotated[Seat, Depends(doors.own_seat)]  # of who posts from our own pages


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


async def _visit(request: Request, seat: Seat) -> Visit:
    def run() -> Visit:
        with request.app.state.store.reading() as c:
            return journey.visit(c, seat, doors.token_of(request, seat))

    return await asyncio.to_thread(run)


def _page(now: Visit, template: str, **data: Any) -> Response:
    common = {"name": now.project.name, "home": now.home, "csrf": now.token}
    return page(template, platform=now.platform, **common, **data)


def _go(seat: Seat, where: str = "") -> Response:
    return RedirectResponse(f"/w/{seat.project}{where}", 303, {"Cache-Control": "no-store"})


# Coming in ------------------------------------------------------------------------------------


async def home(project: str, request: Request) -> Response:
    """The page that is next for a worker; with an invitation they come in first."""
    if "invite" in request.query_params:
        return await _arrive(project, request, "link")
    now = await _visit(request, doors.seat_of(request))
    stage = journey.stage(now)
    if stage == journey.LABEL:
        return _go(now.seat, "/label" if now.done else "/instructions")
    where = {journey.FINISHED: "/done", journey.CONSENT: "/consent", journey.QUIZ: "/instructions"}
    if stage in where:
        return _go(now.seat, where[stage])
    return _page(now, "worker/state.html", **state(stage, now))


async def from_prolific(project: str, request: Request) -> Response:
    """The door for workers of Prolific."""
    return await _arrive(project, request, "prolific")


async def from_mturk(project: str, request: Request) -> Response:
    """The door for workers of MTurk; who has not accepted the HIT sees the instructions only."""
    return await _arrive(project, request, "mturk")


async def _arrive(project: str, request: Request, platform: str) -> Response:
    settings, held = request.app.state.settings, doors.held_seat(request)

    def come(c: Connection) -> tuple[Record, Arrival, Seat | None]:
        row = projects.find(c, project)
        arrival = reception.arrive(settings, row, platform, request.query_params)
        return row, arrival, None if arrival.preview else doors.enter(c, settings, row, arrival, held)

    row, arrival, seat = await _write(request, come)
    if seat is not None:
        return doors.seated(settings, seat, arrival.submit)
    shown = {"name": row.name, "home": f"/w/{project}", "csrf": "", **journey.taught(row.spec)}
    return page("worker/instructions.html", platform=PLATFORMS[platform], **shown, start="", preview=True)


# Before the items -----------------------------------------------------------------------------


async def consent(seat: SeatOf, request: Request) -> Response:
    """The text to agree to."""
    now = await _visit(request, seat)
    if journey.stage(now) != journey.CONSENT:
        return _go(seat)
    version = reception.consent_version(now.spec)
    return _page(now, "worker/consent.html", **journey.taught(now.spec), consent=now.spec["consent"],
                 version=version)  # fmt: skip


async def agree(
    seat: OwnSeat, request: Request, version: Annotated[str, Form()], agree: Annotated[str, Form()]
) -> Response:
    """A worker agrees to the text they saw, or does not."""
    now = await _visit(request, seat)
    if journey.stage(now) != journey.CONSENT or version != reception.consent_version(now.spec):
        return _go(seat)
    if agree != "yes":
        return _page(now, "worker/state.html", **state("declined", now))
    await _write(request, lambda c: reception.agree(c, seat, now.spec))
    return _go(seat)


async def instructions(seat: SeatOf, request: Request) -> Response:
    """What to do, with examples."""
    now = await _visit(request, seat)
    stage = journey.stage(now)
    if stage not in (journey.QUIZ, journey.LABEL):
        return _go(seat)
    return _page(now, "worker/instructions.html", **journey.taught(now.spec), start=stage, preview=False)


async def quiz(seat: SeatOf, request: Request) -> Response:
    """The quiz."""
    now = await _visit(request, seat)
    return _quiz(now, None) if journey.stage(now) == journey.QUIZ else _go(seat)


def _quiz(now: Visit, right: int | None) -> Response:
    shown = {"quiz": journey.quiz(now.spec), "needed": journey.needed(now.spec), "right": right}
    left = now.spec["quiz_tries"] - now.worker.tries
    return _page(now, "worker/quiz.html", **journey.taught(now.spec), **shown, left=left)


async def answer_quiz(seat: OwnSeat, request: Request) -> Response:
    """A try at the quiz."""
    now, form = await _visit(request, seat), await request.form()
    if journey.stage(now) != journey.QUIZ:
        return _go(seat)
    labels = [str(form.get(f"answer-{n}", "")) for n in range(len(now.spec["quiz"]))]
    await _write(request, lambda c: reception.take_quiz(c, seat, now.spec, labels))
    after = await _visit(request, seat)
    if (stage := journey.stage(after)) != journey.QUIZ:
        return _go(seat, "/label" if stage == journey.LABEL else "")
    return _quiz(after, journey.count_right(now.spec, labels))


# The items ------------------------------------------------------------------------------------


async def label(seat: SeatOf, request: Request, desk: DeskOf) -> Response:
    """One item at a time, from a batch that is in the page."""
    now = await _visit(request, seat)
    if journey.stage(now) != journey.LABEL:
        return _go(seat)
    lent = await desk.next(seat, now.spec["batch"])
    if not lent:
        return _page(now, "worker/state.html", **state("nothing", now))
    return _page(now, "worker/label.html", items=lent, done=now.done, **journey.taught(now.spec))


def _items(now: Visit, lent: list[Lent]) -> Response:
    text = render("worker/items.html", items=lent, questions=journey.questions(now.spec))
    return HTMLResponse(text, headers={"Cache-Control": "no-store"})


async def batch(seat: SeatOf, request: Request, desk: DeskOf) -> Response:
    """Items for the labelling page, which leaves out those that it has."""
    now = await _visit(request, seat)
    if journey.stage(now) != journey.LABEL:
        raise Refused(409, "load the page again to see how it goes on")
    return _items(now, await desk.next(seat, now.spec["batch"]))


async def vote(seat: OwnSeat, request: Request, desk: DeskOf, given: VoteIn) -> Response:
    """Take an answer; the reply comes when it is safe."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415, "send the answer as application/json")
    said = None if given.label is None else desk.label(seat.project, given.label)
    answer = votes.Answer(seat.worker, given.item, given.criterion, said, given.seconds, given.key)
    await desk.vote(seat, answer)
    return Response(status_code=204)


async def undo(seat: OwnSeat, request: Request, desk: DeskOf) -> Response:
    """Take the last answer back; a script gets the item, a form the page with it."""
    lent = await desk.undo(seat)
    if "X-CSRF-Token" not in request.headers:
        return _go(seat, "/label")
    return _items(await _visit(request, seat), [lent])


# Going ----------------------------------------------------------------------------------------


async def pause(seat: OwnSeat, request: Request) -> Response:
    """A worker goes for a while; what they hold goes to others."""
    await _write(request, lambda c: votes.give_back(c, seat.project, seat.worker))
    return _go(seat, "/pause")


async def paused(seat: SeatOf, request: Request) -> Response:
    """How to come back."""
    now = await _visit(request, seat)
    if journey.stage(now) != journey.LABEL:
        return _go(seat)
    return _page(now, "worker/state.html", **state("away", now))


async def finish(seat: OwnSeat, desk: DeskOf) -> Response:
    """A worker has done enough."""
    await desk.finish(seat)
    return _go(seat, "/done")


async def done(seat: SeatOf, request: Request) -> Response:
    """The completion code, for those who have finished."""
    now = await _visit(request, seat)
    if journey.stage(now) != journey.FINISHED:
        return _go(seat)
    code = code_to_show(request.app.state.settings.secret, seat, now.spec)
    back = doors.way_back(request, seat, now.spec, code)
    return _page(now, "worker/done.html", code=code, done=now.done, back=back)
