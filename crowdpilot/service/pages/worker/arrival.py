"""Arrival of workers from a link or a platform; who cannot take part learns it before anything else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy import Connection

from crowdpilot.service.http.auth import LabellingOf
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.assignment import outlook as outlooks
from crowdpilot.service.labelling.assignment.share import read_share
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.pages.languages import use_project
from crowdpilot.service.pages.rendering import page
from crowdpilot.service.pages.worker import progress, sign_in, status_messages, visits
from crowdpilot.service.pages.worker.progress import Newcomer
from crowdpilot.service.platforms import PLATFORMS, Arrival
from crowdpilot.service.store import projects, workers
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.engine import Row


class Entry(NamedTuple):
    """Somebody who opens a link: the project, who they are, and whether they have been here before.

    `is_full`: whether the invitation has admitted as many people as it may.
    """

    project: Row
    arrival: Arrival
    is_known: bool
    is_full: bool


async def from_prolific(project: str, request: Request, labelling: LabellingOf) -> Response:
    """Arrival of workers from Prolific."""
    return await arrive(project, request, labelling, "prolific")


async def from_mturk(project: str, request: Request, labelling: LabellingOf) -> Response:
    """Arrival of workers from MTurk; a preview of the HIT shows the instructions only."""
    return await arrive(project, request, labelling, "mturk")


async def arrive(project: str, request: Request, labelling: LabellingService, platform: str) -> Response:
    """A session for a worker who opens a link, or why there is none."""
    settings, current = request.app.state.settings, sign_in.current_session(request)
    keys = await _keys(project, request, platform)

    def look(c: Connection) -> Entry:
        row = projects.find(c, project)
        arrival = onboarding.arrive(c, settings, row, platform, request.query_params, keys=keys)
        is_known = sign_in.kept_session(c, row, arrival, current) is not None
        is_known = is_known or workers.is_registered(c, row.id, arrival.platform, arrival.external)
        is_full = bool(arrival.invitation) and invitations.is_used_up(c, row.id, arrival.invitation)
        return Entry(row, arrival, is_known, is_full)

    entry = await visits.read(request, look)
    use_project(request.app, project, entry.project.spec)
    if entry.arrival.preview:
        return await _preview(request, entry)
    if not entry.is_known and (message := await _message_instead(labelling, entry)) is not None:
        shown = {"name": entry.project.name, "home": f"/w/{project}", "csrf": ""}
        return page(
            "worker/state.html", platform=PLATFORMS[platform], **shown, **message, look_at="", then=""
        )

    def open_session(c: Connection) -> Session:
        return sign_in.open_session(c, settings, projects.find(c, project), entry.arrival, current)

    session = await visits.write(request, open_session)
    return sign_in.redirect_with_session(settings, session, entry.arrival.submit)


async def _keys(project: str, request: Request, platform: str) -> Mapping[str, Any] | None:
    """The keys that the link has to be signed with, if any."""
    if platform != "prolific":
        return None
    spec = await visits.read(request, lambda c: projects.find(c, project).spec)
    about = request.app.state.prolific_keys, spec, platform, request.query_params
    return await asyncio.to_thread(onboarding.keys_of_link, *about)


async def _message_instead(labelling: LabellingService, entry: Entry) -> dict[str, Any] | None:
    """What somebody new reads instead of consent and quiz, if there is no work for them."""
    row, arrival = entry.project, entry.arrival
    reader = Newcomer(row, arrival.platform)
    if row.state == projects.CLOSED or row.done:
        return status_messages.status_message("complete", reader)
    if entry.is_full:
        return status_messages.status_message("full", reader)
    if row.state == projects.PAUSED:
        return status_messages.status_message("paused", reader)
    if not onboarding.has_work_for(row.spec, arrival.kind):
        return None
    found = await labelling.outlook_of_newcomer(row.id, arrival.kind)
    if found.work == outlooks.LATER:
        return status_messages.waiting_message(reader, found.seconds)
    return None if found.work == outlooks.NOW else status_messages.status_message("complete", reader)


async def _preview(request: Request, entry: Entry) -> Response:
    """The instructions for those who have not accepted the work yet."""
    row, arrival = entry.project, entry.arrival
    share = await visits.read(request, lambda c: read_share(c, row, arrival.platform, arrival.kind))
    shown = {"name": row.name, "home": f"/w/{row.id}", "csrf": "", **progress.instructions_data(row.spec)}
    return page(
        "worker/instructions.html",
        platform=PLATFORMS[arrival.platform],
        **shown,
        share=progress.share_words(share, row.spec),
        start="",
        preview=True,
    )
