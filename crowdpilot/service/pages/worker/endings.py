"""Endings: a share that is done, a study that is complete, and really nothing now; presence, break, code."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form, Request
from fastapi.responses import JSONResponse, Response

from crowdpilot.service.errors import ConflictError, NotReadyError, ServiceUnavailableError
from crowdpilot.service.http.auth import LabellingOf
from crowdpilot.service.labelling import finishing
from crowdpilot.service.labelling.assignment import outlook as outlooks
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.labelling.sessions import code_to_show
from crowdpilot.service.pages.worker import progress, sign_in
from crowdpilot.service.pages.worker.progress import Visit
from crowdpilot.service.pages.worker.status_messages import status_message, waiting_message
from crowdpilot.service.pages.worker.visits import PostingSession, SessionOf, go, show, visit, write
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import assignments

NO_STORE = {"Cache-Control": "no-store"}


async def ending(request: Request, now: Visit, labelling: LabellingService) -> Response | None:
    """The page of a worker for whom there is no work, as far as that is known without a look at the items."""
    stage = progress.stage(now)
    if stage == progress.FINISHED:
        return go(now.session, "/done")
    if stage in (progress.SHARE_DONE, progress.COMPLETE):
        outcome = assignments.DONE if stage == progress.SHARE_DONE else assignments.COMPLETE
        return await _end(request, now, labelling, outcome)
    if stage in (progress.BLOCKED, progress.FAILED, progress.PAUSED):
        return _message(now, status_message(stage, now))
    return None


async def ending_by_outlook(
    request: Request, now: Visit, labelling: LabellingService, *, then: str = ""
) -> Response | None:
    """The same by the campaign: None if there is work now; `then` is where a page that waits goes."""
    found = await labelling.outlook(now.session, now.wanted_items)
    if found.work == outlooks.NOW:
        return None
    if found.work == outlooks.LATER:
        return _message(now, waiting_message(now, found.seconds), then)
    complete = found.work == outlooks.COMPLETE
    return await _end(request, now, labelling, assignments.COMPLETE if complete else assignments.DONE)


def waiting(now: Visit) -> Response:
    """The page of a worker whose items somebody else has just got."""
    return _message(now, waiting_message(now, 0.0), "/label")


async def _end(request: Request, now: Visit, labelling: LabellingService, outcome: str) -> Response:
    """The completion code for those who have answered; who has not learns that the study is complete."""
    if now.labelled:
        await labelling.end(now.session, outcome)
        return go(now.session, "/done")
    await write(request, lambda c: assignments.set_outcome(c, now.session.assignment, assignments.COMPLETE))
    return _message(now, status_message("complete", now))


def _message(now: Visit, message: dict[str, Any], then: str = "") -> Response:
    return show(now, "worker/state.html", **message, look_at=f"{now.home}/look", then=f"{now.home}{then}")


async def look(session: SessionOf, request: Request, labelling: LabellingOf) -> Response:
    """Whether a page that waits for work has to wait on."""
    now = await visit(request, session)
    stage = progress.stage(now)
    is_waiting = stage == progress.PAUSED
    if stage in (progress.CONSENT, progress.QUIZ, progress.LABEL):
        is_waiting = (await labelling.outlook(session, now.wanted_items)).work == outlooks.LATER
    return JSONResponse({"wait": is_waiting}, headers=NO_STORE)


async def presence(
    session: PostingSession,
    labelling: LabellingOf,
    page: Annotated[str, Form(max_length=32, pattern="^[0-9a-f]*$")] = "",
    left: Annotated[str, Form(max_length=1)] = "",
) -> Response:
    """A sign of life of a labelling page, or the last one of a page that is closed."""
    if left:
        await labelling.leave(session, page)
        return Response(status_code=204)
    return JSONResponse({"held": await labelling.stay(session, page)}, headers=NO_STORE)


async def pause(session: PostingSession, labelling: LabellingOf) -> Response:
    """A worker takes a break; their leases end."""
    await labelling.release(session)
    return go(session, "/pause")


async def paused(session: SessionOf, request: Request, away: str = "") -> Response:
    """The page of a break, or of who was away for long."""
    now = await visit(request, session)
    if progress.stage(now) != progress.LABEL:
        return go(session)
    return _message(now, status_message("away" if away else "break", now))


async def finish(session: PostingSession, request: Request, labelling: LabellingOf) -> Response:
    """A worker finishes, unless an item has come free for them meanwhile: then they go on."""
    now = await visit(request, session)
    try:
        await labelling.finish(session, now.wanted_items)
    except ConflictError:
        return go(session, "/label")
    return go(session, "/done")


async def carry_on(session: PostingSession, request: Request) -> Response:
    """A worker whose share is done goes on."""
    await write(request, lambda c: finishing.carry_on(c, session))
    return go(session, "/label")


async def sign_out(session: PostingSession, request: Request) -> Response:
    """All sessions of a worker end, on whatever machine."""
    now = await visit(request, session)
    await write(request, lambda c: finishing.sign_out(c, session))
    page = _message(now, status_message("left", now))
    return sign_in.without_session(request.app.state.settings, session, page)


async def done(session: SessionOf, request: Request, labelling: LabellingOf) -> Response:
    """The completion code, for those who have finished."""
    now = await visit(request, session)
    if progress.stage(now) != progress.FINISHED:
        return go(session)
    code = code_to_show(request.app.state.settings.secret, session.project, now.assignment, now.spec)
    shown = {
        "code": code,
        "done": now.done,
        "back": sign_in.way_back(request, now, code),
        "complete": now.assignment.outcome == assignments.COMPLETE,
        "more": await _may_carry_on(now, labelling),
    }
    return show(now, "worker/done.html", **shown)


async def _may_carry_on(now: Visit, labelling: LabellingService) -> bool:
    """Whether more answers of a worker are wanted; on a platform the share is what was agreed."""
    if now.platform_name != "link" or now.project.state != projects.OPEN or now.project.done:
        return False
    try:
        return (await labelling.outlook(now.session, now.wanted_items)).work == outlooks.NOW
    except (NotReadyError, ServiceUnavailableError):
        return False  # the code is what counts
