"""Who may come in to the worker pages, and what others cannot make them do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.store import projects, workers
from tests.service.harness.service import invite
from tests.service.harness.worker_pages import PLAIN, token, vote


@pytest.mark.parametrize("path", ["vote", "undo", "pause", "finish", "consent", "quiz"])
def test_nothing_is_posted_without_the_token_of_our_own_page(make: Any, path: str) -> None:
    service = make(PLAIN)
    client, home = service.invited(), service.home
    good = token(client.get(f"{home}/label").text)
    for csrf in ("", "wrong", good[:-1] + ("A" if good[-1] != "A" else "B")):
        data = {"csrf": csrf, "version": "x", "agree": "yes"}
        assert client.post(f"{home}/{path}", data=data).status_code in (403, 422)
    assert vote(client, home, "wrong", 1).status_code == 403
    assert service.answers() == []


def test_a_guest_who_opens_the_link_again_is_the_same_worker(make: Any) -> None:
    service = make(PLAIN)
    client = service.invited()
    link = invite(service.store, service.id)
    for _ in range(3):
        client.get(service.home, params={"invite": link})
    service.invited()
    with service.store.reading() as c:
        assert len(workers.list_all(c, service.id)) == 2


def test_without_a_session_a_worker_is_asked_to_open_their_link(make: Any) -> None:
    service = make(PLAIN)
    page = service.visitor().get(service.home)
    assert page.status_code == 401
    assert "pen the link to the project again" in page.text
    page = service.visitor().get(service.home, params={"invite": "forged.token"})
    assert page.status_code == 403
    assert "ask for a new link" in page.text
    assert service.visitor().get("/w/ffffffffffff", params={"invite": "x"}).status_code == 404


def test_a_session_opens_its_own_project_only(make: Any) -> None:
    service = make(PLAIN)
    with service.store.writing() as c:
        other = projects.create(c, ProjectIn(**PLAIN).model_dump())
    session = service.invited().cookies.get("worker_session")
    stranger = service.visitor()
    stranger.cookies.set("worker_session", session or "")
    assert stranger.get(f"/w/{other}/label").status_code == 401


def test_pages_forbid_whatever_is_not_theirs(make: Any) -> None:
    service = make(PLAIN)
    page = service.invited().get(f"{service.home}/label")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["cache-control"] == "no-store"
    assert " style=" not in page.text
    assert not re.search(r"<script(?![^>]*\bsrc=)", page.text)


def test_the_cookie_is_hidden_from_scripts_and_kept_to_the_project(make: Any) -> None:
    service = make(PLAIN, address="https://label.example")
    link = invite(service.store, service.id)
    answer = service.visitor().get(service.home, params={"invite": link}, follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax; Secure" in cookie
    assert f"Path=/w/{service.id};" in cookie
