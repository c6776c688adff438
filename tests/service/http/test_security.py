"""What nobody may do: see, vote, learn and change what is not theirs, send too much or too often."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.labelling.sessions import read_session, sign_session
from crowdpilot.service.store.requesters import action_log, keys
from tests.service.harness.service import CSV, SECRET, Project, Service, Worker, sqlite_url

ID = "0" * 12


class Known(dict[str, object]):
    """Values of parameters in a path; those that are not known stay."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def requester_routes(service: Service) -> Iterator[tuple[str, str]]:
    """Method and path of all that needs a key, in a project that is not there."""
    for path, operations in service.app.openapi()["paths"].items():
        for method, about in operations.items():
            if {"requester": []} in about.get("security", []):
                yield method.upper(), re.sub("{[a-z]+}", "0" * 12, path.format_map(Known(id=ID, worker=1)))


# What workers may not --------------------------------------------------------------------------


def test_a_worker_sees_only_their_leases(service: Service) -> None:
    one, other = service.project(), service.project()
    one.add_texts(8)
    other.add({"name": "secret", "text": "Of another project."})
    ann, bob = one.worker(), one.worker()
    mine = {lent["item"] for lent in ann.next(4)}
    assert {lent["item"] for lent in ann.next(4)} == mine
    theirs = {lent["item"] for lent in bob.next(4)}
    assert "Of another project." not in json.dumps([ann.next(100), bob.next(100)])
    for item in theirs - mine:
        assert item not in {lent["item"] for lent in ann.next(4)}


def test_a_worker_cannot_vote_without_a_lease(service: Service) -> None:
    one, other = service.project(), service.project()
    one.add_texts(8)
    other.add_texts(8)
    ann, bob, eve = one.worker(), one.worker(), other.worker()
    mine = {lent["item"] for lent in ann.next(2)}
    theirs = next(lent["item"] for lent in bob.next(8) if lent["item"] not in mine)
    for item in (theirs, eve.next(1)[0]["item"], 10**9):
        refused = ann.vote(item, "good")
        assert (refused.status_code, "not leased" in refused.json()["detail"]) == (403, True)
    assert one.get().json()["votes"] == other.get().json()["votes"] == 0


def test_a_worker_cannot_answer_twice_or_for_another_question(project: Project) -> None:
    project.add_texts(3)
    worker = project.worker()
    item = worker.next(1)[0]["item"]
    assert worker.vote(item, "good").status_code == 201
    assert worker.vote(item, "bad").status_code == 409
    assert worker.vote(worker.next(1)[0]["item"], "good", criterion=1).status_code == 403
    assert worker.vote(worker.next(1)[0]["item"], "fair").status_code == 422


def test_nothing_that_reaches_a_worker_tells_gold_machine_scores_or_counts(service: Service) -> None:
    project = service.project(machine="given", plan={"gold": 0.5}, batch=20, min_answers=1)
    names = [f"known-{n}" if n % 2 else f"open-{n}" for n in range(20)]
    project.add(*(
        {"name": name, "text": f"Text {n}.", "machine": [0.123, 0.877], "gold": "good" if n % 2 else None}
        for n, name in enumerate(names)
    ))  # fmt: skip
    project.add_votes(*((name, "ann", "good") for name in names[:6]))
    link = project.post("/invitations", json={}).json()["link"]
    token = {"project": project.id, "invite": link.partition("invite=")[2]}
    session = service.http.post("/api/sessions", json=token)
    assert set(session.json()) == {"token", "next", "classes", "criteria"}
    worker = Worker(service, session.json()["token"])
    answers = [worker.send("GET", "/api/next?n=20")]
    lent = answers[0].json()["items"]
    assert {tuple(one) for one in lent} == {("item", "criterion", "content")}
    assert {tuple(one["content"]) for one in lent} == {("text",)}
    answers += [worker.vote(one["item"], "bad") for one in lent[:6]]
    assert len({answer.text for answer in answers[1:]}) == 1  # right or wrong, gold or not: the same answer
    answers += [worker.send("POST", "/api/votes/undo"), worker.send("POST", "/api/finish")]
    seen = " ".join(answer.text + str(answer.headers) for answer in answers).lower()
    for word in ("gold", "known", "machine", "0.877", "0.123", "score", "prob", "skill", "correct"):
        assert word not in seen


def test_a_worker_reaches_no_route_of_requesters(service: Service, project: Project) -> None:
    project.add_texts(2)
    worker = project.worker()
    routes = list(requester_routes(service))
    assert len(routes) > 20
    for n, (method, path) in enumerate(routes):
        client = TestClient(service.app, base_url=service.settings.address, client=(f"10.0.0.{n}", 1))
        for headers in ({}, {"X-API-Key": worker.token}):
            sent = {**headers, "Authorization": f"Bearer {worker.token}"}
            answer = client.request(method, path.replace(ID, project.id, 1), headers=sent, json={})
            assert answer.status_code == 401, (method, path, answer.text)


def test_a_tampered_or_foreign_session_is_refused(service: Service, project: Project) -> None:
    project.add_texts(3)
    token = project.worker().token
    session = read_session(SECRET, token, 60)
    head, _, mac = token.partition(".")
    foreign = [
        token[:-2], f"{head}x.{mac}", f"{head}.{mac[:-3]}abc", "", "x.y", "é.é",
        sign_session("y" * 40, session),
        project.link.partition("invite=")[2],
    ]  # fmt: skip
    for bad in foreign:
        headers = {"Authorization": f"Bearer {bad}".encode("latin-1", "replace")}
        assert service.http.get("/api/next", headers=headers).status_code == 401, bad


def test_a_session_that_has_ended_is_refused(
    service: Service, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.add_texts(3)
    worker, now = project.worker(), time.time()
    assert worker.send("GET", "/api/next").status_code == 200
    monkeypatch.setattr(time, "time", lambda: now + service.settings.session_seconds + 2)
    answer = worker.send("GET", "/api/next")
    assert (answer.status_code, "has ended" in answer.json()["detail"]) == (401, True)


# What keys may not -------------------------------------------------------------------------------


def test_a_read_key_cannot_write(service: Service, project: Project) -> None:
    project.add_texts(2)
    headers = {"X-API-Key": service.new_key("read")}
    reads = ("/decisions", "/votes", "/workers", "/pay", "/label-studio", "")
    for path in reads:
        assert project.get(path, headers=headers).status_code == 200
    writes: list[tuple[str, str]] = [
        (method, path) for method, path in requester_routes(service) if method != "GET"
    ]
    for method, path in [*writes, ("GET", f"/api/projects/{ID}/label-studio/backend")]:
        answer = service.http.request(method, path.replace(ID, project.id), headers=headers, json={})
        assert answer.status_code == 403, (method, path, answer.text)


def test_a_revoked_or_unknown_key_is_refused(service: Service) -> None:
    key = service.new_key("write")
    assert service.http.get("/api/projects", headers={"X-API-Key": key}).status_code == 200
    with service.store.writing() as c:
        keys.revoke(c, key.split("_")[1])
    for bad in (key, key[:-1] + "?", "cp__", "cp_x_y", "x"):
        assert service.http.get("/api/projects", headers={"X-API-Key": bad}).status_code == 401
    assert service.http.get("/api/projects").status_code == 401


def test_what_requesters_change_is_written_down(project: Project) -> None:
    project.add_texts(2)
    project.add_votes(("i0", "ann", "good"))
    project.post("/items/stop", json={"items": ["i0"]})
    with project.service.store.reading() as c:
        noted = [(row.action, row.actor) for row in action_log.read(c, project=project.id)]
    assert [what for what, _ in noted] == ["stop", "external votes", "add items", "create"]
    assert {who for _, who in noted} == {project.service.key.split("_")[1]}


# Too much, too often ---------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Service]:
    """A service that takes little."""
    made = Service(sqlite_url(tmp_path), max_body_bytes=2000, max_json_bytes=4000, max_upload_bytes=4000)
    yield made
    made.close()


def test_too_large_a_body_is_refused(small: Service) -> None:
    project = small.project()
    project.add_texts(2)
    votes = [{"item": "i0", "worker": "ann", "label": "good"}] * 100
    assert project.post("/external-votes", json={"votes": votes}).status_code == 413
    assert project.post("/items", content="text\n" + "x" * 5000, headers=CSV).status_code == 413
    assert project.post("/items", content="text\n" + "x" * 3000, headers=CSV).status_code == 201

    def pieces() -> Iterator[bytes]:
        yield b"text\n"
        for _ in range(50):
            yield b"y" * 100

    answer = project.post("/items", content=pieces(), headers=CSV)
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert project.post("/items", files={"file": ("a.png", b"\x89PNG\r\n\x1a\n" * 1000)}).status_code == 413
    negative = small.send("POST", "/api/projects", content=b"{}", headers={"content-length": "-5"})
    assert negative.status_code in (400, 413)


def test_too_many_requests_of_a_worker_are_refused(tmp_path: Path) -> None:
    slow = Service(sqlite_url(tmp_path), requests_per_second=0.01, burst=5)
    project = slow.project()
    project.add_texts(3)
    worker, other = project.worker(), project.worker()
    answers = [worker.send("GET", "/api/next") for _ in range(8)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
    assert answers[-1].headers["retry-after"] == "1"
    assert other.send("GET", "/api/next").status_code == 200
    slow.close()


def test_too_many_requests_of_an_address_are_refused(tmp_path: Path) -> None:
    slow = Service(sqlite_url(tmp_path), requests_per_second=0.001, burst=1)
    statuses: list[Any] = [slow.http.get("/healthz").status_code for _ in range(60)]
    assert statuses[0] == 200
    assert statuses[-1] == 429
    slow.close()
