from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.app import create_app
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, migrate


@pytest.fixture
def settings(tmp_path):
    found = Settings(
        database=f"sqlite:///{tmp_path / 'a.db'}",
        secret="s" * 40,
        max_body_bytes=1000,
        requests_per_second=0.01,
        burst=2,
    )
    store = Store(found.database)
    migrate(store)
    store.close()
    return found


@pytest.fixture
def client(settings):
    with TestClient(create_app(settings)) as client:
        yield client


def test_every_response_has_security_headers(client):
    for path in ("/healthz", "/nothing", "/api/projects", "/w/0123456789ab"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_only_pages_of_mturk_may_be_framed_and_only_there(client):
    policy = client.get("/w/0123456789ab/mturk").headers["content-security-policy"]
    assert "frame-ancestors https://worker.mturk.com" in policy


def test_a_large_request_of_a_stranger_is_refused(client):
    answer = client.post("/api/projects", content=b"x" * 1001)
    assert answer.status_code == 401
    assert "API key or a session" in answer.json()["detail"]


def test_a_request_of_a_stranger_that_does_not_say_its_length_is_refused(client):
    answer = client.post("/api/sessions", content=(b"x" * 10 for _ in range(2)))
    assert answer.status_code == 401


def test_an_address_that_asks_too_often_has_to_wait(client):
    answers = [client.get("/healthz").status_code for _ in range(120)]
    assert answers[0] == 200
    assert answers[-1] == 429


def test_an_error_is_problem_json(client):
    answer = client.get("/api/nothing")
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json()) == {"type", "title", "status", "detail"}


def test_people_get_a_page(client):
    answer = client.get("/nothing", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "There is nothing here" in answer.text


def test_an_unexpected_error_is_answered_without_its_details(settings):
    app = create_app(settings)

    @app.get("/api/broken")
    def broken() -> None:
        raise RuntimeError("password is 1234")

    with TestClient(app, raise_server_exceptions=False) as client:
        answer = client.get("/api/broken")
    assert answer.status_code == 500
    assert "1234" not in answer.text
    assert answer.json()["status"] == 500


def test_every_response_has_an_id_of_its_own(client):
    ids = [client.get("/healthz", headers={"x-request-id": "mine"}).headers["x-request-id"] for _ in range(3)]
    assert len({*ids, "mine"}) == 4


def test_json_is_not_cached_by_anybody(client):
    for path in ("/healthz", "/api/openapi.json", "/api/nothing"):
        assert client.get(path).headers["cache-control"] == "no-store"
    assert "cache-control" not in client.get("/static/app.css").headers
