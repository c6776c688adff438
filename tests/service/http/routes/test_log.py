"""The log of actions: all that matters is in it, with who and from where; paged, filtered, exported."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.store.requesters import action_log, keys, members
from tests.service.harness.dashboard import DashboardService, csrf, post
from tests.service.harness.service import Project, sqlite_url


@pytest.fixture
def service(tmp_path: Path) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path))
    yield made
    made.close()


@pytest.fixture
def project(service: DashboardService) -> Project:
    made = service.project()
    made.add_texts(3)
    made.add_votes(("i0", "ann", "good"), ("i1", "bob", "bad"))
    return made


def operator(service: DashboardService) -> dict[str, str]:
    with service.store.writing() as c:
        owner = members.find_or_create(c, "root", operator=True)
        return {"X-API-Key": keys.create(c, owner.id, "root", "admin")}


def entries(service: DashboardService, **query: Any) -> list[dict[str, Any]]:
    found = service.http.get("/api/log", headers=operator(service), params=query)
    assert found.status_code == 200, found.text
    return list(found.json()["entries"])


EXPORTS = [
    ("/decisions", "decisions"), ("/decisions?format=parquet", "decisions"), ("/votes", "votes"),
    ("/pay", "pay"), ("/pay?format=csv", "pay"), ("/workers", "workers"),
    ("/label-studio", "label studio tasks"),
]  # fmt: skip


def test_every_export_is_written_down(service: DashboardService, project: Project) -> None:
    for path, _ in EXPORTS:
        assert project.get(path).status_code == 200, path
    assert project.get("/report?wait=0").status_code == 202
    service.do_jobs()
    assert project.get("/report").status_code == 200
    seen = [
        entry["detail"]["what"] for entry in entries(service, category="data") if entry["action"] == "export"
    ]
    assert seen == ["report", *(what for _, what in reversed(EXPORTS))]


def test_every_download_of_the_dashboard_is_written_down(service: DashboardService, project: Project) -> None:
    home, client = f"/projects/{project.id}", service.signed_in("read")
    service.do_jobs()
    client.get(f"{home}/export/report")
    service.do_jobs()
    paths = {
        "export/decisions.csv": "decisions", "export/votes.ndjson": "votes",
        "export/label-studio.json": "label studio tasks", "export/report.html": "report",
        "workers/pay.csv": "pay",
    }  # fmt: skip
    for path in paths:
        assert client.get(f"{home}/{path}").status_code == 200, path
    seen = [
        entry["detail"]["what"] for entry in entries(service, text="export") if entry["action"] == "export"
    ]
    assert seen == list(paths.values())[::-1]


def test_sign_ins_keys_members_and_settings_are_written_down(
    service: DashboardService, project: Project
) -> None:
    root = operator(service)
    service.http.post("/api/members", json={"name": "eve"}, headers=root)
    key = service.http.post(
        "/api/keys", json={"name": "k", "scope": "read", "member": "eve"}, headers=root
    ).json()
    admin = {"X-API-Key": service.keys["admin"]}
    role = {"name": "eve", "role": "write"}
    assert (
        service.http.post(f"/api/projects/{project.id}/members", json=role, headers=admin).status_code == 200
    )
    assert service.http.delete(f"/api/keys/{key['id']}", headers=root).status_code == 204
    client = service.signed_in("write")
    post(client, "/logout", "/projects")
    project.post("/pause")
    seen = [(entry["category"], entry["action"], entry["name"]) for entry in entries(service, n=7)]
    assert seen == [
        ("project", "paused", "ann (the write key)"), ("sign-in", "sign out", "ann (the write key)"),
        ("sign-in", "sign in", "ann (the write key)"), ("access", "revoke key", "root"),
        ("access", "set role", "ann (the admin key)"), ("access", "create key", "root"),
        ("access", "add member", "root"),
    ]  # fmt: skip
    assert {entry["address"] for entry in entries(service, n=7)} == {"testclient"}
    assert not any(key["key"].split("_")[2] in str(entry) for entry in entries(service))


def test_the_log_is_read_page_by_page(service: DashboardService, project: Project) -> None:
    root, before, seen = operator(service), None, []
    for _ in range(10):
        query = {"n": 2, **({} if before is None else {"before": before})}
        page = service.http.get("/api/log", headers=root, params=query).json()
        seen += [entry["id"] for entry in page["entries"]]
        before = page["before"]
        if before is None:
            break
    assert seen == sorted(seen, reverse=True) == [entry["id"] for entry in entries(service)]
    assert len(seen) == 3


def test_the_log_is_filtered(service: DashboardService, project: Project) -> None:
    other = service.project(name="Ünïcode")
    other.post("/pause")
    assert {entry["action"] for entry in entries(service, category="project")} == {"create", "paused"}
    assert {entry["action"] for entry in entries(service, category=["data", "access"])} == {
        "add items",
        "external votes",
    }
    assert entries(service, actor="nobody") == []
    assert len(entries(service, actor="ann")) == len(entries(service)) == 5
    assert {entry["action"] for entry in entries(service, text="EXTERNAL v")} == {"external votes"}
    assert entries(service, text="%") == entries(service, text="_x") == []
    with service.store.writing() as c:
        action_log.write(c, "x", "y", name="Ünïcode")
    assert [entry["action"] for entry in entries(service, text="Ünïc")] == ["y"]


def test_the_log_of_a_project_is_for_those_who_run_its_labelling(
    service: DashboardService, project: Project
) -> None:
    other = service.project()
    for scope, status in (("read", 403), ("label-ops", 200), ("admin", 200)):
        headers = {"X-API-Key": service.keys[scope]}
        found = service.http.get(f"/api/projects/{project.id}/log", headers=headers)
        assert found.status_code == status
        assert service.http.get("/api/log", headers=headers).status_code == 403
    assert {entry["project"] for entry in found.json()["entries"]} == {project.id}
    assert other.id not in found.text


@pytest.mark.parametrize("format", ["csv", "ndjson"])
def test_the_log_is_exported(
    service: DashboardService, project: Project, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action_log, "ROWS_PER_EXPORT_PIECE", 2)
    with service.store.writing() as c:
        action_log.write(c, "=1+1", "@SUM(A1)")
    found = service.http.get("/api/log", headers=operator(service), params={"format": format})
    assert found.headers["content-disposition"] == f'attachment; filename="log.{format}"'
    rows = (
        list(csv.DictReader(io.StringIO(found.text)))
        if format == "csv"
        else [json.loads(line) for line in found.text.splitlines()]
    )
    assert [row["action"] for row in rows][:1] == ["export"]
    assert len(rows) == 5
    assert not found.text.partition("@SUM")[0].endswith("," if format == "csv" else "\0")
    assert json.loads(rows[0]["detail"]) == {"what": "log", "format": format}


def test_arrivals_of_guests_displace_nothing(
    service: DashboardService, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action_log, "KEPT_ROWS", 10)
    monkeypatch.setattr(action_log, "ROWS_PER_PRUNING", 5)
    before = [entry["id"] for entry in entries(service)]
    for n in range(60):
        with service.store.writing() as c:
            action_log.write(c, f"guest {n}", "arrive", project.id, category=action_log.ARRIVAL)
    assert [entry["id"] for entry in entries(service)] == before
    arrivals = entries(service, category="arrival")
    assert arrivals[0]["actor"] == "guest 59"
    assert 10 <= len(arrivals) < 20
    assert {entry["address"] for entry in arrivals} == {None}
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + action_log.KEPT_SECONDS + 1)
    for n in range(5):
        with service.store.writing() as c:
            action_log.write(c, f"late guest {n}", "arrive", project.id, category=action_log.ARRIVAL)
    with service.store.reading() as c:
        assert len(action_log.read(c, categories=[action_log.ARRIVAL])) <= 5


def test_the_page_of_the_log_is_paged_and_filtered(service: DashboardService, project: Project) -> None:
    with service.store.writing() as c:
        for n in range(150):
            action_log.write(c, "robot", f"step {n}.", project.id)
    client, home = service.signed_in("label-ops"), f"/projects/{project.id}/log"
    first = client.get(home).text
    assert "step 149." in first
    assert "step 49." not in first
    older = client.get(home, params={"before": first.partition("before=")[2].partition('"')[0]}).text
    assert "step 49." in older
    assert "step 149." not in older
    found = client.get(home, params={"text": "step 77.", "actor": "robot"}).text
    assert "step 77." in found
    assert "step 78." not in found
    for odd in ("x", "-1", "9" * 30, "²"):
        assert client.get(home, params={"before": odd, "category": "<b>"}).status_code == 200
    assert client.get(f"{home}/export.csv", params={"text": "step 77."}).text.count("step") == 1
    assert client.get(f"{home}/export.xls").status_code == 404
    assert csrf(first)
