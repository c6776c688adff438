"""The courier: brings news to the addresses of requesters, again and again until they are heard."""

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

TIMEOUT = 5.0  # seconds
NAP = 0.25
logger = logging.getLogger(__name__)


def run(store: Store, settings: Settings, stop: threading.Event) -> None:
    """Bring what is due until told to stop."""
    while not stop.is_set():
        try:
            if not step(store, settings):
                stop.wait(NAP)
        except ServiceUnavailableError:
            stop.wait(1.0)
        except Exception:  # one delivery must not keep the others
            logger.exception("a delivery failed in a way that nobody foresaw")
            stop.wait(1.0)


def step(store: Store, settings: Settings, now: float | None = None) -> bool:
    """Bring one delivery, if one is due; whether there was one."""
    moment = time.time() if now is None else now
    with store.reading() as c:
        if not webhook_deliveries.is_due(c, moment):
            return False
    with store.writing() as c:
        sent = webhook_deliveries.claim(c, moment)
        if sent is None:
            return False
        address = projects.find(c, sent.project).spec["webhook"]
    error = send(address, derive(settings.secret, "webhook", sent.project), sent)
    with store.writing() as c:
        if error:
            webhook_deliveries.fail(c, sent, error, moment)
        else:
            webhook_deliveries.finish(c, sent)
    return True


def send(address: str, secret: str, sent: Row) -> str:
    """Say it once; why it was not heard, empty if it was."""
    if urlsplit(address).scheme not in ("http", "https"):
        return "the address is not one of http or https; make the project anew with another"
    said = {"id": sent.id, "event": sent.event, "created": sent.created, **sent.payload}
    body = json.dumps(said, separators=(",", ":")).encode()
    headers = {
        "Content-Type": "application/json", "User-Agent": f"Crowdpilot/{__version__}",
        "Crowdpilot-Event": sent.event, "Crowdpilot-Delivery": str(sent.id),
        "Crowdpilot-Signature": webhook_signature(secret, body),
    }  # fmt: skip
    try:
        with _opener().open(request.Request(address, body, headers), timeout=TIMEOUT):
            return ""
    except HTTPError as error:
        with error:
            return f"the address answered with status {error.code}"
    except URLError as error:
        return f"the address cannot be reached ({error.reason})"[:300]
    except (OSError, HTTPException, ValueError) as error:
        return f"the address does not answer as it should ({type(error).__name__}: {error})"[:300]


def _opener() -> request.OpenerDirector:
    """Speaks http and https alone, and does not follow when it is sent elsewhere."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(), request.HTTPHandler(), request.HTTPSHandler(),
        request.HTTPDefaultErrorHandler(), request.HTTPErrorProcessor(),
    ):  # fmt: skip
        opener.add_handler(handler)
    return opener
