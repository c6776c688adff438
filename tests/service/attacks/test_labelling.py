"""Dishonest workers: late answers, answers after the end, codes without work, sessions of others, clocks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from crowdpilot.service.labelling import lease_queue
from crowdpilot.service.labelling.sessions import read_session
from crowdpilot.service.store import leases
from crowdpilot.service.store.tables import clock as clock_row
from crowdpilot.service.store.tables import workers as worker_rows
from tests.service.harness.service import SECRET, Project, Service, Worker

DAY = 86400.0
COSTS = {"prices": {"crowd": 0.1, "expert": 0.5}}
MTURK = {"hitId": "H1", "turkSubmitTo": "https://www.mturk.com"}
GREEDY = {"costs": COSTS, "policy": "fixed[votes=12]"}  # wants twelve votes on each item


@pytest.fixture
def service(database_url: str) -> Iterator[Service]:
    made = Service(database_url)
    yield made
    made.close()


def project_of(service: Service, n: int, **spec: Any) -> Project:
    project = service.project(**{**GREEDY, **spec})
    project.add_texts(n)
    return project


def team(project: Project, n: int) -> list[Worker]:
    return [project.worker(worker=f"w{k}") for k in range(n)]


def number_of(worker: Worker) -> int:
    return read_session(SECRET, worker.token, 1e9).worker


def give_back(project: Project, worker: Worker) -> None:
    """The worker takes a break: what they hold is for others."""
    with project.service.store.writing() as c:
        leases.release(c, project.id, number_of(worker))


def statuses(worker: Worker, lent: list[dict[str, Any]], label: str | None = "good") -> list[int]:
    return [worker.vote(one["item"], label).status_code for one in lent]


def owed(project: Project) -> float:
    return float(sum(row["amount"] for row in project.get("/pay").json()["pay"]))


# Late answers ------------------------------------------------------------------------------------


def test_answers_to_items_given_back_do_not_pass_the_budget(service: Service) -> None:
    project = project_of(service, 10, costs={**COSTS, "budget": 1.0})
    crowd, lent = team(project, 12), []
    for worker in crowd:
        lent.append(worker.next())
        give_back(project, worker)
    taken = [statuses(worker, some) for worker, some in zip(crowd, lent, strict=True)]
    assert sum(one.count(201) for one in taken) == 10
    assert {status for one in taken for status in one} == {201, 409}
    assert owed(project) == pytest.approx(1.0)
    status = project.get().json()["status"]
    assert status["spent"] + status["reserved"] <= 1.0 + 1e-9


def test_answers_to_items_given_back_do_not_pass_the_votes_per_item(service: Service) -> None:
    project = project_of(service, 1, plan={"per_item": 3})
    crowd, lent = team(project, 12), []
    for worker in crowd:
        lent.append(worker.next())
        give_back(project, worker)
    taken = [status for worker, some in zip(crowd, lent, strict=True) for status in statuses(worker, some)]
    assert sorted(taken) == [201] * 3 + [409] * 9


def test_answers_to_items_given_back_do_not_pass_the_votes_per_worker(service: Service) -> None:
    project = project_of(service, 40, policy="fixed[votes=1]", plan={"per_worker": 5})
    worker, *others = team(project, 5)
    lent = []
    for other in others:
        lent += worker.next(5)
        give_back(project, worker)
        other.next(5)  # so that the worker is given others next time
    assert len({one["item"] for one in lent}) > 5
    assert statuses(worker, lent).count(201) == 5


def test_what_a_worker_holds_counts_as_theirs_when_they_answer_late(service: Service) -> None:
    project = project_of(service, 40, policy="fixed[votes=1]", plan={"per_worker": 5})
    worker, other = team(project, 2)
    before = worker.next(5)
    give_back(project, worker)
    other.next(5)
    held = worker.next(5)
    assert set(statuses(worker, before)) == {409}
    assert statuses(worker, held) == [201] * 5


def test_a_late_answer_is_taken_while_there_is_room_and_refused_with_a_sentence(service: Service) -> None:
    project = project_of(service, 1, plan={"per_item": 1})
    first, second = team(project, 2)
    (item,) = first.next()
    give_back(project, first)
    (same,) = second.next()
    refused = first.vote(item["item"], "good")
    assert refused.status_code == 409
    assert "somebody else" in refused.json()["detail"]
    give_back(project, second)
    assert first.vote(item["item"], "good").status_code == 201
    assert second.vote(same["item"], "good").status_code == 409


@pytest.mark.parametrize("path", ["stop", "withdraw"])
def test_a_late_answer_about_an_item_that_needs_none_is_refused(service: Service, path: str) -> None:
    project = project_of(service, 1)
    worker, holder = team(project, 2)
    lent, held = worker.next(), holder.next()
    give_back(project, worker)
    assert project.post(f"/items/{path}", json={"items": ["i0"]}).status_code < 300
    assert statuses(worker, lent) == [409]
    assert statuses(holder, held) == [201], "a lease is a promise"


def test_undo_of_an_unsure_answer_keeps_to_the_limits(service: Service) -> None:
    project = project_of(service, 1, plan={"per_item": 1})
    first, second = team(project, 2)
    assert statuses(first, first.next(), None) == [201]
    held = second.next()
    assert first.send("POST", "/api/votes/undo").status_code == 409
    assert statuses(second, held) == [201]
    assert project.get().json()["votes"] == 1


def test_a_choice_of_items_is_made_again_if_a_late_answer_took_the_place(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_of(service, 1, plan={"per_item": 1})
    late, next_ = team(project, 2)
    lent = late.next()
    give_back(project, late)
    choose, answered = lease_queue.LeaseQueue._choose, []

    def choose_slowly(self: Any, *args: Any) -> Any:
        chosen = choose(self, *args)
        if not answered:
            answered.append(True)
            other = Service(service.settings.database)
            assert statuses(Worker(other, late.token), lent) == [201]
            other.close()
        return chosen

    monkeypatch.setattr(lease_queue.LeaseQueue, "_choose", choose_slowly)
    assert next_.next() == []
    assert answered


# After the end -----------------------------------------------------------------------------------


def answered_once(project: Project) -> tuple[Worker, list[dict[str, Any]]]:
    """A worker who has answered the first of the items that they hold; the others."""
    (worker,) = team(project, 1)
    first, *rest = worker.next()
    assert statuses(worker, [first]) == [201]
    return worker, rest


@pytest.mark.parametrize("end", ["block", "erase"])
def test_who_is_blocked_or_erased_changes_nothing_any_more(service: Service, end: str) -> None:
    project = project_of(service, 5)
    worker, rest = answered_once(project)
    path = f"/workers/{number_of(worker)}"
    done = project.post(f"{path}/block") if end == "block" else project.delete(path)
    assert done.status_code < 300
    assert set(statuses(worker, rest)) == {403}
    undone = worker.send("POST", "/api/votes/undo")
    assert undone.status_code == 403
    assert "any more" in undone.json()["detail"]
    assert worker.send("POST", "/api/finish").status_code == 403
    assert project.get().json()["votes"] == 1


def test_an_answer_taken_back_before_a_block_is_gone_everywhere(service: Service) -> None:
    project = project_of(service, 5)
    worker, _ = answered_once(project)
    assert project.get().json()["status"]["votes"]["crowd"] == 1
    assert worker.send("POST", "/api/votes/undo").status_code == 200
    assert project.post(f"/workers/{number_of(worker)}/block").status_code == 200
    status = project.get().json()["status"]
    assert (status["votes"]["crowd"], status["spent"], status["reserved"]) == (0, 0, 0)


def test_a_closed_project_takes_neither_answers_nor_undo_but_a_paused_one_does(service: Service) -> None:
    project = project_of(service, 5)
    worker, rest = answered_once(project)
    assert project.post("/pause").status_code == 200
    assert statuses(worker, rest[:1]) == [201]
    assert worker.send("POST", "/api/votes/undo").status_code == 200
    assert project.post("/close").status_code == 200
    assert statuses(worker, rest[:1]) == [409]
    undone = worker.send("POST", "/api/votes/undo")
    assert undone.status_code == 409
    assert "closed" in undone.json()["detail"]
    assert project.get().json()["votes"] == 1


def test_nothing_changes_after_the_code(service: Service) -> None:
    project = project_of(service, 5, min_answers=1)
    worker, rest = answered_once(project)
    code = worker.send("POST", "/api/finish").json()["code"]
    assert worker.send("POST", "/api/votes/undo").status_code == 409
    assert set(statuses(worker, rest)) == {409}
    assert worker.send("GET", "/api/next?n=1").status_code == 409
    assert worker.send("POST", "/api/finish").json()["code"] == code, "the code can be seen again"
    assert project.get().json()["votes"] == 1


# Codes -------------------------------------------------------------------------------------------


def from_mturk(project: Project, worker: str, assignment: str) -> Any:
    query = {**MTURK, "workerId": worker, "assignmentId": assignment}
    return project.service.http.post("/api/sessions", json={"project": project.id, "mturk": query})


def mturk_worker(project: Project, worker: str, assignment: str) -> Worker:
    return Worker(project.service, from_mturk(project, worker, assignment).json()["token"])


def owners(project: Project, *codes: str) -> list[int | None]:
    found = project.post("/codes", json={"codes": list(codes)}).json()["codes"]
    return [one["worker"] for one in found]


def test_cannot_tell_is_no_work_for_a_code(service: Service) -> None:
    project = project_of(service, 3)
    (worker,) = team(project, 1)
    assert statuses(worker, worker.next(), None) == [201] * 3
    assert worker.send("POST", "/api/finish").status_code == 409


def test_there_is_no_code_before_the_minimum_of_answers(service: Service) -> None:
    project = project_of(service, 20, min_answers=4)
    (worker,) = team(project, 1)
    lent = worker.next()
    statuses(worker, lent[:3])
    statuses(worker, lent[3:5], None)
    refused = worker.send("POST", "/api/finish")
    assert refused.status_code == 409
    assert "3 of 4" in refused.json()["detail"]
    statuses(worker, lent[5:6])
    assert worker.send("POST", "/api/finish").status_code == 200


def test_fewer_answers_are_enough_when_there_is_nothing_left(service: Service) -> None:
    project = project_of(service, 2)  # the minimum is a batch of ten
    (worker,) = team(project, 1)
    first, second = worker.next()
    statuses(worker, [first])
    assert worker.send("POST", "/api/finish").status_code == 409
    statuses(worker, [second], None)
    assert worker.send("POST", "/api/finish").status_code == 200


def test_each_assignment_needs_its_own_answers_and_has_its_own_code(service: Service) -> None:
    project = project_of(service, 20, mturk={}, min_answers=2)
    worker = mturk_worker(project, "W1", "A1")
    lent = worker.next()
    statuses(worker, lent[:2])
    first = worker.send("POST", "/api/finish").json()["code"]
    again = mturk_worker(project, "W1", "A2")
    assert number_of(again) == number_of(worker)
    assert again.send("POST", "/api/finish").status_code == 409, "no work was done for it"
    assert again.send("POST", "/api/votes/undo").status_code == 409, "what was paid stays"
    lent = again.next()
    statuses(again, lent[:2])
    second = again.send("POST", "/api/finish").json()["code"]
    assert first != second
    assert owners(project, first, second, "ABCDEFGHJKMN") == [number_of(worker)] * 2 + [None]
    assert mturk_worker(project, "W1", "A1").send("POST", "/api/finish").json()["code"] == first


def test_the_assignment_of_somebody_else_opens_no_session(service: Service) -> None:
    project = project_of(service, 5, mturk={})
    assert from_mturk(project, "W1", "A1").status_code == 201
    refused = from_mturk(project, "W2", "A1")
    assert refused.status_code == 403
    assert "another worker" in refused.json()["detail"]
    assert from_mturk(project, "W2", "A2").status_code == 201


def test_a_code_is_recognised_after_the_secret_was_rotated(service: Service) -> None:
    project = project_of(service, 5, min_answers=1)
    worker, _ = answered_once(project)
    code = worker.send("POST", "/api/finish").json()["code"]
    rotated = Service(service.settings.database, secret=f"{'n' * 40} {SECRET}")
    found = rotated.http.post(
        f"/api/projects/{project.id}/codes", json={"codes": [code]}, headers={"X-API-Key": service.key}
    )
    assert found.json()["codes"][0]["worker"] == number_of(worker)
    rotated.close()


# Sessions ----------------------------------------------------------------------------------------

WORK = [("GET", "/api/next"), ("POST", "/api/votes/undo"), ("POST", "/api/finish"),
        ("DELETE", "/api/sessions")]  # fmt: skip


def test_signing_out_ends_all_sessions_of_a_worker(service: Service) -> None:
    project = project_of(service, 5)
    worker, other = project.worker(worker="ann"), project.worker(worker="ann")
    (item, *_) = worker.next()
    assert worker.send("DELETE", "/api/sessions").status_code == 204
    for one in (worker, other):
        assert [one.send(*call).status_code for call in WORK] == [401] * len(WORK)
        assert one.vote(item["item"], "good").status_code == 401
    back = project.worker(worker="ann")
    assert number_of(back) == number_of(worker)
    assert back.vote(back.next()[0]["item"], "good").status_code == 201


def test_a_session_of_before_a_restored_backup_is_not_that_of_a_new_worker(service: Service) -> None:
    project = project_of(service, 5)
    old = project.worker(worker="ann")
    with service.store.writing() as c:  # the backup was made before she came
        c.execute(worker_rows.delete().where(worker_rows.c.id == number_of(old)))
    with service.store.writing() as c:
        same = {"id": number_of(old), "project": project.id, "platform": "link", "external": "eve"}
        c.execute(worker_rows.insert().values(**same, kind="crowd", state="active", created=1.0,
                                              change_number=1))  # fmt: skip
    assert [old.send(*call).status_code for call in WORK] == [401] * len(WORK)


# Clocks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_setting_the_clock_changes_neither_leases_nor_the_order_of_undo(
    service: Service, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    project = project_of(service, 6, policy="fixed[votes=1]", lease=60)
    worker, other = team(project, 2)
    lent, wall = worker.next(3), time.time
    statuses(worker, lent[:1])
    monkeypatch.setattr(time, "time", lambda: wall() + jump)
    worker, other = team(project, 2)  # sessions have an age by the clock
    service.app.state.labelling._lease_queue._last_sweep.clear()
    shown = {one["item"] for one in other.next(6)}
    assert shown.isdisjoint({one["item"] for one in lent}), "a lease is not over because the clock was set"
    statuses(worker, lent[1:2])
    undone = worker.send("POST", "/api/votes/undo").json()
    assert undone["item"] == lent[1]["item"], "the last answer is the one that came last"


def test_a_lease_ends_when_the_service_has_run_for_so_long(service: Service) -> None:
    project = project_of(service, 3, policy="fixed[votes=1]", lease=60)
    worker, other = team(project, 2)
    held = {one["item"] for one in worker.next()}
    assert other.next() == []
    with service.store.writing() as c:
        c.execute(clock_row.update().values(seconds=clock_row.c.seconds + 61))
    service.app.state.labelling._lease_queue._last_sweep.clear()
    assert {one["item"] for one in other.next()} == held


# Numbers of items --------------------------------------------------------------------------------


def test_the_numbers_of_items_tell_neither_their_order_nor_which_are_gold(service: Service) -> None:
    project = project_of(service, 30, plan={"gold": 0.5})
    project.add(*({"name": f"g{n}", "text": f"Gold {n}.", "gold": "good"} for n in range(30)))
    lent = [one for worker in team(project, 4) for one in worker.next(15)]
    gold = {one["item"] for one in lent if one["content"]["text"].startswith("Gold")}
    plain = {one["item"] for one in lent} - gold
    assert min(len(gold), len(plain)) > 5
    assert min(gold) < max(plain), "gold came last, but its numbers are not the last"
    assert min(plain) < max(gold)
    assert max(gold | plain) > 2**40, "numbers are not those of the rows"


def test_a_number_that_was_never_shown_is_refused(service: Service) -> None:
    project = project_of(service, 5)
    (worker,) = team(project, 1)
    shown = {one["item"] for one in worker.next()}
    for odd in (0, 1, 2, 5, 2**31, 2**52 - 1, 2**52, 2**53, 2**63 - 1, min(shown) ^ 1):
        assert worker.vote(odd, "good").status_code == 403
    assert statuses(worker, [{"item": number} for number in shown]) == [201] * 5
