"""Signed tokens: forged, changed, of another service, for another purpose or project; none is taken."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from crowdpilot.service.labelling.sessions import read_session
from crowdpilot.service.labelling.sessions import sign_session as sign_worker
from crowdpilot.service.pages.dashboard.access.sessions import login_path, sign_session
from crowdpilot.service.signing import sign
from crowdpilot.service.store.requesters import sessions
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.service import SECRET, Project, Worker, sqlite_url

FOREIGN = "y" * 40  # the secret of another service


class World:
    """A service with a token of every kind, each in use."""

    def __init__(self, url: str) -> None:
        self.service = service = DashboardService(url)
        self.project, self.other = service.project(), service.project()
        for project in (self.project, self.other):
            project.add_texts(3)
        self.worker = self.project.worker(worker="w")
        self.key = service.keys["admin"].split("_")[1]
        with service.store.writing() as c:
            row = c.exec_driver_sql("SELECT member FROM api_keys LIMIT 1").one()
            self.session_id = sessions.start(c, row.member, key=self.key)
        self.tokens = {
            "worker session": self.worker.token,
            "requester session": sign_session(SECRET, self.session_id),
            "invitation": invitation(self.project),
            "invitation to another project": invitation(self.other),
            "login link": login_token(SECRET, self.key),
            "sign-in by OpenID Connect": sign(SECRET, "oidc", ["s", "n", "v", ""]),
            "way back to MTurk": sign(SECRET, "submit_to", "https://example.org"),
        }

    # Whether a token is taken, for each purpose

    def takes_worker_session(self, token: str) -> bool:
        worker = Worker(self.service, token)
        by_cookie = self.service.visitor()
        by_cookie.cookies.set("worker_session", token.encode("ascii", "ignore").decode())
        page = by_cookie.get(f"/w/{self.project.id}", follow_redirects=False)
        return bool(worker.send("GET", "/api/next").status_code == 200 or page.status_code == 303)

    def takes_requester_session(self, token: str) -> bool:
        client = self.service.visitor()
        client.cookies.set("session", token)
        return client.get("/projects", follow_redirects=False).status_code == 200

    def takes_invitation(self, token: str) -> bool:
        body = {"project": self.project.id, "invite": token}
        arrived = self.service.http.get(
            f"/w/{self.project.id}", params={"invite": token}, follow_redirects=False
        )
        by_api = self.service.http.post("/api/sessions", json=body).status_code
        return by_api == 201 or arrived.status_code == 303

    def takes_login_link(self, token: str) -> bool:
        return "You are signed in" in self.service.visitor().get("/login", params={"token": token}).text


def invitation(project: Project) -> str:
    link = project.post("/invitations", json={}).json()["link"]
    return parse_qs(urlsplit(link).query)["invite"][0]


def login_token(secret: str, key: str) -> str:
    return parse_qs(urlsplit(login_path(secret, key)).query)["token"][0]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(sqlite_url(tmp_path_factory.mktemp("tokens")))
    yield made
    made.service.close()


TAKERS: dict[str, Callable[[World, str], bool]] = {
    "worker session": World.takes_worker_session, "requester session": World.takes_requester_session,
    "invitation": World.takes_invitation, "login link": World.takes_login_link,
}  # fmt: skip


@pytest.mark.parametrize("purpose", TAKERS)
def test_a_token_is_good_for_its_purpose_only(world: World, purpose: str) -> None:
    taken = [name for name, token in world.tokens.items() if TAKERS[purpose](world, token)]
    assert taken == [purpose]


def altered(token: str) -> dict[str, str]:
    """What an attacker makes of a token."""
    payload, stamp, mac = token.split(".")
    middle = len(mac) // 2
    flipped = mac[:middle] + ("A" if mac[middle] != "A" else "B") + mac[middle + 1 :]
    other = (
        base64.urlsafe_b64encode(base64.urlsafe_b64decode(payload + "==")[:-1] + b"1").decode().rstrip("=")
    )
    return {
        "nothing": "", "no signature": f"{payload}.{stamp}", "an empty one": f"{payload}.{stamp}.",
        "half of it": f"{payload}.{stamp}.{mac[: len(mac) // 2]}",
        "another one": f"{payload}.{stamp}.{flipped}",
        "another payload": f"{other}.{stamp}.{mac}", "a later time": f"{payload}.{_later(stamp)}.{mac}",
        "padding": f"{token}=", "a null": f"{token}\x00", "twice": f"{token}.{token}",
        "letters that look alike": token.replace("a", "а"), "a long text": token + "A" * 5000,
    }  # fmt: skip


def _later(stamp: str) -> str:
    moment = int.from_bytes(base64.urlsafe_b64decode(stamp + "=" * (-len(stamp) % 4)), "big") + 3600
    return base64.urlsafe_b64encode(moment.to_bytes(4, "big")).decode().rstrip("=")


@pytest.mark.parametrize("purpose", TAKERS)
def test_a_changed_token_is_not_taken(world: World, purpose: str) -> None:
    for how, token in altered(world.tokens[purpose]).items():
        try:
            taken = TAKERS[purpose](world, token)
        except (UnicodeEncodeError, ValueError):  # no header holds it
            continue
        assert not taken, how


def test_a_token_of_another_service_is_not_taken(world: World) -> None:
    session = read_session(SECRET, world.worker.token, 60)
    assert not world.takes_worker_session(sign_worker(FOREIGN, session))
    assert not world.takes_requester_session(sign_session(FOREIGN, world.session_id))
    assert not world.takes_login_link(login_token(FOREIGN, world.key))
    assert not world.takes_invitation(sign(FOREIGN, f"invite:{world.project.id}", "0" * 16))


def test_a_worker_is_nobody_else(world: World) -> None:
    """Even who could sign, but does not know the nonce of another worker, is not taken for them."""
    session = read_session(SECRET, world.worker.token, 60)
    odd: list[Any] = [
        session._replace(nonce="0" * 32), session._replace(worker=session.worker + 1),
        session._replace(project=world.other.id),
    ]  # fmt: skip
    for other in odd:
        answer = Worker(world.service, sign_worker(SECRET, other)).send("GET", "/api/next")
        assert answer.status_code in (401, 403, 404), other
    for payload in ([], [1], "x", None, {"worker": 1}, [*session, 1]):
        token = sign(SECRET, "worker_session", payload)
        assert Worker(world.service, token).send("GET", "/api/next").status_code == 401


def test_a_login_link_names_a_key_that_is_valid(tmp_path: Path) -> None:
    service = DashboardService(sqlite_url(tmp_path))
    for payload in (["0" * 12, "x"], ["", ""], ["' OR 1=1", "x"]):
        answer = service.visitor().get(
            "/login", params={"token": sign(SECRET, "login", payload)}, follow_redirects=False
        )
        assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/login")
    service.close()


def test_the_csrf_token_of_one_is_none_of_another(world: World) -> None:
    one, other = world.service.signed_in("admin"), world.service.signed_in("admin")
    page = f"/projects/{world.project.id}"
    tokens = {
        "another session": csrf(other.get(page).text), "the form to sign in": csrf(one.get("/login").text),
        "a worker": world.tokens["worker session"], "nothing": "", "too long": "x" * 10_000,
    }  # fmt: skip
    for whose, token in tokens.items():
        answer = one.post(f"{page}/state/pause", data={"csrf": token})
        assert answer.status_code == 403, whose
        answer = one.post(f"{page}/state/pause", headers={"X-CSRF-Token": token})
        assert answer.status_code == 403, whose
    assert world.project.get().json()["state"] == "open"
