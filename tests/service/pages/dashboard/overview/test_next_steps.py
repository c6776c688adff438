"""What a project needs next, in every state that it may be in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from crowdpilot.hybrid.campaign.view import CampaignView
from crowdpilot.service.pages.dashboard.items.reasons import find_reasons
from crowdpilot.service.pages.dashboard.overview.next_steps import Supply, next_steps, read_supply
from crowdpilot.service.status.item_progress import ItemProgress
from crowdpilot.service.store.statistics import LastVote
from tests.service.harness.dashboard import DashboardService

NOW = 1e6
PLENTY = Supply(is_spent=False, everybody_asked=False, per_worker=None)
ALL = ItemProgress(final=10)
SOME = ItemProgress(open=5, settled=3, final=2)


def steps(progress: ItemProgress = SOME, supply: Supply = PLENTY, quiet: float = 60, **row: Any) -> Any:
    project: Any = SimpleNamespace(**{"done": False, "state": "open", "votes": 20, "created": 0.0, **row})
    return next_steps(project, progress, supply, LastVote(NOW - quiet, 2), NOW)


@pytest.mark.parametrize(
    ("found", "state", "title", "first"),
    [
        (steps(ItemProgress()), "empty", "This project has no items yet", "/add"),
        (steps(ALL, done=True), "finished", "Finished: all 10 items are decided", "/export"),
        (steps(ALL, state="closed"), "stopped", "You have stopped this project", "/export"),
        (steps(votes=0), "waiting", "Waiting for the first answer", "/recruiting"),
        (steps(), "running", "Running", ""),
        (steps(state="paused"), "paused", "Paused: workers get no items", ""),
        (steps(supply=PLENTY._replace(is_spent=True)), "stuck",
         "The budget is spent, and 5 items are still open", "/settings"),
        (steps(quiet=3 * 3600), "stuck", "No answer for 3 hours", "/recruiting"),
        (steps(quiet=3 * 86400), "stuck", "No answer for 3 days", "/recruiting"),
        (steps(quiet=7200, supply=PLENTY._replace(per_worker=40)), "stuck",
         "No answer for 2 hours: everybody has reached their limit", "/recruiting"),
        (steps(quiet=7200, supply=PLENTY._replace(everybody_asked=True)), "stuck",
         "No answer for 2 hours: new people are needed", "/recruiting"),
    ],
)  # fmt: skip
def test_each_state_has_its_sentence_and_its_first_button(
    found: Any, state: str, title: str, first: str
) -> None:
    assert (found.state, found.title) == (state, title)
    assert (found.actions[0].path if found.actions else "") == first


def test_people_have_run_out_once_all_of_them_were_asked(
    service: DashboardService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed(_: CampaignView) -> None:
        raise AssertionError("a list of all votes grows with the project")

    monkeypatch.setattr(CampaignView, "workers", listed)
    plan = {"per_item": 3, "per_worker": 8}
    id = service.create(8, plan=plan, costs={"prices": {"crowd": 0.01}})
    replica, row = service.context.replica(id)
    assert read_supply(replica, row.spec) == PLENTY
    service.work(id, names=("ann",), votes=3)
    replica, row = service.context.replica(id)
    assert read_supply(replica, row.spec) == PLENTY
    service.work(id, names=("ann",))
    replica, row = service.context.replica(id)
    assert read_supply(replica, row.spec) == Supply(False, everybody_asked=True, per_worker=8)
    service.work(id, names=("ben",), votes=1)
    replica, row = service.context.replica(id)
    assert read_supply(replica, row.spec) == PLENTY
    assert [part.best for part in find_reasons(replica.campaign, "item-1")] == ["Positive"]


def test_a_finished_project_offers_export_report_audit_and_archive_first(service: DashboardService) -> None:
    id, client = service.create(12), service.signed_in("write")
    service.work(id)
    service.do_jobs()
    page = client.get(f"/projects/{id}").text
    found = [page.index(f'id="step-{n}" href="/projects/{id}{path}"') for n, path in
              enumerate(("/export", "/export/report", "/audit", "/archive"), start=1)]  # fmt: skip
    assert found == sorted(found)
    assert found[-1] < page.index("accuracy-title")
    assert "What is still to come" not in page
    for path in ("/export", "/audit", "/archive"):
        assert client.get(f"/projects/{id}{path}").status_code == 200


def test_an_empty_project_offers_items_preview_and_invitations(service: DashboardService) -> None:
    id, client = service.create(0), service.signed_in("write")
    page = client.get(f"/projects/{id}").text
    assert all(f'href="/projects/{id}{path}"' in page for path in ("/add", "/preview", "/recruiting"))
    reader = service.signed_in("read").get(f"/projects/{id}").text
    assert 'id="step-1"' not in reader


def test_a_spent_budget_is_named(service: DashboardService) -> None:
    id, client = service.create(20, costs={"prices": {"crowd": 0.05}, "budget": 0.5}), service.signed_in()
    service.work(id)
    page = client.get(f"/projects/{id}").text
    assert "The budget is spent" in page
    assert f'href="/projects/{id}/settings"' in page
