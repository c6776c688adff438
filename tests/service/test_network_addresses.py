"""Addresses of clients: a client cannot choose its own."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from fastapi import Request
from fastapi.testclient import TestClient

from crowdpilot.service.network_addresses import Proxies, network_of
from tests.service.harness.service import Service, sqlite_url

PROXIES = Proxies([ip_network("10.0.0.0/8"), ip_network("fd00::/8")])


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.9", ["192.0.2.1"], "192.0.2.9"),  # nobody that is named
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", ["1.2.3.4, 192.0.2.1"], "192.0.2.1"),  # the client wrote the first
        ("10.0.0.1", ["1.2.3.4", "192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", ["1.2.3.4, 192.0.2.1, 10.0.0.2"], "192.0.2.1"),  # two proxies
        ("10.0.0.1", ["127.0.0.1"], "127.0.0.1"),
        ("10.0.0.1", ["nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["1.2.3.4, nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.1:4711"], "192.0.2.1"),
        ("fd00::1", ["[2001:db8::7]:4711"], "2001:db8::7"),
        ("::ffff:10.0.0.1", ["192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", ["x" * 100_000], "10.0.0.1"),
        ("", ["192.0.2.1"], ""),
    ],
)
def test_the_client_is_the_last_address_before_the_proxies(
    peer: str, forwarded: list[str], client: str
) -> None:
    assert PROXIES.client_of(peer, forwarded) == client


def test_an_ipv6_network_counts_as_one_caller() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1") != network_of("2001:db8:0:1::1")
    assert network_of("testclient") == "testclient"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service behind a proxy, which tells what it takes for the client and the scheme."""
    made = Service(sqlite_url(tmp_path), proxies=(ip_network("10.0.0.1"),))

    @made.app.get("/api/client")
    async def client(request: Request) -> list[str]:
        return [request.client.host if request.client else "", request.url.scheme]

    yield made
    made.close()


def test_only_a_proxy_that_is_named_says_who_calls(service: Service) -> None:
    sent = {"x-forwarded-for": "1.2.3.4, 192.0.2.1", "x-forwarded-proto": "https", "x-request-id": "abc-1"}
    proxy = TestClient(service.app, client=("10.0.0.1", 1), headers=sent).get("/api/client")
    other = TestClient(service.app, client=("10.0.0.2", 1), headers=sent).get("/api/client")
    assert (proxy.json(), proxy.headers["x-request-id"]) == (["192.0.2.1", "https"], "abc-1")
    assert other.json() == ["10.0.0.2", "http"]
    assert other.headers["x-request-id"] != "abc-1"


@pytest.mark.parametrize("id", ["", "x" * 65, "a b", "a\x7f", "ä"])
def test_an_odd_id_of_a_proxy_is_not_taken(service: Service, id: str) -> None:
    client = TestClient(service.app, client=("10.0.0.1", 1))
    answer = client.get("/healthz", headers={"x-request-id": id.encode("latin-1")})
    assert answer.headers["x-request-id"] != id


def test_the_limit_of_an_address_is_that_of_the_client_behind_the_proxy(tmp_path: Path) -> None:
    slow = Service(
        sqlite_url(tmp_path), proxies=(ip_network("10.0.0.1"),), requests_per_second=0.001, burst=1
    )
    proxy = TestClient(slow.app, client=("10.0.0.1", 1))
    by_client = {
        who: [
            proxy.get("/healthz", headers={"x-forwarded-for": f"{n}.1.1.1, {who}"}).status_code
            for n in range(60)
        ]
        for who in ("192.0.2.1", "192.0.2.2")
    }
    assert {who: (codes[0], codes[-1]) for who, codes in by_client.items()} == {
        "192.0.2.1": (200, 429),
        "192.0.2.2": (200, 429),
    }
    slow.close()
