"""Notifications as requesters see them: who is told what, what was sent, and a test of the mail server."""

from __future__ import annotations

from typing import Any

from crowdpilot.service.errors import ConflictError, RateLimitError
from crowdpilot.service.jobs.notifications.messages import make_test_message
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import counters, projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.messages import email_deliveries, notifications, webhook_deliveries
from crowdpilot.service.store.requesters import action_log

TESTS_PER_HOUR = 5  # of one project
HOUR_SECONDS = 3600.0
MAX_SHOWN = 20
NO_MAIL_SERVER = (
    "this service sends no e-mails, because it has no mail server; ask its operator to set one "
    "(crowdpilot serve --smtp)"
)


def read_notifications(store: Store, project: str) -> dict[str, Any]:
    """What is so and was told, and the last e-mails and webhook deliveries."""
    with store.reading() as c:
        return {
            "told": notifications.latest(c, project, MAX_SHOWN),
            "emails": email_deliveries.latest(c, project, MAX_SHOWN),
            "deliveries": webhook_deliveries.latest(c, project, MAX_SHOWN),
        }


def send_test(store: Store, settings: Settings, project: str, actor: str) -> list[str]:
    """Queue a test e-mail to every address of a project; the addresses."""
    if settings.mail_server is None:
        raise ConflictError(NO_MAIL_SERVER)
    with store.writing() as c:
        row = projects.find(c, project)
        recipients = list(dict.fromkeys(row.spec["notify"]["emails"]))
        if not recipients:
            raise ConflictError("the project names no e-mail address; add one in its settings")
        if counters.add(c, f"test e-mails:{project}", HOUR_SECONDS) > TESTS_PER_HOUR:
            raise RateLimitError(f"{TESTS_PER_HOUR} tests in an hour are the most; try again later")
        for recipient in recipients:
            email_deliveries.enqueue(c, project, recipient, *make_test_message(row, settings.address))
        action_log.write(c, actor, "test e-mails", project, addresses=len(recipients))
    return recipients
