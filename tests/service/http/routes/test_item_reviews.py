"""Overrides, requests for votes, and blocking with a choice about votes, on both databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from crowdpilot.service import item_reviews
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.workers import block_preview
from crowdpilot.service.store import projects, workers
from tests.service.harness.service import Project, Service

VOTES = [(f"i{n}", worker, "good" if (n + shift) % 3 else "bad")
         for worker, shift in (("ann", 0), ("ben", 0), ("cem", 1)) for n in range(9)]  # fmt: skip


@pytest.fixture
def service(database_url: str) -> Iterator[Service]:
    """A service over each kind of database."""
    made = Service(database_url)
    yield made
    made.close()


def voted_project(service: Service, votes: list[tuple[str, str, str]] = VOTES, **spec: Any) -> Project:
    project = service.project(**spec)
    project.add_texts(10)
    assert project.add_votes(*votes).status_code in (200, 201)
    with service.store.writing() as c:
        item_reviews.fit_anew(c, project.id)
    service.do_jobs()
    return project


def worker_id(service: Service, project: Project, name: str) -> int:
    with service.store.reading() as c:
        return next(int(row.id) for row in workers.list_all(c, project.id) if row.external == name)


def probs(project: Project) -> list[float]:
    return [row["p_good"] for row in project.decisions().values()]


def anew(service: Service, project: Project) -> Replica:
    """A replica that is built from the tables."""
    with service.store.reading() as c:
        replica = Replica(projects.find(c, project.id))
        replica.catch_up(c)
    return replica


def test_an_override_decides_and_is_taken_back(service: Service) -> None:
    project = voted_project(service)
    before = project.decisions()
    other = "bad" if before["i1"]["label"] == "good" else "good"
    assert project.post("/items/override", json={"labels": {"i1": other, "i9": "bad"}}).json() == {
        "changed": 2
    }
    found = project.decisions()
    assert (found["i1"]["label"], found["i1"]["decided_by"], found["i1"]["expected"]) == (other, "expert", 0)
    assert (found["i2"], found["i2"]["decided_by"]) == (before["i2"], "votes")  # others stay as they were
    np.testing.assert_allclose(probs(project), anew(service, project).campaign.decide().probs[:, 1])
    project.post("/items/override", json={"labels": {"i1": None, "i9": None}})
    assert project.decisions() == before


def test_gold_wins_over_an_override_and_withdrawn_items_have_none(service: Service) -> None:
    project = voted_project(service)
    project.post("/items/override", json={"labels": {"i1": "bad"}})
    project.post("/gold", json={"gold": {"i1": "good"}})
    assert project.decisions()["i1"]["decided_by"] == "gold"
    refused = project.post("/items/override", json={"labels": {"i1": "bad"}})
    assert (refused.status_code, "is gold" in refused.json()["detail"]) == (409, True)
    project.post("/items/withdraw", json={"items": ["i2"]})
    assert project.post("/items/override", json={"labels": {"i2": "bad"}}).status_code == 409
    assert project.post("/items/ask-again", json={"items": ["i2"]}).status_code == 409
    assert project.post("/items/override", json={"labels": {"x": "bad"}}).status_code == 404
    assert project.post("/items/override", json={"labels": {"i3": "ugly"}}).status_code == 422


def test_more_votes_are_asked_for_on_stopped_items_beyond_the_limit(service: Service) -> None:
    project = voted_project(service, plan={"per_item": 3})
    project.post("/items/stop", json={"items": [f"i{n}" for n in range(10)]})
    assert project.worker().next() == []
    assert project.post("/items/ask-again", json={"items": ["i4"], "votes": 2}).json() == {"changed": 1}
    first, second, third = project.worker(), project.worker(), project.worker()
    for worker in (first, second):
        [leased] = worker.next()
        assert leased["content"]["text"] == "Text 4."
        assert worker.vote(leased["item"], "good").status_code == 201
    assert third.next() == []
    assert project.decisions()["i4"]["votes"] == 5
    project.post("/items/ask-again", json={"items": ["i4"]})
    assert len(third.next()) == 1
    project.post("/items/stop", json={"items": ["i4"]})
    assert project.worker().next() == []


def test_a_closed_project_asks_nobody(service: Service) -> None:
    project = voted_project(service)
    project.post("/close")
    refused = project.post("/items/ask-again", json={"items": ["i4"]})
    assert (refused.status_code, "closed" in refused.json()["detail"]) == (409, True)


def test_votes_left_out_are_as_if_they_had_never_been_given(service: Service) -> None:
    project = voted_project(service)
    with_all = probs(project)
    cem = worker_id(service, project, "cem")
    preview = project.get(f"/workers/{cem}/block-preview").json()
    blocked = project.post(f"/workers/{cem}/block", json={"votes": "leave out"}).json()
    assert (blocked["state"], blocked["counted"]) == ("blocked", False)
    service.do_jobs()
    never = voted_project(service, [vote for vote in VOTES if vote[1] != "cem"])
    np.testing.assert_allclose(probs(project), probs(never), atol=1e-6)
    np.testing.assert_allclose(probs(project), anew(service, project).campaign.decide().probs[:, 1])
    assert preview["votes"] == 9
    rows = [json.loads(line) for line in project.get("/votes?format=ndjson").text.splitlines()]
    assert {row["worker"] for row in rows if not row["counted"]} == {cem}

    project.post(f"/workers/{cem}/unblock")
    service.do_jobs()
    np.testing.assert_allclose(probs(project), with_all, atol=1e-6)


def test_the_preview_says_what_the_block_does(service: Service) -> None:
    project = voted_project(service)
    before = project.decisions()
    cem = worker_id(service, project, "cem")
    preview = project.get(f"/workers/{cem}/block-preview").json()
    assert project.decisions() == before  # nothing has changed
    project.post(f"/workers/{cem}/block", json={"votes": "leave out"})
    service.do_jobs()
    after = project.decisions()
    changed = {name for name in before if before[name]["label"] != after[name]["label"]}
    assert {one["item"] for one in preview["examples"]} == changed
    assert preview["changed"] == len(changed)
    assert preview["reopened"] == sum(before[name]["done"] and not after[name]["done"] for name in before)
    assert project.get("/workers/999/block-preview").status_code == 404


def test_a_large_project_is_not_computed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    project = voted_project(service)
    monkeypatch.setattr(block_preview, "MAX_VOTES", 5)
    note = project.get(f"/workers/{worker_id(service, project, 'ann')}/block-preview").json()["note"]
    assert note == block_preview.TOO_LARGE


def test_kept_votes_stay_and_a_guest_is_not_brought_back_by_gold(service: Service) -> None:
    project = voted_project(service)
    before = probs(project)
    ben = worker_id(service, project, "ben")
    assert project.post(f"/workers/{ben}/block").json()["counted"] is True
    service.do_jobs()
    np.testing.assert_allclose(probs(project), before, atol=1e-6)
    guest = project.worker()
    for leased in guest.next(3):
        guest.vote(leased["item"], "good")
    with service.store.reading() as c:
        [row] = [row for row in workers.list_all(c, project.id) if row.guest]
    assert row.trusted
    project.post(f"/workers/{row.id}/block", json={"votes": "leave out"})
    project.post("/gold", json={"gold": {f"i{n}": "good" for n in range(10)}})
    with service.store.reading() as c:
        assert not workers.find(c, project.id, row.id).trusted


def test_notes_are_kept_and_erased_with_the_worker(service: Service) -> None:
    project = voted_project(service)
    ann = worker_id(service, project, "ann")
    assert project.post(f"/workers/{ann}/notes", json={"notes": " Careful. "}).json()["notes"] == "Careful."
    assert project.delete(f"/workers/{ann}").status_code == 204
    with service.store.reading() as c:
        assert workers.find(c, project.id, ann).notes is None
    assert project.post(f"/workers/{ann}/notes", json={"notes": "x"}).status_code == 409
