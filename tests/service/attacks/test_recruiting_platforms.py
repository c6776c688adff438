"""Studies on Prolific and connections to Label Studio: who may spend and change, and what their texts do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.routing import iter_route_contexts

from crowdpilot.service.pages.dashboard.projects import dashboard_pages
from crowdpilot.service.pages.dashboard.setup.form import new_typed
from crowdpilot.service.project_changes import change_settings
from crowdpilot.service.requesters.recruiting import prolific_drafts
from crowdpilot.service.requesters.recruiting.prolific_drafts import StudyIn
from crowdpilot.service.store.arrivals import prolific_studies
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.prolific_server import PARTICIPANT, SUBMISSION, TOKEN, Prolific
from tests.service.harness.service import sqlite_url

SCRIPT = "<script>alert(1)</script>"
NEW = {"title": SCRIPT, "description": "Good or bad?", "reward": "1.20", "places": 4, "minutes": 6,
       "token": "first-token"}  # fmt: skip
MINOR = {"/projects/{id}/label-studio/sync": "label-ops"}  # what others may do, too
MONEY = "publish", "places", "pause", "start", "stop", "submissions/approve", "submissions/reject"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path), "https://label.example")
    yield made
    made.close()


@pytest.fixture
def project(service: DashboardService) -> str:
    return service.create()


@pytest.fixture
def study(service: DashboardService, project: str, prolific: Prolific) -> str:
    """A study with a submission, whose texts are scripts."""
    about = service.store, service.settings, project, "ann"
    made = prolific_drafts.create(*about, StudyIn.model_validate(NEW), change_settings)
    prolific.add_submission(made.study, PARTICIPANT.format(1), code=SCRIPT)
    return str(made.study)


def forms() -> list[str]:
    """Paths of all forms about the two platforms."""
    routes = iter_route_contexts(dashboard_pages().routes)
    posts = {str(route.path) for route in routes if "POST" in (route.methods or ())}
    return sorted(path for path in posts if "/studies" in path or "label-studio" in path)


def test_all_forms_are_known() -> None:
    assert len(forms()) >= 10


@pytest.mark.parametrize("scope", ["read", "label-ops"])
def test_who_may_not_write_spends_and_connects_nothing(
    service: DashboardService, project: str, study: str, prolific: Prolific, scope: str
) -> None:
    client, before = service.signed_in(scope), len(prolific.calls)
    token = csrf(client.get("/projects").text)
    for path in forms():
        if MINOR.get(path) != scope:
            answer = client.post(path.format(id=project, study=study), data={"csrf": token})
            assert answer.status_code == 403, path
    key, home = {"X-API-Key": service.keys[scope]}, f"/api/projects/{project}/studies"
    assert service.http.post(home, json={**NEW, "token": "other-token"}, headers=key).status_code == 403
    for action in (*MONEY, f"submissions/{SUBMISSION.format(0)}/bonus"):
        assert service.http.post(f"{home}/{study}/{action}", json={}, headers=key).status_code == 403, action
    assert len(prolific.calls) == before


def test_a_form_without_its_token_does_nothing(
    service: DashboardService, project: str, study: str, prolific: Prolific
) -> None:
    client, before = service.signed_in("admin"), len(prolific.calls)
    for path in forms():
        for sent in ({}, {"csrf": "wrong"}):
            answer = client.post(path.format(id=project, study=study), data=sent)
            assert answer.status_code == 403, path
    assert len(prolific.calls) == before


def test_a_read_only_key_sees_no_submissions(
    service: DashboardService, project: str, study: str, prolific: Prolific
) -> None:
    client, key = service.signed_in("read"), {"X-API-Key": service.keys["read"]}
    for path in ("", "/state"):
        assert client.get(f"/projects/{project}/recruiting/studies/{study}{path}").status_code == 403
    for path in ("", f"/{study}", f"/{study}/submissions"):
        answer = service.http.get(f"/api/projects/{project}/studies{path}", headers=key)
        assert answer.status_code == 403, path


def test_texts_of_prolific_are_no_scripts(
    service: DashboardService, project: str, study: str, prolific: Prolific
) -> None:
    client, home = service.signed_in("write"), f"/projects/{project}/recruiting"
    prolific.submissions[SUBMISSION.format(0)].update(participant_id=SCRIPT, status=SCRIPT)
    prolific.studies[study].update(name=SCRIPT, status=SCRIPT, presentment_currency_code=SCRIPT)
    for path in (home, f"{home}/studies/{study}", f"{home}/studies/{study}/state"):
        text = client.get(path).text
        assert "<script>alert" not in text, path
        assert "&lt;script&gt;alert" in text, path


def test_no_answer_shows_the_token_of_the_server(
    service: DashboardService, project: str, study: str, prolific: Prolific
) -> None:
    client, home = service.signed_in("admin"), f"/projects/{project}"
    seen = [client.get(f"{home}{path}").text
            for path in ("/recruiting", f"/recruiting/studies/{study}", "/log", "/settings")]  # fmt: skip
    prolific.is_down = True
    seen.append(client.get(f"{home}/recruiting/studies/{study}").text)
    assert not any(TOKEN in text for text in seen)


def test_a_copy_of_a_project_has_no_studies_of_it(
    service: DashboardService, project: str, study: str, prolific: Prolific
) -> None:
    client = service.signed_in("admin")
    page = client.get(f"/projects/{project}/duplicate").text
    typed = {name: value for name, value in new_typed().items() if value}
    form = {**typed, "name": "Copy", "question": "Good?", "classes-0-name": "good", "classes-2-name": "bad"}
    client.post(
        "/projects/new", data={**form, "csrf": csrf(page), "copied_project": project, "copy_items": "yes"}
    )
    (copy,) = [row.id for row in service.rows() if row.id != project]
    with service.store.reading() as c:
        assert prolific_studies.list_all(c, copy) == []
