"""Who may send a large body, or one of unknown length."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.http import middleware
from crowdpilot.service.platforms.label_studio import backend
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.service import CSV, SECRET, sqlite_url

LARGE = 100_000  # more than is read of strangers


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path_factory.mktemp("senders")))
    yield made
    made.close()


def table(rows: int) -> bytes:
    return b"name,text\n" + b"".join(
        b"%s,%s\n" % (uuid.uuid4().hex.encode(), b"x" * 200) for _ in range(rows)
    )


def in_parts(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), 10_000):
        yield data[start : start + 10_000]


def test_a_key_that_may_write(service: DashboardService) -> None:
    project, large = service.project(), table(500)
    assert project.post("/items", content=large, headers=CSV).status_code == 201
    assert project.post("/items", content=in_parts(table(500)), headers=CSV).status_code == 201
    for key, status in ((service.keys["read"], 403), ("cp_0_0", 401), ("", 401)):
        sent = {**CSV, "X-API-Key": key}
        assert project.post("/items", content=large, headers=sent).status_code == status


def test_somebody_who_is_signed_in(service: DashboardService) -> None:
    id, large = service.project().id, table(500)
    files: Any = {"files": ("a.csv", large)}
    for scope, status in (("admin", 303), ("read", 403)):
        client = service.signed_in(scope)
        data = {"csrf": csrf(client.get("/projects").text)}
        added = client.post(f"/projects/{id}/add/items", data=data, files=files, follow_redirects=False)
        assert added.status_code == status
    assert service.visitor().post(f"/projects/{id}/add/items", files=files).status_code == 401


def test_a_worker_up_to_a_small_size(service: DashboardService) -> None:
    project = service.project()
    project.add_texts(2)
    worker = project.worker()
    item = worker.next(1)[0]["item"]
    vote = b'{"item": %d, "label": "good", "key": "12345678"}' % item
    type = {"content-type": "application/json"}
    for headers, body, status in (
        ({}, vote, 401),
        ({"Authorization": f"Bearer {worker.token}x"}, vote, 401),
        ({"Authorization": f"Bearer {worker.token}"}, b" " * LARGE + vote, 413),
        ({"Authorization": f"Bearer {worker.token}"}, vote, 201),
    ):
        sent = service.http.post("/api/votes", content=in_parts(body), headers={**type, **headers})
        assert sent.status_code == status, sent.text


def test_label_studio_with_the_password_of_the_project(service: DashboardService) -> None:
    id = service.project().id
    body = {"action": "PROJECT_UPDATED", "project": "x" * LARGE}
    for password, status in ((backend.password(SECRET, id), 200), ("wrong", 401)):
        answer = service.http.post(f"/label-studio/{id}/{password}/webhook", json=body)
        assert answer.status_code == status, answer.text


def test_only_so_many_uploads_are_under_way_at_once(
    service: DashboardService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project = service.project()
    monkeypatch.setattr(middleware, "MAX_UPLOADS", 0)
    refused = project.post("/items", content=in_parts(table(5)), headers=CSV)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert project.post("/items", content=table(500), headers=CSV).status_code == 201  # is not that large
