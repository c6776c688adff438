"""Studies over the API, against a server that is as strict as the schema of Prolific."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from crowdpilot.service.errors import ConflictError
from crowdpilot.service.project_changes import change_settings
from crowdpilot.service.requesters.recruiting import prolific_drafts, prolific_submissions
from crowdpilot.service.requesters.recruiting.prolific_drafts import StudyIn
from crowdpilot.service.requesters.recruiting.prolific_submissions import BonusIn
from tests.service.harness.prolific_server import PARTICIPANT, Prolific
from tests.service.harness.service import Project, Service, sqlite_url

NEW: dict[str, Any] = {"title": "Films", "description": "Good or bad?", "reward": "1.20", "places": 4,
                       "minutes": 6, "token": "first-token"}  # fmt: skip
QUIZ = [{"text": "Is it good?", "label": "good"}]
MESSAGE = (
    "You gave the wrong answer to most of the items whose answers are known, and in much too little time."
)


@pytest.fixture
def service(tmp_path: Any) -> Iterator[Service]:
    running = Service(sqlite_url(tmp_path), "https://label.example")
    yield running
    running.close()


@pytest.fixture
def project(service: Service) -> Project:
    made = service.project()
    made.add_texts(12)
    return made


def drafted(project: Project, **more: Any) -> str:
    answer = project.post("/studies", json={**NEW, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["study"])


def published(project: Project, **more: Any) -> str:
    study = drafted(project, **more)
    answer = project.post(f"/studies/{study}/publish", json={"confirm_total": "4.80"})
    assert answer.status_code == 200, answer.text
    return study


def actions(project: Project) -> list[str]:
    return [entry["action"] for entry in project.get("/log").json()["entries"]]


def arrive(service: Service, project: Project, study: str, session: str, n: int = 1) -> Any:
    ids = {"PROLIFIC_PID": PARTICIPANT.format(n), "STUDY_ID": study, "SESSION_ID": session}
    return service.http.post("/api/sessions", json={"project": project.id, "prolific": ids})


def work(service: Service, project: Project, study: str, session: str, n: int = 1) -> str:
    """Somebody answers items until they are done; their completion code."""
    token = arrive(service, project, study, session, n).json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    for _ in range(20):
        items = service.http.get("/api/next", headers=headers).json()["items"]
        if not items:
            break
        for item in items:
            vote = {"item": item["item"], "label": "good", "key": f"{session}-{item['item']}"}
            assert service.http.post("/api/votes", json=vote, headers=headers).status_code == 201
    finished = service.http.post("/api/finish", headers=headers)
    assert finished.status_code == 200, finished.text
    return str(finished.json()["code"])


def test_a_double_click_makes_one_study(project: Project, prolific: Prolific) -> None:
    first, second = (project.post("/studies", json=NEW) for _ in range(2))
    assert first.status_code == second.status_code == 201, first.text + second.text
    assert first.json() == second.json()
    assert len(prolific.studies) == len(project.get("/studies").json()["studies"]) == 1
    assert actions(project).count("create study") == 1


def test_two_requests_at_once_make_one_study(service: Service, project: Project, prolific: Prolific) -> None:
    made: list[str] = []

    def create() -> None:
        about = service.store, service.settings, project.id, "ann"
        made.append(prolific_drafts.create(*about, StudyIn.model_validate(NEW), change_settings).study)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(made) == 4
    assert len(set(made)) == len(prolific.studies) == 1


def test_a_study_whose_answer_was_lost_is_found_again(project: Project, prolific: Prolific) -> None:
    prolific.loses_answers = True
    lost = project.post("/studies", json=NEW)
    assert lost.status_code == 422
    assert "try again later" in lost.json()["detail"]
    prolific.loses_answers = False
    assert drafted(project) == next(iter(prolific.studies))
    assert len(prolific.studies) == 1


def test_what_prolific_refuses_can_be_mended_with_the_same_form(project: Project, prolific: Prolific) -> None:
    prolific.is_down = True
    assert project.post("/studies", json=NEW).status_code == 422
    prolific.is_down = False
    study = drafted(project, places=7)
    assert prolific.studies[study]["total_available_places"] == 7
    assert project.get("/studies").json()["studies"][0]["places"] == 7


def test_a_draft_has_the_address_codes_and_reward_of_the_project(
    service: Service, prolific: Prolific
) -> None:
    project = service.project(quiz=QUIZ, prolific={"code": "MYCODE"})
    sent = prolific.studies[drafted(project, devices=["desktop"], approve=True)]
    assert sent["external_study_url"].startswith(
        f"https://label.example/w/{project.id}/prolific?PROLIFIC_PID"
    )
    assert (sent["reward"], sent["estimated_completion_time"], sent["status"]) == (120, 6, "UNPUBLISHED")
    assert sent["device_compatibility"] == ["desktop"]
    spec = project.get("").json()["spec"]["prolific"]
    codes = {one["code_type"]: one["code"] for one in sent["completion_codes"]}
    assert codes == {"COMPLETED": "MYCODE", "FAILED_ATTENTION_CHECK": spec["code_failed"],
                     "OTHER": spec["code_complete"]}  # fmt: skip
    assert (spec["study"], spec["reward"], spec["places"]) == (sent["id"], 1.2, 4)


def test_participants_of_every_study_of_the_project_come_in(
    service: Service, project: Project, prolific: Prolific
) -> None:
    first, second = drafted(project), drafted(project, token="second-token")
    assert arrive(service, project, first, "a1" * 12).status_code == 201
    assert arrive(service, project, second, "a2" * 12, 2).status_code == 201
    assert arrive(service, project, "f" * 24, "a3" * 12, 3).status_code == 403


def test_participants_of_a_study_made_by_hand_still_come_in(service: Service, prolific: Prolific) -> None:
    project = service.project(prolific={"code": "MYCODE"})
    project.add_texts(12)
    assert arrive(service, project, "f" * 24, "a3" * 12, 3).status_code == 201
    study = drafted(project)
    assert arrive(service, project, "f" * 24, "a4" * 12, 4).status_code == 201
    assert arrive(service, project, study, "a5" * 12, 5).status_code == 201


def test_publishing_needs_the_typed_total(project: Project, prolific: Prolific) -> None:
    study = drafted(project)
    for typed in ("", "4.79", "4.800001", "much", "-4.80"):
        refused = project.post(f"/studies/{study}/publish", json={"confirm_total": typed})
        assert refused.status_code == 409
        assert "participants get GBP 4.80, and Prolific its fee; type 4.80" in refused.json()["detail"]
    assert prolific.studies[study]["status"] == "UNPUBLISHED"
    for _ in range(2):  # once more changes nothing
        answer = project.post(f"/studies/{study}/publish", json={"confirm_total": "4.80"})
        assert answer.json()["status"] == "ACTIVE"
    assert prolific.count("POST", "transition") == 1
    assert actions(project).count("publish study") == 1


def test_the_total_is_that_of_prolific_where_somebody_changed_it_there(
    project: Project, prolific: Prolific
) -> None:
    study = drafted(project)
    prolific.studies[study]["total_available_places"] = 40
    refused = project.post(f"/studies/{study}/publish", json={"confirm_total": "4.80"})
    assert "type 48.00" in refused.json()["detail"]


def test_the_cost_is_shown_with_the_fee(project: Project, prolific: Prolific) -> None:
    found = project.get(f"/studies/{drafted(project)}").json()
    assert [found[name] for name in ("rewards", "fees", "tax", "total")] == ["4.80", "1.60", "0.00", "6.40"]


def test_a_service_that_nobody_reaches_publishes_nothing(tmp_path: Any, prolific: Prolific) -> None:
    service = Service(sqlite_url(tmp_path), "http://127.0.0.1:8000")
    project = service.project()
    study = drafted(project)
    refused = project.post(f"/studies/{study}/publish", json={"confirm_total": "4.80"})
    service.close()
    assert refused.status_code == 409
    assert "participants cannot reach http://127.0.0.1:8000" in refused.json()["detail"]
    assert prolific.studies[study]["status"] == "UNPUBLISHED"


def test_a_study_is_paused_started_and_stopped(project: Project, prolific: Prolific) -> None:
    study = published(project)
    seen = [project.post(f"/studies/{study}/{move}").json()["status"] for move in ("pause", "start", "stop")]
    assert seen == ["PAUSED", "ACTIVE", "AWAITING REVIEW"]
    refused = project.post(f"/studies/{study}/pause")
    assert refused.status_code == 409
    assert "is awaiting review on Prolific; it cannot pause now" in refused.json()["detail"]


def test_more_places_cost_what_is_typed_and_repeats_nothing(project: Project, prolific: Prolific) -> None:
    study = published(project)
    more = {"places": 9, "confirm_total": "6.00"}
    assert project.post(f"/studies/{study}/places", json={"places": 9}).status_code == 409
    for _ in range(2):
        assert project.post(f"/studies/{study}/places", json=more).json()["places"] == 9
    assert prolific.count("PATCH", "studies") == 1
    assert project.get("").json()["spec"]["prolific"]["places"] == 9
    fewer = project.post(f"/studies/{study}/places", json={"places": 8})
    assert fewer.status_code == 422
    assert "Prolific takes none away" in fewer.json()["detail"]


def test_submissions_are_shown_beside_what_was_done_here(
    service: Service, project: Project, prolific: Prolific
) -> None:
    study = published(project)
    sessions = [f"{n}e" * 12 for n in range(4)]
    code = work(service, project, study, sessions[0])
    prolific.add_submission(study, id=sessions[0], code=code)
    prolific.add_submission(study, PARTICIPANT.format(2), id=sessions[1], code="WRONG")
    arrive(service, project, study, sessions[2], 3)
    prolific.add_submission(study, PARTICIPANT.format(3), id=sessions[2], code="GUESS")
    work(service, project, study, sessions[3], 4)
    prolific.add_submission(study, PARTICIPANT.format(4), id=sessions[3], code="WRONG")
    found = {one["id"]: one for one in project.get(f"/studies/{study}/submissions").json()["submissions"]}
    right = found[sessions[0]]
    assert (right["is_right"], right["words"]) == (True, "Done, and the code is right")
    assert right["answers"] == 12
    assert right["minutes"] is not None
    assert found[sessions[1]]["words"] == "Nobody came here with this submission"
    assert found[sessions[2]]["words"] == "Not finished here"
    assert found[sessions[3]]["words"] == "The code is not the one that was given here"
    assert [one["is_right"] for one in found.values()].count(True) == 1


def test_submissions_are_approved_in_bulk_and_once(
    service: Service, project: Project, prolific: Prolific
) -> None:
    study = published(project)
    work(service, project, study, "0e" * 12)
    ids = [
        prolific.add_submission(study, id="0e" * 12),
        prolific.add_submission(study, PARTICIPANT.format(2)),
    ]
    home = f"/studies/{study}/submissions"
    answers = [project.post(f"{home}/approve", json={"submissions": ids}).json() for _ in range(2)]
    assert [answer["reviewed"] for answer in answers] == [2, 0]
    assert {prolific.submissions[id]["status"] for id in ids} == {"APPROVED"}
    assert actions(project).count("approve on Prolific") == 1
    rejection = {"submissions": ids, "category": "OTHER", "message": MESSAGE}
    refused = project.post(f"{home}/reject", json=rejection)
    assert refused.status_code == 409
    assert "is approved; it can be reviewed no more" in refused.json()["detail"]


def test_a_rejection_needs_a_category_and_a_hundred_characters(project: Project, prolific: Prolific) -> None:
    study = published(project)
    id = prolific.add_submission(study)
    home = f"/studies/{study}/submissions/reject"
    body = {"submissions": [id], "category": "FAILED_CHECK", "message": MESSAGE}
    short = project.post(home, json={**body, "message": "Too bad."})
    assert (short.status_code, short.json()["detail"]) == (
        422, "the message has 8 characters; Prolific wants 100, so say more",
    )  # fmt: skip
    assert "there is no such category" in project.post(home, json={**body, "category": "BAD"}).text
    assert project.post(home, json=body).json() == {"reviewed": 1}
    assert prolific.submissions[id]["status"] == "REJECTED"


def test_submissions_of_other_studies_are_not_paid(project: Project, prolific: Prolific) -> None:
    study, other = published(project), drafted(project, token="second-token")
    id = prolific.add_submission(other)
    home = f"/studies/{study}/submissions"
    refused = project.post(f"{home}/approve", json={"submissions": [id]})
    assert refused.status_code == 404
    bonus = {"amount": "1.00", "token": "bonus-token", "confirm_total": "1.00"}
    assert project.post(f"{home}/{id}/bonus", json=bonus).status_code == 404
    assert (prolific.submissions[id]["status"], prolific.paid) == ("AWAITING REVIEW", [])


def test_studies_of_other_projects_are_not_touched(
    service: Service, project: Project, prolific: Prolific
) -> None:
    study, other = published(project), service.project()
    for path in ("pause", "stop"):
        assert other.post(f"/studies/{study}/{path}").status_code == 404
    assert other.get(f"/studies/{study}").status_code == 404
    assert other.post(f"/studies/{study}/publish", json={}).status_code == 404
    assert prolific.studies[study]["status"] == "ACTIVE"


def test_a_bonus_is_paid_once_for_each_token(project: Project, prolific: Prolific) -> None:
    study = published(project)
    id = prolific.add_submission(study)
    home = f"/studies/{study}/submissions/{id}/bonus"
    bonus = {"amount": "0.60", "token": "bonus-token"}
    assert project.post(home, json=bonus).status_code == 409  # nothing was typed
    answers = [project.post(home, json={**bonus, "confirm_total": "0.60"}).json() for _ in range(2)]
    assert answers == [{"paid": True}, {"paid": False}]
    assert prolific.paid == [(id, 60)]
    assert actions(project).count("pay bonus on Prolific") == 1


def test_two_requests_at_once_pay_one_bonus(service: Service, project: Project, prolific: Prolific) -> None:
    study = published(project)
    id = prolific.add_submission(study)
    bonus = BonusIn(amount="0.60", token="bonus-token", confirm_total="0.60")
    about = service.store, service.settings, project.id, "ann", study, id
    seen: list[object] = []

    def pay() -> None:
        try:
            seen.append(prolific_submissions.pay_bonus(*about, bonus))
        except ConflictError as error:
            seen.append(error)

    threads = [threading.Thread(target=pay) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(seen) == 4
    assert seen.count(True) == 1
    assert prolific.paid == [(id, 60)]


def test_a_bonus_whose_answer_was_lost_is_never_paid_again(project: Project, prolific: Prolific) -> None:
    study = published(project)
    id = prolific.add_submission(study)
    home = f"/studies/{study}/submissions/{id}/bonus"
    bonus = {"amount": "0.60", "token": "bonus-token", "confirm_total": "0.60"}
    real = prolific._pay

    def pay(payment: str) -> tuple[int, Any]:
        real(payment)
        return 502, {}

    prolific._pay = pay  # type: ignore[method-assign]  # it pays, and its answer gets lost
    for _ in range(3):
        answer = project.post(home, json=bonus)
        assert answer.status_code == 409
        assert "it is not known whether Prolific has paid this bonus" in answer.json()["detail"]
    assert prolific.paid == [(id, 60)]
    asked = [one for one in project.get("/log").json()["entries"] if one["action"] == "pay bonus on Prolific"]
    assert [one["detail"]["answer"] for one in asked] == ["lost"]


def test_the_token_of_a_bonus_pays_no_other_one_and_hides_none(project: Project, prolific: Prolific) -> None:
    study = published(project)
    first, second = (prolific.add_submission(study, PARTICIPANT.format(n)) for n in range(2))
    home = f"/studies/{study}/submissions"
    bonus = {"amount": "0.60", "token": "bonus-token", "confirm_total": "0.60"}
    assert project.post(f"{home}/{first}/bonus", json=bonus).json() == {"paid": True}
    more = {**bonus, "amount": "0.90", "confirm_total": "0.90"}
    for id, again in ((second, bonus), (first, more)):
        refused = project.post(f"{home}/{id}/bonus", json=again)
        assert refused.status_code == 409
        assert "another bonus was paid with this token" in refused.json()["detail"]
    assert project.post(f"{home}/{first}/bonus", json={**bonus, "amount": "0.6"}).json() == {"paid": False}
    assert prolific.paid == [(first, 60)]


def test_a_bonus_of_nothing_is_refused(project: Project, prolific: Prolific) -> None:
    study = published(project)
    id = prolific.add_submission(study)
    bonus = {"amount": "0.00", "token": "bonus-token", "confirm_total": "0.00"}
    refused = project.post(f"/studies/{study}/submissions/{id}/bonus", json=bonus)
    assert (refused.status_code, prolific.paid) == (422, [])


def test_what_was_published_is_in_the_log_though_the_answer_was_lost(
    project: Project, prolific: Prolific
) -> None:
    study = drafted(project)
    prolific.loses_answers = True
    assert project.post(f"/studies/{study}/publish", json={"confirm_total": "4.80"}).status_code == 422
    prolific.loses_answers = False
    again = project.post(f"/studies/{study}/publish", json={"confirm_total": "4.80"})
    assert again.json()["status"] == "ACTIVE"
    assert prolific.count("POST", "transition") == 1
    assert actions(project).count("publish study") == 1


def test_without_a_token_one_sentence_says_what_to_set(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    answer = project.post("/studies", json=NEW)
    assert answer.status_code == 422
    assert "set PROLIFIC_TOKEN where the server runs" in answer.json()["detail"]
    assert project.get("/studies").json() == {"studies": []}


@pytest.mark.parametrize(
    "wrong",
    [{"reward": "0"}, {"reward": "1,2"}, {"reward": "9999"}, {"places": 0}, {"minutes": 0}, {"title": ""},
     {"devices": []}, {"devices": ["fridge"]}, {"token": "x"}, {"more": 1}],
)  # fmt: skip
def test_a_wrong_study_is_refused_before_prolific_is_asked(
    project: Project, prolific: Prolific, wrong: dict[str, Any]
) -> None:
    answer = project.post("/studies", json={**NEW, "places": 100, **wrong})
    assert answer.status_code == 422, answer.text
    assert prolific.calls == []
