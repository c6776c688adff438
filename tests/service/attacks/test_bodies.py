"""Large bodies: strangers are refused before anything is read, and nobody can fill the memory."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.labelling.sessions import Session, sign_session
from crowdpilot.service.store import items, workers
from crowdpilot.service.store.requesters import keys, members
from tests.service.harness.processes import ProcessService, serving
from tests.service.harness.raw_http import connect, head, read_response, send_all
from tests.service.harness.service import PLAIN, SECRET, create_project, sqlite_url

pytestmark = pytest.mark.thorough  # starts a service

MEGABYTE = 1 << 20
LISTS = b"[" + b"[]," * (20 * MEGABYTE) + b"[]]"  # of 60 megabytes
MAX_GROWTH_MEGABYTES = 60.0
SENDERS = ["stranger", "wrong key", "read key", "worker", "write key", "backend", "dashboard"]


class Attacked:
    """A service with a project, and who may send requests to it."""

    def __init__(self, service: ProcessService) -> None:
        self.service = service
        self.project = create_project(service.store, PLAIN)
        with service.store.writing() as c:
            items.add(c, self.project, [{"name": "i0", "content": {"text": "Text."}}])
            owner = members.find_or_create(c, "tests", operator=True).id
            self.keys = {scope: keys.create(c, owner, scope, scope) for scope in ("read", "write")}
            worker = workers.register(c, self.project, "link", "ann", kind="crowd", state=workers.ACTIVE)
        self.session = sign_session(SECRET, Session(self.project, worker.id, "link", 1, "nonce"))

    def request(self, sender: str) -> tuple[str, dict[str, str]]:
        """A path, and the headers of a sender."""
        votes = f"/api/projects/{self.project}/external-votes"
        found: dict[str, tuple[str, dict[str, str]]] = {
            "stranger": ("/api/projects", {}),
            "wrong key": (votes, {"x_api_key": "cp_0123_abc"}),
            "read key": (votes, {"x_api_key": self.keys["read"]}),
            "write key": (votes, {"x_api_key": self.keys["write"]}),
            "worker": ("/api/votes", {"authorization": f"Bearer {self.session}"}),
            "backend": (f"/label-studio/{self.project}/wrong/webhook", {}),
            "dashboard": ("/projects/new", {"cookie": "session=wrong"}),
        }
        return found[sender]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    with serving(sqlite_url(tmp_path_factory.mktemp("bodies")), web=1) as service:
        yield Attacked(service)


REFUSED = {
    "stranger": 401,
    "wrong key": 401,
    "read key": 403,
    "worker": 413,
    "write key": 413,
    "backend": 401,
    "dashboard": 401,
}


@pytest.mark.parametrize("sender", SENDERS)
def test_the_answer_comes_before_the_body_is_sent(attacked: Attacked, sender: str) -> None:
    path, headers = attacked.request(sender)
    with connect(attacked.service.address) as sock:
        sock.sendall(
            head("POST", path, content_length=len(LISTS), content_type="application/json", **headers)
        )
        assert read_response(sock).status == REFUSED[sender]


@pytest.mark.parametrize("sender", SENDERS)
def test_sixty_megabytes_of_empty_lists_take_no_memory_and_hold_up_nobody(
    attacked: Attacked, sender: str
) -> None:
    path, headers = attacked.request(sender)
    before = attacked.service.memory()
    with connect(attacked.service.address) as sock:
        start = head("POST", path, content_length=len(LISTS), content_type="application/json", **headers)
        sending = threading.Thread(target=send_all, args=(sock, [start, LISTS]))
        sending.start()
        assert urllib.request.urlopen(f"{attacked.service.address}/healthz", timeout=5).status == 200
        assert read_response(sock).status == REFUSED[sender]
        sending.join(30)
    assert attacked.service.memory(field="VmHWM") < before + MAX_GROWTH_MEGABYTES


@pytest.mark.parametrize("sender", SENDERS)
def test_so_do_sixty_megabytes_that_do_not_say_their_length(attacked: Attacked, sender: str) -> None:
    path, headers = attacked.request(sender)
    before = attacked.service.memory()
    part = b"[]," * 20_000
    chunks = [b"6\r\n[[[],[\r\n", *[f"{len(part):x}\r\n".encode() + part + b"\r\n"] * 1000, b"0\r\n\r\n"]
    start = head("POST", path, transfer_encoding="chunked", content_type="application/json", **headers)
    with connect(attacked.service.address) as sock:
        sending = threading.Thread(target=send_all, args=(sock, [start, *chunks]))
        sending.start()
        assert read_response(sock).status == REFUSED[sender]
        sending.join(30)
    assert attacked.service.memory(field="VmHWM") < before + MAX_GROWTH_MEGABYTES


def test_a_client_that_asks_first_is_told_to_send_nothing(attacked: Attacked) -> None:
    with connect(attacked.service.address) as sock:
        sock.sendall(head("POST", "/api/projects", content_length=60 * MEGABYTE, expect="100-continue"))
        assert read_response(sock).status == 401


def test_the_connection_of_a_refused_body_ends_soon(attacked: Attacked) -> None:
    """Its rest is thrown away for a moment, so that the sender can read the answer, and not for ever."""
    with connect(attacked.service.address) as sock:
        sock.sendall(head("POST", "/api/projects", content_length=60 * MEGABYTE) + b"[")
        assert read_response(sock).status == 401
        assert sock.recv(1) == b""  # long before the time limit of the socket


def test_json_of_many_small_lists_is_refused_before_it_is_parsed(attacked: Attacked) -> None:
    path, headers = attacked.request("write key")
    body = b"[" + b"[]," * MEGABYTE + b"[]]"
    before = attacked.service.memory()
    with connect(attacked.service.address) as sock:
        sock.sendall(head("POST", path, content_length=len(body), content_type="application/json", **headers))
        send_all(sock, [body])
        response = read_response(sock)
    assert (response.status, b"lists and objects" in response.body) == (413, True)
    assert attacked.service.memory(field="VmHWM") < before + MAX_GROWTH_MEGABYTES


def answers_meanwhile(address: str, busy: threading.Thread) -> int:
    """How many other requests are answered while something runs."""
    count = 0
    while busy.is_alive():
        count += urllib.request.urlopen(f"{address}/healthz", timeout=30).status == 200
    return count


@pytest.mark.parametrize(
    ("type", "row"),
    [
        ("text/csv", "i{n},Some text of this item.\n"),
        ("application/x-ndjson", '{{"name":"i{n}","text":"T."}}\n'),
    ],
)
def test_others_are_served_while_a_large_table_is_read(attacked: Attacked, type: str, row: str) -> None:
    table = ("name,text\n" if type == "text/csv" else "") + "".join(row.format(n=n) for n in range(100_000))
    path = f"/api/projects/{create_project(attacked.service.store, PLAIN)}/items"
    statuses: list[Any] = []

    def upload() -> None:
        with connect(attacked.service.address) as sock:
            sock.settimeout(120)
            sock.sendall(
                head("POST", path, content_length=len(table), content_type=type,
                     x_api_key=attacked.keys["write"])
            )  # fmt: skip
            send_all(sock, [table.encode()])
            statuses.append(read_response(sock).status)

    uploading = threading.Thread(target=upload)
    uploading.start()
    assert answers_meanwhile(attacked.service.address, uploading) > 10
    assert statuses == [201]


@pytest.mark.parametrize("row", ["{}", '{"a":' + "[" * 900 + "]" * 900 + "}"])
def test_a_table_of_rows_that_say_nothing_takes_little_memory(attacked: Attacked, row: str) -> None:
    table = (row + "\n").encode() * (60 * MEGABYTE // (len(row) + 1))
    path = f"/api/projects/{attacked.project}/items"
    before = attacked.service.memory()
    with connect(attacked.service.address) as sock:
        sock.settimeout(120)
        sock.sendall(
            head("POST", path, content_length=len(table), content_type="application/x-ndjson",
                 x_api_key=attacked.keys["write"])
        )  # fmt: skip
        send_all(sock, [table])
        assert read_response(sock).status == 422
    growth = attacked.service.memory(field="VmHWM") - before
    assert growth < 6 * len(table) / MEGABYTE  # the body itself, a few times


def test_a_json_file_in_a_form_is_limited_like_json(attacked: Attacked, tmp_path: Path) -> None:
    limit = b"--x\r\ncontent-disposition: form-data; name=file; filename=a.json\r\n\r\n"
    body = limit + LISTS + b"\r\n--x--\r\n"
    path = f"/api/projects/{attacked.project}/items"
    before = attacked.service.memory()
    with connect(attacked.service.address) as sock:
        sock.settimeout(120)
        sock.sendall(
            head("POST", path, content_length=len(body), content_type="multipart/form-data; boundary=x",
                 x_api_key=attacked.keys["write"])
        )  # fmt: skip
        send_all(sock, [body])
        response = read_response(sock)
    assert (response.status, b"CSV or NDJSON" in response.body) == (422, True)
    assert attacked.service.memory(field="VmHWM") - before < 6 * len(body) / MEGABYTE
