"""The page about recruiting: links, the study on Prolific with its submissions, HITs on Mechanical Turk."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fastapi import APIRouter
from fastapi.responses import Response
from sqlalchemy import Connection

from crowdpilot.service import project_changes
from crowdpilot.service.errors import RequestError
from crowdpilot.service.exports import tables
from crowdpilot.service.http.auth import LabellingOf, SettingsOf, StoreOf
from crowdpilot.service.http.responses import attachment
from crowdpilot.service.pages.dashboard.access.requester import (
    Form,
    Labelling,
    Reading,
    Requester,
    Writing,
    go,
    may,
)
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.recruiting import hit_pages
from crowdpilot.service.pages.dashboard.recruiting.links import is_loopback, links_of
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.platforms import prolific
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.requesters.recruiting import submissions, submissions_needed
from crowdpilot.service.requesters.recruiting.prolific_studies import units
from crowdpilot.service.requesters.recruiting.submissions_needed import OpenItems
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import hits, invitations, prolific_studies
from crowdpilot.service.store.engine import Row, Store

STUDY = "study", "code", "code_failed", "code_complete", "reward", "places"
NUMBERS = "reward", "places"
MAX_STATES = 10  # HITs and studies whose state is asked for at once
MAX_SHOWN = 500  # submissions on the page; the CSV file has all


class Typed(NamedTuple):
    """What was typed into a form that was refused, and why."""

    study: Mapping[str, str] = {}
    wrong: Mapping[str, str] = {}  # by field of the study
    ticked: Sequence[int] = ()  # ids of submissions
    reason: str = ""
    problem: str = ""  # with the review of submissions


def pages() -> APIRouter:
    """Routes about recruiting."""
    home = "/projects/{id}/recruiting"
    return router([
        ("GET", home, show_recruiting), ("POST", f"{home}/prolific", save_study),
        ("POST", f"{home}/review", review), ("GET", f"{home}/submissions.csv", download_submissions),
    ])  # fmt: skip


async def show_recruiting(id: str, requester: Reading, labelling: LabellingOf) -> Response:
    """All ways by which workers come."""
    may("label-ops", requester)
    return await _page(labelling, id, requester, Typed())


async def _page(labelling: LabellingOf, id: str, requester: Requester, typed: Typed) -> Response:
    open_items = await labelling.read(id, submissions_needed.read_open_items)
    about = labelling.store, labelling.settings, id, requester
    return await asyncio.to_thread(_show, *about, open_items, typed)


def _show(
    store: Store, settings: Settings, id: str, requester: Requester, open_items: OpenItems, typed: Typed
) -> Response:
    with store.reading() as c:
        project = projects.find(c, id)
        links = [link for link in links_of(settings, project, invitations.list_all(c, id)) if link.invitation]
        study = _study(c, settings, project, open_items)
        own_hits = hits.list_all(c, id)
        own_studies = prolific_studies.list_all(c, id)
    return show(
        "recruiting.html", requester, project, status=422 if typed.wrong or typed.problem else 200,
        links=links, is_local=is_loopback(settings.address), typed=typed.study or _typed(project),
        wrong=typed.wrong, problem=typed.problem, ticked=typed.ticked, reason=typed.reason, hits=own_hits,
        studies=own_studies, units=units,
        max_states=MAX_STATES, can_offer=hit_pages.can_offer(project), verdicts=submissions.VERDICTS, **study,
    )  # fmt: skip


def _study(c: Connection, settings: Settings, project: Row, open_items: OpenItems) -> dict[str, Any]:
    """What the panel of Prolific shows."""
    found = submissions.list_submissions(c, settings.secret, project, "prolific")
    finished = [one for one in found if one.outcome == submissions.OUTCOMES["done"]]
    return {
        "url_to_paste": prolific.study_url(f"{settings.address}/w/{project.id}/prolific"),
        "needed": submissions_needed.workers_needed(
            c, project, [one.answers for one in finished], open_items
        ),
        "pay": submissions_needed.hourly_pay(c, project, finished),
        "submissions": found[:MAX_SHOWN],
        "n_submissions": len(found),
        "approved": submissions.participants(found, "approved"),
        "rejected": submissions.participants(found, "rejected"),
    }


def _typed(project: Row) -> dict[str, str]:
    study = project.spec["prolific"] or {}
    texts = {name: "" if study.get(name) is None else f"{study[name]}" for name in STUDY}
    return {**texts, "signed": "yes" if study.get("signed") else ""}


async def save_study(id: str, form: Form, requester: Writing, labelling: LabellingOf) -> Response:
    """Save what the project knows about its study on Prolific."""
    typed = {name: str(form.get(name, "")).strip()[:200] for name in STUDY}
    fields = {name: (text or None) if name in NUMBERS else text for name, text in typed.items()}
    values: dict[str, Any] = {**fields, "signed": form.get("signed") == "yes"}
    try:
        service = labelling.store, labelling.settings
        await asyncio.to_thread(
            project_changes.change_settings, *service, id, requester.id, {"prolific": values}
        )
    except RequestError as error:
        field = next((name for name in STUDY if f"prolific.{name}:" in str(error)), "study")
        wrong = {field: sentence(str(error))}
        shown = {**typed, "signed": "yes" if values["signed"] else ""}
        return await _page(labelling, id, requester, Typed(shown, wrong))
    return go(f"/projects/{id}/recruiting#prolific")


async def review(id: str, form: Form, requester: Labelling, labelling: LabellingOf) -> Response:
    """Note that submissions are approved or rejected."""
    ids = submissions.read_ids(form.getlist("submission"))
    verdict, reason = (str(form.get(name, "")) for name in ("verdict", "reason"))
    try:
        await asyncio.to_thread(submissions.review, labelling.store, id, requester.id, ids, verdict, reason)
    except RequestError as error:
        typed = Typed(ticked=ids, reason=reason, problem=sentence(str(error)))
        return await _page(labelling, id, requester, typed)
    return go(f"/projects/{id}/recruiting#submissions")


def download_submissions(id: str, requester: Reading, store: StoreOf, settings: SettingsOf) -> Response:
    """All submissions on Prolific as a file."""
    may("label-ops", requester)
    with store.reading() as c:
        table = submissions.to_table(
            submissions.list_submissions(c, settings.secret, projects.find(c, id), "prolific")
        )
    log_export(store, requester.id, id, "submissions", format="csv")
    return attachment(tables.write(iter([table]), "csv"), "submissions.csv", tables.MEDIA_TYPES["csv"])
