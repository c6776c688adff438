"""The dashboard without a browser: who may do what, forms, tables and files."""

from __future__ import annotations

import re

import pytest

from crowdpilot.service.pages.dashboard import projects as projects_page
from tests.service.harness.dashboard import DashboardService, csrf, post

# Projects -------------------------------------------------------------------------------------


def test_nobody_sees_a_page_without_signing_in(service: DashboardService) -> None:
    id, client = service.create(), service.visitor()
    paths = ["/", "/projects", "/projects/new", "/keys", *(f"/projects/{id}{end}" for end in (
        "", "/live", "/items", "/workers", "/audit", "/export", "/log", "/close", "/workers/pay.csv",
        "/export/decisions.csv", "/export/votes.csv", "/export/label-studio.json"))]  # fmt: skip
    for path in paths:
        answer = client.get(path, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"][:6]) == (303, "/login"), path
    polled = client.get(f"/projects/{id}/live", headers={"HX-Request": "true"})
    assert (polled.status_code, polled.headers["HX-Redirect"]) == (204, "/login")


def test_without_projects_there_is_one_thing_to_do(service: DashboardService) -> None:
    page = service.signed_in().get("/projects").text
    assert "No projects yet" in page
    assert page.count('href="/projects/new"') == 1


def test_more_items_can_be_added(service: DashboardService) -> None:
    id, client = service.create(2), service.signed_in()
    token = csrf(client.get(f"/projects/{id}/add").text)
    new = {"files": ("more.csv", b"name,text\nnew,some text\n")}
    assert client.post(f"/projects/{id}/add/items", data={"csrf": token}, files=new).url.path.endswith(
        "/items"
    )
    again = client.post(f"/projects/{id}/add/items", data={"csrf": token}, files=new)
    assert (again.status_code, "there already" in again.text) == (422, True)


@pytest.mark.parametrize(("change", "state"), [("pause", "paused"), ("close", "closed"), ("resume", "open")])
def test_a_project_is_paused_stopped_and_resumed(service: DashboardService, change: str, state: str) -> None:
    id, client = service.create(), service.signed_in("write")
    post(client, f"/projects/{id}/state/{change}", f"/projects/{id}")
    assert service.rows()[0].state == state
    log = client.get(f"/projects/{id}/log").text
    assert {"closed": "stopped the project"}.get(state, state) in log
    assert "the write key" in log


def test_the_live_part_changes_with_the_votes_and_is_not_sent_twice(service: DashboardService) -> None:
    id, client = service.create(), service.signed_in("read")
    before = client.get(f"/projects/{id}/live").text
    seen = re.search(r'name="seen" value="(\w+)"', before)
    assert seen
    assert client.get(f"/projects/{id}/live", params={"seen": seen[1]}).status_code == 204
    n_votes = service.work(id)
    service.do_jobs()
    after = client.get(f"/projects/{id}/live", params={"seen": seen[1]}).text
    assert f'id="votes">{n_votes}<' in after
    assert 'class="chart-line"' in after
    assert 'class="chart-column"' in after


def test_votes_are_counted_for_a_card_only_when_some_came(
    service: DashboardService, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    count = projects_page.cost_of_votes
    monkeypatch.setattr(projects_page, "cost_of_votes", lambda *a: counted.append(1) or count(*a))
    client = service.signed_in("read")
    id = service.create(12, costs={"prices": {"crowd": 0.05, "expert": 0.5}})
    service.work(id, 4, names=("ann",))
    for _ in range(3):
        assert "<dd>0.25<" in client.get("/projects/cards").text
    assert len(counted) == 1
    service.work(id, 4, names=("dan",))
    assert "<dd>0.50<" in client.get("/projects/cards").text
    monkeypatch.setattr(projects_page, "MANY_VOTES", 5)
    service.work(id, 4, names=("eve",))
    assert "<dd>0.50<" in client.get("/projects/cards").text  # that of a moment ago
    monkeypatch.setattr(projects_page, "COUNT_SECONDS", 0.0)
    assert "<dd>0.75<" in client.get("/projects/cards").text
