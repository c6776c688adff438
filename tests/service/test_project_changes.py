"""Changes of settings: what may change when, what it costs, and that every replica follows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.workers import pay
from crowdpilot.service.project_campaign import make_limits
from crowdpilot.service.store import projects
from crowdpilot.service.store.answers.reservations import Reservations
from tests.service.harness.service import Project, Service, Worker

HONEST: list[dict[str, Any]] = [  # changes that are possible while votes come in
    {"question": "Is it any good?"},
    {"costs": {"prices": {"crowd": 0.03, "expert": 0.5}}},
    {"costs": {"prices": {"crowd": 0.01, "expert": 0.7}}},
    {"costs": {"errors": [[0, 5], [1, 0]]}},
    {"costs": {"budget": 5.0}},
    {"plan": {"per_worker": 12}},
    {"plan": {"per_item": 2}},
    {"plan": {"gold": 0.2}},
    {"plan": {"refit_every": 5}},
    {"plan": {"explore": 0.1}},
    {"policy": "fixed[votes=2]"},
    {"batch": 3, "lease": 60.0},
]


@pytest.fixture
def service(database_url: str) -> Iterator[Service]:
    running = Service(database_url)
    yield running
    running.close()


def change(project: Project, **partial: Any) -> Any:
    return project.service.send("PATCH", f"/api/projects/{project.id}", json=partial)


def changed(project: Project, **partial: Any) -> dict[str, Any]:
    response = change(project, **partial)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def replica_of(service: Service, project: str) -> Replica:
    with service.store.reading() as c:
        replica = Replica(projects.find(c, project))
        replica.catch_up(c)
    return replica


def listed(service: Service, query: str = "") -> list[str]:
    found = service.send("GET", f"/api/projects{query}").json()["projects"]
    return [project["id"] for project in found]


def spent_of(service: Service, project: str) -> float:
    """What the tables say is spent or promised."""
    with service.store.writing() as c:
        return Reservations(c, project, make_limits(projects.find(c, project))).spent()


def test_texts_may_change_at_any_time_and_the_log_says_from_what_to_what(service: Service) -> None:
    project = service.project(question="Good?")
    project.add_texts(2)
    project.add_votes(("i0", "w", "good"))
    new = changed(project, question="Is it good?", class_details={"good": {"description": "Fine."}})
    assert new["spec"]["question"] == "Is it good?"
    entry = next(e for e in project.get("/log").json()["entries"] if e["action"] == "change settings")
    assert entry["detail"]["changes"]["question"] == ["Good?", "Is it good?"]
    assert changed(project, question="Is it good?")["spec_number"] == new["spec_number"]


@pytest.mark.parametrize(
    "partial",
    [{"classes": ["bad", "good", "so-so"]}, {"criteria": [{"name": "human"}]}, {"machine": "tfidf"},
     {"plan": {"seed": 9}}, {"plan": {"pilot": 3}}, {"plan": {"fusion": "logit"}}],
    ids=lambda partial: next(iter(partial)),
)  # fmt: skip
def test_what_votes_rest_on_cannot_change_once_there_are_any(
    service: Service, partial: dict[str, Any]
) -> None:
    project = service.project()
    project.add_texts(2)
    if "fusion" not in partial.get("plan", {}):
        changed(project, **partial)
        back = {
            "classes": ["bad", "good"],
            "criteria": [],
            "machine": "none",
            "plan": {"seed": 0, "pilot": None},
        }
        changed(project, **{name: back[name] for name in partial})
    project.add_votes(("i0", "w", "good"))
    refused = change(project, **partial)
    assert refused.status_code in (409, 422)
    if refused.status_code == 409:
        assert "duplicate the project" in refused.json()["detail"]


def test_classes_that_items_name_cannot_change(service: Service) -> None:
    project = service.project()
    project.add({"name": "g", "text": "Fine.", "gold": "good"})
    assert "delete these items first" in change(project, classes=["no", "yes"]).json()["detail"]


def test_classes_that_an_expert_decided_on_cannot_change(service: Service) -> None:
    project = service.project()
    project.add_texts(2)
    assert project.post("/items/override", json={"labels": {"i0": "good"}}).status_code == 200
    assert "decisions of an expert" in change(project, classes=["no", "yes"]).json()["detail"]
    project.post("/items/override", json={"labels": {"i0": None}})
    assert changed(project, classes=["no", "yes"])["spec"]["classes"] == ["no", "yes"]
    assert len(project.worker(worker="ann").next(2)) == 2


def test_classes_that_changed_before_the_first_vote_are_those_of_votes(service: Service) -> None:
    project = service.project()
    project.add_texts(3)
    worker = project.worker(worker="ann")
    assert worker.vote(1, "good").status_code == 403  # not leased; the process has read the classes now
    changed(project, classes=["good", "great", "bad"])
    items = worker.next(3)
    assert worker.vote(items[0]["item"], "good").status_code == 201
    assert worker.vote(items[1]["item"], "great").status_code == 201
    rows = project.get("/votes?format=ndjson").text
    assert ['"good"' in rows, '"great"' in rows, '"bad"' in rows] == [True, True, False]


def test_a_vote_keeps_the_price_at_which_its_item_was_leased(service: Service) -> None:
    project = service.project(costs={"prices": {"crowd": 0.10}, "budget": 10.0})
    project.add_texts(6)
    ann, ben = project.worker(worker="ann"), project.worker(worker="ben")
    first = ann.next(3)
    ann.vote(first[0]["item"], "good")
    changed(project, costs={"prices": {"crowd": 0.50}})
    ann.vote(first[1]["item"], "good")  # leased before
    ben.vote(ben.next(1)[0]["item"], "good")
    assert project.get().json()["status"]["spent"] == pytest.approx(0.70)
    assert spent_of(service, project.id) == pytest.approx(0.80)  # one item is leased at the old price
    with service.store.reading() as c:
        amounts = {one.external: one.amount for one in pay.list_pay(c, project.id)}
    assert amounts == {"ann": 0.2, "ben": 0.5}


def test_the_budget_is_never_below_what_is_spent_or_promised(service: Service) -> None:
    project = service.project(costs={"prices": {"crowd": 1.0}})
    project.add_texts(4)
    ann = project.worker(worker="ann")
    ann.vote(ann.next(2)[0]["item"], "good")
    refused = change(project, costs={"budget": 1.5})
    assert refused.status_code == 409
    assert "2.00 are spent" in refused.json()["detail"]
    changed(project, costs={"budget": 2.0})
    assert project.worker(worker="ben").next(4) == []


def test_a_price_stays_for_each_kind_of_worker_there_is(service: Service) -> None:
    project = service.project()
    project.worker(worker="eva", kind="expert")
    assert "keep a price" in change(project, costs={"prices": {"crowd": 0.1}}).json()["detail"]


def test_a_change_of_settings_that_are_out_of_date_is_refused(service: Service) -> None:
    project = service.project()
    number = changed(project, question="One?")["spec_number"]
    path = f"/api/projects/{project.id}"
    changed(project, question="Two?")
    late = service.send("PATCH", path, params={"spec_number": number}, json={"question": "Three?"})
    assert late.status_code == 409
    assert project.get().json()["spec"]["question"] == "Two?"


@pytest.mark.parametrize(
    "partial", [{"classes": ["one"]}, {"unknown": 1}, {"name": ""}, {"costs": {"budget": -1}},
                {"webhook": "http://127.0.0.1/x"}, {"plan": 3}, {"costs": {"prices": {}}}], ids=str,
)  # fmt: skip
def test_a_description_that_is_not_valid_changes_nothing(service: Service, partial: dict[str, Any]) -> None:
    project = service.project()
    before = project.get().json()["spec"]
    assert change(project, **partial).status_code == 422
    assert project.get().json()["spec"] == before


def test_a_new_consent_text_is_asked_for_again_and_one_that_is_gone_stops_nobody(service: Service) -> None:
    project = service.project(consent="I agree.")
    project.add_texts(2)
    worker = project.worker(worker="ann")
    assert worker.send("GET", "/api/next").status_code == 403
    changed(project, consent="")
    assert len(worker.next(2)) == 2


QUIZ = [{"text": "Fine.", "label": "good"}]


@pytest.mark.parametrize("consent", ["", "I agree."])
def test_a_guest_who_came_while_there_was_a_quiz_gets_items_once_it_is_gone(
    service: Service, consent: str
) -> None:
    project = service.project(quiz=QUIZ, consent=consent)
    project.add_texts(2)
    link = project.post("/invitations", json={}).json()["link"]
    body = {"project": project.id, "invite": link.partition("invite=")[2], "consent": True}
    guest = Worker(service, service.http.post("/api/sessions", json=body).json()["token"])
    assert guest.send("GET", "/api/next").status_code == 403
    changed(project, quiz=[])
    assert len(guest.next(2)) == 2


def test_who_has_not_agreed_does_not_begin_when_the_quiz_is_gone(service: Service) -> None:
    project = service.project(quiz=QUIZ, consent="I agree.")
    project.add_texts(2)
    guest = project.worker()
    changed(project, quiz=[])
    assert guest.send("GET", "/api/next").status_code == 403


@pytest.mark.parametrize("quiz", [[], QUIZ], ids=["no quiz", "quiz"])
def test_answers_of_guests_count_when_they_are_not_checked_any_more(
    service: Service, quiz: list[dict[str, str]]
) -> None:
    project = service.project(quiz=quiz, policy="fixed[votes=1]")
    project.add_texts(3)
    project.add(*({"name": f"g{n}", "text": "Known.", "gold": "good"} for n in range(4)))
    link = project.post("/invitations", json={}).json()["link"]
    body = {"project": project.id, "invite": link.partition("invite=")[2]}
    passed = {**body, "quiz": ["good"]} if quiz else body
    guest = Worker(service, service.http.post("/api/sessions", json=passed).json()["token"])
    idle = Worker(service, service.http.post("/api/sessions", json=body).json()["token"])
    leased = guest.next(7)
    plain = next(one for one in leased if one["content"]["text"] != "Known.")
    guest.vote(plain["item"], "bad")
    assert replica_of(service, project.id).waiting_votes == 1
    service.do_jobs()
    changed(project, guests={"checks": 0})
    assert replica_of(service, project.id).waiting_votes == 0
    with service.store.reading() as c:
        row = projects.find(c, project.id)
    assert row.fitted == 0  # so that the next refit takes them
    assert idle.send("GET", "/api/next").status_code == (403 if quiz else 200)


def test_an_archived_project_is_closed_hidden_and_can_be_restored(service: Service) -> None:
    project = service.project()
    project.add_texts(1)
    assert project.post("/archive").json()["state"] == "closed"
    assert listed(service) == []
    assert listed(service, "?archived=true") == [project.id]
    assert project.post("/restore").json()["state"] == "closed"
    assert listed(service) == [project.id]
    project.post("/archive")
    assert project.post("/resume").json()["archived"] is None


def test_a_label_ops_key_cannot_change_money(service: Service) -> None:
    project = service.project()
    key = {"X-API-Key": service.new_key("label-ops")}
    path = f"/api/projects/{project.id}"
    for response in (
        service.send("PATCH", path, headers=key, json={"costs": {"prices": {"crowd": 9.0}}}),
        service.send("POST", f"{path}/archive", headers=key),
    ):
        assert response.status_code == 403


@pytest.mark.parametrize("seed", range(3))
def test_a_replica_that_followed_equals_one_built_anew(service: Service, seed: int) -> None:
    """After any honest changes between leases, votes and undone answers; in two processes."""
    draw = random.Random(seed)
    project = service.project(plan={"refit_every": 7})
    project.add_texts(10)
    project.add({"name": "gold", "text": "Known.", "gold": "good"})
    other = Service(service.settings.database)
    followed = replica_of(service, project.id)
    crowd = [project.worker(worker=name) for name in ("ann", "ben", "cem")]
    crowd.append(project.worker())  # a guest
    for _ in range(12):
        for worker in draw.sample(crowd, 2):
            worker.service = draw.choice((service, other))
            leased = worker.next(draw.randint(1, 3))
            for one in leased[: draw.randint(0, len(leased))]:
                worker.vote(one["item"], draw.choice(("good", "good", "bad", None)))
            if draw.random() < 0.2:
                worker.send("POST", "/api/votes/undo")
        response = change(project, **draw.choice(HONEST))
        assert response.status_code in (200, 409), response.text
        if draw.random() < 0.3:
            service.do_jobs()
        with service.store.reading() as c:
            followed.catch_up(c)
    fresh = replica_of(service, project.id)
    for criterion in fresh.campaign.criteria:
        a, b = (replica.campaign.view.estimates(criterion) for replica in (followed, fresh))
        np.testing.assert_allclose(a.posterior, b.posterior, atol=1e-12)
    assert followed.spec == fresh.spec
    views = [replica.campaign.view for replica in (followed, fresh)]
    assert views[0].spent == pytest.approx(views[1].spent)
    assert views[0].budget_left == pytest.approx(views[1].budget_left)
    assert followed.campaign.propose(5) == fresh.campaign.propose(5)
    if fresh.spec["costs"]["budget"] is not None:
        taken = fresh.campaign.costs.budget - views[1].budget_left
        assert taken == pytest.approx(spent_of(service, project.id))
    other.close()
