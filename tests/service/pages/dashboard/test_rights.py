"""Who may change what on the dashboard, and what pages may hold."""

from __future__ import annotations

import re

import pytest

from tests.service.harness.dashboard import DashboardService, csrf

# Who may change what --------------------------------------------------------------------------


def posts(id: str) -> list[str]:
    home = f"/projects/{id}"
    return ["/projects/new", f"{home}/state/pause", f"{home}/state/close", f"{home}/workers/approve",
            f"{home}/workers/1/block", f"{home}/workers/1/erase", f"{home}/add/items", f"{home}/audit",
            f"{home}/audit/answer", f"{home}/audit/remove", "/keys", "/keys/abc/revoke"]  # fmt: skip


def test_a_read_only_key_changes_nothing(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in("read")
    token = csrf(client.get("/projects").text)
    for path in posts(id):
        assert client.post(path, data={"csrf": token}).status_code == 403, path
    assert service.rows()[0].state == "open"
    assert "/state/pause" not in client.get(f"/projects/{id}").text


@pytest.mark.parametrize("token", ["", "wrong", "ünïcode"])
def test_a_form_without_its_token_is_refused(service: DashboardService, token: str) -> None:
    id, client = service.create(), service.signed_in("admin")
    for path in [*posts(id), "/logout"]:
        assert client.post(path, data={"csrf": token} if token else {}).status_code == 403, path
    assert service.rows()[0].state == "open"


def test_the_token_of_one_session_is_not_good_for_another(service: DashboardService) -> None:
    id, one, other = service.create(), service.signed_in(), service.signed_in()
    stolen = csrf(one.get("/projects").text)
    assert other.post(f"/projects/{id}/state/pause", data={"csrf": stolen}).status_code == 403


def test_pages_have_no_inline_script_or_style(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in()
    service.work(id)
    for path in ("/projects", "/projects/new", "/keys", f"/projects/{id}", f"/projects/{id}/workers",
                 f"/projects/{id}/items", f"/projects/{id}/audit", f"/projects/{id}/export"):  # fmt: skip
        answer = client.get(path)
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert not re.search(r"<style|<script>| style=| on\w+=", answer.text.replace("&lt;", "")), path


@pytest.mark.parametrize(("path", "status"), [
    ("/projects/000000000000", 404), ("/projects/no-such", 404), ("/projects/000000000000/items", 404),
    ("/projects/000000000000/workers", 404), ("/projects/000000000000/export/decisions.csv", 404),
    ("/login?token=forged", 403),
])  # fmt: skip
def test_what_is_refused_leads_back_to_the_projects(
    service: DashboardService, path: str, status: int
) -> None:
    answer = service.signed_in("read").get(path)
    assert answer.status_code == status
    assert 'href="/projects"' in answer.text
