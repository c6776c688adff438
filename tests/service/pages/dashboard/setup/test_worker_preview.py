"""Preview as a worker: every page is there, and nothing is recorded or held."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import select

from crowdpilot.service.store.tables import metadata
from tests.service.harness.dashboard import DashboardService, csrf

STUDY: dict[str, Any] = {
    "consent": "I take part.", "instructions": "Read the review.", "quiz_tries": 2,
    "quiz": [{"text": "Great!", "label": "Positive"}, {"text": "Bad.", "label": "Negative"}],
}  # fmt: skip
UNRELATED = {"requester_sessions", "counters", "clock"}  # of the requester who looks


def tables(service: DashboardService) -> dict[str, list[Any]]:
    """All rows of all tables that a worker could change."""
    with service.store.reading() as c:
        return {
            table.name: [tuple(row) for row in c.execute(select(table))]
            for table in metadata.sorted_tables
            if table.name not in UNRELATED
        }


def test_a_whole_preview_writes_nothing(service: DashboardService) -> None:
    id, client = service.create(30, **STUDY), service.signed_in("read")
    client.get(f"/projects/{id}")
    before, home = tables(service), f"/projects/{id}/preview"
    page = client.get(home)
    assert page.url.path == f"{home}/consent"
    assert "Preview: nothing is recorded." in page.text
    token = csrf(page.text)
    page = client.post(f"{home}/consent", data={"csrf": token, "agree": "yes"})
    assert page.url.path == f"{home}/instructions"
    wrong = {"csrf": token, "answer-0": "Negative", "answer-1": "Negative"}
    for _ in range(3):  # however often
        assert "1 of 2 was right" in client.post(f"{home}/quiz", data=wrong).text
    page = client.post(f"{home}/quiz", data={**wrong, "answer-0": "Positive"})
    assert page.url.path == f"{home}/label"
    shown = [int(number) for number in re.findall(r'data-item="(\d+)"', page.text)]
    assert len(shown) == 25
    headers = {"X-CSRF-Token": token}
    for item in shown:
        vote = {"item": item, "criterion": 0, "label": "Positive", "seconds": 1.0, "key": f"{item:016}"}
        assert client.post(f"{home}/labelling/vote", json=vote, headers=headers).status_code == 204
    undone = client.post(f"{home}/labelling/undo", headers=headers).text
    assert re.findall(r'data-item="(\d+)"', undone) == [str(shown[-1])]
    assert client.post(f"{home}/labelling/presence", headers=headers).json() == {"held": 1}
    assert client.post(f"{home}/labelling/comment", json={}, headers=headers).status_code == 204
    assert "on a break" in client.post(f"{home}/labelling/pause", data={"csrf": token}).text
    assert "PREVIEW" in client.get(f"{home}/labelling").text
    assert client.post(f"{home}/finish", data={"csrf": token}).url.path == f"{home}/done"
    assert "Signed out" in client.post(f"{home}/sign-out", data={"csrf": token}).text
    assert tables(service) == before


def test_the_cookies_of_a_preview_open_nothing_for_workers(service: DashboardService) -> None:
    id, client = service.create(5), service.signed_in("admin")
    token = csrf(client.get(f"/projects/{id}/preview/label").text)
    before, headers = tables(service), {"X-CSRF-Token": token}
    vote = {"item": 1, "criterion": 0, "label": "Positive", "seconds": 1.0, "key": "0" * 16}
    assert (
        client.post(f"/projects/{id}/preview/labelling/vote", json=vote, headers=headers).status_code == 204
    )
    for path in (f"/w/{id}/vote", "/api/votes"):
        assert client.post(path, json=vote, headers=headers).status_code == 401
    assert client.get("/api/next").status_code == 401
    assert tables(service) == before


def test_a_preview_needs_the_token_of_the_page(service: DashboardService) -> None:
    id, client = service.create(5), service.signed_in("admin")
    for path in ("consent", "quiz", "finish", "labelling/undo", "labelling/presence"):
        assert client.post(f"/projects/{id}/preview/{path}", data={}).status_code == 403


def test_a_preview_is_in_the_language_of_the_project(service: DashboardService) -> None:
    id, client = service.create(5, language="de"), service.signed_in("read")
    assert 'lang="de"' in client.get(f"/projects/{id}/preview/instructions").text
    assert 'lang="en"' in client.get(f"/projects/{id}").text


@pytest.mark.parametrize("more", [{}, {"criteria": [{"name": "long"}, {"name": "kind"}]}])
def test_items_are_shown_with_each_of_their_questions(
    service: DashboardService, more: dict[str, Any]
) -> None:
    id, client = service.create(5, **more), service.signed_in("read")
    page = client.get(f"/projects/{id}/preview/label").text
    assert page.count("<article") == 5 * max(len(more.get("criteria", [])), 1)


def test_a_project_without_items_has_a_preview_too(service: DashboardService) -> None:
    id, client = service.create(0), service.signed_in("read")
    assert client.get(f"/projects/{id}/preview/label").status_code == 200
