from __future__ import annotations

import hmac
import json
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from crowdpilot.service.jobs import runner, webhook_sender
from crowdpilot.service.store import webhook_deliveries
from crowdpilot.service.store.engine import Row
from tests.service.jobs.site import Site
from tests.service.tools import eventually

NAMES = [f"i{n}" for n in range(30)]
DEAR = {"prices": {"crowd": 0.3}}  # so that no second vote is wanted


class Receiver(ThreadingHTTPServer):
    """A requester's server: keeps what it gets, and answers as it is told."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[int] = []  # then 200
        self.got: list[tuple[dict[str, str], bytes]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"

    @property
    def heard(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), body))
        status = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(status)
        if status == 302:
            self.send_header("Location", self.server.address + "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def listed(site: Site, project: str) -> list[Row]:
    """Deliveries, the oldest first."""
    with site.store.reading() as c:
        return list(webhook_deliveries.latest(c, project, 500))[::-1]


def finished(site: Site, webhook: str, n: int = 30) -> str:
    """A project whose items are all decided."""
    project = site.project(webhook=webhook, costs=DEAR)
    site.add(project, n)
    site.vote(project, [f"i{k}" for k in range(n)], each=3)
    assert site.refit(project)["announced"] == n
    return project


def test_decided_items_and_the_end_are_told_with_a_signature(any_site: Site, receiver: Receiver) -> None:
    site = any_site
    project = finished(site, receiver.address)
    while webhook_sender.step(site.store, site.settings):
        pass
    first, last = receiver.heard
    assert (first["event"], last["event"]) == ("item.decided", "project.done")
    assert {item["item"] for item in first["items"]} == set(NAMES)
    assert {item["label"] for item in first["items"]} == {"no", "yes"}
    assert (last["project"], last["votes"]) == (project, 90)
    with site.client() as client:
        secret = client.get(f"/api/projects/{project}/webhook").json()["secret"]
        told = client.get(f"/api/projects/{project}/deliveries").json()["deliveries"]
    assert [(row["state"], row["tries"]) for row in told] == [("done", 1)] * 2
    for headers, body in receiver.got:
        moment, signature = (part.partition("=")[2] for part in headers["Crowdpilot-Signature"].split(","))
        assert signature == hmac.new(secret.encode(), f"{moment}.".encode() + body, sha256).hexdigest()
        assert abs(int(moment) - time.time()) < 60


def test_a_receiver_that_fails_at_first_hears_everything_in_order(any_site: Site, receiver: Receiver) -> None:
    site = any_site
    receiver.answers = [500, 302]
    project = finished(site, receiver.address)
    now = time.time()
    assert webhook_sender.step(site.store, site.settings, now)
    assert not webhook_sender.step(site.store, site.settings, now)
    first, second = listed(site, project)
    assert (first.state, first.tries, second.tries) == ("queued", 1, 0)
    assert first.error == "the address answered with status 500"
    assert webhook_sender.step(site.store, site.settings, now + 2)
    assert listed(site, project)[0].error == "the address answered with status 302"
    assert not webhook_sender.step(site.store, site.settings, now + 3)
    while webhook_sender.step(site.store, site.settings, now + 100):
        pass
    assert [(row.state, row.tries, row.error) for row in listed(site, project)] == [
        ("done", 3, None),
        ("done", 1, None),
    ]
    assert [said["event"] for said in receiver.heard] == ["item.decided"] * 3 + ["project.done"]


def test_a_runner_sends_and_sends_again_by_itself(site: Site, receiver: Receiver) -> None:
    receiver.answers = [503]
    project = finished(site, receiver.address)
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(site.settings, "jobs-1", stop))
    thread.start()
    try:
        eventually(lambda: {row.state for row in listed(site, project)} == {"done"})
    finally:
        stop.set()
        thread.join()
    assert len(receiver.got) == 3


def test_nobody_who_never_answers_is_asked_for_ever(site: Site) -> None:
    project = finished(site, "http://127.0.0.1:9/nobody")
    now = time.time()
    for _ in range(webhook_deliveries.MAX_TRIES):
        assert webhook_sender.step(site.store, site.settings, now)
        now += 1e5
    first, second = listed(site, project)
    assert (first.state, first.tries, second.state) == ("failed", webhook_deliveries.MAX_TRIES, "queued")
    assert first.error.startswith("the address cannot be reached")


def test_an_item_is_told_again_only_if_its_label_changes(site: Site, receiver: Receiver) -> None:
    project = finished(site, receiver.address)
    site.ask(project, "completion")
    site.work()
    assert len(listed(site, project)) == 2
    label = listed(site, project)[0].payload["items"][0]["label"]
    with site.store.writing() as c:
        c.exec_driver_sql(
            "UPDATE votes SET label = 1 - label, change_number = 1000000"
            " WHERE item = (SELECT min(id) FROM items)"
        )
        c.exec_driver_sql("UPDATE projects SET change_number = 1000000, fitted = fitted - 1")
    site.context.forget(project)
    result = site.refit(project)
    assert result["announced"] == 1
    (again,) = listed(site, project)[-1].payload["items"]
    assert again["item"] == "i0"
    assert again["label"] != label


def test_many_items_are_told_in_portions(site: Site, receiver: Receiver) -> None:
    project = finished(site, receiver.address, n=1100)
    sizes = [len(row.payload["items"]) for row in listed(site, project) if row.event == "item.decided"]
    assert sizes == [500, 500, 100]


def test_without_an_address_nothing_is_written(site: Site) -> None:
    project = site.project(costs=DEAR)
    site.add(project, 30)
    site.vote(project, NAMES, each=3)
    assert site.refit(project)["done"]
    assert listed(site, project) == []


def test_a_lesson_that_is_not_written_tells_nothing(site: Site, receiver: Receiver) -> None:
    project = site.project(webhook=receiver.address, costs=DEAR)
    site.add(project, 30)
    site.vote(project, NAMES, each=3)
    with site.store.writing() as c:
        c.exec_driver_sql("ALTER TABLE sent_labels RENAME TO hidden")
        c.exec_driver_sql(
            "CREATE TABLE sent_labels (item INTEGER, project TEXT, label TEXT CHECK (label = ''))"
        )
    site.ask(project, "refit")
    site.work()
    assert listed(site, project) == []
    with site.store.writing() as c:
        c.exec_driver_sql("DROP TABLE sent_labels")
        c.exec_driver_sql("ALTER TABLE hidden RENAME TO sent_labels")
        c.exec_driver_sql("UPDATE jobs SET due = 0")
    assert site.refit(project)["announced"] == 30


def test_only_web_addresses_are_called(site: Site) -> None:
    project = finished(site, "http://127.0.0.1:9/")
    assert "http or https" in webhook_sender.send("file:///etc/passwd", "secret", listed(site, project)[0])


def test_old_deliveries_are_forgotten_but_not_those_that_wait(any_site: Site) -> None:
    project = any_site.project(webhook="http://127.0.0.1:9/")
    with any_site.store.writing() as c:
        for n in range(webhook_deliveries.MAX_ENDED_PER_PROJECT + 20):
            webhook_deliveries.enqueue(c, project, "item.decided", {"n": n})
            taken = webhook_deliveries.claim(c, time.time() + 1)
            assert taken is not None
            webhook_deliveries.finish(c, taken)
        webhook_deliveries.enqueue(c, project, "project.done", {})
        left = webhook_deliveries.latest(c, project, 500)
    assert len(left) == webhook_deliveries.MAX_ENDED_PER_PROJECT + 1
