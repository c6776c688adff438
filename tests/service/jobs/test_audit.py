from __future__ import annotations

import threading
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.store import jobs, saved_state
from tests.service.harness.jobs import JobService

N = 120
NAMES = [f"i{n}" for n in range(N)]
CLASSES = ["no", "yes"]


@pytest.fixture
def decided(any_service: JobService) -> tuple[JobService, str]:
    """A project in which everything is decided, some of it wrongly."""
    project = any_service.create(costs={"prices": {"crowd": 0.3}})
    any_service.add(project, N)
    any_service.vote(project, NAMES, each=2, skill=0.7)
    any_service.refit(project)
    return any_service, project


def truths(service: JobService, drawn: list[dict[str, Any]]) -> dict[str, str]:
    return {row["item"]: CLASSES[service.truth[row["item"]]] for row in drawn}


def post(client: TestClient, address: str, body: Any, status: int) -> Any:
    answer = client.post(address, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_an_audit_draws_items_takes_answers_and_bounds_the_cost(decided: tuple[JobService, str]) -> None:
    service, project = decided
    audit = f"/api/projects/{project}/audit"
    with service.requester() as client:
        assert client.get(audit).status_code == 404
        begun = post(client, audit, {"items": 40, "target": 0.5}, 201)
        assert (len(begun["drawn"]), begun["level"], begun["bound"]["checked"]) == (40, 0.95, 0)
        assert begun["drawn"][0]["content"]["text"]
        assert set(begun["drawn"][0]) == {"item", "content"}
        assert client.get(audit).json() == begun
        some = dict(list(truths(service, begun["drawn"]).items())[:10])
        half = post(client, f"{audit}/answers", some, 200)
        assert (half["waiting"], half["answered"], half["bound"]["checked"]) == (30, 10, 10)
        assert post(client, f"{audit}/answers", some, 200) == half
        done = post(client, f"{audit}/answers", truths(service, half["drawn"]), 200)
        more = post(client, audit, {"items": 40}, 201)
        last = post(client, f"{audit}/answers", truths(service, more["drawn"]), 200)
    assert last["errors"] >= done["errors"] > 0
    assert last["bound"]["cost"] <= done["bound"]["cost"] < begun["bound"]["cost"]
    now = service.context.replica(project)[0].campaign.decide()
    cost = sum(service.truth[str(name)] != code for name, code in zip(now.items, now.codes, strict=True)) / N
    assert last["bound"]["cost_low"] <= cost <= last["bound"]["cost"]
    assert last["reached"] is (last["bound"]["cost"] <= 0.5)
    with service.store.reading() as c:
        kept = jobs.last_done(c, project, "audit")
    assert kept is not None
    assert kept.result["bound"] == last["bound"]


def test_only_the_first_answer_about_a_drawn_item_counts(
    decided: tuple[JobService, str],
) -> None:
    service, project = decided
    audit = f"/api/projects/{project}/audit"
    with service.requester() as client:
        post(client, f"{audit}/answers", {"i0": "no"}, 409)
        drawn = truths(service, post(client, audit, {"items": 5}, 201)["drawn"])
        other = next(name for name in NAMES if name not in drawn)
        name, label = next(iter(drawn.items()))
        post(client, f"{audit}/answers", {other: "no"}, 409)
        post(client, f"{audit}/answers", {name: "perhaps"}, 422)
        post(client, f"{audit}/answers", {name: {"new": "no"}}, 422)
        post(client, f"{audit}/answers", {}, 422)
        post(client, f"{audit}/answers", {name: label}, 200)
        post(client, f"{audit}/answers", {name: "no" if label == "yes" else "yes"}, 409)
        post(client, audit, {"items": 5, "level": 0.9}, 409)
        for bad in ({"items": 0}, {"items": 5, "level": 0}, {"items": 5, "target": -1}, {"n": 5}):
            post(client, audit, bad, 422)
        assert client.delete(audit).status_code == 204
        assert client.delete(audit).status_code == 404
        assert post(client, audit, {"items": 5, "level": 0.9}, 201)["level"] == 0.9


def test_an_audit_is_about_the_decisions_when_it_began(decided: tuple[JobService, str]) -> None:
    service, project = decided
    audit = f"/api/projects/{project}/audit"
    with service.requester() as client:
        begun = post(client, audit, {"items": 30}, 201)
        assert (begun["changed"], begun["note"]) == (0, "")
        before = post(client, f"{audit}/answers", truths(service, begun["drawn"]), 200)
        with service.store.writing() as c:
            some = "item < 20 + (SELECT min(id) FROM items)"
            c.exec_driver_sql(f"UPDATE votes SET label = 1 - label, change_number = 1000000 WHERE {some}")
            c.exec_driver_sql("UPDATE projects SET change_number = 1000000")
    with service.requester() as client:
        after = client.get(audit).json()
    assert after["changed"] > 10
    assert "have changed since the audit began" in after["note"]
    assert after["bound"] == before["bound"]


def test_without_decisions_no_audit_can_begin(service: JobService) -> None:
    project = service.create()
    service.add(project, 10)
    with service.requester() as client:
        assert (
            "no item is decided"
            in post(client, f"/api/projects/{project}/audit", {"items": 5}, 409)["detail"]
        )
        assert client.get("/api/projects/000000000000/audit").status_code == 404


def test_with_criteria_an_answer_is_positive_if_all_hold(service: JobService) -> None:
    criteria = [{"name": "new"}, {"name": "good"}]
    project = service.create(criteria=criteria, costs={"prices": {"crowd": 5.0}}, plan={"pilot": 0})
    service.add(project, 20)
    service.refit(project)
    audit = f"/api/projects/{project}/audit"
    with service.requester() as client:
        drawn = post(client, audit, {"items": 3}, 201)["drawn"]
        a, b, c = (row["item"] for row in drawn)
        said = {a: {"new": "yes", "good": "no"}, b: {"new": "yes", "good": "yes"}, c: "yes"}
        assert post(client, f"{audit}/answers", said, 200)["answered"] == 3
    with service.store.reading() as connection:
        row = saved_state.read_audit(connection, project)
    assert row is not None
    assert row.data["audit"]["answers"] == [0, 1, 1]


def test_concurrent_answers_are_all_written(decided: tuple[JobService, str]) -> None:
    service, project = decided
    audit = f"/api/projects/{project}/audit"
    with service.requester() as client:
        drawn = truths(service, post(client, audit, {"items": 6}, 201)["drawn"])
        threads = [
            threading.Thread(target=client.post, args=(f"{audit}/answers",), kwargs={"json": {name: label}})
            for name, label in drawn.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert client.get(audit).json()["answered"] == 6
