"""Preview as a worker: the worker pages of a project for its requester; nothing is recorded or leased."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from sqlalchemy import Connection

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import SettingsOf, StoreOf
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.assignment.share import read_share, share_size
from crowdpilot.service.labelling.lease_queue import LeasedItem
from crowdpilot.service.pages.dashboard.access.cookies import set_cookie
from crowdpilot.service.pages.dashboard.access.requester import Form, Posting, Reading, Requester, go
from crowdpilot.service.pages.dashboard.formatting import router
from crowdpilot.service.pages.languages import preferred, use, use_project
from crowdpilot.service.pages.rendering import page, render
from crowdpilot.service.pages.worker import progress
from crowdpilot.service.pages.worker.progress import Newcomer
from crowdpilot.service.pages.worker.status_messages import status_message
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.schemas import VoteIn
from crowdpilot.service.store import items, projects
from crowdpilot.service.store.engine import Row, Store

MAX_ITEMS = 25  # that a preview shows
CODE = "PREVIEW"
LAST_COOKIE, LAST_SECONDS = "previewed_item", 3600.0  # what undo brings back; only the browser knows it
NO_STORE = {"Cache-Control": "no-store"}
UNWRITTEN = ("comment",)  # what else the labelling page sends, which is answered and dropped


class Reader(Newcomer):
    """Somebody who looks at the worker pages of a project, as these pages see them."""

    @property
    def home(self) -> str:
        """The address of the preview."""
        return f"/projects/{self.project.id}/preview"


def pages() -> APIRouter:
    """Routes of the preview; those below `labelling` are called by the scripts of the labelling page."""
    return router([
        ("GET", "/projects/{id}/preview", begin), ("GET", "/projects/{id}/preview/consent", consent),
        ("POST", "/projects/{id}/preview/consent", agree),
        ("GET", "/projects/{id}/preview/instructions", instructions),
        ("GET", "/projects/{id}/preview/quiz", quiz), ("POST", "/projects/{id}/preview/quiz", answer_quiz),
        ("GET", "/projects/{id}/preview/label", label), ("GET", "/projects/{id}/preview/done", done),
        ("GET", "/projects/{id}/preview/pause", pause), ("POST", "/projects/{id}/preview/{change}", change),
        ("GET", "/projects/{id}/preview/labelling", finish),
        ("GET", "/projects/{id}/preview/labelling/batch", batch),
        ("GET", "/projects/{id}/preview/labelling/{page}", leave_work),
        ("POST", "/projects/{id}/preview/labelling/vote", vote),
        ("POST", "/projects/{id}/preview/labelling/{change}", work),
    ])  # fmt: skip


def begin(id: str, requester: Reading, store: StoreOf) -> Response:
    """The first page that a worker sees."""
    with store.reading() as c:
        spec = projects.find(c, id).spec
    return go(f"/projects/{id}/preview/{'consent' if spec['consent'].strip() else 'instructions'}")


def consent(id: str, request: Request, requester: Reading, store: StoreOf) -> Response:
    """The text to agree to."""
    now, share = _read(request, store, id)
    shown = {"consent": now.spec["consent"], "version": onboarding.consent_version(now.spec), "share": share}
    return _show(requester, now, "worker/consent.html", **progress.instructions_data(now.spec), **shown)


def agree(id: str, request: Request, form: Form, requester: Posting, store: StoreOf) -> Response:
    """What follows if a worker agrees, or does not."""
    if form.get("agree") == "yes":
        return go(f"/projects/{id}/preview/instructions")
    return _message(request, requester, store, id, "declined")


def instructions(id: str, request: Request, requester: Reading, store: StoreOf) -> Response:
    """What to do, with examples."""
    now, share = _read(request, store, id)
    start = progress.QUIZ if now.spec["quiz"] else progress.LABEL
    data = {**progress.instructions_data(now.spec), "share": share, "start": start, "preview": False}
    return _show(requester, now, "worker/instructions.html", **data)


def quiz(id: str, request: Request, requester: Reading, store: StoreOf) -> Response:
    """The quiz."""
    now, _ = _read(request, store, id)
    return _quiz(requester, now, None) if now.spec["quiz"] else go(f"/projects/{id}/preview/label")


def answer_quiz(id: str, request: Request, form: Form, requester: Posting, store: StoreOf) -> Response:
    """What follows a try at the quiz; there are always more tries."""
    now, _ = _read(request, store, id)
    labels = [str(form.get(f"answer-{n}", "")) for n in range(len(now.spec["quiz"]))]
    right = onboarding.quiz_score(now.spec, labels)
    if right >= onboarding.quiz_pass_mark(now.spec):
        return go(f"/projects/{id}/preview/label")
    return _quiz(requester, now, right)


def _quiz(requester: Requester, now: Reader, right: int | None) -> Response:
    needed, left = onboarding.quiz_pass_mark(now.spec), now.spec["quiz_tries"]
    data = {"quiz": progress.quiz_questions(now.spec), "needed": needed, "right": right, "left": left}
    return _show(requester, now, "worker/quiz.html", **progress.instructions_data(now.spec), **data)


def label(id: str, request: Request, requester: Reading, store: StoreOf) -> Response:
    """The first items, as a worker sees them."""
    now, _ = _read(request, store, id)
    with store.reading() as c:
        some = _items(c, now.project)
        data = progress.label_data(c, now._replace(needed=share_size(c, now.project)))
    if not some:
        return _message(request, requester, store, id, "complete")
    work = f"{now.home}/labelling"
    data["presence"] = {**data["presence"], "home": work}
    shown = {**progress.instructions_data(now.spec), **data, "items": some, "home": work}
    return _show(requester, now, "worker/label.html", **shown)


def batch(id: str, request: Request, requester: Reading, store: StoreOf) -> Response:
    """The same items again: the page leaves out those that it has."""
    now, _ = _read(request, store, id)
    with store.reading() as c:
        return _fragment(now, _items(c, now.project))


def vote(id: str, requester: Posting, settings: SettingsOf, body: VoteIn) -> Response:
    """Take an answer and forget it; the browser alone remembers what undo brings back."""
    response = Response(status_code=204)
    set_cookie(response, settings, LAST_COOKIE, f"{id}.{body.item}.{body.criterion}", LAST_SECONDS)
    return response


def work(id: str, change: str, request: Request, requester: Posting, store: StoreOf) -> Response:
    """What the labelling page sends: it is answered as ever, and nothing is written."""
    if change == "undo":
        now, _ = _read(request, store, id)
        last = request.cookies.get(LAST_COOKIE, "")
        with store.reading() as c:
            found = [one for one in _items(c, now.project) if f"{id}.{one.item}.{one.criterion}" == last]
        return _fragment(now, found)
    if change == "presence":
        return JSONResponse({"held": 1}, headers=NO_STORE)
    if change == "pause":
        return go(f"/projects/{id}/preview/pause")
    if change not in UNWRITTEN:
        raise NotFoundError("the labelling page sends nothing to this address")
    return Response(status_code=204)


def finish(id: str, requester: Reading) -> Response:
    """Where the labelling page goes when there are no more items."""
    return go(f"/projects/{id}/preview/done")


def leave_work(id: str, page: str, requester: Reading) -> Response:
    """Where the labelling page goes otherwise."""
    return go(f"/projects/{id}/preview/{'pause' if page == 'pause' else 'label'}")


def pause(id: str, request: Request, requester: Reading, store: StoreOf) -> Response:
    """The page of a break."""
    return _message(request, requester, store, id, "break")


def change(id: str, change: str, request: Request, requester: Posting, store: StoreOf) -> Response:
    """Buttons of the other pages: finish, carry on, sign out."""
    if change == "sign-out":
        return _message(request, requester, store, id, "left")
    return go(f"/projects/{id}/preview/{'label' if change == 'carry-on' else 'done'}")


def done(id: str, request: Request, requester: Reading, store: StoreOf) -> Response:
    """The page with the completion code."""
    now, _ = _read(request, store, id)
    with store.reading() as c:
        answers = share_size(c, now.project)
    study = now.spec["prolific"] or {}
    shown = {
        "code": study.get("code") or CODE,
        "done": answers,
        "back": None,
        "complete": False,
        "more": False,
    }
    return _show(requester, now, "worker/done.html", **shown)


def _read(request: Request, store: Store, id: str) -> tuple[Reader, list[str]]:
    """The project as its pages see it, and the share of a worker; in the language of the workers."""
    with store.reading() as c:
        project = projects.find(c, id)
        share = read_share(c, project, "link", next(iter(make_costs(project.spec).prices)))
    use(preferred(request.headers.get("accept-language", "")))
    use_project(request.app, id, project.spec)
    return Reader(project, "link"), progress.share_words(share, project.spec)


def _items(c: Connection, project: Row) -> list[LeasedItem]:
    """Some open items with each of their questions; nothing is leased."""
    contents = items.contents(c, items.some_open(c, project.id, MAX_ITEMS))
    criteria = range(max(len(project.spec["criteria"]), 1))
    return [LeasedItem(id, criterion, content) for id, content in contents.items() for criterion in criteria]


def _fragment(now: Reader, some: list[LeasedItem]) -> Response:
    html = render("worker/items.html", items=some, **progress.instructions_data(now.spec))
    return HTMLResponse(html, headers=NO_STORE)


def _message(request: Request, requester: Requester, store: Store, id: str, state: str) -> Response:
    now, _ = _read(request, store, id)
    return _show(requester, now, "worker/state.html", **status_message(state, now), look_at="")


def _show(requester: Requester, now: Reader, template: str, **data: Any) -> Response:
    """A worker page with the banner of the preview."""
    named = [("consent", "Consent")] if now.spec["consent"].strip() else []
    named += [("instructions", "Instructions"), *([("quiz", "Quiz")] if now.spec["quiz"] else [])]
    banner = {
        "previewed": now.home, "project_address": f"/projects/{now.project.id}",
        "preview_pages": [*named, ("label", "Items"), ("done", "Done")],
    }  # fmt: skip
    return page(
        template, **{"name": now.project.name, "home": now.home, "csrf": requester.csrf, **banner, **data}
    )
