"""Workers as requesters see them: how they do, what they earned, who may go on, and who is forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.harness.service import Project, Service


def workers(project: Project) -> dict[str, dict[str, Any]]:
    return {worker["external"]: worker for worker in project.get("/workers").json()["workers"]}


@pytest.fixture
def mixed_workers(project: Project) -> Project:
    """Good workers, one who says always the same, and one who is always wrong."""
    project.add_texts(40)
    project.post("/gold", json={"gold": {f"i{n}": ["bad", "good"][n % 2] for n in range(8)}})
    for name in ("ann", "bob", "eve", "dan"):
        wrong = {"ann": 3, "bob": 5, "eve": 7, "dan": 11}[name]
        project.add_votes(*((f"i{n}", name, ["bad", "good"][(n + (n % wrong == 1)) % 2]) for n in range(40)))
    project.add_votes(*((f"i{n}", "same", "good") for n in range(40)))
    project.add_votes(*((f"i{n}", "wrong", ["good", "bad"][n % 2]) for n in range(40)))
    project.service.do_jobs()
    return project


def test_workers_are_listed_with_skill_and_flags(mixed_workers: Project) -> None:
    found = workers(mixed_workers)
    assert found["dan"]["votes"] == 40
    assert found["dan"]["low"] < found["dan"]["skill"] < found["dan"]["high"]
    assert found["dan"]["skill"] > 0.8 > found["same"]["skill"] > found["wrong"]["skill"]
    assert found["dan"]["flags"] == []
    assert "always the same label" in found["same"]["flags"]
    assert {"below chance", "wrong on gold"} <= set(found["wrong"]["flags"])
    assert (found["wrong"]["gold_votes"], found["wrong"]["gold_right"]) == (8, 0)


def test_who_is_much_faster_than_others_is_flagged(project: Project) -> None:
    project.add_texts(20)
    for name, seconds in {"slow": 9.0, "usual": 10.0, "fast": 0.5}.items():
        worker = project.worker(worker=name)
        for lent in worker.next(10):
            label = ["bad", "good"][lent["item"] % 2]
            assert worker.vote(lent["item"], label, seconds=seconds).status_code == 201
    found = workers(project)
    assert found["fast"]["flags"] == ["too fast"]
    assert found["usual"]["flags"] == []
    assert found["slow"]["seconds"] == 9.0


def test_pay_is_a_price_for_each_vote(project: Project) -> None:
    project.add_texts(6)
    project.add_votes(("i0", "ann", "good"), ("i1", "ann", "bad"), ("i2", "ann", "bad"))
    project.add_votes(("i0", "eve", "good"), kind="expert")
    guest = project.worker(worker="=SUM(A1)")
    assert guest.vote(guest.next(1)[0]["item"], None).status_code == 201
    found = {due["external"]: due for due in project.get("/pay").json()["pay"]}
    assert (found["ann"]["amount"], found["eve"]["amount"]) == (0.06, 0.5)
    assert (found["=SUM(A1)"]["unsure"], found["=SUM(A1)"]["amount"]) == (1, 0)
    project.post(f"/workers/{found['ann']['worker']}/approve")
    table = project.get("/pay?format=csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert f"{found['ann']['worker']},external,ann,crowd,3,0,0.06,True" in table.text
    assert "'=SUM(A1)" in table.text
    assert project.get("/pay", headers={"accept": "text/csv"}).text == table.text


def test_a_blocked_worker_gets_nothing_until_unblocked(project: Project) -> None:
    project.add_texts(10)
    worker = project.worker(worker="ann")
    held = worker.next(3)
    worker.vote(held[0]["item"], "good")
    number = workers(project)["ann"]["worker"]
    assert project.post(f"/workers/{number}/block").json()["state"] == "blocked"
    assert worker.send("GET", "/api/next").status_code == 403
    assert worker.vote(held[1]["item"], "good").status_code == 403
    assert project.get().json()["votes"] == 1
    assert project.post(f"/workers/{number}/unblock").json()["state"] == "active"
    assert len(worker.next(3)) == 3


def test_who_was_blocked_before_the_quiz_still_has_to_take_it(service: Service) -> None:
    project = service.project(quiz=[{"text": "x", "label": "good"}])
    project.worker(worker="ann")
    number = workers(project)["ann"]["worker"]
    project.post(f"/workers/{number}/block")
    assert project.post(f"/workers/{number}/unblock").json()["state"] == "new"


def test_personal_data_is_erased_and_votes_stay(project: Project) -> None:
    project.add_texts(3)
    worker = project.worker(worker="ann@example.org")
    worker.vote(worker.next(1)[0]["item"], "good")
    number = workers(project)["ann@example.org"]["worker"]
    assert project.delete(f"/workers/{number}").status_code == 204
    assert "ann@example.org" not in project.get("/workers").text + project.get("/pay").text
    assert project.get("/workers").json()["workers"][0]["state"] == "erased"
    assert len(project.get("/votes?format=ndjson").text.splitlines()) == 1
    assert worker.send("GET", "/api/next").status_code == 403
    assert project.post(f"/workers/{number}/unblock").status_code == 409
    assert project.post(f"/workers/{number}/block").status_code == 409


def test_unknown_workers_are_not_found(service: Service) -> None:
    one, other = service.project(), service.project()
    one.worker(worker="ann")
    number = workers(one)["ann"]["worker"]
    for what in ("approve", "block", "unblock"):
        assert other.post(f"/workers/{number}/{what}").status_code == 404
        assert one.post(f"/workers/0/{what}").status_code == 422
    assert other.delete(f"/workers/{number}").status_code == 404


def test_invitations_are_for_a_kind_a_name_and_a_time(project: Project) -> None:
    project.worker(kind="expert", worker="eve")
    assert workers(project)["eve"]["kind"] == "expert"
    assert project.post("/invitations", json={"kind": "owl"}).status_code == 422
    link = project.post("/invitations", json={"expires": 1.0}).json()["link"]
    fields = {"project": project.id, "invite": link.partition("invite=")[2]}
    assert project.service.http.post("/api/sessions", json=fields).status_code == 403
