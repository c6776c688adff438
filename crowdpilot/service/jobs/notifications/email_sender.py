"""E-mail sender: a thread that hands queued e-mails to the mail server, one at a time, with retries."""

from __future__ import annotations

import logging
import smtplib
import threading
import time

from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.jobs.notifications import smtp
from crowdpilot.service.settings import Settings
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.messages import email_deliveries

POLL_SECONDS = 1.0  # between two looks for e-mails
PAUSE_AFTER_ERROR_SECONDS = 5.0
logger = logging.getLogger(__name__)


def run(store: Store, settings: Settings, stop: threading.Event) -> None:
    """Send e-mails as they become due, until `stop` is set; nothing if there is no mail server."""
    if settings.mail_server is None:
        return
    while not stop.is_set():
        try:
            if not step(store, settings):
                stop.wait(POLL_SECONDS)
        except ServiceUnavailableError:
            stop.wait(PAUSE_AFTER_ERROR_SECONDS)
        except Exception:  # one e-mail must not stop the others
            logger.exception("an e-mail failed unexpectedly")
            stop.wait(PAUSE_AFTER_ERROR_SECONDS)


def step(store: Store, settings: Settings, now: float | None = None) -> bool:
    """Send one e-mail, if one is due; whether there was one."""
    moment = time.time() if now is None else now
    with store.reading() as c:
        if settings.mail_server is None or not email_deliveries.is_due(c, moment):
            return False
    with store.writing() as c:
        email = email_deliveries.claim(c, moment)
    if email is None:
        return False
    error: Exception | None = None
    try:
        smtp.send(settings.mail_server, email.recipient, email.subject, email.text)
    except (smtp.RejectedError, smtplib.SMTPException, OSError) as caught:
        error = caught
    with store.writing() as c:
        if error is None:
            email_deliveries.finish(c, email)
        else:
            for_good = isinstance(error, smtp.RejectedError)
            moment = time.time() if now is None else now
            email_deliveries.fail(c, email, smtp.describe(error), moment, for_good=for_good)
    return True
