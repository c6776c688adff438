"""Pages about studies on Prolific: draft one, publish and watch it, review and pay its submissions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response

from crowdpilot.service.errors import RequestError
from crowdpilot.service.http.auth import LabellingOf, SettingsOf, StoreOf
from crowdpilot.service.pages.dashboard.access.requester import Form, Reading, Requester, Writing, go, may
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.recruiting import prolific_forms as forms
from crowdpilot.service.pages.dashboard.recruiting.hit_forms import Wrong, empty, read
from crowdpilot.service.pages.dashboard.recruiting.links import is_loopback
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.platforms.prolific.address import NO_TOKEN, api_token
from crowdpilot.service.platforms.prolific.submissions import CATEGORIES, MIN_MESSAGE_CHARACTERS
from crowdpilot.service.project_changes import change_settings
from crowdpilot.service.requesters.recruiting import (
    prolific_drafts,
    prolific_studies,
    prolific_submissions,
    submissions,
    submissions_needed,
)
from crowdpilot.service.requesters.recruiting.prolific_submissions import Reviewed
from crowdpilot.service.requesters.recruiting.submissions_needed import Needed, OpenItems, Pay
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import prolific_studies as stored
from crowdpilot.service.store.engine import Row, Store

MAX_SHOWN = 300  # submissions on the page of a study, those that wait first
StudyId = Annotated[str, Path(pattern=r"^[0-9a-f]{24}$")]
STATUS_WORDS = {
    "UNPUBLISHED": "A draft: nobody sees it, and it costs nothing",
    "SCHEDULED": "It will be published later",
    "PUBLISHING": "It is being published",
    "ACTIVE": "Participants can take it",
    "PAUSED": "It is paused",
    "AWAITING REVIEW": "All places are taken, or it was ended",
    "COMPLETED": "All submissions are reviewed",
}
DONE_WORDS = {
    "create": "The study is drafted. Look at it, then publish it.",
    "publish": "The study is published.",
    "pause": "The study is paused.",
    "start": "The study runs again.",
    "stop": "The study has ended.",
    "places": "The places are saved.",
    "approve": "The submissions are approved on Prolific. It may take a minute until that is shown.",
    "reject": "The submissions are rejected on Prolific.",
    "bonus": "The bonus is paid.",
}


def pages() -> APIRouter:
    """Routes about studies."""
    home = "/projects/{id}/recruiting/studies"
    one = home + "/{study}"
    return router([
        ("GET", f"{home}/new", show_new), ("POST", home, create), ("GET", one, show_study),
        ("GET", f"{one}/state", show_state), ("POST", f"{one}/publish", publish),
        ("POST", f"{one}/places", set_places), ("POST", f"{one}/move", move),
        ("POST", f"{one}/review", review), ("POST", f"{one}/bonus", bonus),
    ])  # fmt: skip


async def show_new(id: str, requester: Reading, labelling: LabellingOf) -> Response:
    """A form for a new study."""
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
        found = submissions.list_submissions(c, settings.secret, project, "prolific")
        finished = [one for one in found if one.minutes is not None]
        answers = [one.answers for one in finished]
        needed = submissions_needed.workers_needed(c, project, answers, open_items) if open_items else None
        pay = submissions_needed.hourly_pay(c, project, finished)
    shown = typed or empty({**forms.NEW, **_proposed(project, needed, pay)})
    return show(
        "recruiting/new_study.html", requester, project, status=422 if wrong else 200, typed=shown,
        wrong=wrong.fields if wrong else {}, problem=wrong.problem if wrong else "", needed=needed,
        is_local=is_loopback(settings.address), no_token="" if api_token() else sentence(NO_TOKEN),
    )  # fmt: skip


def _proposed(project: Row, needed: Needed | None, pay: Pay) -> dict[str, str]:
    """What the form says at first: as the project says, and as many places as are needed."""
    study = project.spec["prolific"] or {}
    return {
        "title": project.name[:200], "description": project.spec["question"][:5000],
        "reward": f"{pay.reward:.2f}" if pay.reward >= 0.01 else "",
        "places": f"{min(needed.workers, 10_000)}" if needed and needed.workers else "",
        "minutes": f"{max(round(pay.minutes), 1)}" if pay.minutes else "",
        "signed": "yes" if study.get("signed") else "",
    }  # fmt: skip


def create(id: str, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf) -> Response:
    """Draft a study, or show what is wrong; a form that is sent twice makes one study."""
    typed = read(form, forms.NEW)
    new = forms.to_study(typed)
    if not isinstance(new, Wrong):
        try:
            made = prolific_drafts.create(store, settings, id, requester.id, new, change_settings)
            return go(f"/projects/{id}/recruiting/studies/{made.study}?done=create")
        except (RequestError, ValueError) as error:
            new = forms.refused(error)
    return _new_page(store, settings, id, requester, typed, new)


def show_study(
    id: str, study: StudyId, requester: Reading, store: StoreOf, settings: SettingsOf, done: str = ""
) -> Response:
    """A study: its state on Prolific, what it costs, its submissions, and what can be done with it."""
    return _page(store, settings, id, study, may("label-ops", requester), done=DONE_WORDS.get(done, ""))


def _page(
    store: Store, settings: Settings, id: str, study: str, requester: Requester, *, panel: str = "",
    typed: Mapping[str, Any] | None = None, wrong: Wrong | None = None, done: str = "",
) -> Response:  # fmt: skip
    with store.reading() as c:
        project, row = projects.find(c, id), stored.find(c, id, study)
    seen = prolific_studies.view(row)
    found, problem = _submissions(store, settings, id, study, seen)
    typed_forms: dict[str, Any] = {
        "publish": forms.PUBLISH, "places": forms.PLACES, "bonus": empty(forms.BONUS),
        "review": {**forms.REVIEW, "submission": [one.submission.id for one in found if one.is_right]},
    }  # fmt: skip
    panels = {name: Wrong({}) for name in (*typed_forms, "move")}
    if wrong is not None:
        panels[panel] = wrong
        typed_forms |= {} if typed is None else {panel: typed}
    return show(
        "recruiting/study.html", requester, project, status=422 if wrong else 200, row=row, seen=seen.study,
        cost=seen.cost, done=done, state_words=_words(seen), problem=sentence(problem) if problem else "",
        forms=typed_forms, panels=panels, shown=found[:MAX_SHOWN], n_submissions=len(found),
        waiting=sum(one.waits for one in found), categories=CATEGORIES, units=prolific_studies.units,
        min_message=MIN_MESSAGE_CHARACTERS, is_local=is_loopback(settings.address),
    )  # fmt: skip


def _submissions(
    store: Store, settings: Settings, id: str, study: str, seen: prolific_studies.StudyView
) -> tuple[list[Reviewed], str]:
    """The submissions of a study, and why it or they cannot be read."""
    if seen.study is None:
        return [], seen.problem
    try:
        return prolific_submissions.list_all(store, settings, id, study, quick=True), seen.problem
    except ValueError as error:
        return [], str(error)


def _words(seen: prolific_studies.StudyView) -> str:
    return "" if seen.study is None else STATUS_WORDS.get(seen.study.status, seen.study.status)


def show_state(id: str, study: StudyId, requester: Reading, store: StoreOf) -> Response:
    """The state of a study on Prolific, as a part of the page about recruiting."""
    may("label-ops", requester)
    with store.reading() as c:
        project, row = projects.find(c, id), stored.find(c, id, study)
    seen = prolific_studies.view(row, with_cost=False)
    words = _words(seen) or sentence(seen.problem)
    return show("recruiting/study_state.html", requester, project, seen=seen.study, words=words)


def publish(
    id: str, study: StudyId, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf
) -> Response:
    """Publish a draft."""
    typed = read(form, forms.PUBLISH)
    about = store, settings, id, requester.id, study
    acts = _acting(forms.to_publication(typed), lambda new: prolific_studies.publish(*about, new))
    return _act(store, settings, id, study, requester, "publish", typed, acts)


def set_places(
    id: str, study: StudyId, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf
) -> Response:
    """Change the number of places."""
    typed = read(form, forms.PLACES)
    about = store, settings, id, requester.id, study
    acts = _acting(
        forms.to_places(typed), lambda new: prolific_studies.set_places(*about, new, change_settings)
    )
    return _act(store, settings, id, study, requester, "places", typed, acts)


def move(
    id: str, study: StudyId, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf
) -> Response:
    """Pause a study, start it again, or end it."""
    chosen = [name for name in prolific_studies.MOVES if name == form.get("action")]
    acts: Callable[[], object] | Wrong = Wrong({}, "Choose what to do with the study.")
    if chosen:
        acts = partial(prolific_studies.move, store, id, requester.id, study, chosen[0])
    return _act(store, settings, id, study, requester, "move", None, acts, done="".join(chosen))


def review(
    id: str, study: StudyId, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf
) -> Response:
    """Approve or reject submissions on Prolific."""
    chosen = [str(one) for one in form.getlist("submission")]
    typed = {**read(form, forms.REVIEW), "submission": chosen}
    verdict, about = str(form.get("verdict", "")), (store, settings, id, requester.id, study)
    acts = forms.check_chosen(verdict, chosen) or (
        _acting(chosen, lambda ids: prolific_submissions.approve(*about, ids))
        if verdict == "approve"
        else _acting(forms.to_rejection(typed), lambda new: prolific_submissions.reject(*about, new))
    )
    return _act(store, settings, id, study, requester, "review", typed, acts, done=verdict)


def bonus(
    id: str, study: StudyId, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf
) -> Response:
    """Pay the participant of a submission more; a form that is sent twice pays once."""
    typed = read(form, forms.BONUS)
    about = store, settings, id, requester.id, study, typed["submission"]
    acts = _acting(forms.to_bonus(typed), lambda new: prolific_submissions.pay_bonus(*about, new))
    return _act(store, settings, id, study, requester, "bonus", typed, acts)


def _acting(checked: Any, act: Callable[[Any], object]) -> Callable[[], object] | Wrong:
    """What is to be done with a form, or what is wrong with it."""
    return checked if isinstance(checked, Wrong) else lambda: act(checked)


def _act(
    store: Store, settings: Settings, id: str, study: str, requester: Requester, panel: str,
    typed: Mapping[str, Any] | None, acts: Callable[[], object] | Wrong, *, done: str = "",
) -> Response:  # fmt: skip
    """Do what a form asks for and show the study, or the form with what is wrong."""
    if isinstance(acts, Wrong):
        wrong = acts
    else:
        try:
            acts()
            return go(f"/projects/{id}/recruiting/studies/{study}?done={done or panel}")
        except (RequestError, ValueError) as error:
            wrong = forms.refused(error)
    return _page(store, settings, id, study, requester, panel=panel, typed=typed, wrong=wrong)
