"""Sign-ins by OpenID Connect that are not what they seem: forged tokens, stolen answers, other providers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from joserfc.jwk import RSAKey

from crowdpilot.service.pages.dashboard.access import openid_connect as pages
from crowdpilot.service.requesters import openid_connect
from crowdpilot.service.settings import IdentityProvider
from crowdpilot.service.signing import sign
from crowdpilot.service.store.requesters import action_log, members
from tests.service.harness.dashboard import DashboardService
from tests.service.harness.identity_provider import (
    CLIENT,
    CLIENT_SECRET,
    KEY,
    FakeProvider,
    providing,
    signed,
    signed_by_password,
    unsigned,
)
from tests.service.harness.service import SECRET, sqlite_url

Claims = dict[str, Any]


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with providing() as made:
        yield made


def make(folder: Path, provider: FakeProvider, **options: Any) -> DashboardService:
    about = {
        "issuer": provider.issuer,
        "client_id": CLIENT,
        "client_secret": CLIENT_SECRET,
        "allow": ("@example.org",),
    }
    address = options.pop("address", "http://testserver")
    identity = IdentityProvider(**{**about, **options})
    return DashboardService(sqlite_url(folder), address, identity_provider=identity)


@pytest.fixture
def service(tmp_path: Path, provider: FakeProvider) -> Iterator[DashboardService]:
    made = make(tmp_path, provider)
    yield made
    made.close()


def begin(client: TestClient, **query: str) -> str:
    answer = client.get("/login/oidc", params=query, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def come_back(client: TestClient, query: dict[str, str]) -> Any:
    return client.get("/login/oidc/callback", params=query, follow_redirects=False)


def sign_in(service: DashboardService, provider: FakeProvider, **wrong: str) -> tuple[TestClient, Any]:
    client = service.visitor()
    return client, come_back(client, provider.authorize(begin(client), **wrong))


def is_in(client: TestClient) -> bool:
    return client.get("/projects", follow_redirects=False).status_code == 200


def people(service: DashboardService) -> list[tuple[str, bool]]:
    with service.store.reading() as c:
        return [(row.name, row.operator) for row in members.list_all(c)]


# What should work


def test_a_member_is_added_at_the_first_sign_in_and_known_again(
    service: DashboardService, provider: FakeProvider
) -> None:
    client, answer = sign_in(service, provider)
    assert answer.status_code == 200
    assert is_in(client)
    assert people(service) == [("ann@example.org", False)]
    provider.person["email"] = "ann.smith@example.org"
    assert is_in(sign_in(service, provider)[0])
    assert people(service) == [("ann@example.org", False)]
    assert "Sign in with 127.0.0.1" in service.visitor().get("/login").text
    with service.store.reading() as c:
        entry = action_log.read(c, categories=[action_log.SIGN_IN])[0]
    assert (entry.action, entry.address) == ("sign in by OpenID Connect", "testclient")


def test_what_the_id_token_leaves_out_is_asked_for(service: DashboardService, provider: FakeProvider) -> None:
    provider.metadata["userinfo_endpoint"] = f"{provider.issuer}/userinfo"
    provider.userinfo, provider.person = provider.person, {"sub": "1"}
    assert is_in(sign_in(service, provider)[0])
    provider.userinfo = {**provider.userinfo, "sub": "2"}
    assert sign_in(service, provider)[1].status_code == 403


def test_under_a_base_path(tmp_path: Path, provider: FakeProvider) -> None:
    service = make(tmp_path, provider, address="http://testserver/label")
    client = service.visitor()
    answer = client.get("/login/oidc", follow_redirects=False)
    assert (
        "redirect_uri=http%3A%2F%2Ftestserver%2Flabel%2Flogin%2Foidc%2Fcallback" in answer.headers["location"]
    )
    assert "Path=/label;" in answer.headers["set-cookie"]
    query = provider.authorize(answer.headers["location"])
    assert "/label/projects" in client.get("/login/oidc/callback", params=query).text
    assert client.get("/projects", follow_redirects=False).status_code == 200
    service.close()


# Tokens


def changed(token: str, other: str) -> str:
    """A token with the claims of another."""
    return ".".join([token.split(".")[0], other.split(".")[1], token.split(".")[2]])


OTHER_KEY = RSAKey.generate_key(2048, private=True)
PUBLIC = KEY.as_pem(private=False)
FORGED: dict[str, Callable[[Claims], str]] = {
    "another key": lambda claims: signed(claims, OTHER_KEY),
    "no signature": unsigned,
    "a signature left out": lambda claims: signed(claims).rpartition(".")[0] + ".",
    "the public key as a password": lambda claims: signed_by_password(claims, PUBLIC),
    "a key in the header": lambda claims: signed(claims, OTHER_KEY, jwk=OTHER_KEY.as_dict(private=False)),
    "an unknown key": lambda claims: signed(claims, OTHER_KEY, kid="two"),
    "changed claims": lambda claims: changed(signed(claims), signed({**claims, "sub": "2"})),
    "no token": lambda claims: "",
    "nonsense": lambda claims: "a.b.c",
}  # fmt: skip


def test_a_forged_token_signs_nobody_in(service: DashboardService, provider: FakeProvider) -> None:
    for how, encode in FORGED.items():
        provider.encode = encode
        client, answer = sign_in(service, provider)
        assert answer.status_code == 403, how
        assert not is_in(client)
    assert people(service) == []


WRONG: dict[str, Claims] = {
    "expired": {"exp": time.time() - 600}, "not yet": {"nbf": time.time() + 600},
    "issued in the future": {"iat": time.time() + 600}, "another audience": {"aud": "another"},
    "several audiences": {"aud": [CLIENT, "another"]}, "no nonce": {"nonce": None},
    "for another party": {"aud": [CLIENT], "azp": "another"},
    "another issuer": {"iss": "https://evil.example"}, "another nonce": {"nonce": "x"},
    "no subject": {"sub": ""}, "a number as subject": {"sub": 1}, "no expiry": {"exp": None},
    "another token": {"at_hash": "x"},
}  # fmt: skip


def test_a_token_that_is_not_for_this_sign_in_is_refused(
    service: DashboardService, provider: FakeProvider
) -> None:
    provider.encode = lambda claims: signed(
        {name: value for name, value in claims.items() if value is not None}
    )
    for what, claims in WRONG.items():
        provider.claims = claims
        client, answer = sign_in(service, provider)
        assert answer.status_code == 403, what
        assert not is_in(client)
    assert people(service) == []


# Answers


def test_the_answer_for_another_browser_is_refused(service: DashboardService, provider: FakeProvider) -> None:
    attacker, victim = service.visitor(), service.visitor()
    query = provider.authorize(begin(attacker))
    assert come_back(victim, query).status_code == 403  # who has not begun
    begin(victim)
    assert come_back(victim, query).status_code == 403  # who has begun something else
    assert not is_in(victim)


def test_an_answer_is_good_once(service: DashboardService, provider: FakeProvider) -> None:
    client = service.visitor()
    query = provider.authorize(begin(client))
    stolen = dict(client.cookies)
    assert come_back(client, query).status_code == 200
    thief = service.visitor()
    thief.cookies.update(stolen)
    assert come_back(thief, query).status_code == 403  # the provider knows the code
    provider._codes["code-again"] = {**query, "code_challenge": "", "nonce": "", "redirect_uri": ""}
    provider.answer = lambda *_: (200, provider.metadata)  # type: ignore[method-assign]
    assert come_back(thief, query).status_code == 403
    assert not is_in(thief)


def test_a_state_signs_in_once_even_if_the_provider_takes_a_code_twice(
    service: DashboardService, provider: FakeProvider
) -> None:
    client = service.visitor()
    query = provider.authorize(begin(client))
    stolen, asked = dict(client.cookies), dict(provider._codes)
    assert come_back(client, query).status_code == 200
    provider._codes.update(asked)
    thief = service.visitor()
    thief.cookies.update(stolen)
    assert come_back(thief, query).status_code == 403
    assert not is_in(thief)


def test_an_answer_that_does_not_fit_is_refused(service: DashboardService, provider: FakeProvider) -> None:
    wrong = [
        {"state": "x"}, {"state": ""}, {"code": ""}, {"code": "guessed"}, {"iss": "https://evil.example"},
        {"error": "access_denied", "code": ""},
    ]  # fmt: skip
    for one in wrong:
        client, answer = sign_in(service, provider, **one)
        assert answer.status_code == 403, one
        assert "access_denied" not in answer.text
        assert not is_in(client)


def test_a_provider_that_names_itself_in_answers_has_to(
    service: DashboardService, provider: FakeProvider
) -> None:
    provider.metadata["authorization_response_iss_parameter_supported"] = True
    assert sign_in(service, provider)[1].status_code == 403
    assert sign_in(service, provider, iss=provider.issuer)[1].status_code == 200


@pytest.mark.parametrize("cookie", [
    "", "x", sign(SECRET, "requester_session", ["s", "n", "v", ""]),
    sign("y" * 40, "oidc", ["s", "n", "v", ""]),
], ids=["empty", "unsigned", "of another purpose", "of another secret"])  # fmt: skip
def test_a_forged_attempt_is_refused(service: DashboardService, provider: FakeProvider, cookie: str) -> None:
    client = service.visitor()
    query = provider.authorize(begin(client))
    client.cookies.clear()
    client.cookies.set(pages.ATTEMPT_COOKIE, cookie)
    assert come_back(client, {**query, "state": "s"}).status_code == 403
    assert come_back(client, query).status_code == 403


def test_an_attempt_expires(
    service: DashboardService, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = service.visitor()
    query, now = provider.authorize(begin(client)), time.time()
    monkeypatch.setattr(time, "time", lambda: now + pages.ATTEMPT_SECONDS + 2)
    assert come_back(client, query).status_code == 403


def test_nobody_is_sent_elsewhere(service: DashboardService, provider: FakeProvider) -> None:
    for next in ("https://evil.example", "//evil.example", "/projects/..//evil.example", "/login",
                 "/projects\\evil.example", "javascript:alert(1)", "/projectsevil"):  # fmt: skip
        client = service.visitor()
        answer = come_back(client, provider.authorize(begin(client, next=next)))
        assert answer.status_code == 200
        assert 'href="/projects"' in answer.text, next
        assert "evil" not in answer.text
    client = service.visitor()
    assert 'href="/keys"' in come_back(client, provider.authorize(begin(client, next="/keys"))).text


def test_a_session_is_a_new_one(service: DashboardService, provider: FakeProvider) -> None:
    client = service.signed_in("read")
    before = client.cookies["session"]
    assert come_back(client, provider.authorize(begin(client))).status_code == 200
    assert client.cookies["session"] != before
    assert "ann@example.org" in client.get("/projects").text


# Providers


def test_a_provider_of_another_name_is_refused(service: DashboardService, provider: FakeProvider) -> None:
    provider.metadata["issuer"] = "https://evil.example"
    assert service.visitor().get("/login/oidc", follow_redirects=False).status_code == 503


def test_a_provider_that_does_not_answer_holds_nobody_up(
    service: DashboardService, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = service.visitor()
    query = provider.authorize(begin(client))
    monkeypatch.setattr(openid_connect, "REQUEST_SECONDS", 0.05)
    provider.delay = 1.0
    assert come_back(client, query).status_code == 503
    assert service.signed_in("read").get("/projects").status_code == 200


@pytest.mark.parametrize("about", [
    {"issuer": "http://login.example.org"}, {"issuer": "ftp://localhost"}, {"issuer": "https://"},
    {"issuer": "https://login.example.org/?x=1"}, {"client_id": ""}, {"allow": ()}, {"allow": ("everybody",)},
    {"operators": ("",)},
])  # fmt: skip
def test_settings_that_are_not_safe_are_refused(about: dict[str, Any]) -> None:
    right: dict[str, Any] = {"issuer": "https://login.example.org", "client_id": "x", "allow": ("*",)}
    IdentityProvider(**right)
    with pytest.raises(ValueError, match=";"):
        IdentityProvider(**{**right, **about})


# People


def test_who_is_not_allowed_is_no_member(service: DashboardService, provider: FakeProvider) -> None:
    right = dict(provider.person)
    others: list[Claims] = [
        {"email": "eve@evil.example"}, {"email_verified": False}, {"email_verified": None},
        {"email": "x@example.org@evil"}, {"email": "eve@evil.example,x@example.org"},
        {"email": "example.org"}, {"email": ["ann@example.org"]}, {"email": "eve@notexample.org"},
    ]  # fmt: skip
    for person in others:
        provider.person = {**right, **person}
        client, answer = sign_in(service, provider)
        assert answer.status_code == 403, person
        assert not is_in(client)
    assert people(service) == []
    with service.store.reading() as c:
        refused = action_log.read(c, categories=[action_log.REFUSED])
    assert [row.action for row in refused] == ["failed sign-in"] * len(others)


def test_a_removed_member_stays_out(service: DashboardService, provider: FakeProvider) -> None:
    client, _ = sign_in(service, provider)
    with service.store.writing() as c:
        row = members.find_by_name(c, "ann@example.org")
        assert row is not None
        members.remove(c, row.id)
    assert not is_in(client)
    assert sign_in(service, provider)[1].status_code == 403


def test_a_name_is_nobody_elses(tmp_path: Path, provider: FakeProvider) -> None:
    service = make(tmp_path, provider, allow=("*",))
    with service.store.writing() as c:
        members.create(c, "root@example.org", operator=True)
        members.create(c, "bob@example.org")
    claims: list[Claims] = [
        {"sub": "1", "preferred_username": "local"}, {"sub": "2", "preferred_username": "local"},
        {"sub": "3", "preferred_username": "root@example.org"}, {"sub": "4", "preferred_username": "a\x00b"},
        {"sub": "5", "email": "root@example.org", "email_verified": True},
        {"sub": "6", "email": "bob@example.org", "email_verified": False},
        {"sub": "7", "email": "Bob@example.org", "email_verified": True},
        {"sub": "8", "email": "bob@example.org", "email_verified": True},
    ]  # fmt: skip
    names = []
    for person in claims:
        provider.person = person
        client, answer = sign_in(service, provider)
        assert answer.status_code == 200, person
        names.append(client.get("/projects").text.partition('title="Signed in as ')[2].partition('"')[0])
        assert client.get("/members").status_code == 403, person
    assert names[:2] == ["local (2)", "local (3)"]
    assert names[4] == "root@example.org (2)"
    assert names[6:] == ["bob@example.org", "bob@example.org (2)"]  # adopted by the first verified one
    assert all(name.startswith("user ") for name in (names[2], names[3], names[5]))
    service.close()


def test_the_provider_says_at_each_sign_in_who_is_an_operator(tmp_path: Path, provider: FakeProvider) -> None:
    service = make(tmp_path, provider, allow=("groups=labelling",), operators=("groups=operators",))
    assert sign_in(service, provider)[1].status_code == 403
    for groups, operator in (
        (["labelling"], False),
        (["labelling", "operators"], True),
        (["labelling"], False),
    ):
        provider.person["groups"] = groups
        client, _ = sign_in(service, provider)
        assert people(service) == [("ann@example.org", operator)]
        assert client.get("/members").status_code == (200 if operator else 403)
    provider.person["groups"] = "labelling-not"
    assert sign_in(service, provider)[1].status_code == 403
    service.close()


def test_without_a_provider_there_is_no_such_sign_in(tmp_path: Path) -> None:
    service = DashboardService(sqlite_url(tmp_path))
    assert service.visitor().get("/login/oidc").status_code == 404
    assert service.visitor().get("/login/oidc/callback").status_code == 404
    service.close()
