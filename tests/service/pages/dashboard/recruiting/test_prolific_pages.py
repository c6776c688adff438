"""Studies on the dashboard, against a server that is as strict as the schema of Prolific."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.prolific_server import PARTICIPANT, Prolific
from tests.service.harness.service import sqlite_url

NEW: dict[str, str] = {
    "title": "Films", "description": "Good or bad?", "reward": "1.20", "places": "4", "minutes": "6",
    "desktop": "yes", "signed": "yes",
}  # fmt: skip
MESSAGE = (
    "You gave the wrong answer to most of the items whose answers are known, and you did so much too quickly."
)


@pytest.fixture
def service(tmp_path: Any) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path), "https://label.example")
    yield made
    made.close()


@pytest.fixture
def home(service: DashboardService) -> str:
    return f"/projects/{service.create()}/recruiting"


@pytest.fixture
def client(service: DashboardService) -> TestClient:
    return service.signed_in("write")


def filled(client: TestClient, page: str, form: str = "", **fields: str) -> dict[str, str]:
    """The fields of a form, with the hidden ones of its page."""
    text = client.get(page).text
    own = text[text.index(f'id="{form}"') :] if form else text
    found = re.search(r'name="token" value="([^"]+)"', own)
    return {"csrf": csrf(text), **({"token": found[1]} if found else {}), **fields}


def drafted(client: TestClient, home: str, **more: str) -> str:
    """The page of a new study."""
    answer = client.post(f"{home}/studies", data=filled(client, f"{home}/studies/new", **{**NEW, **more}))
    assert answer.status_code == 200, answer.text
    return str(answer.url.path)


def published(client: TestClient, home: str, **more: str) -> tuple[str, str]:
    """The page of a study that is published, and its id."""
    page = drafted(client, home, **more)
    sent = filled(client, page, "publish", confirm_total="4.80")
    answer = client.post(f"{page}/publish", data=sent)
    assert "The study is published." in answer.text
    return page, page.rpartition("/")[2]


def test_a_form_that_is_sent_twice_drafts_one_study(
    client: TestClient, home: str, prolific: Prolific
) -> None:
    fields = filled(client, f"{home}/studies/new", **NEW)
    pages = [client.post(f"{home}/studies", data=fields) for _ in range(2)]
    assert [page.status_code for page in pages] == [200, 200]
    assert pages[0].url == pages[1].url
    (study,) = prolific.studies.values()
    assert (study["device_compatibility"], study["is_external_study_url_secure"]) == (["desktop"], True)
    assert "The study is drafted." in pages[0].text
    assert "Draft, costs nothing" in pages[0].text


def test_a_wrong_form_says_what_to_write_and_keeps_what_was_typed(
    client: TestClient, home: str, prolific: Prolific
) -> None:
    wrong = {**NEW, "reward": "1,20", "places": "0", "minutes": "soon", "desktop": "", "title": "Kept <b>"}
    answer = client.post(f"{home}/studies", data=filled(client, f"{home}/studies/new", **wrong))
    assert answer.status_code == 422
    for words in ("such as 1.20.", "from 1 to 10,000", "from 1 to 600", "at least one kind of device"):
        assert words in answer.text
    assert 'value="Kept &lt;b&gt;"' in answer.text
    assert prolific.calls == []


def test_the_cost_with_the_fee_is_shown_before_publishing(
    client: TestClient, home: str, prolific: Prolific
) -> None:
    page = drafted(client, home)
    text = re.sub(r"<[^>]+>", "", client.get(page).text)
    assert "All places cost GBP 6.40: GBP 4.80 for participants, GBP 1.60 for Prolific." in text
    refused = client.post(f"{page}/publish", data=filled(client, page, "publish", confirm_total="6.40"))
    assert refused.status_code == 422
    assert "type 4.80 to confirm it" in refused.text
    assert next(iter(prolific.studies.values()))["status"] == "UNPUBLISHED"


def test_a_study_is_paused_started_extended_and_ended(
    client: TestClient, home: str, prolific: Prolific
) -> None:
    page, study = published(client, home)
    for action, status in (("pause", "PAUSED"), ("start", "ACTIVE"), ("stop", "AWAITING REVIEW")):
        answer = client.post(f"{page}/move", data={"csrf": csrf(client.get(page).text), "action": action})
        assert answer.status_code == 200
        assert prolific.studies[study]["status"] == status
    more = filled(client, page, "places", places="6", confirm_total="2.40")
    assert "The places are saved." in client.post(f"{page}/places", data=more).text
    assert prolific.studies[study]["total_available_places"] == 6
    nonsense = client.post(f"{page}/move", data={"csrf": csrf(client.get(page).text), "action": "burn"})
    assert nonsense.status_code == 422


def test_submissions_are_reviewed_on_the_page(client: TestClient, home: str, prolific: Prolific) -> None:
    page, study = published(client, home)
    ids = [prolific.add_submission(study, PARTICIPANT.format(n), code="X") for n in range(3)]
    text = client.get(page).text
    assert "Nobody came here with this submission" in text
    assert not re.search(r'name="submission" value="[0-9a-f]+" checked', text)
    sent = {"csrf": csrf(text), "submission": ids[:2], "verdict": "approve"}
    assert "approved on Prolific" in client.post(f"{page}/review", data=sent).text
    sent = {**sent, "submission": ids[2:], "verdict": "reject", "category": "BAD_CODE", "message": "No."}
    short = client.post(f"{page}/review", data=sent)
    assert short.status_code == 422
    assert "Write 100 to 2,000 characters. These are 3." in short.text
    assert client.post(f"{page}/review", data={**sent, "message": MESSAGE}).status_code == 200
    assert [prolific.submissions[id]["status"] for id in ids] == ["APPROVED", "APPROVED", "REJECTED"]


def test_who_has_done_their_share_and_typed_the_right_code_is_ticked(
    service: DashboardService, client: TestClient, home: str, prolific: Prolific
) -> None:
    page, study = published(client, home, signed="")
    project, session = home.split("/")[2], "0e" * 12
    items = [{"name": f"new {n}", "text": "A film."} for n in range(12)]
    service.send("POST", f"/api/projects/{project}/items", json={"items": items})
    ids = {"PROLIFIC_PID": PARTICIPANT.format(1), "STUDY_ID": study, "SESSION_ID": session}
    began = service.http.post("/api/sessions", json={"project": project, "prolific": ids})
    headers = {"Authorization": f"Bearer {began.json()['token']}"}
    for _ in range(5):
        for item in service.http.get("/api/next", headers=headers).json()["items"]:
            vote = {"item": item["item"], "label": began.json()["classes"][0], "key": f"key-{item['item']}"}
            assert service.http.post("/api/votes", json=vote, headers=headers).status_code == 201
    code = service.http.post("/api/finish", headers=headers).json()["code"]
    prolific.add_submission(study, id=session, code=code)
    text = client.get(page).text
    assert "Done, and the code is right" in text
    assert f'value="{session}" checked' in text


def test_a_bonus_form_that_is_sent_twice_pays_once(client: TestClient, home: str, prolific: Prolific) -> None:
    page, study = published(client, home)
    id = prolific.add_submission(study)
    sent = filled(client, page, "bonus", submission=id, amount="0.50", confirm_total="0.50")
    answers = [client.post(f"{page}/bonus", data=sent) for _ in range(2)]
    assert all("The bonus is paid." in answer.text for answer in answers)
    assert prolific.paid == [(id, 50)]


def test_the_page_is_there_while_prolific_is_not(client: TestClient, home: str, prolific: Prolific) -> None:
    page, _ = published(client, home)
    prolific.is_down = True
    text = client.get(page).text
    assert "because of an error of its own" in text
    assert "Films" in text
    state = client.get(f"{page}/state")
    assert (state.status_code, "try again later" in state.text) == (200, True)
    assert client.get(home).status_code == 200


def test_the_page_about_recruiting_lists_studies(client: TestClient, home: str, prolific: Prolific) -> None:
    page, _ = published(client, home)
    text = client.get(home).text
    assert f'href="{page}"' in text
    assert "4 places at GBP 1.20" in text
    assert f'hx-get="{page}/state"' in text
    assert "Participants can take it. 0 of 4 places taken." in client.get(f"{page}/state").text


def test_without_a_token_the_form_says_what_to_set(
    client: TestClient, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    assert "set PROLIFIC_TOKEN where the server runs" in client.get(f"{home}/studies/new").text
    answer = client.post(f"{home}/studies", data=filled(client, f"{home}/studies/new", **NEW))
    assert answer.status_code == 422
    assert "has no token of Prolific" in answer.text


def test_who_may_not_write_sees_no_forms_that_cost_money(
    service: DashboardService, client: TestClient, home: str, prolific: Prolific
) -> None:
    page, study = published(client, home)
    prolific.add_submission(study)
    text = service.signed_in("label-ops").get(page).text
    assert "Films" in text
    for form in ("/publish", "/places", "/move", "/bonus", 'value="approve"'):
        assert form not in text


def test_signed_links_are_a_setting_of_the_project(
    service: DashboardService, client: TestClient, home: str
) -> None:
    project = home.removesuffix("/recruiting")
    for signed in ("yes", ""):
        sent = {"csrf": csrf(client.get(home).text), "study": "", "code": "C", "signed": signed}
        answer = client.post(f"{home}/prolific", data=sent)
        assert answer.status_code == 200
        spec = service.send("GET", f"/api{project}").json()["spec"]["prolific"]
        assert spec["signed"] is bool(signed)
        ticked = 'name="signed" value="yes" checked' in answer.text
        assert ticked is bool(signed)


def test_a_service_that_nobody_reaches_says_so_of_the_study(tmp_path: Any, prolific: Prolific) -> None:
    local = DashboardService(sqlite_url(tmp_path), "http://127.0.0.1:8000")
    home, client = f"/projects/{local.create()}/recruiting", local.signed_in("write")
    seen = [client.get(page).text for page in (f"{home}/studies/new", drafted(client, home))]
    local.close()
    for text in seen:
        assert "Participants cannot take the study: its address works only on the computer" in text
        assert "The links below" not in text
