"""Pages about HITs on Mechanical Turk: create one, watch and extend it, review and pay its submissions."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response

from crowdpilot.service.errors import RequestError
from crowdpilot.service.http.auth import LabellingOf, SettingsOf, StoreOf
from crowdpilot.service.pages.dashboard.access.requester import Form, Reading, Requester, Writing, go, may
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.recruiting import hit_forms
from crowdpilot.service.pages.dashboard.recruiting.hit_forms import Wrong
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.platforms import mturk_client
from crowdpilot.service.requesters.recruiting import mturk_hits, submissions, submissions_needed
from crowdpilot.service.requesters.recruiting.submissions_needed import OpenItems
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import hits
from crowdpilot.service.store.engine import Row, Store

MAX_SHOWN = 300  # submissions on the page of a HIT, those that wait first
MAX_REVIEWED = 50  # submissions that are approved or rejected at once
HitId = Annotated[str, Path(pattern=r"^[0-9A-Z]{1,64}$")]
STATUS_WORDS = {
    "Assignable": "Workers can take it",
    "Unassignable": "All assignments are taken",
    "Reviewable": "It has ended, or all assignments are handed in",
    "Reviewing": "It is being reviewed",
    "Disposed": "MTurk has deleted it",
}
DONE_WORDS = {
    "create": "The HIT is created.",
    "extend": "The HIT is extended.",
    "expire": "The HIT has ended.",
    "review": "Your review is on MTurk.",
    "bonus": "The bonus is paid.",
}


def pages() -> APIRouter:
    """Routes about HITs."""
    home = "/projects/{id}/recruiting/hits"
    one = home + "/{hit}"
    return router([
        ("GET", f"{home}/new", show_new), ("POST", home, create), ("GET", one, show_hit),
        ("GET", f"{one}/state", show_state), ("POST", f"{one}/extend", extend),
        ("POST", f"{one}/expire", expire), ("POST", f"{one}/review", review), ("POST", f"{one}/bonus", bonus),
    ])  # fmt: skip


async def show_new(id: str, requester: Reading, labelling: LabellingOf) -> Response:
    """A form for a new HIT."""
    may("write", requester)
    open_items = await labelling.read(id, submissions_needed.read_open_items)
    about = labelling.store, labelling.settings, id, requester
    return await asyncio.to_thread(_new_page, *about, {}, open_items=open_items)


def _new_page(
    store: Store, settings: Settings, id: str, requester: Requester, typed: dict[str, str],
    wrong: Wrong | None = None, *, open_items: OpenItems | None = None,
) -> Response:  # fmt: skip
    with store.reading() as c:
        project = projects.find(c, id)
        found = submissions.list_submissions(c, settings.secret, project, "mturk")
        finished = [one.answers for one in found if one.minutes is not None]
        needed = submissions_needed.workers_needed(c, project, finished, open_items) if open_items else None
    fields = {**hit_forms.NEW, "title": project.name[:128], "description": project.spec["question"][:2000]}
    shown = typed or hit_forms.empty(fields)
    return show(
        "recruiting/new_hit.html", requester, project, status=422 if wrong else 200, typed=shown,
        wrong=wrong.fields if wrong else {}, problem=wrong.problem if wrong else "",
        price=hit_forms.price(shown["reward"], shown["assignments"]), secure=settings.secure, needed=needed,
    )  # fmt: skip


def create(id: str, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf) -> Response:
    """Create a HIT, or show what is wrong; a form that is sent twice makes one HIT."""
    typed = hit_forms.read(form, hit_forms.NEW)
    new = hit_forms.to_hit(typed)
    if not isinstance(new, Wrong):
        try:
            made = mturk_hits.create(store, settings, id, requester.id, new)
            return go(f"/projects/{id}/recruiting/hits/{made.id}?done=create")
        except (RequestError, ValueError) as error:
            new = hit_forms.refused(error)
    return _new_page(store, settings, id, requester, typed, new)


def show_hit(
    id: str, hit: HitId, requester: Reading, store: StoreOf, settings: SettingsOf, done: str = ""
) -> Response:
    """A HIT: its state on MTurk, its submissions, and how to extend or end it."""
    return _hit_page(store, settings, id, hit, may("label-ops", requester), done=DONE_WORDS.get(done, ""))


def _hit_page(
    store: Store, settings: Settings, id: str, hit: str, requester: Requester, *, panel: str = "",
    typed: dict[str, Any] | None = None, wrong: Wrong | None = None, done: str = "",
) -> Response:  # fmt: skip
    with store.reading() as c:
        project, row = projects.find(c, id), hits.find(c, id, hit)
        known = {one.external: one for one in
                 submissions.list_submissions(c, settings.secret, project, "mturk")}  # fmt: skip
    seen = mturk_hits.view(row, assignments=True)
    forms: dict[str, dict[str, Any]] = {
        "extend": dict(hit_forms.empty(hit_forms.EXTENSION)),
        "bonus": dict(hit_forms.empty(hit_forms.BONUS)),
        "review": {"reason": "", "assignment": []},
    }
    panels = {name: Wrong({}) for name in (*forms, "expire")}
    if wrong is not None:
        panels[panel] = wrong
        forms |= {} if typed is None else {panel: typed}
    return show(
        "recruiting/hit.html", requester, project, status=422 if wrong else 200, hit=row, seen=seen,
        done=done, state_words=_state_words(seen), problem=sentence(seen.problem) if seen.problem else "",
        forms=forms, panels=panels,
        shown=[(one, known.get(one.assignment)) for one in seen.assignments[:MAX_SHOWN]],
        price=hit_forms.price(row.reward, str(forms["extend"]["assignments"]), row.assignments),
        fee=f"{mturk_hits.fee_rate(row.assignments)}",
        waiting=sum(one.status == mturk_client.SUBMITTED for one in seen.assignments),
    )  # fmt: skip


def _state_words(seen: mturk_hits.HitView) -> str:
    return "" if seen.state is None else STATUS_WORDS.get(seen.state.status, seen.state.status)


def show_state(id: str, hit: HitId, requester: Reading, store: StoreOf) -> Response:
    """The state of a HIT on MTurk, as a part of the page about recruiting."""
    may("label-ops", requester)
    with store.reading() as c:
        project, row = projects.find(c, id), hits.find(c, id, hit)
    seen = mturk_hits.view(row, assignments=False)
    words = _state_words(seen) or sentence(seen.problem)
    return show("recruiting/hit_state.html", requester, project, state=seen.state, words=words)


def extend(
    id: str, hit: HitId, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf
) -> Response:
    """More assignments of a HIT, or more days."""
    typed = hit_forms.read(form, hit_forms.EXTENSION)
    more = hit_forms.to_extension(typed)
    if not isinstance(more, Wrong):
        try:
            mturk_hits.extend(store, id, requester.id, hit, more)
            return go(f"/projects/{id}/recruiting/hits/{hit}?done=extend")
        except (RequestError, ValueError) as error:
            more = hit_forms.refused(error)
    return _hit_page(store, settings, id, hit, requester, panel="extend", typed=typed, wrong=more)


def expire(
    id: str, hit: HitId, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf
) -> Response:
    """End a HIT now."""
    try:
        mturk_hits.expire(store, id, requester.id, hit)
        return go(f"/projects/{id}/recruiting/hits/{hit}?done=expire")
    except (RequestError, ValueError) as error:
        wrong = hit_forms.refused(error)
    return _hit_page(store, settings, id, hit, requester, panel="expire", wrong=wrong)


def review(
    id: str, hit: HitId, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf
) -> Response:
    """Approve or reject submissions on MTurk, one after the other; say how many where one is refused."""
    chosen = [str(one) for one in form.getlist("assignment")]
    typed = {"reason": str(form.get("reason", "")).strip()[: hit_forms.MAX_TYPED], "assignment": chosen}
    wrong = _review(store, id, hit, requester, str(form.get("verdict", "")), typed["reason"], chosen)
    if wrong is None:
        return go(f"/projects/{id}/recruiting/hits/{hit}?done=review")
    return _hit_page(store, settings, id, hit, requester, panel="review", typed=typed, wrong=wrong)


def _review(
    store: Store, id: str, hit: str, requester: Requester, verdict: str, reason: Any, chosen: list[str]
) -> Wrong | None:
    if verdict not in ("approve", "reject") or not 1 <= len(chosen) <= MAX_REVIEWED:
        return Wrong({}, f"Tick one to {MAX_REVIEWED} submissions, and choose what to do with them.")
    if verdict == "reject" and not 1 <= len(reason) <= submissions.MAX_REASON_CHARACTERS:
        return Wrong({"reason": hit_forms.WORDS["reason"]})
    for done, assignment in enumerate(chosen):
        try:
            if verdict == "approve":
                mturk_hits.approve(store, id, requester.id, hit, assignment)
            else:
                mturk_hits.reject(store, id, requester.id, hit, assignment, reason)
        except (RequestError, ValueError) as error:
            before = f"{done} of {len(chosen)} are done. " if len(chosen) > 1 else ""
            return Wrong({}, before + hit_forms.refused(error).problem)
    return None


def bonus(
    id: str, hit: HitId, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf
) -> Response:
    """Pay the worker of a submission more; a form that is sent twice pays once."""
    typed = hit_forms.read(form, hit_forms.BONUS)
    paid = hit_forms.to_bonus(typed)
    if not isinstance(paid, Wrong):
        try:
            mturk_hits.pay_bonus(store, id, requester.id, hit, typed["assignment"], paid)
            return go(f"/projects/{id}/recruiting/hits/{hit}?done=bonus")
        except (RequestError, ValueError) as error:
            paid = hit_forms.refused(error)
    return _hit_page(store, settings, id, hit, requester, panel="bonus", typed=typed, wrong=paid)


def can_offer(project: Row) -> bool:
    """Whether HITs of a project can be created now."""
    return project.spec["mturk"] is not None and project.state == projects.OPEN
