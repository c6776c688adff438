"""Webhooks reach nothing but public addresses, in bounded time, and no receiver delays another."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.jobs import webhook_sender
from crowdpilot.service.outgoing.addresses import Address
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.messages import webhook_deliveries
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.jobs import JobService
from tests.service.harness.receiver import LOOPBACK, Receiver, receiving
from tests.service.harness.service import PLAIN, Service, sqlite_url
from tests.service.harness.waiting import eventually

NAME = "hooks.example.org"
PRIVATE = [
    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1",
    "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192",
    "198.18.0.1", "192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.88.99.1",
    "[::]", "[::1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[fe80::1]", "[fc00::1]",
    "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[ff0e::1]", "[2002:7f00:1::]", "[2002:a00:1::1]",
    "[2002:a9fe:a9fe::]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a00:1]",
    "[2001:db8::1]", "[2001::1]", "[100::1]", "[5f00::1]", "[3fff::1]", "localhost", "localhost.",
]  # fmt: skip


@pytest.fixture
def service(tmp_path: Path) -> Iterator[JobService]:
    """A service which allows webhooks to this machine."""
    made = JobService(sqlite_url(tmp_path))
    yield made
    made.close()


@pytest.fixture
def any_service(database_url: str) -> Iterator[JobService]:
    """The same over each kind of database."""
    made = JobService(database_url)
    yield made
    made.close()


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardService]:
    """A service with the default settings of webhooks."""
    made = DashboardService(sqlite_url(tmp_path_factory.mktemp("strict")))
    yield made
    made.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


def enqueue(service: JobService, address: str, n: int = 1) -> str:
    """A project with some deliveries; its id."""
    project = service.create(webhook=address)
    with service.store.writing() as c:
        for k in range(n):
            webhook_deliveries.enqueue(c, project, "item.decided", {"n": k})
    return project


def listed(service: JobService, project: str) -> list[Row]:
    """Deliveries, the oldest first."""
    with service.store.reading() as c:
        return list(webhook_deliveries.latest(c, project))[::-1]


def resolver(*answers: Sequence[str]) -> Callable[[str, int], list[Address]]:
    """A resolver that gives these answers, one after the other, and fails then."""
    left = [[ip_address(text) for text in answer] for answer in answers]

    def resolve(host: str, port: int) -> list[Address]:
        if not left:
            raise AssertionError(f"{host} is resolved once too often")
        return left.pop(0)

    return resolve


# Addresses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", PRIVATE)
def test_a_webhook_to_an_address_that_is_not_public_is_refused_at_creation(
    strict: DashboardService, host: str
) -> None:
    made = strict.send("POST", "/api/projects", json={**PLAIN, "webhook": f"http://{host}:8080/hook"})
    assert made.status_code == 422, made.text
    assert "not public" in made.json()["detail"]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("http://user:word@example.org/", "password"), ("http://user@example.org/", "password"),
        ("http://example.org:25/", "port 25"), ("http://example.org:0/", "port 0"),
        ("http://example.org:99999/", "no URL"), ("http://example.org:x/", "no URL"),
        ("http://[::1/", "no URL"), ("http:///hook", "no host"), ("http://:80/", "no host"),
        ("http://example.org\\@127.0.0.1/", "backslash"), ("http://exa_mple$.org/", "no host"),
        ("http://" + "a" * 70 + ".org/", "no host"), ("http://a..b/", "no host"),
    ],
)  # fmt: skip
def test_an_address_that_makes_no_sense_is_refused_at_creation(
    strict: DashboardService, address: str, says: str
) -> None:
    made = strict.send("POST", "/api/projects", json={**PLAIN, "webhook": address})
    assert made.status_code == 422, made.text
    assert says in made.json()["detail"]


def test_the_form_of_a_new_project_says_what_is_wrong_with_a_webhook(strict: DashboardService) -> None:
    client = strict.signed_in()
    form = {"csrf": csrf(client.get("/projects/new").text), "name": "x", "question": "?"}
    files = [("files", ("items.csv", b"text\nGood."))]
    answer = client.post("/projects/new", data={**form, "webhook": "http://10.0.0.1/"}, files=files)
    assert answer.status_code == 422
    assert "not public" in answer.text


def test_public_addresses_and_names_that_do_not_resolve_yet_are_accepted(strict: DashboardService) -> None:
    for host in ("93.184.216.34", "[2606:2800:220:1::1]", "[2002:5db8:d822::]", "[64:ff9b::5db8:d822]"):
        assert strict.project(webhook=f"https://{host}/hook?team=1").id
    assert strict.project(webhook="https://no-such-host.invalid/hook").id
    assert strict.project(webhook="").id


def test_an_allowed_network_is_reached_and_no_other(tmp_path: Path) -> None:
    service = Service(sqlite_url(tmp_path), webhook_networks=LOOPBACK)
    assert service.project(webhook="http://127.0.0.1:8080/").id
    assert service.project(webhook="http://[::ffff:127.0.0.1]:8080/").id
    for host in ("10.0.0.1", "[::1]", "169.254.169.254"):
        made = service.send("POST", "/api/projects", json={**PLAIN, "webhook": f"http://{host}/"})
        assert made.status_code == 422
    service.close()


def test_a_delivery_to_an_address_that_is_not_public_is_not_sent(
    service: JobService, receiver: Receiver
) -> None:
    project = enqueue(service, receiver.address)
    settings = replace(service.settings, webhook_networks=())
    assert webhook_sender.step(service.store, settings)
    assert receiver.got == []
    (row,) = listed(service, project)
    assert (row.state, row.tries) == ("queued", 1)
    assert "not public" in row.error
    assert "127" not in row.error  # a name would tell what it resolves to


def test_a_name_that_changes_its_address_after_the_check_does_not_get_the_delivery_there(
    service: JobService, receiver: Receiver
) -> None:
    project = enqueue(service, f"http://{NAME}:{receiver.port}/hook")
    settings = replace(service.settings, webhook_networks=())
    assert webhook_sender.step(service.store, settings, resolver=resolver(["127.0.0.1"]))
    assert "not public" in listed(service, project)[0].error
    mixed = resolver(["93.184.216.34", "127.0.0.1"])
    assert webhook_sender.step(service.store, settings, time.time() + 5, resolver=mixed)
    assert "not public" in listed(service, project)[0].error
    assert receiver.got == []


def test_the_address_that_was_checked_is_the_one_connected_to(
    service: JobService, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = enqueue(service, f"http://{NAME}:{receiver.port}/hook?a=1")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert webhook_sender.step(service.store, service.settings, resolver=resolver(["127.0.0.1"]))
    assert [row.state for row in listed(service, project)] == ["done"]
    assert receiver.got[0][0]["Host"] == f"{NAME}:{receiver.port}"


def test_the_next_address_is_tried_if_one_refuses(service: JobService, receiver: Receiver) -> None:
    project = enqueue(service, f"http://{NAME}:{receiver.port}/hook")
    found = resolver(["127.9.9.9", "127.0.0.1"])
    assert webhook_sender.step(service.store, service.settings, resolver=found)
    assert [row.state for row in listed(service, project)] == ["done"]


def test_redirects_are_not_followed(service: JobService, receiver: Receiver) -> None:
    receiver.answers = [302]
    project = enqueue(service, receiver.address)
    assert webhook_sender.step(service.store, service.settings)
    assert listed(service, project)[0].error == "the address answered with status 302"
    assert len(receiver.got) == 1


def certificate(folder: Path, name: str) -> ssl.SSLContext:
    """A server's side of TLS with a new certificate of this name, in `folder / "cert.pem"`."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not on this machine")
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", str(key), "-out", str(cert), "-days", "2", "-subj", f"/CN={name}",
         "-addext", f"subjectAltName=DNS:{name}"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context


@pytest.mark.parametrize(("name", "state"), [(NAME, "done"), ("other.example.org", "queued")])
def test_a_certificate_is_checked_by_the_name_and_not_by_the_address(
    service: JobService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, state: str
) -> None:
    tls = certificate(tmp_path, name)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with receiving(tls) as receiver:
        project = enqueue(service, f"https://{NAME}:{receiver.port}/hook")
        assert webhook_sender.step(service.store, service.settings, resolver=resolver(["127.0.0.1"]))
        (row,) = listed(service, project)
        assert row.state == state
        assert len(receiver.got) == (state == "done")
        assert row.error is None or "no valid certificate" in row.error


# Deadlines --------------------------------------------------------------------------------------


@contextmanager
def listening(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that talks to each caller in its own way, until the caller hangs up."""
    callers: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    caller, _ = server.accept()
                except OSError:
                    return
                callers.append(caller)
                threading.Thread(target=answer, args=(caller,), daemon=True).start()

        def answer(caller: socket.socket) -> None:
            with suppress(OSError):
                caller.recv(1 << 16)  # the request
                talk(caller)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            for caller in callers:
                caller.close()
            server.shutdown(socket.SHUT_RDWR)
            thread.join(5)


def drip(start: bytes, forever: bytes) -> Callable[[socket.socket], None]:
    """Say one byte at a time, each sooner than a time limit of a single operation would notice."""

    def talk(caller: socket.socket) -> None:
        caller.sendall(start)
        for _ in range(600):
            time.sleep(0.05)
            caller.sendall(forever)

    return talk


@pytest.mark.parametrize(
    ("talk", "says"),
    [
        (drip(b"", b"H"), "did not answer within"),
        (drip(b"HTTP/1.1 200 OK\r\n", b"X"), "did not answer within"),
        (drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "did not answer within"),
        (lambda caller: time.sleep(5), "did not answer within"),
        (lambda caller: caller.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 10**6), "no end"),
        (lambda caller: caller.sendall(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "not one of HTTP"),
        (lambda caller: caller.close(), "the response breaks off"),
    ],
)  # fmt: skip
def test_a_delivery_ends_at_its_deadline_whatever_the_receiver_does(
    service: JobService, monkeypatch: pytest.MonkeyPatch, talk: Any, says: str
) -> None:
    monkeypatch.setattr(webhook_sender, "DEADLINE_SECONDS", 0.5)
    with listening(talk) as address:
        project = enqueue(service, address)
        assert webhook_sender.step(service.store, service.settings)
        assert says in listed(service, project)[0].error


def test_a_body_of_the_response_is_not_read(service: JobService) -> None:
    with listening(drip(b"HTTP/1.1 204 No Content\r\n\r\n", b"x")) as address:
        project = enqueue(service, address)
        assert webhook_sender.step(service.store, service.settings)
        assert [row.state for row in listed(service, project)] == ["done"]


def test_a_resolver_that_hangs_ends_at_the_deadline(
    service: JobService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_sender, "DEADLINE_SECONDS", 0.2)
    project = enqueue(service, f"http://{NAME}/")
    released = threading.Event()

    def hang(host: str, port: int) -> list[Address]:
        released.wait(10)
        return []

    assert webhook_sender.step(service.store, service.settings, resolver=hang)
    assert not released.is_set()
    released.set()
    assert "did not answer within" in listed(service, project)[0].error


# Receivers that are slow ------------------------------------------------------------------------


@contextmanager
def sending(service: JobService) -> Iterator[None]:
    """The sender of a job process runs meanwhile."""
    stop = threading.Event()
    thread = threading.Thread(target=webhook_sender.run, args=(service.store, service.settings, stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_slow_receivers_do_not_delay_others(service: JobService, receiver: Receiver) -> None:
    with receiving() as slow:
        slow.slow = True
        for _ in range(20):
            enqueue(service, slow.address, n=5)
        quick = enqueue(service, receiver.address, n=30)
        with sending(service):
            eventually(lambda: {row.state for row in listed(service, quick)} == {"done"})
            assert not slow.released.is_set()
            assert len(slow.got) <= webhook_sender.MAX_PER_RECEIVER
            slow.released.set()


def test_one_delivery_of_a_project_at_a_time_is_under_way_in_all_processes(any_service: JobService) -> None:
    with receiving() as slow:
        slow.slow = True
        enqueue(any_service, slow.address, n=5)
        with sending(any_service), sending(any_service):
            eventually(lambda: slow.got)
            time.sleep(3 * webhook_sender.POLL_SECONDS)
            assert len(slow.got) == 1
            slow.released.set()
            eventually(lambda: len(slow.got) == 5)
    assert [message["n"] for message in slow.received] == [0, 1, 2, 3, 4]


def test_projects_take_turns(any_service: JobService) -> None:
    first = enqueue(any_service, "http://a.example.org/", n=3)
    second = enqueue(any_service, "http://b.example.org/", n=3)
    turns, order = webhook_sender.Turns(), []
    for _ in range(6):
        now = time.time() + 1
        with any_service.store.writing() as c:
            row = turns.choose(webhook_deliveries.due(c, now))
            assert row is not None
            delivery = webhook_deliveries.claim(c, row.id, now)
            assert delivery is not None
            webhook_deliveries.finish(c, delivery)
        turns.start(row)
        turns.end(row, 0.1)
        order.append(row.project)
    assert order == [first, second] * 3


def test_half_of_the_threads_are_kept_for_receivers_that_answer_quickly(service: JobService) -> None:
    turns = webhook_sender.Turns()
    good = enqueue(service, "http://good.example.org/")
    with service.store.reading() as c:
        (proven,) = webhook_deliveries.due(c, time.time())
    turns.start(proven)
    turns.end(proven, 0.1)
    for k in range(webhook_sender.THREADS):
        enqueue(service, f"http://slow{k}.example.org/")
    chosen = []
    while True:
        with service.store.reading() as c:
            due = [row for row in webhook_deliveries.due(c, time.time()) if row.project not in chosen]
        if (row := turns.choose(due)) is None:
            break
        turns.start(row)
        chosen.append(row.project)
    assert len(chosen) == webhook_sender.MAX_UNPROVEN + 1
    assert chosen[-1] == good


def test_a_late_result_does_not_change_a_delivery_that_was_claimed_again(any_service: JobService) -> None:
    project = enqueue(any_service, "http://a.example.org/")
    now = time.time()
    with any_service.store.writing() as c:
        (row,) = webhook_deliveries.due(c, now)
        late = webhook_deliveries.claim(c, row.id, now)
        assert late is not None
        assert webhook_deliveries.claim(c, row.id, now) is None
        after = now + webhook_deliveries.CLAIM_SECONDS + 1
        again = webhook_deliveries.claim(c, row.id, after)
        assert again is not None
        webhook_deliveries.finish(c, again)
        webhook_deliveries.fail(c, late, "too late", after)
    assert [(row.state, row.tries, row.error) for row in listed(any_service, project)] == [("done", 2, None)]
