"""Signing in: with a key or a link, for how long, and what ends it."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.pages.dashboard.access.requester import SESSION_COOKIE
from crowdpilot.service.pages.dashboard.access.sessions import (
    LOGIN_LINK_SECONDS,
    SESSION_PURPOSE,
    SESSION_SECONDS,
    login_path,
)
from crowdpilot.service.signing import sign
from crowdpilot.service.store.requesters import keys
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.service import SECRET, sqlite_url


def cookie(answer: Any, name: str) -> str:
    found = [line for line in answer.headers.get_list("set-cookie") if line.startswith(f"{name}=")]
    assert found
    return str(found[0])


def link(service: DashboardService, secret: str = SECRET) -> str:
    return login_path(secret, service.keys["write"].split("_")[1])


def test_a_key_signs_in_and_out(service: DashboardService) -> None:
    client = service.signed_in("write")
    page = client.get("/projects")
    assert "Signed in as ann" in page.text
    client.post("/logout", data={"csrf": csrf(page.text)})
    assert client.get("/projects").url.path == "/login"


def test_a_wrong_key_is_refused(service: DashboardService) -> None:
    client = service.visitor()
    fields = {"csrf": csrf(client.get("/login").text), "key": service.keys["read"] + "x"}
    answer = client.post("/login", data=fields)
    assert answer.status_code == 422
    assert "This key is not valid" in answer.text
    assert "session=" not in str(answer.headers)


def test_the_login_form_needs_its_token(service: DashboardService) -> None:
    assert service.visitor().post("/login", data={"key": service.keys["read"]}).status_code == 403


def test_the_cookie_is_for_our_own_pages_and_no_script(tmp_path: Path) -> None:
    for address, secure in (("http://testserver", False), ("https://testserver", True)):
        service = DashboardService(sqlite_url(tmp_path), address)
        client = service.visitor()
        fields = {"csrf": csrf(client.get("/login").text), "key": service.keys["read"]}
        sent = cookie(client.post("/login", data=fields, follow_redirects=False), SESSION_COOKIE).lower()
        assert "httponly" in sent
        assert "samesite=strict" in sent
        assert ("secure" in sent) is secure
        assert "max-age=43200" in sent
        service.close()


def test_a_link_signs_in_once(service: DashboardService) -> None:
    address = link(service)
    client = service.visitor()
    welcome = client.get(address)
    assert "You are signed in" in welcome.text
    assert client.get("/projects").url.path == "/projects"
    assert service.visitor().get(address).status_code == 403


def test_a_link_that_has_expired_or_is_not_ours_is_refused(
    service: DashboardService, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert service.visitor().get(link(service, "y" * 40)).status_code == 403
    address, now = link(service), time.time()
    monkeypatch.setattr(time, "time", lambda: now + LOGIN_LINK_SECONDS + 2)
    assert service.visitor().get(address).status_code == 403


def test_revoking_a_key_ends_its_sessions_at_once(service: DashboardService) -> None:
    client = service.signed_in("write")
    with service.store.writing() as c:
        keys.revoke(c, service.keys["write"].split("_")[1])
    assert client.get("/projects").url.path == "/login"


def test_a_session_ends_after_half_a_day(service: DashboardService, monkeypatch: pytest.MonkeyPatch) -> None:
    client, now = service.signed_in(), time.time()
    monkeypatch.setattr(time, "time", lambda: now + SESSION_SECONDS - 60)
    assert client.get("/projects").url.path == "/projects"
    monkeypatch.setattr(time, "time", lambda: now + SESSION_SECONDS + 60)
    client.cookies.jar.clear_expired_cookies()
    assert client.get("/projects").url.path == "/login"


def test_a_forged_session_is_none(service: DashboardService) -> None:
    client = service.visitor()
    session = ["1", service.keys["admin"].split("_")[1]]
    client.cookies.set(SESSION_COOKIE, sign("y" * 40, SESSION_PURPOSE, session))
    assert client.get("/projects").url.path == "/login"
    client.cookies.set(SESSION_COOKIE, sign(SECRET, "worker_session", session))
    assert client.get("/projects").url.path == "/login"


@pytest.mark.parametrize(("next", "where"), [
    ("/keys", "/keys"), ("//evil.example/projects", "/projects"), ("https://evil.example", "/projects"),
    ("/projects/../\\evil.example", "/projects"), ("/projects//evil.example", "/projects"),
])  # fmt: skip
def test_nobody_is_sent_elsewhere_after_signing_in(service: DashboardService, next: str, where: str) -> None:
    client = service.visitor()
    page = client.get("/login", params={"next": next}).text
    assert re.search(r'name="next" value="[^"]+"', page)
    fields = {"csrf": csrf(page), "key": service.keys["admin"], "next": next}
    answer = client.post("/login", data=fields, follow_redirects=False)
    assert answer.headers["location"] == where


def test_the_start_leads_to_projects_or_to_the_sign_in(service: DashboardService) -> None:
    assert service.visitor().get("/").url.path == "/login"
    assert service.signed_in().get("/").url.path == "/projects"
