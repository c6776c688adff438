"""HITs on the dashboard, against a server that speaks MTurk's protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.store.arrivals import hits
from crowdpilot.service.store.tables import metadata
from tests.service.harness.dashboard import DashboardService, csrf, post
from tests.service.harness.mturk_server import MTurk
from tests.service.harness.service import sqlite_url

NEW: dict[str, Any] = {
    "title": "Films", "description": "Good or bad?", "keywords": "film, review", "reward": "0.50",
    "assignments": "4", "minutes": "30", "days": "2", "percent_approved": "95", "number_approved": "",
    "countries": "us, GB",
}  # fmt: skip
ASSIGNMENTS = [f"3TESA3PJ31ZLBLMPZQ7AKEXAMPLE0{k}" for k in range(3)]


@pytest.fixture
def service(tmp_path: Any) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path), "https://testserver")
    yield made
    made.close()


def home_of(service: DashboardService, *, sandbox: bool = True) -> str:
    return f"/projects/{service.create(mturk={'sandbox': sandbox})}/recruiting"


def filled(client: TestClient, page: str, form: str = "", **fields: str) -> dict[str, str]:
    """The fields of a form, with the hidden ones of its page."""
    text = client.get(page).text
    own = text[text.index(f'id="{form}"') :] if form else text
    found = re.search(r'name="token" value="([^"]+)"', own)
    assert found
    return {"csrf": csrf(text), "token": found[1], **fields}


def created(client: TestClient, home: str, **more: str) -> str:
    """The page of a new HIT."""
    answer = client.post(f"{home}/hits", data=filled(client, f"{home}/hits/new", **{**NEW, **more}))
    assert answer.status_code == 200, answer.text
    return str(answer.url.path)


def log_of(service: DashboardService, home: str) -> list[str]:
    found = service.send("GET", f"/api{home.removesuffix('/recruiting')}/log").json()["entries"]
    return [entry["action"] for entry in found]


def test_a_form_that_is_sent_twice_makes_one_hit(service: DashboardService, mturk: MTurk) -> None:
    home, client = home_of(service), service.signed_in("write")
    fields = filled(client, f"{home}/hits/new", **NEW)
    first, second = (client.post(f"{home}/hits", data=fields) for _ in range(2))
    assert first.url == second.url
    assert "The HIT is created." in first.text
    assert "Workers can take it." in first.text
    assert len(mturk.hits) == log_of(service, home).count("create HIT") == 1
    sent = mturk.calls[0][1]
    assert (sent["Reward"], sent["MaxAssignments"], sent["AssignmentDurationInSeconds"]) == ("0.50", 4, 1800)
    assert [len(one.get("LocaleValues", ())) for one in sent["QualificationRequirements"]] == [0, 2]
    assert first.url.path in client.get(home).text
    state = client.get(f"{first.url.path}/state").text
    assert "4 free, 0 being done" in state


def test_a_hit_whose_answer_was_lost_is_stored_as_it_was_made(
    service: DashboardService, mturk: MTurk
) -> None:
    home, client = home_of(service), service.signed_in("write")
    fields = filled(client, f"{home}/hits/new", **NEW)
    client.post(f"{home}/hits", data=fields)
    with service.store.writing() as c:
        c.execute(metadata.tables["hits"].delete())  # as if the answer of MTurk had not come
    page = client.post(f"{home}/hits", data={**fields, "reward": "0.90", "assignments": "6"})
    assert len(mturk.hits) == 1
    with service.store.reading() as c:
        (row,) = hits.list_all(c, home.split("/")[2])
    assert (row.reward, row.assignments) == ("0.50", 4)
    assert "USD 0.50" in page.text


def test_what_is_wrong_is_said_beside_the_field_and_nothing_is_lost(
    service: DashboardService, mturk: MTurk
) -> None:
    home, client = home_of(service), service.signed_in("write")
    fields = filled(client, f"{home}/hits/new", **{**NEW, "reward": "0,50", "countries": "Germany"})
    fields["title"] = "<b>Films</b>"
    refused = client.post(f"{home}/hits", data=fields)
    assert refused.status_code == 422
    for words in ("reward-error", "countries-error", "0,50", "Germany", fields["token"]):
        assert words in refused.text
    assert "&lt;b&gt;Films" in refused.text
    assert "<b>Films" not in refused.text
    assert mturk.calls == []


def test_real_money_needs_the_typed_total_for_hits_extensions_and_bonuses(
    service: DashboardService, mturk: MTurk
) -> None:
    home, client = home_of(service, sandbox=False), service.signed_in("write")
    refused = client.post(f"{home}/hits", data=filled(client, f"{home}/hits/new", **NEW))
    assert refused.status_code == 422
    assert "type 2.00 to confirm it" in refused.text
    assert mturk.calls == []
    hit = created(client, home, confirm_total="2.00")
    mturk.add_assignment(ASSIGNMENTS[0], hit.rpartition("/")[2])
    more = {"assignments": "2", "confirm_total": "0.99"}
    refused = client.post(f"{hit}/extend", data=filled(client, hit, "extend", **more))
    assert (refused.status_code, 'id="extend-confirm_total-error"' in refused.text) == (422, True)
    paid = {"assignment": ASSIGNMENTS[0], "amount": "1.50", "reason": "Thanks"}
    refused = client.post(f"{hit}/bonus", data=filled(client, hit, "bonus", **paid))
    assert (refused.status_code, 'id="bonus-confirm_total-error"' in refused.text) == (422, True)
    assert 'value="1.50"' in refused.text
    assert mturk.count("CreateAdditionalAssignmentsForHIT") == mturk.count("SendBonus") == 0
    fields = filled(client, hit, "bonus", **paid, confirm_total="1.50")
    assert "The bonus is paid." in client.post(f"{hit}/bonus", data=fields).text
    assert mturk.count("SendBonus") == 1


def test_a_hit_is_extended_once_and_ended(service: DashboardService, mturk: MTurk) -> None:
    home, client = home_of(service), service.signed_in("write")
    hit = created(client, home)
    nothing = client.post(f"{hit}/extend", data=filled(client, hit, "extend"))
    assert "Write how many more assignments or days you want." in nothing.text
    fields = filled(client, hit, "extend", assignments="3", days="5")
    for _ in range(2):
        assert "The HIT is extended." in client.post(f"{hit}/extend", data=fields).text
    with service.store.reading() as c:
        assert hits.find(c, home.split("/")[2], hit.rpartition("/")[2]).assignments == 7
    assert "It has ended" in post(client, f"{hit}/expire", hit).text
    assert {"extend HIT", "expire HIT"} <= set(log_of(service, home))


def test_submissions_are_approved_and_rejected_with_a_reason(service: DashboardService, mturk: MTurk) -> None:
    home, client = home_of(service), service.signed_in("write")
    hit = created(client, home)
    for k, assignment in enumerate(ASSIGNMENTS):
        mturk.add_assignment(assignment, hit.rpartition("/")[2], f"A{k}WORKER")
    assert "3 submissions" in client.get(hit).text
    assert "Tick one" in post(client, f"{hit}/review", hit, verdict="approve").text
    no_reason = post(client, f"{hit}/review", hit, verdict="reject", assignment=ASSIGNMENTS[2])
    assert no_reason.status_code == 422
    assert f'value="{ASSIGNMENTS[2]}" checked' in no_reason.text
    assert "review-reason-error" in no_reason.text
    for _ in range(2):  # a double click
        approved = post(client, f"{hit}/review", hit, verdict="approve", assignment=ASSIGNMENTS[:2])
        assert approved.status_code == 200
    page = post(
        client, f"{hit}/review", hit, verdict="reject", assignment=ASSIGNMENTS[2], reason="Random answers"
    )
    assert "Your review is on MTurk." in page.text
    assert page.text.count(">Approved<") == 2
    assert page.text.count(">Rejected<") == 1
    assert mturk.count("ApproveAssignment") == 2
    assert log_of(service, home).count("approve assignment") == 2
    mturk.add_assignment("3OTHER", "3SOMEOTHERHIT")
    other = post(client, f"{hit}/review", hit, verdict="approve", assignment="3OTHER")
    assert "belongs to another HIT" in other.text
    assert mturk.count("ApproveAssignment") == 2


def test_who_may_not_write_sees_the_hit_and_no_form(service: DashboardService, mturk: MTurk) -> None:
    home = home_of(service)
    hit = created(service.signed_in("write"), home)
    client = service.signed_in("label-ops")
    page = client.get(hit).text
    assert "Workers can take it." in page
    assert 'id="extend"' not in page
    assert "hits/new" not in client.get(home).text
    assert client.get(f"{home}/hits/new").status_code == 403
    for change in ("extend", "expire", "review", "bonus"):
        assert post(client, f"{hit}/{change}", hit).status_code == 403
        assert service.signed_in("write").post(f"{hit}/{change}", data={}).status_code == 403  # no CSRF token
    assert service.signed_in("write").get(hit.replace("3XJ", "4XJ")).status_code == 404


def test_one_clear_sentence_says_why_mturk_does_not_answer(
    service: DashboardService, mturk: MTurk, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    home, client = home_of(service), service.signed_in("write")
    hit = created(client, home)
    monkeypatch.setenv("AWS_ENDPOINT_URL_MTURK", "http://127.0.0.1:9")
    page = client.get(hit)
    assert (page.status_code, "MTurk cannot be reached" in page.text) == (200, True)
    assert "MTurk cannot be reached" in client.get(f"{hit}/state").text
    fields = filled(client, hit, "extend", days="5")
    refused = client.post(f"{hit}/extend", data=fields)
    assert (refused.status_code, 'id="extend-problem"' in refused.text) == (422, True)
    assert fields["token"] in refused.text
    assert "Extending the HIT did not work." in refused.text
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    assert "The AWS settings of the server cannot be used" in client.get(f"{hit}/state").text


def test_a_project_that_is_not_on_mturk_says_where_to_choose_it(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in("write")
    page = client.get(f"/projects/{id}/recruiting").text
    assert "Workers of Mechanical Turk can come once you have chosen it" in page
    assert "New HIT" not in page
