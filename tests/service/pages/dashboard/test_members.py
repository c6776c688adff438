"""Pages of members and keys: what they show, change and refuse."""

from __future__ import annotations

import re
import time

from fastapi.testclient import TestClient

from crowdpilot.service.store.requesters import keys, members
from tests.service.harness.dashboard import HOSTILE, DashboardService, csrf, post


def operator(service: DashboardService) -> TestClient:
    with service.store.writing() as c:
        owner = members.find_or_create(c, "root", operator=True)
        key = keys.create(c, owner.id, "root", "admin")
    client = service.visitor()
    client.post("/login", data={"csrf": csrf(client.get("/login").text), "key": key})
    return client


def id_of(service: DashboardService, name: str) -> str:
    with service.store.reading() as c:
        row = members.find_by_name(c, name)
        assert row is not None
        return str(row.id)


def test_an_admin_adds_changes_and_removes_members_of_a_project(service: DashboardService) -> None:
    project, client = service.create(), service.signed_in("admin")
    with service.store.writing() as c:
        members.create(c, "bob")
    home = f"/projects/{project}/members"
    assert "bob" in post(client, home, home, name="bob", role="read").text
    changed = post(client, home, home, name=" bob ", role="write").text
    assert re.search(r'<option value="write" selected>', changed)
    assert "Remove bob from" in client.get(f"{home}/{id_of(service, 'bob')}/remove").text
    assert "bob" not in post(client, f"{home}/{id_of(service, 'bob')}/remove", home).text
    for name, role in (("nobody", "read"), ("", "read"), ("ann", "read"), ("ann", "king")):
        refused = post(client, home, home, name=name, role=role)
        assert refused.status_code == 422
        assert 'class="error"' in refused.text
    assert post(client, f"{home}/{id_of(service, 'ann')}/remove", home).status_code == 409
    assert client.get(f"{home}/nobody/remove").status_code == 404


def test_operators_manage_members_of_the_service(service: DashboardService) -> None:
    service.create()
    client = operator(service)
    assert "Film reviews" in client.get("/members").text
    assert HOSTILE not in post(client, "/members", "/members", name=HOSTILE).text
    post(client, "/members", "/members", name="bob", operator="yes")
    bob = id_of(service, "bob")
    post(client, f"/members/{bob}/operator", "/members", operator="no")
    assert post(client, "/members", "/members", name="bob").status_code == 422
    assert post(client, "/members", "/members", name="local").status_code == 422
    assert "Remove bob?" in client.get(f"/members/{bob}/remove").text
    assert "bob" not in post(client, f"/members/{bob}/remove", "/members").text
    assert (
        post(client, f"/members/{id_of(service, 'root')}/operator", "/members", operator="no").status_code
        == 409
    )
    for page in ("/members", "/log", "/keys"):
        answer = client.get(page)
        assert not re.search(r"<style|<script>| style=| on\w+=", answer.text.replace("&lt;", "")), page


def test_a_key_is_made_for_some_projects_and_some_time(service: DashboardService) -> None:
    project, client = service.create(), service.signed_in("admin")
    page = post(client, "/keys", "/keys", name="robot", scope="label-ops", days="30", project=project).text
    new = re.findall(r'id="new-key">(cp_[^<]+)<', page)
    assert len(new) == 1
    with service.store.reading() as c:
        row = keys.find(c, new[0])
    assert (row.scope, row.projects, row.member_name) == ("label-ops", [project], "ann")
    assert 29 * 86400 < row.expires - time.time() < 31 * 86400
    assert "Film reviews" in page
    for wrong in ({"scope": "king"}, {"days": "7"}, {"project": "0" * 12}, {"member": "root"}, {"name": ""}):
        sent = {"name": "x", "scope": "read", **wrong}
        refused = post(client, "/keys", "/keys", **sent)
        assert (refused.status_code, "new-key" in refused.text) == (422, False), wrong


def test_an_operator_makes_keys_for_others(service: DashboardService) -> None:
    service.create()
    page = post(operator(service), "/keys", "/keys", name="for ann", scope="read", member="ann").text
    new = re.findall(r'id="new-key">(cp_[^<]+)<', page)
    with service.store.reading() as c:
        assert keys.find(c, new[0]).member_name == "ann"
