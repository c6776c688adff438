"""Sign-in by OpenID Connect in a browser, at a provider of its own: the whole way there and back."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.settings import IdentityProvider
from crowdpilot.service.store.requesters import members
from tests.service.harness.dashboard import DashboardService
from tests.service.harness.service import local_address, sqlite_url
from tests.service.harness.waiting import eventually, free_port, need

pytestmark = pytest.mark.thorough  # needs a browser and a provider

PROVIDER = "oidc-provider-mock==0.3.4"
ENVIRONMENT = Path(__file__).parents[4] / ".cache" / "oidc-provider"


def installed_provider() -> Path | None:
    """The program of the provider, in an environment of its own since it needs other packages than we do."""
    program = ENVIRONMENT / "bin" / "oidc-provider-mock"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        pip = [ENVIRONMENT / "bin" / "pip", "install", "--quiet", PROVIDER]
        subprocess.run(pip, check=False, capture_output=True)
    return program if program.exists() else None


@contextmanager
def running_provider(**people: dict[str, Any]) -> Iterator[str]:
    """The address of a provider that knows these people, until the end of the block."""
    program, port = need(installed_provider(), PROVIDER), free_port()
    known = [word for sub, claims in people.items()
             for word in ("--user-claims", json.dumps({"sub": sub, **claims}))]  # fmt: skip
    process = subprocess.Popen(
        [program, "--port", str(port), "--require-nonce", "true", *known],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        eventually(lambda: _answers(f"http://127.0.0.1:{port}"))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/.well-known/openid-configuration", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


PEOPLE: dict[str, dict[str, Any]] = {
    "ann": {"email": "ann@example.org", "email_verified": True, "groups": ["operators"]},
    "bob": {"email": "bob@example.org", "email_verified": True},
    "eve": {"email": "eve@evil.example", "email_verified": True},
}


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with running_provider(**PEOPLE) as address:
        yield address


@pytest.fixture(autouse=True)
def our_trouble(trouble: list[str]) -> Iterator[None]:
    """The pages of the provider ask for styles that are not here, and errors are noted as well."""
    yield
    trouble[:] = [line for line in trouble if not line.startswith("Failed to load resource")]


@pytest.fixture(params=["", "/label"], ids=["at the root", "under a base path"])
def site(request: pytest.FixtureRequest, tmp_path: Path, issuer: str) -> Iterator[DashboardService]:
    """A service that listens, whose members sign in at the provider."""
    provider = IdentityProvider(
        issuer=issuer, client_id="crowdpilot", client_secret="x" * 20, allow=("@example.org",),
        operators=("groups=operators",), name="Example SSO",
    )  # fmt: skip
    address = f"{local_address()}{request.param}"
    made = DashboardService(sqlite_url(tmp_path), address, identity_provider=provider)
    with made.listening():
        yield made
    made.close()


def sign_in(page: Any, site: DashboardService, who: str, start: str = "/projects") -> None:
    page.goto(f"{site.settings.address}{start}")
    page.get_by_role("link", name="Sign in with Example SSO").click()
    page.get_by_role("button", name=who).click()


def test_members_sign_in_at_their_provider_and_out(site: DashboardService, desktop: Any) -> None:
    home = site.settings.address
    sign_in(desktop, site, "ann", "/keys")
    desktop.wait_for_url(f"{home}/keys")
    assert desktop.get_by_role("heading", name="Keys", exact=True).is_visible()
    desktop.goto(f"{home}/members")
    assert desktop.get_by_role("row", name="ann@example.org").get_by_text("operator", exact=True).is_visible()
    cookies = {cookie["name"]: cookie for cookie in desktop.context.cookies()}
    assert cookies["session"]["sameSite"] == "Strict"
    assert cookies["session"]["httpOnly"]
    assert "oidc" not in cookies
    desktop.get_by_role("button", name="Sign out").click()
    desktop.wait_for_url(f"{home}/login")
    desktop.context.add_cookies([cookies["session"]])
    desktop.goto(f"{home}/projects")
    assert desktop.url.startswith(f"{home}/login")  # the session has ended on the server


def test_who_is_not_allowed_stays_out(site: DashboardService, desktop: Any) -> None:
    sign_in(desktop, site, "eve")
    desktop.get_by_text("not among those who may sign in").wait_for()
    desktop.goto(f"{site.settings.address}/projects")
    assert "/login" in desktop.url
    with site.store.reading() as c:
        assert members.list_all(c) == []


def test_who_declines_is_told_so_and_may_try_again(site: DashboardService, desktop: Any) -> None:
    desktop.goto(f"{site.settings.address}/login")
    desktop.get_by_role("link", name="Sign in with Example SSO").click()
    desktop.get_by_role("button", name="Deny").click()
    desktop.get_by_text("sign-in did not succeed").wait_for()
    sign_in(desktop, site, "bob")
    desktop.wait_for_url(f"{site.settings.address}/projects")
    assert desktop.get_by_role("link", name="Members").count() == 0
