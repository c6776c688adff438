"""The page about recruiting: links, the study on Prolific, its submissions and their review."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import update

from crowdpilot.service.store.tables import assignments
from tests.service.harness.dashboard import DashboardService, csrf, post

STUDY = "5f0000000000000000000001"
PARTICIPANTS = [f"5f00000000000000000000a{k}" for k in range(3)]


def work(service: DashboardService, id: str, participant: str) -> None:
    """A participant of Prolific who answers two items and finishes."""
    query = {"PROLIFIC_PID": participant, "STUDY_ID": STUDY, "SESSION_ID": f"s{participant}"}
    session = service.http.post("/api/sessions", json={"project": id, "prolific": query})
    assert session.status_code == 201, session.text
    headers = {"Authorization": f"Bearer {session.json()['token']}"}
    for leased in service.http.get("/api/next?n=2", headers=headers).json()["items"]:
        vote = {"item": leased["item"], "label": "Positive", "seconds": 12.0, "key": f"k{leased['item']:09}"}
        assert service.http.post("/api/votes", json=vote, headers=headers).status_code == 201
    assert service.http.post("/api/finish", headers=headers).status_code == 200


def take(service: DashboardService, id: str, minutes: float) -> None:
    """Say that all submissions took so long."""
    with service.store.writing() as c:
        c.execute(
            update(assignments)
            .where(assignments.c.project == id)
            .values(started=assignments.c.finished - 60 * minutes)
        )


def study(service: DashboardService, **more: Any) -> str:
    return service.create(prolific={"study": STUDY}, min_answers=2, currency="GBP", **more)


def test_a_link_to_this_computer_is_marked_with_what_to_do(service: DashboardService) -> None:
    id = service.create()
    assert "Only on this computer" not in service.signed_in().get(f"/projects/{id}/recruiting").text
    local = DashboardService(service.settings.database, "http://127.0.0.1:8000")
    page = local.signed_in().get(f"/projects/{id}/recruiting").text
    assert "Only on this computer" in page
    assert "--address" in page
    local.close()


def test_places_and_pay_are_computed_in_words(service: DashboardService) -> None:
    id, client = study(service, seconds_per_answer=12), service.signed_in()
    page = client.get(f"/projects/{id}/recruiting").text
    assert "There is no forecast yet. 12 items are open; we guess that each gets 3 answers" in page
    assert re.search(r"Places still needed</dt><dd>18<", page)
    assert "2 answers of 12.0 seconds each, as you expect, without the time for instructions and quiz" in page
    assert "recommends at least GBP 9" not in page  # 0.10 for 24 seconds is 15 an hour
    for participant in PARTICIPANTS:
        work(service, id, participant)
    take(service, id, minutes=2)
    page = client.get(f"/projects/{id}/recruiting").text
    assert "the median time of 3 finished submissions, with instructions and quiz" in page
    assert "2.0 minutes" in page
    assert "Pay for an hour</dt><dd>GBP\u00a03.00<" in page  # 0.10 for 2 minutes
    assert "below Prolific’s minimum of GBP 6" in page
    post(client, f"/projects/{id}/recruiting/prolific", f"/projects/{id}/recruiting", study=STUDY,
         reward="0.25")  # fmt: skip
    assert "recommends at least GBP 9" in client.get(f"/projects/{id}/recruiting").text


def test_a_rejection_without_a_reason_keeps_what_was_ticked(service: DashboardService) -> None:
    id, client = study(service), service.signed_in("label-ops")
    for participant in PARTICIPANTS:
        work(service, id, participant)
    home = f"/projects/{id}/recruiting"
    ids = re.findall(r'name="submission" value="(\d+)"', client.get(home).text)
    refused = post(client, f"{home}/review", home, submission=ids[:2], verdict="reject").text
    assert re.findall(r'name="submission" value="(\d+)" checked', refused) == ids[:2]
    refused = post(client, f"{home}/review", home, verdict="reject", reason='Too "fast"').text
    assert "no submission is chosen" in refused.lower()
    assert 'name="reason" value="Too &#34;fast&#34;"' in refused


def test_submissions_are_reviewed_and_listed_for_prolific(service: DashboardService) -> None:
    id, client = study(service), service.signed_in("label-ops")
    for participant in PARTICIPANTS:
        work(service, id, participant)
    home = f"/projects/{id}/recruiting"
    page = client.get(home).text
    ids = re.findall(r'name="submission" value="(\d+)"', page)
    assert len(ids) == 3
    assert "Done" in page
    refused = post(client, f"{home}/review", home, submission=ids[:1], verdict="reject")
    assert refused.status_code == 422
    assert "give a reason" in refused.text
    post(client, f"{home}/review", home, submission=ids[:1], verdict="reject", reason="<b>Random</b> answers")
    page = post(client, f"{home}/review", home, submission=ids[1:], verdict="approve").text
    assert f'id="approved-ids" tabindex="0">{PARTICIPANTS[1]}\n{PARTICIPANTS[0]}</pre>' in page
    assert f'id="rejected-ids" tabindex="0">{PARTICIPANTS[2]}</pre>' in page
    assert "<b>Random</b>" not in page
    table = client.get(f"{home}/submissions.csv").text
    assert table.splitlines()[0].startswith("participant,submission,outcome,code,answers,minutes")
    assert len(table.splitlines()) == 4


def test_submissions_of_another_project_are_not_reviewed(service: DashboardService) -> None:
    mine, other = study(service), study(service)
    work(service, other, PARTICIPANTS[0])
    client = service.signed_in()
    page = client.get(f"/projects/{other}/recruiting").text
    ids = re.findall(r'name="submission" value="(\d+)"', page)
    post(client, f"/projects/{mine}/recruiting/review", f"/projects/{mine}/recruiting", submission=ids,
         verdict="approve")  # fmt: skip
    assert "Approved" not in client.get(f"/projects/{other}/recruiting").text


def test_a_label_ops_key_cannot_change_the_study(service: DashboardService) -> None:
    id, client = study(service), service.signed_in("label-ops")
    token = csrf(client.get(f"/projects/{id}/recruiting").text)
    refused = client.post(f"/projects/{id}/recruiting/prolific", data={"csrf": token, "reward": "99"})
    assert refused.status_code == 403
