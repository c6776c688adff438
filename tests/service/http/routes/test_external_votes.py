"""Votes from elsewhere count as in a campaign: the same requests, the same decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crowdpilot.hybrid import Campaign, Costs, Plan, Scenario
from crowdpilot.hybrid.replay.vote_source import RecordedVotes
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import projects
from crowdpilot.simulation import one_coin
from tests.service.harness.service import CRITERIA, Project, Service

SETTINGS: list[dict[str, Any]] = [
    {},
    {"explore": 0.2, "gold": 0.1, "seed": 7},
    {"per_item": 4, "refit_every": 30},
]


@pytest.fixture
def over(database_url: str) -> Iterator[Service]:
    """A service over each kind of database."""
    made = Service(database_url)
    yield made
    made.close()


def recorded(seed: int = 0) -> Scenario:
    """Votes of a crowd on items called t0, t1, and so on."""
    votes, truth = one_coin(tasks=80, skill=[0.9, 0.8, 0.85, 0.7, 0.6, 0.95, 0.75], seed=seed)
    names = [f"t{n}" for n in range(len(votes.tasks))], [f"w{n}" for n in range(len(votes.workers))]
    classes = ["bad", "good"]
    named = replace(votes, tasks=np.array(names[0]), workers=np.array(names[1]), classes=np.array(classes))
    return Scenario(named.tasks, named.classes, truth.astype(np.int32), {"": named})


@pytest.mark.parametrize("plan", SETTINGS)
def test_requests_and_decisions_are_exactly_those_of_a_campaign(over: Service, plan: dict[str, Any]) -> None:
    case = recorded()
    gold = {f"t{n}": ["bad", "good"][case.truth[n]] for n in range(5)} if plan.get("gold") else {}
    campaign = Campaign(
        case.items, case.classes, Costs.binary(crowd=0.02), plan=Plan(**plan), gold=gold or None
    )
    project = over.project(costs={"prices": {"crowd": 0.02}}, plan=plan)
    project.add(*({"name": name, "text": name, "gold": gold.get(name)} for name in case.items.tolist()))
    source = RecordedVotes(case, 3)
    rounds = 0
    while True:
        asks = campaign.ask(None, 25)
        found = project.post("/vote-requests", json={"n": 25}).json()
        assert [ask["item"] for ask in found["items"]] == [ask.item for ask in asks]
        if not asks:
            assert found["wait"] == (campaign.view.votes_since_refit > 0)
            if not found["wait"]:
                break
            campaign.refit()
            over.do_jobs()
            continue
        collected = source.answer(asks)
        campaign.tell(collected)
        answer = project.add_votes(*((item, worker, label) for item, worker, label, _ in collected))
        due = campaign.view.votes_since_refit == 0
        assert answer.json() == {"committed": len(collected), "update_due": due}
        over.do_jobs()
        spent = source.exhausted()
        campaign.stop(spent)
        if spent:
            project.post("/items/stop", json={"items": [ask.item for ask in spent]})
        rounds += 1
    assert rounds > 5
    now, found = campaign.decide(), project.decisions()
    assert [found[name]["label"] for name in now.items.tolist()] == now.labels.tolist()
    np.testing.assert_array_equal([found[name]["p_good"] for name in now.items.tolist()], now.probs[:, 1])


def test_a_request_for_votes_changes_nothing(project: Project) -> None:
    project.add_texts(20)
    project.add_votes(("i1", "ann", "good"), ("i2", "bob", "bad"))
    before = project.get().json()["status"]
    first = project.post("/vote-requests", json={"n": 5}).json()
    assert project.post("/vote-requests", json={"n": 5}).json() == first
    project.post("/vote-requests", json={"n": 5, "kind": "expert"})
    assert project.get().json()["status"] == before
    assert first["items"][0]["content"]["text"].startswith("Text ")


def test_votes_are_taken_all_or_none(project: Project) -> None:
    project.add_texts(3)
    project.add_votes(("i0", "ann", "good"))
    bad: dict[int, list[tuple[str, str, str]]] = {
        404: [("i1", "ann", "good"), ("x", "ann", "good")],
        409: [("i1", "ann", "good"), ("i0", "ann", "bad")],
        422: [("i1", "ann", "good"), ("i2", "ann", "fair")],
    }
    for status, votes in bad.items():
        assert project.add_votes(*votes).status_code == status
    assert project.add_votes(("i1", "bob", "good"), ("i1", "bob", "bad")).status_code == 409
    assert project.get().json()["votes"] == 1
    assert len(project.get("/workers").json()["workers"]) == 1


def test_a_worker_has_one_kind(project: Project) -> None:
    project.add_texts(3)
    assert project.add_votes(("i0", "ann", "good"), kind="expert").status_code == 201
    assert project.add_votes(("i1", "ann", "good")).status_code == 201
    assert "of the kind 'expert'" in project.add_votes(("i2", "ann", "good"), kind="crowd").json()["detail"]
    assert "no price" in project.add_votes(("i2", "bob", "good"), kind="owl").json()["detail"]
    assert project.post("/vote-requests", json={"kind": "owl"}).status_code == 422


def test_criteria_are_requested_and_recorded_by_name(service: Service) -> None:
    project = service.project(**{**CRITERIA, "costs": {}})
    project.add_texts(2)
    wanted = project.post("/vote-requests", json={"n": 4}).json()["items"]
    assert {ask["criterion"] for ask in wanted} <= {"human", "trial"}
    assert project.add_votes(("i0", "ann", "yes"), criterion="trial").status_code == 201
    assert project.add_votes(("i0", "ann", "no"), criterion="human").status_code == 201
    assert "no criterion" in project.add_votes(("i1", "ann", "yes")).json()["detail"]
    assert project.decisions()["i0"]["votes"] == 2


def test_a_closed_project_takes_no_votes_and_a_paused_one_asks_nothing(project: Project) -> None:
    project.add_texts(2)
    project.post("/pause")
    assert project.post("/vote-requests", json={}).status_code == 409
    assert project.add_votes(("i0", "ann", "good")).status_code == 201
    project.post("/close")
    assert project.add_votes(("i1", "ann", "good")).status_code == 409


def test_votes_of_a_blocked_worker_are_refused(project: Project) -> None:
    project.add_texts(2)
    project.add_votes(("i0", "ann", "good"))
    number = project.get("/workers").json()["workers"][0]["worker"]
    project.post(f"/workers/{number}/block")
    assert "is blocked" in project.add_votes(("i1", "ann", "good")).json()["detail"]


def test_a_new_replica_has_the_same_posterior(project: Project) -> None:
    project.add_texts(30)
    for n in range(4):
        project.add_votes(*((f"i{k}", f"w{n}", ["bad", "good"][(k + (n == 3)) % 2]) for k in range(30)))
    project.service.do_jobs()
    with project.service.store.reading() as c:
        anew = Replica(projects.find(c, project.id))
        anew.catch_up(c)
    found = project.decisions()
    np.testing.assert_array_equal(
        [row["p_good"] for row in found.values()], anew.campaign.decide().probs[:, 1]
    )
