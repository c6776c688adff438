"""HITs over the API, against a server that speaks MTurk's protocol; botocore checks every request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crowdpilot.service.store.arrivals import submissions
from tests.service.harness.mturk_server import MTurk
from tests.service.harness.service import Project, Service, sqlite_url

NEW: dict[str, Any] = {"title": "Films", "description": "Good or bad?", "reward": "0.50", "assignments": 4,
                       "percent_approved": 95, "countries": ["DE"], "token": "first-token"}  # fmt: skip
ASSIGNMENT = "3TESA3PJ31ZLBLMPZQ7AKEXAMPLE00"


@pytest.fixture
def service(tmp_path: Any) -> Iterator[Service]:
    running = Service(sqlite_url(tmp_path), "https://testserver")
    yield running
    running.close()


def offered(service: Service, *, sandbox: bool = True) -> Project:
    return service.project(mturk={"sandbox": sandbox})


def test_a_double_click_makes_one_hit(service: Service, mturk: MTurk) -> None:
    project = offered(service)
    first, second = (project.post("/hits", json=NEW) for _ in range(2))
    assert first.status_code == second.status_code == 201, first.text + second.text
    assert first.json() == second.json()
    assert len(mturk.hits) == len(project.get("/hits").json()["hits"]) == 1
    _, sent = mturk.calls[0]
    assert (sent["Reward"], sent["MaxAssignments"], len(sent["QualificationRequirements"])) == ("0.50", 4, 2)
    actions = [entry["action"] for entry in project.get("/log").json()["entries"]]
    assert actions.count("create HIT") == 1


def test_real_money_needs_the_typed_total(service: Service, mturk: MTurk) -> None:
    project = offered(service, sandbox=False)
    for typed in ("", "1.99", "2.000001", "two"):
        refused = project.post("/hits", json={**NEW, "confirm_total": typed})
        assert refused.status_code == 409
        assert "type 2.00 to confirm" in refused.json()["detail"]
    assert mturk.calls == []
    assert project.post("/hits", json={**NEW, "confirm_total": "2.00"}).status_code == 201


def test_a_hit_is_extended_once_for_each_token_and_ended(service: Service, mturk: MTurk) -> None:
    project = offered(service)
    hit = project.post("/hits", json=NEW).json()["id"]
    more = {"assignments": 3, "days": 2, "token": "second-token"}
    assert project.post(f"/hits/{hit}/extend", json=more).json()["assignments"] == 7
    assert project.post(f"/hits/{hit}/extend", json=more).json()["assignments"] == 7
    assert project.post(f"/hits/{hit}/expire").status_code == 200
    assert mturk.count("UpdateExpirationForHIT") == 3


def test_a_hit_that_was_extended_can_be_ended_again(service: Service, mturk: MTurk) -> None:
    project = offered(service)
    hit = project.post("/hits", json=NEW).json()["id"]
    for token in ("second-token", "third-token"):
        assert project.post(f"/hits/{hit}/expire").status_code == 200
        assert mturk.hits[hit]["HITStatus"] == "Reviewable"
        more = {"days": 2, "token": token}
        assert project.post(f"/hits/{hit}/extend", json=more).status_code == 200
        assert mturk.hits[hit]["HITStatus"] == "Assignable"


def test_an_extension_whose_answer_was_lost_is_counted_once(service: Service, mturk: MTurk) -> None:
    project = offered(service)
    hit = project.post("/hits", json=NEW).json()["id"]
    body = {
        "HITId": hit,
        "NumberOfAdditionalAssignments": 3,
        "UniqueRequestToken": f"{project.id}-lost-token",
    }
    mturk.answer("CreateAdditionalAssignmentsForHIT", body)  # MTurk did it, and its answer was lost
    again = project.post(f"/hits/{hit}/extend", json={"assignments": 3, "token": "lost-token"})
    assert again.json()["assignments"] == mturk.hits[hit]["MaxAssignments"] == 7


def test_a_bonus_is_paid_once_for_each_token(service: Service, mturk: MTurk) -> None:
    project = offered(service)
    hit = project.post("/hits", json=NEW).json()["id"]
    mturk.add_assignment(ASSIGNMENT, hit)
    bonus = {"amount": "1.00", "reason": "Thanks", "token": "third-token"}
    for _ in range(2):
        assert project.post(f"/hits/{hit}/assignments/{ASSIGNMENT}/bonus", json=bonus).status_code == 204
    paid = [one["detail"] for one in project.get("/log").json()["entries"] if one["action"] == "pay bonus"]
    assert sorted(one.get("repeated", False) for one in paid) == [False, True]


def test_what_mturk_approved_by_itself_is_approved_here(service: Service, mturk: MTurk) -> None:
    project = offered(service)
    hit = project.post("/hits", json=NEW).json()["id"]
    query = {"assignmentId": ASSIGNMENT, "workerId": "A1WORKER", "hitId": hit,
             "turkSubmitTo": "https://workersandbox.mturk.com"}  # fmt: skip
    assert service.http.post("/api/sessions", json={"project": project.id, "mturk": query}).status_code == 201
    mturk.add_assignment(ASSIGNMENT, hit)
    mturk.assignments[ASSIGNMENT]["AssignmentStatus"] = "Approved"
    assert project.post(f"/hits/{hit}/assignments/{ASSIGNMENT}/approve").status_code == 204
    assert mturk.count("ApproveAssignment") == 0
    with service.store.reading() as c:
        (row,) = submissions.list_all(c, project.id, "mturk")
    assert row.review == submissions.APPROVED


def test_assignments_are_approved_rejected_and_paid(service: Service, mturk: MTurk) -> None:
    project = offered(service)
    hit = project.post("/hits", json=NEW).json()["id"]
    mturk.add_assignment(ASSIGNMENT, hit)
    waiting = project.get(f"/hits/{hit}/assignments").json()["assignments"]
    assert [one["assignment"] for one in waiting] == [ASSIGNMENT]
    home = f"/hits/{hit}/assignments/{ASSIGNMENT}"
    assert project.post(f"{home}/approve").status_code == 204
    assert project.post(f"{home}/reject", json={"reason": ""}).status_code == 422
    assert project.post(f"{home}/reject", json={"reason": "Random answers"}).status_code == 204
    bonus = {"amount": "1.00", "reason": "Thanks", "token": "third-token"}
    assert project.post(f"{home}/bonus", json=bonus).status_code == 204
    assert mturk.calls[-1][1]["WorkerId"] == "A1WORKER"


def test_the_money_of_the_server_pays_only_for_hits_of_the_project(service: Service, mturk: MTurk) -> None:
    mine, other = offered(service), offered(service)
    hit = mine.post("/hits", json=NEW).json()["id"]
    mturk.add_assignment(ASSIGNMENT, "3SOMEOTHERHIT0000000000000")
    assert mine.post(f"/hits/{hit}/assignments/{ASSIGNMENT}/approve").status_code == 422
    assert other.post(f"/hits/{hit}/expire").status_code == 404
    assert mturk.count("ApproveAssignment") == 0
    twin = other.post("/hits", json=NEW).json()["id"]  # the same token in another project
    assert twin != hit


def test_only_workers_of_the_hits_of_a_project_come_in(service: Service, mturk: MTurk) -> None:
    project = service.project(mturk={"hits": ["EARLIERHIT"]})  # without any, those of all HITs do
    hit = project.post("/hits", json=NEW).json()["id"]
    query = {"assignmentId": "AS1", "workerId": "W1", "turkSubmitTo": "https://workersandbox.mturk.com"}
    for own, status in ((hit, 201), ("EARLIERHIT", 201), ("OTHERHIT", 403)):
        body = {"project": project.id, "mturk": {**query, "hitId": own}}
        assert service.http.post("/api/sessions", json=body).status_code == status


def test_a_label_ops_key_pays_nobody(service: Service, mturk: MTurk) -> None:
    project = offered(service)
    key = {"X-API-Key": service.new_key("label-ops")}
    assert project.post("/hits", json=NEW, headers=key).status_code == 403
    assert mturk.calls == []


def test_without_credentials_there_is_one_clear_sentence(
    service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    refused = offered(service).post("/hits", json=NEW)
    assert refused.status_code == 422
    assert "has no AWS credentials" in refused.json()["detail"]
