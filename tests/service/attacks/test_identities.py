"""Every route by everybody: strangers, workers, members of other projects, and keys that allow less.

`RIGHTS` says what each route needs. It is written down here, not taken from the code; a route that is not in
it fails the tests.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from crowdpilot.service.labelling.sessions import form_token, read_session
from crowdpilot.service.pages.dashboard import exports
from crowdpilot.service.store.projects import NO_PROJECT
from crowdpilot.service.store.requesters import keys, members
from crowdpilot.service.store.tables import metadata
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.service import PLAIN, SECRET, Project, create_project, sqlite_url

READ, LABEL, WRITE, ADMIN = SCOPES = ("read", "label-ops", "write", "admin")
OPERATOR, METRICS = "operator", "metrics"  # of the whole service; metrics need an operator's key of any scope
WORKER, WORKER_PAGE = "worker", "worker page"  # a session of a worker, in a header or in a cookie
ANYBODY, BACKEND = "anybody", "backend"  # backend: a password in the address

PROJECT, DASHBOARD, PAGES = "/api/projects/{id}", "/projects/{id}", "/w/{project}"
RIGHTS: dict[str, str] = {
    # The service
    "GET /healthz": ANYBODY, "GET /readyz": ANYBODY, "GET /metrics": METRICS,
    "GET /api/openapi.json": ANYBODY,
    "GET /files/{project}/{digest}": ANYBODY,  # the address holds the SHA-256 of the file
    # Projects
    "POST /api/projects": WRITE, "GET /api/projects": READ, f"GET {PROJECT}": READ,
    f"POST {PROJECT}/pause": LABEL, f"POST {PROJECT}/resume": LABEL, f"POST {PROJECT}/close": WRITE,
    f"GET {PROJECT}/studies": LABEL, f"POST {PROJECT}/studies": WRITE,
    f"GET {PROJECT}/studies/{{study}}": LABEL,
    f"POST {PROJECT}/studies/{{study}}/publish": WRITE, f"POST {PROJECT}/studies/{{study}}/places": WRITE,
    f"POST {PROJECT}/studies/{{study}}/{{move}}": WRITE,
    f"GET {PROJECT}/studies/{{study}}/submissions": LABEL,
    f"POST {PROJECT}/studies/{{study}}/submissions/approve": WRITE,
    f"POST {PROJECT}/studies/{{study}}/submissions/reject": WRITE,
    f"POST {PROJECT}/studies/{{study}}/submissions/{{submission}}/bonus": WRITE,
    f"GET {PROJECT}/hits": LABEL, f"POST {PROJECT}/hits": WRITE, f"POST {PROJECT}/hits/{{hit}}/extend": WRITE,
    f"POST {PROJECT}/hits/{{hit}}/expire": WRITE, f"GET {PROJECT}/hits/{{hit}}/assignments": LABEL,
    f"POST {PROJECT}/hits/{{hit}}/assignments/{{assignment}}/approve": WRITE,
    f"POST {PROJECT}/hits/{{hit}}/assignments/{{assignment}}/reject": WRITE,
    f"POST {PROJECT}/hits/{{hit}}/assignments/{{assignment}}/bonus": WRITE,
    f"PATCH {PROJECT}": WRITE, f"POST {PROJECT}/archive": WRITE, f"POST {PROJECT}/restore": WRITE,
    f"POST {PROJECT}/items": WRITE, f"POST {PROJECT}/gold": WRITE,
    f"POST {PROJECT}/items/stop": LABEL, f"POST {PROJECT}/items/withdraw": LABEL,
    f"POST {PROJECT}/items/override": LABEL, f"POST {PROJECT}/items/ask-again": LABEL,
    f"GET {PROJECT}/decisions": READ, f"GET {PROJECT}/votes": READ, f"GET {PROJECT}/workers": READ,
    f"GET {PROJECT}/pay": READ, f"POST {PROJECT}/workers/{{worker}}/approve": LABEL,
    f"POST {PROJECT}/workers/{{worker}}/block": LABEL, f"POST {PROJECT}/workers/{{worker}}/unblock": LABEL,
    f"GET {PROJECT}/workers/{{worker}}/block-preview": LABEL,
    f"POST {PROJECT}/workers/{{worker}}/notes": LABEL,
    f"DELETE {PROJECT}/workers/{{worker}}": WRITE, f"POST {PROJECT}/codes": LABEL,
    f"GET {PROJECT}/invitations": LABEL, f"POST {PROJECT}/invitations": LABEL,
    f"PATCH {PROJECT}/invitations/{{invitation}}": LABEL,
    f"DELETE {PROJECT}/invitations/{{invitation}}": LABEL,
    f"POST {PROJECT}/vote-requests": LABEL, f"POST {PROJECT}/external-votes": LABEL,
    f"GET {PROJECT}/forecast": READ, f"POST {PROJECT}/forecast": WRITE, f"GET {PROJECT}/audit": READ,
    f"POST {PROJECT}/audit": LABEL, f"POST {PROJECT}/audit/answers": LABEL, f"DELETE {PROJECT}/audit": WRITE,
    f"GET {PROJECT}/report": READ, f"GET {PROJECT}/jobs": READ, f"GET {PROJECT}/webhook": WRITE,
    f"GET {PROJECT}/deliveries": READ, f"POST {PROJECT}/label-studio": WRITE,
    f"GET {PROJECT}/label-studio": READ, f"GET {PROJECT}/label-studio/backend": WRITE,
    "POST /api/projects/label-studio": WRITE, f"POST {PROJECT}/label-studio/connection": WRITE,
    f"GET {PROJECT}/label-studio/connection": READ, f"DELETE {PROJECT}/label-studio/connection": WRITE,
    f"POST {PROJECT}/label-studio/sync": LABEL,
    "GET /label-studio/{project}/{password}/health": BACKEND,
    "POST /label-studio/{project}/{password}/setup": BACKEND,
    "POST /label-studio/{project}/{password}/predict": BACKEND,
    "POST /label-studio/{project}/{password}/webhook": BACKEND,
    f"GET {PROJECT}/comments": READ, f"GET {PROJECT}/dataset": READ,
    f"GET {DASHBOARD}/export/comments.{{format}}": READ, f"GET {DASHBOARD}/export/class-folders.zip": READ,
    f"GET {DASHBOARD}/export/argilla.zip": READ,
    f"GET {DASHBOARD}/export/hugging-face.zip": READ, f"GET {DASHBOARD}/export/report/open": READ,
    f"POST {PROJECT}/import": WRITE, f"GET {PROJECT}/import": READ,
    f"POST {DASHBOARD}/import": WRITE, f"GET {DASHBOARD}/import": READ,
    f"GET {PROJECT}/notifications": READ, f"POST {PROJECT}/notifications/test": LABEL,
    f"GET {DASHBOARD}/notifications": READ, f"POST {DASHBOARD}/notifications/test": LABEL,
    # Deletion, and data about one worker
    f"DELETE {PROJECT}": ADMIN, f"DELETE {PROJECT}/items": WRITE,
    f"GET {PROJECT}/workers/{{worker}}/data": WRITE, f"GET {DASHBOARD}/workers/{{worker}}/data": WRITE,
    f"GET {DASHBOARD}/delete": ADMIN, f"POST {DASHBOARD}/delete": ADMIN,
    f"GET {DASHBOARD}/items/{{item}}/delete": READ, f"POST {DASHBOARD}/items/{{item}}/delete": WRITE,
    # Members, keys, log
    f"GET {PROJECT}/members": ADMIN, f"POST {PROJECT}/members": ADMIN,
    f"DELETE {PROJECT}/members/{{member}}": ADMIN,
    "GET /api/members": OPERATOR, "POST /api/members": OPERATOR, "PATCH /api/members/{member}": OPERATOR,
    "DELETE /api/members/{member}": OPERATOR,
    "GET /api/keys": ADMIN, "POST /api/keys": ADMIN, "DELETE /api/keys/{key}": ADMIN,
    f"GET {PROJECT}/log": LABEL, "GET /api/log": OPERATOR,
    # Workers
    "POST /api/sessions": ANYBODY, "GET /api/next": WORKER, "POST /api/votes": WORKER,
    "POST /api/votes/undo": WORKER, "POST /api/comments": WORKER, "POST /api/finish": WORKER,
    "DELETE /api/sessions": WORKER,
    f"GET {PAGES}": WORKER_PAGE, f"GET {PAGES}/prolific": ANYBODY, f"GET {PAGES}/mturk": ANYBODY,
    **{f"GET {PAGES}/{page}": WORKER_PAGE
       for page in ("consent", "instructions", "quiz", "label", "batch", "pause", "look", "done")},
    **{f"POST {PAGES}/{page}": WORKER_PAGE
       for page in ("consent", "quiz", "vote", "comment", "undo", "presence", "pause", "finish", "carry-on",
                    "sign-out")},
    # Dashboard
    "GET /": READ, "GET /login": ANYBODY, "GET /login/oidc": ANYBODY, "GET /login/oidc/callback": ANYBODY,
    "POST /login": ANYBODY, "POST /logout": READ,
    "GET /projects": READ, "GET /projects/cards": READ, "GET /projects/new": READ,
    "POST /projects/new": WRITE, "POST /projects/new/check": WRITE, "POST /projects/new/preview": WRITE,
    "GET /projects/new/label-studio": READ, "POST /projects/new/label-studio": WRITE,
    f"GET {DASHBOARD}/label-studio": LABEL, f"POST {DASHBOARD}/label-studio": WRITE,
    f"POST {DASHBOARD}/label-studio/sync": LABEL, f"POST {DASHBOARD}/label-studio/disconnect": WRITE,
    "POST /projects/new/import": WRITE, f"GET {DASHBOARD}/duplicate": READ,
    f"GET {DASHBOARD}/settings.json": READ,
    f"GET {DASHBOARD}/preview": READ,
    **{f"GET {DASHBOARD}/preview/{page}": READ
       for page in ("consent", "instructions", "quiz", "label", "done", "pause", "labelling",
                    "labelling/batch", "labelling/{page}")},
    **{f"POST {DASHBOARD}/preview/{page}": READ
       for page in ("consent", "quiz", "{change}", "labelling/vote", "labelling/{change}")},
    f"GET {DASHBOARD}": READ, f"GET {DASHBOARD}/live": READ, f"GET {DASHBOARD}/close": READ,
    f"POST {DASHBOARD}/state/pause": LABEL, f"POST {DASHBOARD}/state/resume": LABEL,
    f"GET {DASHBOARD}/settings": READ, f"POST {DASHBOARD}/settings": WRITE, "GET /projects/archive": READ,
    f"GET {DASHBOARD}/archive": READ, f"POST {DASHBOARD}/archive": WRITE, f"POST {DASHBOARD}/restore": WRITE,
    f"POST {DASHBOARD}/state/close": WRITE, f"GET {DASHBOARD}/add": READ,
    f"POST {DASHBOARD}/add/items": WRITE,
    f"GET {DASHBOARD}/workers": READ, f"GET {DASHBOARD}/workers/pay.csv": READ,
    f"GET {DASHBOARD}/workers/{{worker}}": READ, f"POST {DASHBOARD}/workers/{{worker}}/notes": LABEL,
    f"GET {DASHBOARD}/workers/{{worker}}/block": LABEL,
    f"POST {DASHBOARD}/workers/approve": LABEL, f"GET {DASHBOARD}/workers/{{worker}}/erase": READ,
    f"POST {DASHBOARD}/workers/{{worker}}/approve": LABEL,
    f"POST {DASHBOARD}/workers/{{worker}}/block": LABEL,
    f"POST {DASHBOARD}/workers/{{worker}}/unblock": LABEL,
    f"POST {DASHBOARD}/workers/{{worker}}/erase": WRITE,
    f"GET {DASHBOARD}/recruiting": LABEL, f"POST {DASHBOARD}/recruiting/prolific": WRITE,
    f"POST {DASHBOARD}/recruiting/review": LABEL, f"GET {DASHBOARD}/recruiting/submissions.csv": LABEL,
    f"GET {DASHBOARD}/recruiting/studies/new": WRITE, f"POST {DASHBOARD}/recruiting/studies": WRITE,
    f"GET {DASHBOARD}/recruiting/studies/{{study}}": LABEL,
    f"GET {DASHBOARD}/recruiting/studies/{{study}}/state": LABEL,
    **{f"POST {DASHBOARD}/recruiting/studies/{{study}}/{change}": WRITE
       for change in ("publish", "places", "move", "review", "bonus")},
    f"GET {DASHBOARD}/recruiting/hits/new": WRITE, f"POST {DASHBOARD}/recruiting/hits": WRITE,
    f"GET {DASHBOARD}/recruiting/hits/{{hit}}": LABEL,
    f"GET {DASHBOARD}/recruiting/hits/{{hit}}/state": LABEL,
    **{f"POST {DASHBOARD}/recruiting/hits/{{hit}}/{change}": WRITE
       for change in ("extend", "expire", "review", "bonus")},
    f"GET {DASHBOARD}/links": LABEL, f"POST {DASHBOARD}/links": LABEL,
    f"GET {DASHBOARD}/links/{{invitation}}": LABEL, f"POST {DASHBOARD}/links/{{invitation}}": LABEL,
    f"POST {DASHBOARD}/links/{{invitation}}/revoke": LABEL,
    f"GET {DASHBOARD}/items": READ, f"GET {DASHBOARD}/items/{{item}}": READ,
    f"POST {DASHBOARD}/items/{{item}}/override": LABEL, f"POST {DASHBOARD}/items/{{item}}/ask-again": LABEL,
    f"POST {DASHBOARD}/items/{{item}}/gold": WRITE, f"POST {DASHBOARD}/items/{{item}}/resolve": LABEL,
    f"GET {DASHBOARD}/review": LABEL, f"POST {DASHBOARD}/review": LABEL,
    f"POST {DASHBOARD}/review/undo": LABEL, f"POST {DASHBOARD}/items/{{item}}/override/remove": LABEL,
    f"GET {DASHBOARD}/check": WRITE, f"POST {DASHBOARD}/check": WRITE, f"POST {DASHBOARD}/check/undo": WRITE,
    f"GET {DASHBOARD}/audit": READ, f"POST {DASHBOARD}/audit": LABEL, f"POST {DASHBOARD}/audit/answer": LABEL,
    f"GET {DASHBOARD}/audit/remove": READ, f"POST {DASHBOARD}/audit/remove": WRITE,
    f"GET {DASHBOARD}/export": READ, f"GET {DASHBOARD}/export/decisions.{{format}}": READ,
    f"GET {DASHBOARD}/export/votes.{{format}}": READ, f"GET {DASHBOARD}/export/check.csv": READ,
    f"GET {DASHBOARD}/export/label-studio.json": READ, f"GET {DASHBOARD}/export/report": READ,
    f"GET {DASHBOARD}/export/report.html": READ,
    f"GET {DASHBOARD}/members": ADMIN, f"POST {DASHBOARD}/members": ADMIN,
    f"GET {DASHBOARD}/members/{{member}}/remove": ADMIN, f"POST {DASHBOARD}/members/{{member}}/remove": ADMIN,
    f"GET {DASHBOARD}/log": LABEL, f"GET {DASHBOARD}/log/export.{{format}}": LABEL,
    "GET /keys": ADMIN, "POST /keys": ADMIN, "GET /keys/{key}/revoke": ADMIN,
    "POST /keys/{key}/revoke": ADMIN,
    "GET /members": OPERATOR, "POST /members": OPERATOR, "POST /members/{member}/operator": OPERATOR,
    "GET /members/{member}/remove": OPERATOR, "POST /members/{member}/remove": OPERATOR,
    "GET /log": OPERATOR, "GET /log/export.{format}": OPERATOR,
}  # fmt: skip
CHANGES = {  # routes that need more or less by the last part of their path
    f"POST {DASHBOARD}/state/{{change}}": ("pause", "resume", "close"),
    f"POST {DASHBOARD}/workers/{{worker}}/{{change}}": ("approve", "block", "unblock", "erase"),
}
VOLATILE = {"action_log", "counters", "requester_sessions", "clock"}  # tables that being refused may change
REFUSED = (401, 403, 404)


@dataclass
class Identity:
    """Somebody: the scope of their key, and their role in the project under attack."""

    scope: str | None = None  # None: no valid key
    role: str | None = None  # None: the project is not theirs, or their key does not open it
    operator: bool = False
    limited: bool = False  # the key is limited to projects
    key: str = ""
    dashboard: TestClient | None = None
    csrf: str = ""
    headers: dict[str, str] = field(default_factory=dict)  # of a worker
    cookies: dict[str, str] = field(default_factory=dict)
    own_pages: bool = False  # a worker of the project under attack


class World:
    """A service with a project under attack, and everybody who may try."""

    def __init__(self, url: str) -> None:
        self.service = service = DashboardService(url)
        self.project = service.project()
        self.project.add_texts(4)
        self.project.add_votes(("i0", "w", "good"))
        self.other = create_project(service.store, {**PLAIN, "name": "Other"})
        with service.store.writing() as c:
            ann = members.find_by_name(c, "ann")
            assert ann is not None
            self.member = ann.id
            eve, reader = members.create(c, "eve"), members.create(c, "reader")
            gone, root = members.create(c, "gone"), members.create(c, "root", operator=True)
            members.set_role(c, self.other, eve.id, ADMIN)
            members.set_role(c, self.project.id, reader.id, READ)
            members.set_role(c, self.project.id, gone.id, ADMIN)
            new = lambda who, scope, **more: keys.create(c, who, scope, scope, **more)  # noqa: E731
            self.people = {
                "stranger": Identity(), "worker": Identity(own_pages=True),
                "worker of another project": Identity(),
                **{f"other team, {scope} key": Identity(scope, None, key=new(eve.id,
                scope)) for scope in SCOPES},
                **{f"{scope} key": Identity(scope, ADMIN, key=new(ann.id, scope)) for scope in SCOPES},
                "reader with an admin key": Identity(ADMIN, READ, key=new(reader.id, ADMIN)),
                "key of another project": Identity(
                    ADMIN, None, limited=True, key=new(ann.id, ADMIN, projects=[self.other])),
                "key of this project": Identity(
                    ADMIN, ADMIN, limited=True, key=new(ann.id, ADMIN, projects=[self.project.id])),
                "expired key": Identity(key=new(ann.id, ADMIN, expires=time.time() + 3600)),
                "revoked key": Identity(key=new(ann.id, ADMIN)),
                "removed member": Identity(key=new(gone.id, ADMIN)),
                "operator": Identity(ADMIN, ADMIN, operator=True, key=new(root.id, ADMIN)),
                "operator, read key": Identity(READ, ADMIN, operator=True, key=new(root.id, READ)),
                "operator, key of another project": Identity(
                    ADMIN, None, operator=True, limited=True, key=new(root.id, ADMIN, projects=[self.other])),
            }  # fmt: skip
        for person in self.people.values():
            self._sign_in(person)
        self._work("worker", self.project)
        self._work("worker of another project", Project(service, self.other, ""))
        expired = self.people["expired key"].key.split("_")[1]
        with service.store.writing() as c:
            keys.revoke(c, self.people["revoked key"].key.split("_")[1])
            members.remove(c, gone.id)
            c.execute(
                metadata.tables["api_keys"].update().where(metadata.tables["api_keys"].c.id == expired)
                .values(expires=time.time() - 1)
            )  # fmt: skip
        self._addresses = count()

    def _sign_in(self, person: Identity) -> None:
        person.dashboard = self.service.visitor()
        if person.key:
            fields = {"csrf": csrf(person.dashboard.get("/login").text), "key": person.key}
            page = person.dashboard.post("/login", data=fields)
            person.csrf = csrf(page.text)

    def _work(self, name: str, project: Project) -> None:
        worker = project.worker(worker=f"a {name}")
        self.people[name].headers = {"Authorization": f"Bearer {worker.token}", "X-API-Key": worker.token}
        session = read_session(SECRET, worker.token, 60)
        self.people[name].csrf = form_token(SECRET, session)
        self.people[name].cookies = {"worker_session": worker.token, "session": worker.token}

    def send(self, person: Identity, route: str) -> Any:
        """The answer to a request that may be empty, but is well-formed otherwise."""
        method, path = self.concrete(route)
        if _is_api(path):
            client, headers = self._client(), dict(person.headers)
            headers |= {"X-API-Key": person.key} if person.key else {}
            body = {} if method == "GET" else {"json": {}}
            return client.request(method, path, headers=headers, follow_redirects=False, **body)
        client = person.dashboard or self.service.visitor()
        options: dict[str, Any] = {"data": {"csrf": person.csrf}} if method == "POST" else {}
        if person.cookies:
            options["headers"] = {"cookie": "; ".join(f"{k}={v}" for k, v in person.cookies.items())}
        return client.request(method, path, follow_redirects=False, **options)

    def _client(self) -> TestClient:
        """From an address of its own, so that wrong keys are not refused for their number."""
        n = next(self._addresses)
        address = f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}"
        return TestClient(
            self.service.app, base_url=self.service.settings.address, client=(address, 1),
            raise_server_exceptions=False,
        )  # fmt: skip

    def concrete(self, route: str) -> tuple[str, str]:
        method, path = route.replace("/report", "/report?wait=0" if "/api" in route else "/report").split(" ")
        known = {"id": self.project.id, "project": self.project.id, "worker": 1, "item": 1,
        "member": self.member,
                 "key": self.people["write key"].key.split("_")[1], "digest": "0" * 64, "password": "wrong",
                 "invitation": "0" * 12, "format": "csv", "change": "finish", "page": "pause",
                 "hit": "0HIT", "assignment": "0ASSIGNMENT", "study": "0" * 24, "move": "pause",
                 "submission": "0" * 24}  # fmt: skip
        return method, path.format_map(known)

    def state(self) -> dict[str, Any]:
        """All that the database holds, but for what being refused may change."""
        with self.service.store.reading() as c:
            return {
                table.name: sorted(
                    map(repr, c.execute(select(*(col for col in table.c if col.name != "used"))).all())
                )
                for table in metadata.sorted_tables
                if table.name not in VOLATILE
            }


def _is_api(path: str) -> bool:
    return path.startswith(("/api/", "/metrics", "/healthz", "/readyz", "/files/", "/label-studio/"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exports, "PAGE_WAIT_SECONDS", 0.0)  # nobody makes the report
        patch.setattr(exports, "DOWNLOAD_WAIT_SECONDS", 0.0)
        made = World(sqlite_url(tmp_path_factory.mktemp("identities")))
        yield made
        made.service.close()


def routes_of(service: DashboardService) -> set[str]:
    def walk(routes: Any) -> Iterator[str]:
        for route in routes:
            if hasattr(route, "original_router"):
                yield from walk(route.original_router.routes)
            elif hasattr(route, "methods"):
                yield from (f"{method} {route.path}" for method in route.methods - {"HEAD"})

    found = set(walk(service.app.routes))
    for route, changes in CHANGES.items():
        assert route in found
        found.remove(route)
        found |= {route.replace("{change}", change) for change in changes}
    return found


def allowed(person: Identity, need: str, route: str) -> bool:
    """Whether somebody may use a route, by `RIGHTS`."""
    if need in (ANYBODY, WORKER, WORKER_PAGE, BACKEND):
        return (
            need == ANYBODY
            or (bool(person.headers) and need == WORKER)
            or (person.own_pages and need == WORKER_PAGE)
        )
    if person.scope is None:
        return False
    if need == METRICS:
        return person.operator and not person.limited
    if need == OPERATOR:
        return person.operator and not person.limited and person.scope == ADMIN
    if "/keys" in route and person.limited:
        return False
    if route.startswith(("POST /api/projects", "POST /projects/new")) and "{" not in route and person.limited:
        return False
    rights = [person.scope, *([person.role] if "{id}" in route else [])]
    return all(right is not None and SCOPES.index(right) >= SCOPES.index(need) for right in rights)


def expected(person: Identity, need: str, route: str) -> tuple[int, ...]:
    """The statuses of a route that somebody may not use."""
    if need == BACKEND:
        return (404,)
    if need in (WORKER, WORKER_PAGE):
        return (401,)
    if person.scope is None:
        return (401,) if _is_api(route.split(" ")[1]) else (303,)
    if "{id}" in route and person.role is None:
        too_little = need != OPERATOR and SCOPES.index(person.scope) < SCOPES.index(need)
        return (403,) if _is_api(route.split(" ")[1]) and too_little else (404,)
    creating = "POST /api/projects", "POST /api/projects/label-studio"
    if person.limited and (route in creating or route.startswith("POST /projects/new")):
        return 403, 422  # an empty description is refused first
    return (403,)


def test_every_route_has_an_entry(world: World) -> None:
    assert routes_of(world.service) ^ RIGHTS.keys() == set()


PEOPLE = ["stranger", "worker", "worker of another project",
          *(f"other team, {scope} key" for scope in SCOPES),
          *(f"{scope} key" for scope in SCOPES), "reader with an admin key", "key of another project",
          "key of this project", "expired key", "revoked key", "removed member", "operator, read key",
          "operator, key of another project", "operator"]  # fmt: skip


@pytest.mark.parametrize("name", PEOPLE)
def test_nobody_does_what_is_not_theirs(world: World, name: str) -> None:
    person, before, wrong = world.people[name], world.state(), []
    for route, need in RIGHTS.items():
        if allowed(person, need, route):
            continue
        answer = world.send(person, route)
        at_login = answer.status_code != 303 or answer.headers["location"].startswith("/login")
        if answer.status_code not in expected(person, need, route) or not at_login:
            wrong.append((route, answer.status_code, answer.text[:200]))
        if answer.status_code == 404 and person.scope and "{id}" in route:
            assert "Films" not in answer.text  # the name of the project
    assert wrong == []
    assert world.state() == before


CAUTIOUS = (
    "/logout", "/keys/{key}", "/members/{member}", "/api/finish", "/finish", "/votes/undo", "/undo",
    "/api/sessions", "/sign-out",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", ["read key", "label-ops key", "write key", "admin key", "operator", "worker"]
)
def test_everybody_does_what_is_theirs(world: World, name: str) -> None:
    """What a scope allows is not refused, whatever else may be wrong with an empty request."""
    person, wrong = world.people[name], []
    for route, need in RIGHTS.items():
        if not allowed(person, need, route) or need == ANYBODY or any(part in route for part in CAUTIOUS):
            continue
        answer = world.send(person, route)
        missing = answer.status_code == 404 and NO_PROJECT in answer.text
        if (
            answer.status_code in (401, 403, 500)
            or missing
            or answer.headers.get("location", "").endswith("/login")
        ):
            wrong.append((route, answer.status_code, answer.text[:200]))
    assert wrong == []


def test_the_list_of_projects_is_that_of_the_requester(world: World) -> None:
    seen = {
        name: {project["name"] for project in world.send(person, "GET /api/projects").json()["projects"]}
        for name, person in world.people.items()
        if person.scope
    }
    assert seen["read key"] == {"Films", "Other"}
    assert seen["other team, admin key"] == {"Other"}
    assert seen["key of another project"] == seen["operator, key of another project"] == {"Other"}
    assert seen["key of this project"] == {"Films"}
    assert seen["reader with an admin key"] == {"Films"}
    for name, person in world.people.items():
        cards = world.send(person, "GET /projects").text if person.scope else ""
        assert ("Films" in cards) is ("Films" in seen.get(name, ())), name


def test_pages_offer_only_what_is_allowed(world: World) -> None:
    for name in ("read key", "label-ops key", "write key", "admin key"):
        person = world.people[name]
        for page in ("", "/workers", "/audit", "/items", "/export"):
            text = world.send(person, f"GET {DASHBOARD}{page}").text
            for route, need in RIGHTS.items():
                method, path = world.concrete(route)
                if method == "POST" and path.startswith("/projects/") and not allowed(person, need, route):
                    offered = f'<form method="post" action="{path}"' in text and "disabled" not in text
                    assert not offered, (name, page, path)
            assert (f'href="/projects/{world.project.id}/members"' in text) is (name == "admin key")
            assert (f'href="/projects/{world.project.id}/log"' in text) is (name != "read key")
            assert ('href="/keys"' in text) is (name == "admin key")


def test_a_secret_of_the_service_is_in_no_answer(world: World) -> None:
    person = world.people["operator"]
    for route in RIGHTS:
        if route.startswith("GET"):
            assert SECRET not in world.send(person, route).text
