"""Secrets are rotated: the newest key signs and derives, all keys of the ring verify."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.labelling.sessions import completion_codes
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.settings import Settings, load_settings
from crowdpilot.service.signing import (
    TokenError,
    derive,
    derive_all,
    is_derived,
    read_secret,
    rotate_secret,
    sign,
    unsign,
    webhook_signature,
)
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.service import SECRET, Service, invite, sqlite_url
from tests.service.harness.worker_pages import token as worker_token

OLD, NEW = "o" * 40, "n" * 40
BOTH = f"{NEW} {OLD}"  # after a rotation


def test_what_an_older_key_signed_stays_valid_until_the_key_is_dropped() -> None:
    token = sign(OLD, "worker_session", [7])
    assert unsign(BOTH, "worker_session", token) == [7]
    with pytest.raises(TokenError, match="not valid"):
        unsign(NEW, "worker_session", token)


def test_the_newest_key_signs_and_derives() -> None:
    assert unsign(NEW, "worker_session", sign(BOTH, "worker_session", 1)) == 1
    assert derive(BOTH, "code", 1) == derive(NEW, "code", 1)
    with pytest.raises(TokenError):
        unsign(OLD, "worker_session", sign(BOTH, "worker_session", 1))


def test_what_an_older_key_derived_is_recognised() -> None:
    assert derive_all(BOTH, "code", 1) == (derive(NEW, "code", 1), derive(OLD, "code", 1))
    assert is_derived(BOTH, derive(OLD, "csrf", "x"), "csrf", "x")
    assert not is_derived(NEW, derive(OLD, "csrf", "x"), "csrf", "x")
    assert not is_derived(BOTH, derive(OLD, "csrf", "x"), "csrf", "y")
    assert not is_derived(BOTH, "é", "csrf", "y")


def test_the_address_for_label_studio_stays_valid() -> None:
    assert backend.is_password(BOTH, "birds", backend.password(OLD, "birds"))
    assert not backend.is_password(NEW, "birds", backend.password(OLD, "birds"))


def test_a_completion_code_of_before_is_recognised() -> None:
    worker: Any = SimpleNamespace(id=7, platform="link", external="")
    new, old = (completion_codes(key, "birds", worker) for key in (NEW, OLD))
    assert completion_codes(BOTH, "birds", worker) == new + old


def test_a_delivery_is_signed_with_each_secret_the_newest_first() -> None:
    """A receiver that knows either of the two secrets finds its signature among them."""
    new, old = (webhook_signature(secret, b"{}", now=5) for secret in ("new", "old"))
    both = webhook_signature("new old", b"{}", now=5)
    assert both == f"{new},{old.removeprefix('t=5,')}"


@pytest.mark.parametrize("between", [",", " ", "\n", ", ", "\n\n"])
def test_the_environment_may_hold_several_keys(tmp_path: Path, between: str) -> None:
    environ = {"CROWDPILOT_SECRET": f"{NEW}{between}{OLD}\n"}
    found = load_settings(str(tmp_path / "a.db"), "https://x.org", environ=environ)
    assert found.secret == BOTH


@pytest.mark.parametrize("text", ["", " ", f"{NEW} short", f"short {NEW}"])
def test_every_key_is_long(text: str) -> None:
    with pytest.raises(ValueError, match="32 characters"):
        Settings(secret=text)


def test_a_new_key_is_added_to_the_file_and_the_oldest_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    first = read_secret(file)
    assert rotate_secret(file, keep=2) == 0
    second, kept = read_secret(file).split()
    assert kept == first
    assert second != first
    assert rotate_secret(file, keep=2) == 1
    assert read_secret(file).split()[1:] == [second]
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file], "no draft is left"


def moved(client: TestClient, service: Service) -> TestClient:
    """The same browser at a service that was started again."""
    again = service.client(accept="text/html")
    again.cookies.update(client.cookies)
    return again


def test_workers_and_requesters_go_on_after_a_rotation(tmp_path: Path) -> None:
    """With sessions, pages, codes and addresses of before; they end when the key is dropped."""
    url = sqlite_url(tmp_path)
    before = DashboardService(url)
    project = before.create()
    worker = before.visitor()
    worker.get(f"/w/{project}", params={"invite": invite(before.store, project)})
    form = worker_token(worker.get(f"/w/{project}/label").text)
    requester = before.signed_in()
    csrf_of_page = csrf(requester.get(f"/projects/{project}").text)
    rotated, dropped = Service(url, secret=f"{NEW} {SECRET}"), Service(url, secret=NEW)
    statuses = [
        moved(worker, service)
        .post(f"/w/{project}/pause", headers={"X-CSRF-Token": form}, follow_redirects=False)
        .status_code
        for service in (rotated, dropped)
    ]
    assert statuses == [303, 401]
    statuses = [
        moved(requester, rotated).post("/logout", data={"csrf": token}, follow_redirects=False).status_code
        for token in ("another", csrf_of_page)
    ]
    assert statuses == [403, 303]
    for service in (before, rotated, dropped):
        service.close()
