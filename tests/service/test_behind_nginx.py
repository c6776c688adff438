"""The service under a base path behind a real nginx that speaks TLS, with the configuration of the docs."""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from crowdpilot.service.store.tables import action_log
from tests.service.harness.nginx import Nginx, configuration, running_nginx
from tests.service.harness.processes import ProcessService, serving
from tests.service.harness.waiting import eventually, free_port
from tests.service.harness.wizard import create_by_clicks
from tests.service.harness.worker_pages import press

pytestmark = pytest.mark.thorough
BASE = "/label"
LARGE_BYTES = 20 << 20  # of an upload
SLOW_CLIENTS = 50
FORGED = "203.0.113.9"
CLIENT, NEIGHBOUR = "127.0.0.2", "127.0.0.3"  # of the loopback network, and not those of the proxy


class Proxied:
    """The service, its proxy, and requests through it."""

    def __init__(self, service: ProcessService, proxy: Nginx) -> None:
        self.service, self.proxy = service, proxy
        self.address = proxy.address + BASE
        self.trust = ssl.create_default_context(cafile=proxy.certificate)

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The parsed answer to a request with the key."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"X-API-Key": self.service.key, "Content-Type": "application/json", **headers}
        request = Request(self.address + path, data, sent, method=method)
        with urlopen(request, timeout=60, context=self.trust) as answer:
            return json.load(answer)

    def connect(self) -> ssl.SSLSocket:
        """A connection to the proxy."""
        port = urlsplit(self.proxy.address).port
        raw = socket.create_connection(("127.0.0.1", port or 0), timeout=30)
        return self.trust.wrap_socket(raw, server_hostname="localhost")


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    options = {"address": f"https://localhost:{port}{BASE}", "proxies": (ip_network("127.0.0.1/32"),)}
    with serving(f"sqlite:///{folder / 'a.db'}", web=1, **options) as service:
        service_port = urlsplit(service.address).port or 0
        with running_nginx(folder, service_port, port, configuration(under_path=True)) as proxy:
            yield Proxied(service, proxy)


@pytest.fixture
def page(open_page: Any) -> Any:
    return open_page(ignore_https_errors=True)


def watch(page: Any) -> list[str]:
    """Paths that were not found, or that lead out of the base path; filled while the page is used."""
    wrong: list[str] = []

    def look(answer: Any) -> None:
        path = urlsplit(answer.url).path
        if answer.status >= 400 or not path.startswith(f"{BASE}/"):
            wrong.append(f"{answer.status} {answer.url}")

    page.on("response", look)
    return wrong


def sign_in(page: Any, proxied: Proxied) -> None:
    page.goto(f"{proxied.address}/")
    page.get_by_label("key").fill(proxied.service.key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{proxied.address}/projects")


def test_a_requester_and_a_worker_do_everything_in_their_browsers(
    proxied: Proxied, page: Any, open_page: Any, tmp_path: Path
) -> None:
    wrong = watch(page)
    sign_in(page, proxied)
    cookie = next(one for one in page.context.cookies() if one["name"] == "session")
    assert (cookie["path"], cookie["secure"], cookie["httpOnly"]) == (BASE, True, True)
    (tmp_path / "items.csv").write_text("name,text\na,A warm film.\nb,A dull film.\nc,A long film.\n")
    page.get_by_role("link", name="New project").first.click()
    create_by_clicks(page, [tmp_path / "items.csv"], "Films", ["bad", "good"])
    assert page.url.startswith(f"{proxied.address}/projects/")
    link = page.locator("#link-crowd").inner_text()
    assert link.startswith(f"{proxied.address}/w/")
    worker = open_page("phone", ignore_https_errors=True)
    worker_wrong = watch(worker)
    worker.goto(link)
    worker.get_by_role("link", name="Start").click()
    worker.wait_for_selector(".item:visible")
    for key in "212":
        press(worker, key)
    worker.wait_for_url(re.compile("/done$"))
    assert worker.locator("#code").inner_text()
    page.wait_for_function("document.querySelector('#live')?.textContent.includes('3')")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{proxied.address}/login")
    assert page.evaluate("document.querySelector('link[rel=icon]').href").startswith(
        f"{proxied.address}/static/"
    )
    assert (wrong, worker_wrong) == ([], [])


def test_a_worker_over_the_api_goes_through_the_proxy(proxied: Proxied) -> None:
    made = proxied.send("POST", "/api/projects", {"name": "Films", "classes": ["bad", "good"]})
    project = f"/api/projects/{made['id']}"
    proxied.send("POST", f"{project}/items", {"items": [{"text": "one"}, {"text": "two"}]})
    invite = made["link"].partition("invite=")[2]
    token = proxied.send("POST", "/api/sessions", {"project": made["id"], "invite": invite})["token"]
    who = {"Authorization": f"Bearer {token}"}
    for leased in proxied.send("GET", "/api/next?n=2", **who)["items"]:
        vote = {"item": leased["item"], "label": "good", "key": f"vote-{leased['item']:08}"}
        assert proxied.send("POST", "/api/votes", vote, **who) == {"committed": True}
    assert proxied.send("POST", "/api/finish", **who)["code"]
    assert proxied.send("GET", project)["votes"] == 2


def test_the_browser_is_told_to_stay_with_tls(proxied: Proxied) -> None:
    with urlopen(f"{proxied.address}/login", context=proxied.trust) as answer:
        assert answer.headers["strict-transport-security"].startswith("max-age=")
        assert "Secure" in answer.headers["set-cookie"]
        assert f"Path={BASE};" in answer.headers["set-cookie"] + ";"
    with socket.create_connection(("127.0.0.1", urlsplit(proxied.proxy.plain_address).port or 0)) as plain:
        plain.sendall(b"GET /label/login HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n")
        head = plain.makefile("rb").read().decode()
    assert head.startswith("HTTP/1.1 301")
    assert "Location: https://localhost/label/login" in head


def addresses(proxied: Proxied) -> set[str]:
    """The network addresses in the log of actions."""
    with proxied.service.store.reading() as c:
        return {row.address for row in c.execute(action_log.select())}


def test_a_client_cannot_forge_its_address_through_the_proxy(proxied: Proxied) -> None:
    forged = {"X-Forwarded-For": FORGED, "Forwarded": f"for={FORGED}", "X-Real-IP": FORGED}
    headers = {"X-API-Key": proxied.service.key, "Content-Type": "application/json", **forged}
    body = json.dumps({"name": "Forged", "classes": ["a", "b"]})
    line = http.client.HTTPSConnection(
        "127.0.0.1", urlsplit(proxied.address).port, source_address=(CLIENT, 0), context=proxied.trust
    )
    line.request("POST", f"{BASE}/api/projects", body, headers)
    assert line.getresponse().status == 201
    line.close()
    assert CLIENT in addresses(proxied)
    assert FORGED not in addresses(proxied)


def test_who_passes_by_the_proxy_is_known_by_their_own_address(proxied: Proxied) -> None:
    headers = {
        "X-API-Key": proxied.service.key,
        "Content-Type": "application/json",
        "X-Forwarded-For": FORGED,
    }
    direct = urlsplit(proxied.service.address)
    line = http.client.HTTPConnection("127.0.0.1", direct.port, timeout=30, source_address=(NEIGHBOUR, 0))
    line.request("POST", "/api/projects", json.dumps({"name": "Direct", "classes": ["a", "b"]}), headers)
    assert line.getresponse().status == 201
    line.close()
    assert NEIGHBOUR in addresses(proxied)
    assert FORGED not in addresses(proxied)


def test_a_large_upload_passes_and_a_larger_one_is_refused_in_a_sentence(proxied: Proxied) -> None:
    made = proxied.send("POST", "/api/projects", {"name": "Large", "classes": ["a", "b"]})
    row = b"x" * 9_990 + b"\n"
    table = b"text\n" + row * (LARGE_BYTES // len(row))
    added = proxied.send("POST", f"/api/projects/{made['id']}/items", table, **{"Content-Type": "text/csv"})
    assert added["added"] == LARGE_BYTES // len(row)
    with proxied.connect() as line:
        length = (64 << 20) + 1
        line.sendall(
            f"POST {BASE}/api/projects/{made['id']}/items HTTP/1.1\r\nHost: localhost\r\n"
            f"X-API-Key: {proxied.service.key}\r\nContent-Type: text/csv\r\nContent-Length: {length}\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        block = b"x" * (1 << 20)
        for _ in range(length // len(block)):
            line.sendall(block)
        line.sendall(b"x")
        assert line.makefile("rb").readline().split()[1] == b"413"


def test_slow_clients_wait_at_the_proxy_while_others_are_served(proxied: Proxied) -> None:
    """Half a request is never passed on, so the service has no connection for it."""
    lines = [proxied.connect() for _ in range(SLOW_CLIENTS)]
    try:
        for line in lines:
            line.sendall(
                f"POST {BASE}/api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n".encode()
            )
            line.sendall(b"{")
        assert proxied.send("GET", "/api/projects") is not None
        port = urlsplit(proxied.service.address).port
        assert len(connections(port or 0)) < SLOW_CLIENTS
        for line in lines:
            line.settimeout(30)
        eventually(lambda: all(is_closed(line) for line in lines), 60)
    finally:
        for line in lines:
            line.close()


def connections(port: int) -> list[str]:
    """Open connections to a port of this machine, as the kernel lists them."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [row[1] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "01"]


def is_closed(line: ssl.SSLSocket) -> bool:
    """Whether the proxy has ended the connection, with an answer or without one."""
    try:
        while line.recv(4096):
            pass
    except (OSError, ValueError):
        pass
    return True
