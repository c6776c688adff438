from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

import pytest

from crowdpilot.service.jobs import runner, webhook_sender
from crowdpilot.service.signing import derive_all
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.messages import webhook_deliveries
from tests.service.harness.jobs import JobService
from tests.service.harness.receiver import Receiver, receiving
from tests.service.harness.waiting import eventually, free_port

NAMES = [f"i{n}" for n in range(30)]
DEAR = {"prices": {"crowd": 0.3}}  # so that no second vote is wanted


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


def listed(service: JobService, project: str) -> list[Row]:
    """Deliveries, the oldest first."""
    with service.store.reading() as c:
        return list(webhook_deliveries.latest(c, project, 500))[::-1]


def finished(service: JobService, webhook: str, n: int = 30) -> str:
    """A project whose items are all decided."""
    project = service.create(webhook=webhook, costs=DEAR)
    service.add(project, n)
    service.vote(project, [f"i{k}" for k in range(n)], each=3)
    assert service.refit(project)["announced"] == n
    return project


def test_decided_items_and_the_end_are_sent_with_a_signature(
    any_service: JobService, receiver: Receiver
) -> None:
    service = any_service
    project = finished(service, receiver.address)
    while webhook_sender.step(service.store, service.settings):
        pass
    first, last = receiver.received
    assert (first["event"], last["event"]) == ("item.decided", "project.done")
    assert {item["item"] for item in first["items"]} == set(NAMES)
    assert {item["label"] for item in first["items"]} == {"no", "yes"}
    assert (last["project"], last["votes"]) == (project, 90)
    with service.requester() as client:
        secret = client.get(f"/api/projects/{project}/webhook").json()["secret"]
        message = client.get(f"/api/projects/{project}/deliveries").json()["deliveries"]
    assert [(row["state"], row["tries"]) for row in message] == [("done", 1)] * 2
    for headers, body in receiver.got:
        moment, signature = (part.partition("=")[2] for part in headers["Crowdpilot-Signature"].split(","))
        assert signature == hmac.new(secret.encode(), f"{moment}.".encode() + body, sha256).hexdigest()
        assert abs(int(moment) - time.time()) < 60


def test_while_the_secret_is_rotated_receivers_can_verify_with_either(
    service: JobService, receiver: Receiver
) -> None:
    project = finished(service, receiver.address)
    rotated = replace(service.settings, secret=f"{'n' * 40} {service.settings.secret}")
    assert webhook_sender.step(service.store, rotated)
    ((headers, body), *_) = receiver.got
    moment, *signatures = (part.partition("=")[2] for part in headers["Crowdpilot-Signature"].split(","))
    assert signatures == [
        hmac.new(secret.encode(), f"{moment}.".encode() + body, sha256).hexdigest()
        for secret in derive_all(rotated.secret, "webhook", project)
    ]


def test_a_receiver_that_fails_at_first_gets_all_deliveries_in_order(
    any_service: JobService, receiver: Receiver
) -> None:
    service = any_service
    receiver.answers = [500, 302]
    project = finished(service, receiver.address)
    now = time.time()
    assert webhook_sender.step(service.store, service.settings, now)
    assert not webhook_sender.step(service.store, service.settings, now)
    first, second = listed(service, project)
    assert (first.state, first.tries, second.tries) == ("queued", 1, 0)
    assert first.error == "the address answered with status 500"
    assert webhook_sender.step(service.store, service.settings, now + 2)
    assert listed(service, project)[0].error == "the address answered with status 302"
    assert not webhook_sender.step(service.store, service.settings, now + 3)
    while webhook_sender.step(service.store, service.settings, now + 100):
        pass
    assert [(row.state, row.tries, row.error) for row in listed(service, project)] == [
        ("done", 3, None),
        ("done", 1, None),
    ]
    assert [said["event"] for said in receiver.received] == ["item.decided"] * 3 + ["project.done"]


def test_a_runner_sends_deliveries_and_retries(service: JobService, receiver: Receiver) -> None:
    receiver.answers = [503]
    project = finished(service, receiver.address)
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(service.settings, "jobs-1", stop))
    thread.start()
    try:
        eventually(lambda: {row.state for row in listed(service, project)} == {"done"})
    finally:
        stop.set()
        thread.join()
    assert len(receiver.got) == 3


def test_a_delivery_is_given_up_after_some_tries(service: JobService) -> None:
    project = finished(service, f"http://127.0.0.1:{free_port()}/nobody")
    now = time.time()
    for _ in range(webhook_deliveries.MAX_TRIES):
        assert webhook_sender.step(service.store, service.settings, now)
        now += 1e5
    first, second = listed(service, project)
    assert (first.state, first.tries, second.state) == ("failed", webhook_deliveries.MAX_TRIES, "queued")
    assert first.error.startswith("the address cannot be reached")


def test_an_item_is_sent_again_only_if_its_label_changes(service: JobService, receiver: Receiver) -> None:
    project = finished(service, receiver.address)
    service.enqueue(project, "completion")
    service.do_jobs()
    assert len(listed(service, project)) == 2
    label = listed(service, project)[0].payload["items"][0]["label"]
    with service.store.writing() as c:
        c.exec_driver_sql(
            "UPDATE votes SET label = 1 - label, change_number = 1000000"
            " WHERE item = (SELECT min(id) FROM items)"
        )
        c.exec_driver_sql("UPDATE projects SET change_number = 1000000, fitted = fitted - 1")
    service.context.forget(project)
    result = service.refit(project)
    assert result["announced"] == 1
    (again,) = listed(service, project)[-1].payload["items"]
    assert again["item"] == "i0"
    assert again["label"] != label


def test_many_items_are_sent_in_several_deliveries(service: JobService, receiver: Receiver) -> None:
    project = finished(service, receiver.address, n=1100)
    sizes = [len(row.payload["items"]) for row in listed(service, project) if row.event == "item.decided"]
    assert sizes == [500, 500, 100]


def test_without_a_webhook_nothing_is_queued(service: JobService) -> None:
    project = service.create(costs=DEAR)
    service.add(project, 30)
    service.vote(project, NAMES, each=3)
    assert service.refit(project)["done"]
    assert listed(service, project) == []


def test_a_model_update_that_is_not_written_announces_nothing(
    service: JobService, receiver: Receiver
) -> None:
    project = service.create(webhook=receiver.address, costs=DEAR)
    service.add(project, 30)
    service.vote(project, NAMES, each=3)
    with service.store.writing() as c:
        c.exec_driver_sql("ALTER TABLE sent_labels RENAME TO hidden")
        c.exec_driver_sql(
            "CREATE TABLE sent_labels (item INTEGER, project TEXT, label TEXT CHECK (label = ''))"
        )
    service.enqueue(project, "refit")
    service.do_jobs()
    assert listed(service, project) == []
    with service.store.writing() as c:
        c.exec_driver_sql("DROP TABLE sent_labels")
        c.exec_driver_sql("ALTER TABLE hidden RENAME TO sent_labels")
        c.exec_driver_sql("UPDATE jobs SET due = 0")
    assert service.refit(project)["announced"] == 30


def test_only_web_addresses_are_called(service: JobService) -> None:
    project = finished(service, f"http://127.0.0.1:{free_port()}/")
    delivery = listed(service, project)[0]
    assert "nor https" in webhook_sender.send("file:///etc/passwd", delivery, service.settings)


def test_old_deliveries_are_deleted_but_not_queued_ones(any_service: JobService) -> None:
    project = any_service.create(webhook=f"http://127.0.0.1:{free_port()}/")
    with any_service.store.writing() as c:
        for n in range(webhook_deliveries.MAX_ENDED_PER_PROJECT + 20):
            webhook_deliveries.enqueue(c, project, "item.decided", {"n": n})
            (row,) = webhook_deliveries.due(c, time.time() + 1)
            taken = webhook_deliveries.claim(c, row.id, time.time() + 1)
            assert taken is not None
            webhook_deliveries.finish(c, taken)
        webhook_deliveries.enqueue(c, project, "project.done", {})
        left = webhook_deliveries.latest(c, project, 500)
    assert len(left) == webhook_deliveries.MAX_ENDED_PER_PROJECT + 1
