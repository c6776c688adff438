"""Odd values in addresses: every route of the service answers that there is no such thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from crowdpilot.service.store.requesters import keys, members
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.service import Worker, invite, sqlite_url

SOME = ["99999999999999999999999", "-1", "١٢", "%00", "%ff", "a" * 5000]
ODD = [
    *SOME, "9223372036854775808", "9223372036854775807", "0", "00", "+77", "1e3", "77.0", "0x1", "1_000",
    " 77", "１２", "²", "NaN", "null", "%00" * 12, "a" * 12, "é" * 12, "%F0%9F%98%80", "%0A", "%2e%2e",
    "%2F", "'", '"', "<script>", "{id}", "9" * 5000,
]  # fmt: skip
PATH_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


class Swept:
    """A service with a project, and somebody who may do everything in it."""

    def __init__(self, service: DashboardService) -> None:
        self.service = service
        project = service.project()
        project.add_texts(2)
        self.worker: Worker = project.worker()
        self.values = {"id": project.id, "project": project.id, "password": "x", "digest": "0" * 64}
        with service.store.writing() as c:
            key = keys.create(c, members.find_or_create(c, "root", operator=True).id, "root", "admin")
        self.browser = service.visitor()
        form = {"csrf": csrf(self.browser.get("/login").text), "key": key}
        self.browser.post("/login", data=form)
        self.browser.get(f"/w/{project.id}?invite={invite(service.store, project.id)}")
        self.headers = {
            "X-API-Key": key,
            "Authorization": f"Bearer {self.worker.token}",
            "X-CSRF-Token": csrf(self.browser.get("/projects").text),
        }

    def send(self, method: str, path: str, parameter: str, odd: str) -> Any:
        """The answer where one parameter of a path holds an odd value, and the others usual ones."""
        address = PATH_PARAMETER.sub(
            lambda found: odd if found[1] == parameter else self.values.get(found[1], "1"), path
        )
        client: TestClient = self.browser
        return client.request(method, address, headers=self.headers, json={}, follow_redirects=False)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Swept]:
    service = DashboardService(sqlite_url(tmp_path_factory.mktemp("odd")))
    yield Swept(service)
    service.close()


@pytest.fixture(scope="module")
def swept_elsewhere(postgres: Any) -> Iterator[Swept]:
    """The same over PostgreSQL."""
    with postgres.database() as url:
        service = DashboardService(url)
        yield Swept(service)
        service.close()


def path_parameters(app: Any) -> list[tuple[str, str, str]]:
    """Method, path and a parameter of it, of every route there is."""
    return [
        (method, route.path, parameter)
        for route in iter_route_contexts(app.routes)
        for method in sorted(getattr(route, "methods", None) or ["GET"])
        for parameter in [found[1] for found in PATH_PARAMETER.finditer(route.path)]
    ]


def check(swept: Swept, values: list[str]) -> None:
    found = path_parameters(swept.service.app)
    assert len(found) > 100
    wrong = []
    for method, path, parameter in found:
        # Pages send whoever is not signed in to do so; "%2F" leads to another address.
        allowed = (307, 404, 405, 422) if path.startswith("/api") else (303, 307, 401, 403, 404, 405, 422)
        for odd in values:
            answer = swept.send(method, path, parameter, odd)
            if answer.status_code not in allowed:
                wrong.append((method, path, parameter, odd[:20], answer.status_code))
    assert not wrong, wrong[:20]


def test_every_route_refuses_odd_values_in_its_address(swept: Swept) -> None:
    check(swept, SOME)


@pytest.mark.thorough
def test_every_route_refuses_more_of_them_over_postgresql(swept_elsewhere: Swept) -> None:
    check(swept_elsewhere, ODD)
