"""One open link is any number of workers: what keeps a project in the hands of its requester."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.store.leases import MAX_EXTENSION
from crowdpilot.service.store.tables import workers
from tests.service.harness.service import Project, Service, Worker

REVOKED = "the invitation was revoked; ask for a new link"
EXPIRED = "the invitation has expired; ask for a new link"
USED_UP = "as many people as the invitation admits have come already; ask for a new link"


@pytest.fixture
def service(database_url: str) -> Iterator[Service]:
    made = Service(database_url)
    yield made
    made.close()


@pytest.fixture
def project(service: Service) -> Project:
    made = service.project()
    made.add_texts(5)
    return made


def come(project: Project, link: str) -> Any:
    body = {"project": project.id, "invite": link.partition("invite=")[2]}
    return project.service.http.post("/api/sessions", json=body)


def invite(project: Project, **invitation: Any) -> Any:
    return project.post("/invitations", json=invitation).json()


def listed(project: Project) -> list[Any]:
    found: list[Any] = project.get("/invitations").json()["invitations"]
    return found


# Links have an id, can be revoked, count uses, and have a maximum


def test_a_new_project_has_one_link_which_is_stored(project):
    (link,) = listed(project)
    assert link["link"].partition("invite=")[0] == project.link.partition("invite=")[0]
    assert (link["uses"], link["max_uses"], link["worker"], link["open"]) == (0, 1000, None, True)
    assert come(project, project.link).status_code == 201
    assert listed(project)[0]["uses"] == 1


def test_a_link_admits_no_more_than_its_maximum(project):
    link = invite(project, max_uses=2)["link"]
    assert [come(project, link).status_code for _ in range(3)] == [201, 201, 403]
    assert come(project, link).json()["detail"] == USED_UP


def test_a_revoked_link_admits_nobody_and_who_came_goes_on(project):
    made = invite(project)
    worker = Worker(project.service, come(project, made["link"]).json()["token"])
    assert project.delete(f"/invitations/{made['id']}").status_code == 204
    refused = come(project, made["link"])
    assert (refused.status_code, refused.json()["detail"]) == (403, REVOKED)
    assert worker.next(1)


def test_revoking_a_link_can_block_all_who_came_through_it(project):
    made = invite(project)
    through = [Worker(project.service, come(project, made["link"]).json()["token"]) for _ in range(3)]
    other = project.worker()
    assert project.delete(f"/invitations/{made['id']}?block=true").status_code == 204
    assert {worker.send("GET", "/api/next").status_code for worker in through} == {403}
    assert other.next(1)


def test_an_expired_link_admits_nobody_until_it_is_renewed(project):
    made = invite(project, expires=time.time() - 1)
    refused = come(project, made["link"])
    assert (refused.status_code, refused.json()["detail"]) == (403, EXPIRED)
    path = f"/api/projects/{project.id}/invitations/{made['id']}"
    renewed = project.service.send("PATCH", path, json={"expires": time.time() + 60})
    assert renewed.json()["open"]
    assert come(project, made["link"]).status_code == 201


def test_a_maximum_can_be_set_later(project):
    made = invite(project)
    path = f"/api/projects/{project.id}/invitations/{made['id']}"
    assert project.service.send("PATCH", path, json={"max_uses": 1}).json()["max_uses"] == 1
    assert [come(project, made["link"]).status_code for _ in range(2)] == [201, 403]


def test_a_revoked_link_is_not_renewed(project):
    made = invite(project)
    project.delete(f"/invitations/{made['id']}")
    path = f"/api/projects/{project.id}/invitations/{made['id']}"
    assert project.service.send("PATCH", path, json={"max_uses": 10}).status_code == 409


def test_a_named_link_admits_one_person_as_often_as_they_come(project):
    made = invite(project, worker="ana")
    assert [come(project, made["link"]).status_code for _ in range(3)] == [201] * 3
    assert (len(project.get("/workers").json()["workers"]), listed(project)[1]["uses"]) == (1, 1)
    assert project.post("/invitations", json={"worker": "ben", "max_uses": 5}).status_code == 422
    project.delete(f"/invitations/{made['id']}")
    assert come(project, made["link"]).json()["detail"] == REVOKED


def test_an_invitation_of_another_project_is_not_found(service, project):
    other = service.project()
    assert project.delete(f"/invitations/{listed(other)[0]['id']}").status_code == 404
    assert come(project, other.link).status_code == 403


# New guests are limited by project and by address


def test_new_guests_are_limited_by_project(service):
    project = service.project(guests={"per_hour": 3})
    assert [come(project, project.link).status_code for _ in range(5)] == [201] * 3 + [429] * 2
    refused = come(project, project.link).json()["detail"]
    assert refused.startswith("many people have just come to this project; try again in an hour")
    assert come(project, invite(project, worker="ana")["link"]).status_code == 201
    assert listed(project)[0]["uses"] == 3


def test_new_guests_are_limited_by_address_in_all_processes(service):
    project = service.project(guests={"per_address": 2})

    def come_from(address: str, at: Service) -> int:
        client = TestClient(at.app, base_url=at.settings.address, client=(address, 5000))
        body = {"project": project.id, "invite": project.link.partition("invite=")[2]}
        return int(client.post("/api/sessions", json=body).status_code)

    other = Service(service.settings.database)
    assert [come_from("192.0.2.1", at) for at in (service, other, service)] == [201, 201, 429]
    assert come_from("192.0.2.2", other) == 201
    assert [come_from(f"2001:db8::{n}", service) for n in range(3)] == [201, 201, 429]
    other.close()


def test_a_guest_who_comes_back_with_a_cookie_is_not_new(service):
    project = service.project(guests={"per_hour": 1})
    project.add_texts(3)
    browser = service.client(accept="text/html")
    for _ in range(3):
        assert browser.get(project.link, follow_redirects=False).status_code == 303
    assert listed(project)[0]["uses"] == 1
    assert service.client(accept="text/html").get(project.link).status_code == 429
    project.delete(f"/invitations/{listed(project)[0]['id']}")
    assert browser.get(project.link, follow_redirects=False).status_code == 303  # their session goes on


def test_the_address_of_a_guest_is_not_written_down(service):
    project = service.project()
    come(project, project.link)
    with service.store.reading() as c:
        assert [row.guest for row in c.execute(workers.select())] == [True]
        names = [row.name for row in c.exec_driver_sql("SELECT name FROM counters")]
    assert not any("testclient" in name for name in names)


# The votes of guests count after they passed gold items or a quiz

GOLD = [{"name": f"g{n}", "text": f"Gold {n}.", "gold": ["bad", "good"][n % 2]} for n in range(12)]
QUIZ = [{"text": "Great fun.", "label": "good"}, {"text": "So dull.", "label": "bad"}]


@pytest.fixture
def checked(service: Service) -> Project:
    """A project with gold items, each of which says in its text which class it has."""
    made = service.project(batch=10)
    made.add(*GOLD, *({"name": f"i{n}", "text": f"Text {n}."} for n in range(40)))
    return made


def truth(content: dict[str, str]) -> str:
    number = int(content["text"].rstrip(".").split()[1])
    return ["bad", "good"][number % 2]


def inverse(content: dict[str, str]) -> str:
    return {"bad": "good", "good": "bad"}[truth(content)]


def guest(project: Project) -> Worker:
    return Worker(project.service, come(project, project.link).json()["token"])


def work(worker: Worker, answer: Any, n: int = 10, most: int = 10**6) -> int:
    """Label what is leased until there is nothing more, or `most` items; how many there were."""
    done = 0
    while done < most and (items := worker.next(min(n, most - done))):
        for item in items:
            assert worker.vote(item["item"], answer(item["content"])).status_code == 201
        done += len(items)
    return done


def listed_worker(project: Project) -> Any:
    (row,) = project.get("/workers").json()["workers"]
    return row


def test_votes_of_a_guest_wait_until_gold_items_have_checked_them(checked):
    worker = guest(checked)
    first = worker.next(10)
    assert len(first) == 10
    gold = [item for item in first if item["content"]["text"].startswith("Gold")]
    others = [item for item in first if item not in gold]
    assert others
    for item in others:
        worker.vote(item["item"], truth(item["content"]))
    status = checked.get().json()
    assert (status["votes"], status["waiting"], status["status"]["votes"]["crowd"]) == (
        len(others),
        len(others),
        0,
    )
    assert status["status"]["spent"] == pytest.approx(0.02 * len(others))  # they are paid
    assert not listed_worker(checked)["counted"]
    work(worker, truth, most=30)
    status = checked.get().json()
    assert (status["waiting"], status["status"]["votes"]["crowd"]) == (0, status["votes"])
    assert listed_worker(checked)["counted"]


def test_a_guest_who_answers_inversely_never_counts_and_soon_gets_nothing(checked):
    worker = guest(checked)
    answered = work(worker, inverse)
    assert 4 <= answered <= 40
    status = checked.get().json()
    assert status["waiting"] == status["votes"] == answered
    row = listed_worker(checked)
    assert (row["counted"], row["gold_right"], row["flags"]) == (False, 0.0, ["wrong on gold"])
    assert row["gold_votes"] >= 4
    exported = checked.get("/votes?format=csv").text.splitlines()
    assert exported[0].endswith(",counted")
    assert {line.rpartition(",")[2] for line in exported[1:]} == {"False"}
    assert {row["votes"] for row in checked.decisions().values()} == {0}


def test_a_sleeper_loses_their_trust_again_and_all_their_votes_with_it(checked):
    worker = guest(checked)
    work(worker, truth, most=20)
    assert listed_worker(checked)["counted"]
    work(worker, inverse)
    row, status = listed_worker(checked), checked.get().json()
    assert not row["counted"]
    assert status["waiting"] == status["votes"]
    assert status["status"]["votes"]["crowd"] == 0


def test_replicas_built_before_and_after_agree_about_trust(checked):
    good, bad = guest(checked), guest(checked)
    checked.get()  # a replica that follows
    work(good, truth, most=20)
    work(bad, inverse, most=20)
    checked.service.do_jobs()
    followed = checked.get().json()
    other = Service(checked.service.settings.database)
    rebuilt = other.send(
        "GET", f"/api/projects/{checked.id}", headers={"X-API-Key": checked.service.key}
    ).json()
    other.close()
    assert followed["waiting"] > 0
    assert rebuilt["status"] == followed["status"]
    assert rebuilt["waiting"] == followed["waiting"]


def test_workers_who_are_known_by_name_count_at_once(checked):
    work(checked.worker(worker="ana"), truth, most=3)
    assert checked.get().json()["waiting"] == 0


def test_gold_items_stand_at_random_places_and_nothing_tells_them(checked):
    positions: set[int] = set()
    for _ in range(6):
        items = guest(checked).next(10)
        assert {frozenset(item) for item in items} == {frozenset({"item", "criterion", "content"})}
        positions |= {n for n, item in enumerate(items) if item["content"]["text"].startswith("Gold")}
    assert len(positions) >= 7


def test_a_quiz_that_is_passed_makes_the_votes_of_a_guest_count(service):
    project = service.project(quiz=QUIZ)
    project.add_texts(5)
    body = {"project": project.id, "invite": project.link.partition("invite=")[2], "quiz": ["good", "bad"]}
    worker = Worker(service, service.http.post("/api/sessions", json=body).json()["token"])
    work(worker, lambda _: "good")
    status = project.get().json()
    assert (status["votes"], status["waiting"]) == (5, 0)
    assert "quiz" in status["caveats"][0]


def test_without_gold_and_quiz_guests_count_and_the_requester_is_warned(project):
    assert project.get().json()["caveats"] == []
    work(guest(project), lambda _: "good")
    status = project.get().json()
    assert (status["votes"], status["waiting"]) == (5, 0)
    assert status["caveats"][0].startswith("Guests are not checked with known answers")


def test_items_that_become_gold_later_check_the_guests_who_have_come(project):
    work(guest(project), lambda _: "good")
    assert project.get().json()["waiting"] == 0
    project.post("/gold", json={"gold": {f"i{n}": "bad" for n in range(5)}})
    assert project.get().json()["waiting"] == 5


# Leases


def test_a_guest_who_is_not_checked_yet_holds_one_batch_at_most(service):
    project = service.project(batch=5)
    project.add(*GOLD, *({"name": f"i{n}", "text": f"Text {n}."} for n in range(40)))
    worker = guest(project)
    assert len(worker.next(100)) == 5
    assert len(worker.next(100)) == 5


def test_a_lease_is_not_renewed_for_ever(service):
    project = service.project(lease=100)
    project.add_texts(3)
    holder = project.worker(worker="ana")
    assert len(holder.next(3)) == 3

    def pass_time(seconds: float) -> None:
        with service.store.writing() as c:
            c.exec_driver_sql(f"UPDATE votes SET expires = expires - {seconds}, leased = leased - {seconds}")

    lengths = []
    for _ in range(6):  # the worker asks again and again, and answers nothing
        pass_time(90)
        holder.send("GET", "/api/next?n=1")
        with service.store.reading() as c:
            lengths += [
                row.length for row in c.exec_driver_sql("SELECT expires - leased AS length FROM votes")
            ]
    assert 200 < max(lengths) <= MAX_EXTENSION * 100


def test_a_wrong_answer_that_is_taken_back_speaks_against_nobody(checked):
    worker = guest(checked)
    work(worker, truth, most=20)
    while listed_worker(checked)["counted"]:
        (item,) = worker.next(1)
        worker.vote(item["item"], inverse(item["content"]))
    assert worker.send("POST", "/api/votes/undo").status_code == 200
    assert listed_worker(checked)["counted"]
