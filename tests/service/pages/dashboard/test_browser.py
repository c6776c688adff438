"""The dashboard in a browser: a requester makes a project, watches it finish, and takes the labels home."""

from __future__ import annotations

import csv
import threading
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.store import projects
from tests.service.harness.accessibility import axe, fits
from tests.service.harness.dashboard import DashboardService, sign_in, truth
from tests.service.harness.wizard import create_by_clicks

pytestmark = pytest.mark.thorough  # needs a browser

ITEMS = 30


def test_a_requester_makes_a_project_watches_it_finish_and_exports(
    site: DashboardService, desktop: Any, tmp_path: Path
) -> None:
    file = tmp_path / "reviews.csv"
    file.write_text("name,text\n" + "".join(f"item-{n},Review {n} of a film\n" for n in range(ITEMS)))
    sign_in(desktop, site, "write")
    desktop.get_by_role("link", name="New project").click()
    create_by_clicks(desktop, [file], "Film reviews", ["Negative", "Positive"])
    assert desktop.locator("#votes").inner_text() == "0"
    assert desktop.get_by_text(f"{ITEMS} of {ITEMS} items still open").is_visible()
    project = desktop.url.rpartition("/")[2]
    desktop.evaluate("window.loaded = 'once'")

    crowd = threading.Thread(target=vote_until_done, args=(site, project), daemon=True)
    crowd.start()
    desktop.wait_for_function("() => document.getElementById('votes').textContent !== '0'")
    desktop.locator("[data-status]", has_text=f"all {ITEMS} items are decided").wait_for(timeout=60_000)
    crowd.join(60)
    assert desktop.get_by_text(f"{ITEMS} items, all decided").is_visible()
    assert desktop.locator("#state").inner_text() == "Finished"
    assert desktop.locator("#said").inner_text() == f"Finished: all {ITEMS} items are decided"
    assert int(desktop.locator("#votes").inner_text().replace(",", "")) > ITEMS
    assert desktop.locator("#live .chart-line").count() >= 1
    assert desktop.evaluate("window.loaded") == "once"  # the page was never loaded again

    desktop.get_by_role("link", name="Export", exact=True).click()
    with desktop.expect_download() as waiting:
        desktop.get_by_role("link", name="Labels as CSV").click()
    saved = tmp_path / "decisions.csv"
    waiting.value.save_as(saved)
    with saved.open() as stream:
        found = {row["item"]: row["label"] for row in csv.DictReader(stream)}
    assert found == {f"item-{n}": truth(str(n)) for n in range(ITEMS)}


def vote_until_done(site: DashboardService, project: str) -> None:
    """Workers come as long as something is open."""
    for n in range(20):
        site.work(project, names=(f"ann-{n}", f"ben-{n}", f"cem-{n}"))
        with site.store.reading() as c:
            if projects.find(c, project).done:
                return


def test_nothing_moves_when_numbers_change(site: DashboardService, desktop: Any) -> None:
    """Sentences may come and go with what the answers tell; the numbers stay where they are in their row."""
    id = site.create(20)
    site.work(id, votes=15)
    sign_in(desktop, site, "read")
    desktop.goto(f"{site.settings.address}/projects/{id}")
    boxes = "[...document.querySelectorAll('#live .stat')].map(one => one.getBoundingClientRect())"
    positions = f"{boxes}.flatMap((box, _, all) => [box.left, box.top - all[0].top, box.width])"
    before, votes = desktop.evaluate(positions), desktop.locator("#votes").inner_text()
    assert len(before) >= 12
    site.work(id)
    desktop.wait_for_function("v => document.getElementById('votes').textContent !== v", arg=votes)
    assert desktop.evaluate(positions) == pytest.approx(before, abs=1)


def test_the_keyboard_stays_where_it_is_while_numbers_change(site: DashboardService, desktop: Any) -> None:
    id = site.create(20)
    site.work(id, votes=15)
    sign_in(desktop, site, "read")
    desktop.goto(f"{site.settings.address}/projects/{id}")
    desktop.locator("#to-workers").focus()
    votes = desktop.locator("#votes").inner_text()
    site.work(id)
    desktop.wait_for_function("v => document.getElementById('votes').textContent !== v", arg=votes)
    assert desktop.evaluate("document.activeElement.id") == "to-workers"


def test_who_is_signed_out_meanwhile_is_sent_to_the_door(site: DashboardService, desktop: Any) -> None:
    id = site.create(4)
    sign_in(desktop, site, "read")
    desktop.goto(f"{site.settings.address}/projects/{id}")
    desktop.context.clear_cookies()
    desktop.wait_for_url("**/login")


def test_an_audit_goes_by_number_keys(site: DashboardService, desktop: Any) -> None:
    id = site.create(30)
    vote_until_done(site, id)
    sign_in(desktop, site, "write")
    desktop.goto(f"{site.settings.address}/projects/{id}/audit")
    desktop.get_by_label("Items to check").fill("3")
    desktop.get_by_role("button", name="Draw the items").click()
    for n in range(3):
        desktop.get_by_text(f"{n} of 3", exact=True).wait_for()
        label = truth(desktop.locator(".audit-deck").inner_text())
        desktop.keyboard.press("2" if label == "Positive" else "1")
    desktop.get_by_text("All drawn items are checked.").wait_for()
    assert desktop.get_by_text("0 mistakes found").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_form_of_a_project_is_accessible_with_everything_open(
    site: DashboardService, open_page: Any, scheme: str
) -> None:
    page = open_page("phone", color_scheme=scheme)
    sign_in(page, site)
    page.goto(f"{site.settings.address}/projects/new")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    fits(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_page_without_projects_is_accessible(
    site: DashboardService, open_page: Any, scheme: str
) -> None:
    page = open_page("desktop", color_scheme=scheme)
    sign_in(page, site)
    assert page.get_by_role("heading", name="No projects yet").is_visible()
    axe(page)
