"""Webhook sender: a thread that posts queued deliveries to the addresses of requesters, with retries."""

from __future__ import annotations

import json
import logging
import threading
import time
from http.client import HTTPException
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from crowdpilot import __version__
from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.settings import Settings
from crowdpilot.service.signing import derive, webhook_signature
from crowdpilot.service.store import projects, webhook_deliveries
from crowdpilot.service.store.engine import Row, Store

TIMEOUT_SECONDS = 5.0
POLL_SECONDS = 0.25  # between two looks for deliveries
PAUSE_AFTER_ERROR_SECONDS = 1.0
logger = logging.getLogger(__name__)


def run(store: Store, settings: Settings, stop: threading.Event) -> None:
    """Send deliveries as they become due, until `stop` is set."""
    while not stop.is_set():
        try:
            if not step(store, settings):
                stop.wait(POLL_SECONDS)
        except ServiceUnavailableError:
            stop.wait(PAUSE_AFTER_ERROR_SECONDS)
        except Exception:  # one delivery must not stop the others
            logger.exception("a webhook delivery failed unexpectedly")
            stop.wait(PAUSE_AFTER_ERROR_SECONDS)


def step(store: Store, settings: Settings, now: float | None = None) -> bool:
    """Send one delivery, if one is due; whether there was one."""
    moment = time.time() if now is None else now
    with store.reading() as c:
        if not webhook_deliveries.is_due(c, moment):
            return False
    with store.writing() as c:
        delivery = webhook_deliveries.claim(c, moment)
        if delivery is None:
            return False
        address = projects.find(c, delivery.project).spec["webhook"]
    error = send(address, derive(settings.secret, "webhook", delivery.project), delivery)
    with store.writing() as c:
        if error:
            webhook_deliveries.fail(c, delivery, error, moment)
        else:
            webhook_deliveries.finish(c, delivery)
    return True


def send(address: str, secret: str, delivery: Row) -> str:
    """Post a delivery once; the error, empty if it was accepted."""
    if urlsplit(address).scheme not in ("http", "https"):
        return "the address is not one of http or https; make the project anew with another"
    message = {"id": delivery.id, "event": delivery.event, "created": delivery.created, **delivery.payload}
    body = json.dumps(message, separators=(",", ":")).encode()
    headers = {
        "Content-Type": "application/json", "User-Agent": f"Crowdpilot/{__version__}",
        "Crowdpilot-Event": delivery.event, "Crowdpilot-Delivery": str(delivery.id),
        "Crowdpilot-Signature": webhook_signature(secret, body),
    }  # fmt: skip
    try:
        with _opener().open(request.Request(address, body, headers), timeout=TIMEOUT_SECONDS):
            return ""
    except HTTPError as error:
        with error:
            return f"the address answered with status {error.code}"
    except URLError as error:
        return f"the address cannot be reached ({error.reason})"[:300]
    except (OSError, HTTPException, ValueError) as error:
        return f"the address does not answer as it should ({type(error).__name__}: {error})"[:300]


def _opener() -> request.OpenerDirector:
    """Only http and https, and no redirects."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(), request.HTTPHandler(), request.HTTPSHandler(),
        request.HTTPDefaultErrorHandler(), request.HTTPErrorProcessor(),
    ):  # fmt: skip
        opener.add_handler(handler)
    return opener
