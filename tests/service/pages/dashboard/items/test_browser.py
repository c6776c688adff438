"""Items and workers in a browser: a review by keyboard alone, the export that follows, a block."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crowdpilot.service.store import items, workers
from crowdpilot.service.store.answers import comments
from crowdpilot.service.store.requesters import reviews
from tests.service.harness.accessibility import axe
from tests.service.harness.dashboard import DashboardService, sign_in
from tests.service.harness.service import CRITERIA, create_project

pytestmark = pytest.mark.thorough  # needs a browser


def shown(page: Any) -> str:
    return str(page.locator("input[name=item]").get_attribute("value"))


def press(page: Any, key: str) -> None:
    """Press a key that leads to another page, and wait for it."""
    with page.expect_navigation():
        page.keyboard.press(key)


def reviewed(site: DashboardService, id: str, name: str) -> Any:
    with site.store.reading() as c:
        return reviews.find(c, id, [name])[name]


def test_items_are_reviewed_by_keyboard_alone(site: DashboardService, page: Any) -> None:
    id = site.create(6)
    site.work(id, votes=9)
    sign_in(page, site)
    page.goto(f"{site.settings.address}/projects/{id}/review")
    axe(page)
    first = shown(page)
    page.keyboard.press("Enter")  # nothing is chosen yet
    page.get_by_text("Choose an answer first.").wait_for()
    page.keyboard.press("2")
    press(page, "Enter")
    assert reviewed(site, id, first).override["label"] == "Positive"
    second = shown(page)
    assert second != first
    press(page, "s")
    assert reviewed(site, id, second).override is None
    third = shown(page)
    page.keyboard.press("1")
    press(page, "g")
    assert reviewed(site, id, third).gold == "Negative"
    press(page, "u")
    assert reviewed(site, id, third).gold is None
    assert shown(page) == third
    press(page, "a")
    assert reviewed(site, id, third).votes_wanted is not None

    with page.expect_navigation():
        page.goto(f"{site.settings.address}/projects/{id}/items/{reviewed(site, id, first).id}")
    page.get_by_text("ann decided this by hand").wait_for()
    axe(page)
    found = page.request.get(f"{site.settings.address}/projects/{id}/export/decisions.ndjson").text()
    rows = {row["item"]: row for row in map(json.loads, found.splitlines())}
    assert (rows[first]["label"], rows[first]["decided_by"]) == ("Positive", "expert")


def test_criteria_are_chosen_one_after_the_other(site: DashboardService, desktop: Any) -> None:
    new = [{"name": f"p{n}", "content": {"text": f"Paper {n}"}} for n in range(2)]
    id = create_project(site.store, CRITERIA, new)
    sign_in(desktop, site)
    desktop.goto(f"{site.settings.address}/projects/{id}/review")
    name = shown(desktop)
    desktop.keyboard.press("2")
    desktop.keyboard.press("1")
    press(desktop, "Enter")
    assert reviewed(site, id, name).override["label"] == {"human": "yes", "trial": "no"}


def test_flags_are_seen_and_resolved(site: DashboardService, page: Any) -> None:
    id = site.create(6)
    site.work(id, votes=9)
    with site.store.writing() as c:
        item = items.ids_by_name(c, id, ["item-3"])["item-3"]
        comments.write(c, id, item, 0, workers.list_all(c, id)[0].id, text="Which one?", flagged=True)
    sign_in(page, site, "label-ops")
    page.goto(f"{site.settings.address}/projects/{id}/items")
    axe(page)
    page.get_by_role("link", name="Show flagged items").click()
    page.locator(".item-cell a").first.click()
    page.get_by_text("Which one?").wait_for()
    page.goto(f"{site.settings.address}/projects/{id}/review?flags=1")
    page.get_by_role("button", name="Mark as resolved").wait_for()
    axe(page)
    press(page, "r")
    assert page.get_by_role("button", name="Mark as resolved").count() == 0
    page.get_by_text("resolved", exact=True).wait_for()
    with site.store.writing() as c:
        comments.write(c, id, item, 0, workers.list_all(c, id)[0].id, text="Still odd", flagged=True)
    page.goto(f"{site.settings.address}/projects/{id}/items/{item}")
    page.get_by_role("button", name="Mark as resolved").click()
    page.get_by_text("resolved", exact=True).wait_for()


def test_a_worker_is_blocked_after_a_preview(site: DashboardService, page: Any) -> None:
    id = site.create(8)
    site.work(id)
    sign_in(page, site, "label-ops")
    page.goto(f"{site.settings.address}/projects/{id}/workers")
    axe(page)
    page.get_by_role("link", name="Worker 1", exact=True).click()
    page.get_by_label("Notes about this worker").fill("Answers very fast.")
    page.get_by_role("button", name="Save notes").click()
    axe(page)
    page.get_by_role("link", name="Block…").click()
    assert "Without them" in page.locator("#preview").inner_text()
    axe(page)
    page.get_by_text("Leave them out").click()
    page.get_by_role("button", name="Block this worker").click()
    page.get_by_text("Their answers are left out of all decisions").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    with site.store.reading() as c:
        row = workers.list_all(c, id)[0]
    assert (row.state, row.trusted, row.notes) == ("blocked", False, "Answers very fast.")


def test_items_are_checked_by_keyboard_alone(site: DashboardService, page: Any) -> None:
    id = site.create(40)
    site.work(id)
    sign_in(page, site, "write")
    page.goto(f"{site.settings.address}/projects/{id}")
    page.get_by_role("link", name="Check items here").click()
    axe(page)
    first = shown(page)
    page.keyboard.press("Enter")  # nothing is chosen yet
    page.get_by_text("Choose an answer first.").wait_for()
    page.keyboard.press("1")
    press(page, "Enter")
    assert reviewed(site, id, first).gold == "Negative"
    second = shown(page)
    assert second != first
    press(page, "s")
    assert reviewed(site, id, second).gold is None
    press(page, "u")
    assert (shown(page), reviewed(site, id, first).gold) == (first, None)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
