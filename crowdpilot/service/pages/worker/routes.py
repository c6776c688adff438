"""Routes of the worker pages: consent, instructions, quiz and labelling; arrival and endings beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, Response

from crowdpilot.service.errors import ConflictError, UnsupportedMediaTypeError
from crowdpilot.service.http.auth import LabellingOf
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.assignment.presence import stay_seconds
from crowdpilot.service.labelling.labelling_service import LeasedItem
from crowdpilot.service.pages.rendering import render
from crowdpilot.service.pages.worker import arrival, endings, progress, sign_in
from crowdpilot.service.pages.worker.comments import comment
from crowdpilot.service.pages.worker.progress import Visit
from crowdpilot.service.pages.worker.status_messages import status_message
from crowdpilot.service.pages.worker.visits import (
    PostingSession,
    SessionOf,
    go,
    read,
    show,
    visit,
    write,
)
from crowdpilot.service.schemas import VoteIn

NO_BATCH = progress.SHARE_DONE, progress.FINISHED, progress.COMPLETE, progress.PAUSED  # but no error either


def worker_pages() -> APIRouter:
    """The routes of the workers' pages."""
    routes = APIRouter(prefix="/w/{project}", include_in_schema=False)
    shown: dict[str, Callable[..., Any]] = {
        "": home, "/prolific": arrival.from_prolific, "/mturk": arrival.from_mturk, "/consent": consent,
        "/instructions": instructions, "/quiz": quiz, "/label": label, "/batch": batch,
        "/pause": endings.paused, "/look": endings.look, "/done": endings.done,
    }  # fmt: skip
    posted: dict[str, Callable[..., Any]] = {
        "/consent": agree, "/quiz": answer_quiz, "/vote": vote, "/comment": comment, "/undo": undo,
        "/presence": endings.presence, "/pause": endings.pause, "/finish": endings.finish,
        "/carry-on": endings.carry_on, "/sign-out": endings.sign_out,
    }  # fmt: skip
    for method, paths in (("GET", shown), ("POST", posted)):
        for path, route in paths.items():
            routes.add_api_route(path, route, methods=[method], response_model=None)
    return routes


async def home(project: str, request: Request, labelling: LabellingOf) -> Response:
    """The page that is next for a worker; with an invitation they come in first."""
    if "invite" in request.query_params:
        return await arrival.arrive(project, request, labelling, "link")
    now = await visit(request, sign_in.session_of(request))
    ended = await endings.ending(request, now, labelling)
    if ended is None and not now.done:  # before they read the consent text and take the quiz
        ended = await endings.ending_by_outlook(request, now, labelling)
    if ended is not None:
        return ended
    stage = progress.stage(now)
    if stage == progress.LABEL and now.done:
        return go(now.session, "/label")
    return go(now.session, "/consent" if stage == progress.CONSENT else "/instructions")


# Before the items -----------------------------------------------------------------------------


async def consent(session: SessionOf, request: Request) -> Response:
    """The text to agree to."""
    now = await visit(request, session)
    if progress.stage(now) != progress.CONSENT:
        return go(session)
    shown = {"consent": now.spec["consent"], "version": onboarding.consent_version(now.spec)}
    share = await read(request, lambda c: progress.share_of(c, now))
    return show(now, "worker/consent.html", **progress.instructions_data(now.spec), **shown, share=share)


async def agree(
    session: PostingSession, request: Request, version: Annotated[str, Form()], agree: Annotated[str, Form()]
) -> Response:
    """A worker agrees to the text they saw, or does not."""
    now = await visit(request, session)
    if progress.stage(now) != progress.CONSENT or version != onboarding.consent_version(now.spec):
        return go(session)
    if agree != "yes":
        return show(now, "worker/state.html", **status_message("declined", now), look_at="", then="")
    await write(request, lambda c: onboarding.agree(c, session, now.spec))
    return go(session)


async def instructions(session: SessionOf, request: Request) -> Response:
    """What to do, with examples."""
    now = await visit(request, session)
    stage = progress.stage(now)
    if stage not in (progress.QUIZ, progress.LABEL):
        return go(session)
    shown = {"share": await read(request, lambda c: progress.share_of(c, now)), "start": stage}
    return show(
        now, "worker/instructions.html", **progress.instructions_data(now.spec), **shown, preview=False
    )


async def quiz(session: SessionOf, request: Request) -> Response:
    """The quiz."""
    now = await visit(request, session)
    return _quiz(now, None) if progress.stage(now) == progress.QUIZ else go(session)


def _quiz(now: Visit, right: int | None) -> Response:
    shown = {
        "quiz": progress.quiz_questions(now.spec),
        "needed": onboarding.quiz_pass_mark(now.spec),
        "right": right,
    }
    left = now.spec["quiz_tries"] - now.worker.tries
    return show(now, "worker/quiz.html", **progress.instructions_data(now.spec), **shown, left=left)


async def answer_quiz(session: PostingSession, request: Request) -> Response:
    """A try at the quiz."""
    now, form = await visit(request, session), await request.form()
    if progress.stage(now) != progress.QUIZ:
        return go(session)
    labels = [str(form.get(f"answer-{n}", "")) for n in range(len(now.spec["quiz"]))]
    await write(request, lambda c: onboarding.take_quiz(c, session, now.spec, labels))
    after = await visit(request, session)
    if (stage := progress.stage(after)) != progress.QUIZ:
        return go(session, "/label" if stage == progress.LABEL else "")
    return _quiz(after, onboarding.quiz_score(now.spec, labels))


# The items ------------------------------------------------------------------------------------


async def label(session: SessionOf, request: Request, labelling: LabellingOf) -> Response:
    """One item at a time, from a batch that is in the page."""
    now = await visit(request, session)
    if (ended := await endings.ending(request, now, labelling)) is not None:
        return ended
    if progress.stage(now) != progress.LABEL:
        return go(session)
    lent = await labelling.lease(session, now.wanted_items, stay_seconds(now.spec))
    if not lent:
        ended = await endings.ending_by_outlook(request, now, labelling, then="/label")
        return ended or endings.waiting(now)
    shown = await read(request, lambda c: progress.label_data(c, now))
    return show(now, "worker/label.html", items=lent, **shown, **progress.instructions_data(now.spec))


def _items(now: Visit, lent: list[LeasedItem]) -> Response:
    html = render("worker/items.html", items=lent, **progress.instructions_data(now.spec))
    return HTMLResponse(html, headers={"Cache-Control": "no-store"})


async def batch(session: SessionOf, request: Request, labelling: LabellingOf) -> Response:
    """Items for the labelling page, which leaves out those that it has."""
    now = await visit(request, session)
    stage = progress.stage(now)
    if stage in NO_BATCH:
        return _items(now, [])
    if stage != progress.LABEL:
        raise ConflictError("load the page again to see how it goes on")
    return _items(now, await labelling.lease(session, now.wanted_items, stay_seconds(now.spec)))


async def vote(session: PostingSession, request: Request, labelling: LabellingOf, body: VoteIn) -> Response:
    """Record an answer; the response comes when it is committed."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise UnsupportedMediaTypeError("send the answer as application/json")
    await labelling.vote(session, body)
    await labelling.stay_if_due(session)
    return Response(status_code=204)


async def undo(session: PostingSession, request: Request, labelling: LabellingOf) -> Response:
    """Undo the last answer; a script gets the item, a form the page with it."""
    now = await visit(request, session)
    lent = await labelling.undo(session, stay_seconds(now.spec))
    if "X-CSRF-Token" not in request.headers:
        return go(session, "/label")
    return _items(now, [lent])
