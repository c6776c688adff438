"""Notification job: compare what is so with what requesters were sent, and queue messages about the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.jobs.notifications import messages
from crowdpilot.service.jobs.notifications.reasons import Reasons, find_reasons
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.messages import email_deliveries, notifications, webhook_deliveries

JOB_KIND = "notifications"
PAUSE_SECONDS = 60.0  # after a refit, before the check: one is enough for many
EVERY_SECONDS = 600.0  # between two checks of all projects whose requesters want notifications


def wants_notifications(spec: Mapping[str, Any]) -> bool:
    """Whether anybody wants notifications."""
    return bool(spec["webhook"] or spec["notify"]["emails"])


def enqueue(c: Connection, project: Row, *, after: float = PAUSE_SECONDS) -> None:
    """Queue the check of a project if anybody wants notifications, in a write transaction."""
    if wants_notifications(project.spec):
        jobs.enqueue(c, project.id, JOB_KIND, after=after)


def enqueue_all(store: Store, settings: Settings) -> None:
    """Queue the check of every open project whose requesters want notifications.

    Finished ones only if they wait for an e-mail about their end: the job that writes it down queues a check.
    """
    with store.reading() as c:
        wanting = notifications.wanting_projects(c)
        if settings.mail_server is not None:
            wanting += notifications.finished_unsent(c)
    for project in wanting:
        with store.writing() as c:
            jobs.enqueue(c, project, JOB_KIND)


def check_notifications(context: JobContext, job: Row) -> dict[str, Any]:
    """The job: tell what is new, once; forget what is no longer so."""
    return {"sent": tell_new(context, job.project)}


def tell_new(context: JobContext, project: str, now: float | None = None) -> list[str]:
    """Queue messages about what is so and was not sent; the events of these."""
    found = find_reasons(context, project, now)
    with context.store.writing() as c:
        projects.next_change(c, project, change_number=0)  # locks the project until the commit
        row = projects.find(c, project)
        sent = notifications.read(c, project).keys()
        gone = {key for key in sent - found.reasons.keys() if key[0] not in found.unknown}
        new = {key: facts for key, facts in found.reasons.items() if key not in sent}
        new = {key: facts for key, facts in new.items() if key[0] in row.spec["notify"]["events"]}
        if not _has_channel(row.spec, context.settings):
            new = {}  # told once there is one
        notifications.replace(c, project, gone, new)
        _queue_webhooks(c, row, new)
        _queue_emails(c, row, new, context.settings)
    return sorted({event for event, _ in new})


def _has_channel(spec: Mapping[str, Any], settings: Settings) -> bool:
    """Whether a message reaches somebody."""
    return bool(spec["webhook"] or (spec["notify"]["emails"] and settings.mail_server is not None))


def _queue_webhooks(c: Connection, project: Row, new: Reasons) -> None:
    """The end of a project is sent by the job that writes it down."""
    for (event, about), facts in new.items():
        if project.spec["webhook"] and event in messages.WEBHOOK_EVENTS:
            payload = messages.webhook_payload(project, (event, about), facts)
            webhook_deliveries.enqueue(c, project.id, messages.WEBHOOK_EVENTS[event], payload)


def _queue_emails(c: Connection, project: Row, new: Reasons, settings: Settings) -> None:
    if settings.mail_server is None:
        return
    for message in messages.write_messages(project, new, settings.address):
        for recipient in dict.fromkeys(project.spec["notify"]["emails"]):
            email_deliveries.enqueue(c, project.id, recipient, *message)
