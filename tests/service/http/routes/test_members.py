"""Members, their roles in projects, and their keys, over the API; on both databases."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from crowdpilot.service.store.requesters import keys, members
from tests.service.harness.service import Project, Service


class Person:
    """A member with a key."""

    def __init__(self, service: Service, name: str, scope: str = "admin", *, operator: bool = False) -> None:
        self.service, self.name = service, name
        with service.store.writing() as c:
            row = members.find_or_create(c, name, operator=operator)
            self.id, self.key = row.id, keys.create(c, row.id, name, scope)

    def send(self, method: str, path: str, json: Any = None) -> Any:
        return self.service.http.request(method, path, json=json, headers={"X-API-Key": self.key})


@pytest.fixture
def ann(service: Service, project: Project) -> Person:
    """The admin of the project."""
    return Person(service, "ann")


@pytest.fixture
def root(service: Service) -> Person:
    return Person(service, "root", operator=True)


# Roles


def test_an_admin_gives_changes_and_takes_roles(project: Project, service: Service, ann: Person) -> None:
    bob, home = Person(service, "bob"), f"/api/projects/{project.id}"
    assert bob.send("GET", home).status_code == 404
    given = ann.send("POST", f"{home}/members", {"name": "bob", "role": "read"})
    assert (given.status_code, given.json()) == (200, {"id": bob.id, "name": "bob", "role": "read"})
    assert bob.send("GET", home).status_code == 200
    assert bob.send("POST", f"{home}/pause").status_code == 403
    ann.send("POST", f"{home}/members", {"name": "bob", "role": "label-ops"})
    assert bob.send("POST", f"{home}/pause").status_code == 200
    assert bob.send("GET", f"{home}/members").status_code == 403
    listed = ann.send("GET", f"{home}/members").json()["members"]
    assert [(one["name"], one["role"]) for one in listed] == [("ann", "admin"), ("bob", "label-ops")]
    assert ann.send("DELETE", f"{home}/members/{bob.id}").status_code == 204
    assert bob.send("GET", home).status_code == 404
    assert ann.send("DELETE", f"{home}/members/{bob.id}").status_code == 404


def test_a_project_keeps_one_admin(project: Project, service: Service, ann: Person, root: Person) -> None:
    home = f"/api/projects/{project.id}/members"
    for who in (ann, root):
        assert who.send("DELETE", f"{home}/{ann.id}").status_code == 409
        refused = who.send("POST", home, {"name": "ann", "role": "write"})
        assert (refused.status_code, "last admin" in refused.json()["detail"]) == (409, True)
    Person(service, "bob")
    ann.send("POST", home, {"name": "bob", "role": "admin"})
    assert ann.send("DELETE", f"{home}/{ann.id}").status_code == 204
    assert ann.send("GET", home).status_code == 404


def test_of_two_admins_who_remove_each_other_at_once_one_stays(
    project: Project, service: Service, ann: Person
) -> None:
    home, bob = f"/api/projects/{project.id}/members", Person(service, "bob")
    for _ in range(5):
        with service.store.writing() as c:
            for who in (ann, bob):
                members.set_role(c, project.id, who.id, "admin")
        start = threading.Barrier(2)

        def remove(by: Person, other: Person, start: threading.Barrier = start) -> None:
            start.wait(10)
            by.send("DELETE", f"{home}/{other.id}")

        threads = [threading.Thread(target=remove, args=pair) for pair in ((ann, bob), (bob, ann))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        with service.store.reading() as c:
            assert len(members.list_of_project(c, project.id)) == 1


@pytest.mark.parametrize("body", [
    {"name": "nobody", "role": "read"}, {"name": "ann", "role": "king"}, {"name": "", "role": "read"},
    {"name": "ann"},
    {"name": "ann", "role": "admin", "more": 1}, {"name": "a\x00", "role": "read"},
])  # fmt: skip
def test_a_role_is_refused_that_is_none(project: Project, ann: Person, body: dict[str, Any]) -> None:
    status = ann.send("POST", f"/api/projects/{project.id}/members", body).status_code
    assert status == (404 if body["name"] == "nobody" else 422)


# Members of the service


def test_operators_add_and_remove_members(
    service: Service, root: Person, ann: Person, project: Project
) -> None:
    name = f"eve {time.monotonic_ns()}"
    eve = root.send("POST", "/api/members", {"name": name}).json()
    assert root.send("POST", "/api/members", {"name": name}).status_code == 409
    assert root.send("POST", "/api/members", {"name": "local"}).status_code == 409
    made = root.send("POST", "/api/keys", {"name": "k", "scope": "admin", "member": name}).json()
    used = {"X-API-Key": made["key"]}
    assert service.http.get("/api/projects", headers=used).json() == {"projects": []}
    assert ann.send("GET", "/api/members").status_code == 403
    assert name in [one["name"] for one in root.send("GET", "/api/members").json()["members"]]
    assert root.send("DELETE", f"/api/members/{eve['id']}").status_code == 204
    assert service.http.get("/api/projects", headers=used).status_code == 401
    assert root.send("DELETE", f"/api/members/{eve['id']}").status_code == 404


def test_one_operator_stays(service: Service, root: Person) -> None:
    other = Person(service, f"second {time.monotonic_ns()}", operator=True)
    everybody = root.send("GET", "/api/members").json()["members"]
    for one in everybody:
        if one["operator"] and one["id"] not in (root.id, other.id):
            assert root.send("PATCH", f"/api/members/{one['id']}", {"operator": False}).status_code == 200
    assert other.send("PATCH", f"/api/members/{root.id}", {"operator": False}).json()["operator"] is False
    assert root.send("GET", "/api/members").status_code == 403
    assert other.send("PATCH", f"/api/members/{other.id}", {"operator": False}).status_code == 409
    assert other.send("DELETE", f"/api/members/{other.id}").status_code == 409
    assert other.send("PATCH", f"/api/members/{root.id}", {"operator": True}).status_code == 200


# Keys


def test_keys_are_made_shown_used_and_revoked(service: Service, project: Project, ann: Person) -> None:
    soon = time.time() + 3600
    sent = {"name": "robot", "scope": "read", "projects": [project.id], "expires": soon}
    made = ann.send("POST", "/api/keys", sent).json()
    used = {"X-API-Key": made["key"]}
    assert len(service.http.get("/api/projects", headers=used).json()["projects"]) == 1
    (shown,) = (key for key in ann.send("GET", "/api/keys").json()["keys"] if key["id"] == made["id"])
    assert (shown["member"], shown["scope"], shown["projects"], shown["expires"]) == (
        "ann",
        "read",
        [project.id],
        soon,
    )
    assert shown["used"] > time.time() - 60
    assert made["key"] not in str(shown)
    assert ann.send("DELETE", f"/api/keys/{made['id']}").status_code == 204
    assert service.http.get("/api/projects", headers=used).status_code == 401
    assert ann.send("DELETE", f"/api/keys/{made['id']}").status_code == 404


def test_nobody_sees_or_revokes_the_keys_of_another(
    service: Service, project: Project, ann: Person, root: Person
) -> None:
    bob = Person(service, "bob")
    own = ann.key.split("_")[1]
    assert {key["member"] for key in bob.send("GET", "/api/keys").json()["keys"]} == {"bob"}
    assert bob.send("GET", "/api/keys?member=ann").status_code == 403
    assert bob.send("DELETE", f"/api/keys/{own}").status_code == 404
    assert bob.send("POST", "/api/keys", {"name": "x", "scope": "read", "member": "ann"}).status_code == 403
    assert (
        bob.send("POST", "/api/keys", {"name": "x", "scope": "read", "projects": [project.id]}).status_code
        == 404
    )
    assert {key["member"] for key in root.send("GET", "/api/keys?member=ann").json()["keys"]} == {"ann"}
    assert {"ann", "bob"} <= {key["member"] for key in root.send("GET", "/api/keys").json()["keys"]}
    assert ann.send("GET", "/api/keys").status_code == 200
    spare = root.send("POST", "/api/keys", {"name": "x", "scope": "read", "member": "ann"}).json()["id"]
    assert root.send("DELETE", f"/api/keys/{spare}").status_code == 204


def test_a_key_opens_what_its_owner_may_and_no_more(service: Service, project: Project, ann: Person) -> None:
    bob = Person(service, "bob")
    ann.send("POST", f"/api/projects/{project.id}/members", {"name": "bob", "role": "read"})
    assert bob.send("POST", f"/api/projects/{project.id}/pause").status_code == 403  # with an admin key
    assert bob.send("POST", "/api/keys", {"name": "x", "scope": "read", "expires": 1}).status_code == 422
