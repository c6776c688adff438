"""Webhook sender: threads that post queued deliveries to the addresses of requesters, with retries.

One slow receiver does not delay others: at most one delivery of a project is under way in all processes, at
most two to a receiver in each process, projects take turns, and half of the threads are kept for receivers
that answered quickly the last time.
"""

from __future__ import annotations

import json
import logging
import ssl
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from crowdpilot import __version__
from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.outgoing.addresses import Resolver, checked_addresses, parse_url, resolve
from crowdpilot.service.outgoing.connection import Deadline, post
from crowdpilot.service.settings import Settings
from crowdpilot.service.signing import derive_all, webhook_signature
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.messages import webhook_deliveries

DEADLINE_SECONDS = 6.0  # of a whole delivery; less than a process has to stop
POLL_SECONDS = 0.25  # between two looks for deliveries
PAUSE_AFTER_ERROR_SECONDS = 1.0
THREADS = 8  # of each job process
MAX_UNPROVEN = THREADS // 2  # deliveries under way to receivers that did not answer quickly the last time
MAX_PER_RECEIVER = 2  # deliveries under way
QUICK_SECONDS = 1.0  # in which a receiver has answered quickly
MAX_ERROR_CHARACTERS = 300
logger = logging.getLogger(__name__)


def run(store: Store, settings: Settings, stop: threading.Event, resolver: Resolver = resolve) -> None:
    """Send deliveries as they become due, until `stop` is set; those under way are ended first."""
    turns = Turns()
    under_way: dict[Future[None], tuple[Row, float]] = {}  # with the moment of their start
    with ThreadPoolExecutor(THREADS, "webhook sender") as pool:
        while not stop.is_set():
            try:
                _collect(under_way, turns)
                waiting = _claim(store, turns, time.time()) if len(under_way) < THREADS else None
            except ServiceUnavailableError:
                stop.wait(PAUSE_AFTER_ERROR_SECONDS)
            except Exception:  # one delivery must not stop the others
                logger.exception("a webhook delivery failed unexpectedly")
                stop.wait(PAUSE_AFTER_ERROR_SECONDS)
            else:
                if waiting is not None:
                    row, delivery = waiting
                    turns.start(row)
                    sent = pool.submit(_deliver, store, settings, row.address, delivery, resolver)
                    under_way[sent] = row, time.monotonic()
                elif under_way:
                    wait(under_way, POLL_SECONDS, FIRST_COMPLETED)
                else:
                    stop.wait(POLL_SECONDS)


def _collect(under_way: dict[Future[None], tuple[Row, float]], turns: Turns) -> None:
    """Count deliveries that have ended."""
    for sent in [sent for sent in under_way if sent.done()]:
        row, start = under_way.pop(sent)
        turns.end(row, time.monotonic() - start)
        if (error := sent.exception()) is not None:  # it is sent again once its claim has expired
            logger.error("the result of a webhook delivery cannot be written", exc_info=error)


def step(store: Store, settings: Settings, now: float | None = None, resolver: Resolver = resolve) -> bool:
    """Send one delivery, if one is due; whether there was one."""
    waiting = _claim(store, Turns(), time.time() if now is None else now)
    if waiting is None:
        return False
    row, delivery = waiting
    _deliver(store, settings, row.address, delivery, resolver, now)
    return True


def _claim(store: Store, turns: Turns, now: float) -> tuple[Row, Row] | None:
    """The next delivery, claimed, after its row in the list of those that are due."""
    with store.reading() as c:
        row = turns.choose(webhook_deliveries.due(c, now))
    if row is None:
        return None
    with store.writing() as c:
        delivery = webhook_deliveries.claim(c, row.id, now)
    return None if delivery is None else (row, delivery)  # else another process was faster


def _deliver(
    store: Store, settings: Settings, address: str, delivery: Row, resolver: Resolver,
    now: float | None = None,
) -> None:  # fmt: skip
    """Send a delivery that is claimed, and write how it went."""
    error = send(address, delivery, settings, resolver)
    with store.writing() as c:
        if error:
            webhook_deliveries.fail(c, delivery, error, time.time() if now is None else now)
        else:
            webhook_deliveries.finish(c, delivery)


def send(address: str, delivery: Row, settings: Settings, resolver: Resolver = resolve) -> str:
    """Post a delivery once; the error, empty if it was accepted."""
    deadline = Deadline(DEADLINE_SECONDS)
    message = {"id": delivery.id, "event": delivery.event, "created": delivery.created, **delivery.payload}
    body = json.dumps(message, separators=(",", ":")).encode()
    secrets = " ".join(
        derive_all(settings.secret, "webhook", delivery.project)
    )  # all that receivers may have
    headers = {
        "Content-Type": "application/json", "User-Agent": f"Crowdpilot/{__version__}",
        "Crowdpilot-Event": delivery.event, "Crowdpilot-Delivery": str(delivery.id),
        "Crowdpilot-Signature": webhook_signature(secrets, body),
    }  # fmt: skip
    try:
        url = parse_url(address)
        addresses = checked_addresses(url, settings.webhook_networks, deadline.left(), resolver)
        status = post(url, addresses, headers, body, deadline)
    except TimeoutError:
        return f"the address did not answer within {DEADLINE_SECONDS:g} seconds"
    except ssl.SSLError as error:
        return f"the address has no valid certificate or speaks no TLS ({error.reason})"[
            :MAX_ERROR_CHARACTERS
        ]
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return f"the address cannot be reached ({reason})"[:MAX_ERROR_CHARACTERS]
    except ValueError as error:
        return str(error)[:MAX_ERROR_CHARACTERS]
    return "" if 200 <= status < 300 else f"the address answered with status {status}"


@dataclass
class Turns:
    """Whose delivery is sent next: that of the project whose turn was the longest ago."""

    turn: int = 0
    last_turn: dict[str, int] = field(default_factory=dict)  # by project
    under_way: Counter[str] = field(default_factory=Counter)  # deliveries by receiver
    quick: set[str] = field(default_factory=set)  # receivers that answered quickly the last time

    def choose(self, due: Sequence[Row]) -> Row | None:
        """The next of these deliveries, each of another project; None if all of them have to wait."""
        unproven = sum(n for name, n in self.under_way.items() if name not in self.quick)

        def may_start(row: Row) -> bool:
            name = receiver(row.address)
            return self.under_way[name] < MAX_PER_RECEIVER and (name in self.quick or unproven < MAX_UNPROVEN)

        ready = [row for row in due if may_start(row)]
        return min(ready, key=lambda row: (self.last_turn.get(row.project, 0), row.id), default=None)

    def start(self, delivery: Row) -> None:
        """Count a delivery as under way."""
        self.turn += 1
        self.last_turn[delivery.project] = self.turn
        self.under_way[receiver(delivery.address)] += 1

    def end(self, delivery: Row, seconds: float) -> None:
        """Count a delivery, which took so many seconds, as under way no more."""
        name = receiver(delivery.address)
        self.under_way[name] -= 1
        if not self.under_way[name]:
            del self.under_way[name]
        (self.quick.add if seconds <= QUICK_SECONDS else self.quick.discard)(name)


def receiver(address: str) -> str:
    """The host and port of an address; what is no address is a receiver of its own."""
    try:
        return parse_url(address).host_header
    except ValueError:
        return address
