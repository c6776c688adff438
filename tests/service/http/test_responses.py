"""Every error is problem+json with one sentence."""

from __future__ import annotations

import pytest

from tests.service.harness.service import Project, Service


def test_a_method_that_is_not_there_is_refused_with_those_that_are(project: Project) -> None:
    answer = project.service.send("PUT", f"/api/projects/{project.id}")
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("body", "type"),
    [(b"\xff\xfe", "application/json"), (b"{", "application/json"), (b"[" * 100_000, "application/json")],
)
def test_a_body_that_cannot_be_read_is_a_bad_request(service: Service, body: bytes, type: str) -> None:
    answer = service.send("POST", "/api/projects", content=body, headers={"content-type": type})
    assert answer.status_code == 422
    assert set(answer.json()) == {"type", "title", "status", "detail"}


def test_unknown_parameters_are_refused(project: Project) -> None:
    answer = project.get("/votes?fromat=csv")
    assert (answer.status_code, answer.json()["detail"]) == (
        422,
        "there is no parameter 'fromat'; there is format",
    )
    assert "takes none" in project.get("?x=1").json()["detail"]


def test_what_is_not_there_is_not_found(service: Service) -> None:
    assert service.send("GET", "/api/nothing").json()["status"] == 404
    assert service.send("GET", f"/api/projects/{'0' * 12}").status_code == 404
    assert service.send("GET", "/api/projects/nonsense").status_code == 404
