"""A requester at work in a browser: settings that change, review, override, stop, delete; endings."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from tests.service.harness.accessibility import axe
from tests.service.harness.dashboard import DashboardService, sign_in

pytestmark = pytest.mark.thorough  # needs a browser
OPEN = {"guests": {"per_hour": 1000, "per_address": 1000, "checks": 0}}


def start(worker: Any, site: DashboardService, id: str) -> None:
    """A worker opens the link of a project and begins."""
    worker.goto(site.invitation(id))
    worker.get_by_role("link", name="Start").click()
    worker.locator("article.item:not([hidden])").wait_for()


def answer(worker: Any, times: int) -> None:
    for _ in range(times):
        worker.locator("article.item:not([hidden])").wait_for()
        worker.wait_for_timeout(300)  # a second press at once would be ignored
        worker.locator(".answer").first.click()


def test_settings_change_in_the_middle_and_a_worker_sees_it(
    site: DashboardService, page: Any, open_page: Any
) -> None:
    id = site.create(20, batch=5, **OPEN)
    worker = open_page("phone")
    start(worker, site, id)
    answer(worker, 2)
    sign_in(page, site)
    page.goto(f"{site.settings.address}/projects/{id}/settings")
    page.locator("#question").fill("Would the writer see it again?")
    page.get_by_text("Price, budget, mistakes").click()
    page.locator("#price").fill("0.07")
    page.get_by_role("button", name="Save the settings").click()
    page.get_by_text("Saved. Workers see it").wait_for()
    axe(page)
    worker.reload()
    worker.get_by_role("heading", name="Would the writer see it again?").wait_for()
    answer(worker, 3)
    worker.wait_for_url("**/done")
    page.goto(f"{site.settings.address}/projects/{id}/log")
    assert page.get_by_text("settings").first.is_visible()


def test_a_requester_reviews_overrides_stops_and_deletes(
    site: DashboardService, page: Any, open_page: Any, tmp_path: Path
) -> None:
    id = site.create(8, **OPEN)
    site.work(id, votes=10)
    sign_in(page, site)
    home = f"{site.settings.address}/projects/{id}"
    page.goto(home)
    page.get_by_role("link", name="Review", exact=True).click()
    item = page.locator("form#review input[name=item]").input_value()
    axe(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.get_by_text("Decided by you").wait_for()
    page.get_by_role("link", name="Export", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Labels as CSV").click()
    waiting.value.save_as(tmp_path / "decisions.csv")
    with (tmp_path / "decisions.csv").open() as stream:
        rows = {row["item"]: row for row in csv.DictReader(stream)}
    assert rows[item]["label"] == "Negative"
    assert rows[item]["decided_by"] == "expert"

    page.goto(f"{home}/close")
    page.get_by_role("button", name="Stop the project").click()
    page.wait_for_url(home)
    worker = open_page("phone")
    worker.goto(site.invitation(id))
    assert worker.locator("h1").inner_text()  # told before anything else, in plain words
    assert not worker.get_by_role("link", name="Start").count()
    axe(worker)

    page.goto(f"{home}/delete")
    page.get_by_label("Name of the project").fill("Film reviews")
    page.get_by_role("button", name="Delete the project").click()
    page.wait_for_url(re.compile(r"/projects$"))
    assert not page.get_by_text("Film reviews").count()


def test_a_share_that_is_done_ends_with_its_code(site: DashboardService, page: Any) -> None:
    id = site.create(20, batch=3, **OPEN)
    start(page, site, id)
    answer(page, 3)
    page.wait_for_url("**/done")
    assert re.fullmatch(r"[0-9A-Z]{12}", page.locator("#code").inner_text().strip())
    axe(page)


def test_a_newcomer_to_a_finished_project_learns_it_before_the_consent(
    site: DashboardService, page: Any
) -> None:
    id = site.create(6, consent="Please agree.", **OPEN)
    page.goto(site.invitation(id))
    assert page.get_by_role("button", name="I agree").is_visible()
    page.context.clear_cookies()
    site.send("POST", f"/api/projects/{id}/close")
    page.goto(site.invitation(id))
    assert page.locator("h1").inner_text()
    assert not page.get_by_role("button", name="I agree").count()
    axe(page)


def test_who_finds_all_items_held_by_others_is_told_when_to_come_back(
    site: DashboardService, page: Any, open_page: Any
) -> None:
    id = site.create(2, plan={"per_item": 1}, policy="fixed[votes=1]", **OPEN)
    holder = open_page("desktop")
    start(holder, site, id)
    page.goto(site.invitation(id))
    page.locator("main").get_by_text(re.compile(r"second|minute")).first.wait_for()
    axe(page)
    holder.close()  # what they held is free in a moment, and the page goes on by itself
    page.get_by_role("link", name="Start").click(timeout=60_000)
    page.locator("article.item:not([hidden])").wait_for()
