"""The wizard and the preview in a browser: from an empty server to a project, by clicks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.store import items, projects
from tests.service.harness.accessibility import axe
from tests.service.harness.dashboard import DashboardService
from tests.service.harness.media import png, wav
from tests.service.harness.service import local_address, sqlite_url
from tests.service.harness.wizard import create_by_clicks

pytestmark = pytest.mark.thorough  # needs a browser


@pytest.fixture
def site(tmp_path: Path) -> Iterator[DashboardService]:
    """A service that listens."""
    made = DashboardService(sqlite_url(tmp_path), local_address())
    with made.listening():
        yield made
    made.close()


def begin(page: Any, site: DashboardService, template: str = "") -> None:
    """Sign in, and open the wizard, perhaps with a template."""
    page.goto(f"{site.settings.address}/login")
    page.get_by_label("API key").fill(site.keys["write"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="New project").click()
    if template:
        page.get_by_role("link", name=template).click()


def spec_of(site: DashboardService, id: str) -> dict[str, Any]:
    with site.store.reading() as c:
        return dict(projects.find(c, id).spec)


@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_texts_become_a_project_by_clicks(
    site: DashboardService, open_page: Any, tmp_path: Path, screen: str
) -> None:
    page, file = open_page(screen), tmp_path / "mails.csv"
    file.write_text(
        "name,text,gold\n" + "".join(f"m{n},Mail {n},{['ham', 'spam', ''][n % 3]}\n" for n in range(30))
    )
    begin(page, site)
    page.locator("#files").set_input_files(file)
    page.get_by_role("button", name="Use these as the answers").click()

    def costs(page: Any) -> None:
        page.locator("#missed").fill("40")
        page.locator("#currency").select_option("EUR")
        page.locator("#budget").fill("12")
        assert "costs EUR 2.00" in page.locator("#costs-meaning").inner_text()

    def summary(page: Any) -> None:
        assert "30 items, 2 answers" in page.locator("#summary").inner_text()

    id = create_by_clicks(page, [file], "Mails", fill={4: costs, 7: summary}, check=True)
    spec = spec_of(site, id)
    assert (sorted(spec["classes"]), spec["plan"]["gold"], spec["costs"]["budget"]) == (
        ["ham", "spam"],
        0.1,
        12,
    )
    assert spec["costs"]["errors"] == [[0, 1], [2, 0]]


@pytest.mark.parametrize(("kind", "template"), [("image", "What pictures show"), ("audio", "Sound events")])
def test_files_become_a_project_by_clicks(
    site: DashboardService, phone: Any, tmp_path: Path, kind: str, template: str
) -> None:
    files = [tmp_path / f"{n}.{'png' if kind == 'image' else 'wav'}" for n in range(3)]
    for n, file in enumerate(files):
        file.write_bytes(png(40, 30 + n) if kind == "image" else wav(hertz=440 + n))
    begin(phone, site, template)
    id = create_by_clicks(phone, files, "Files", check=True)
    with site.store.reading() as c:
        assert [list(row.content) for row in items.all_contents(c, id)] == [[kind]] * 3


def test_criteria_become_a_project_by_clicks_and_a_worker_page_can_be_looked_at(
    site: DashboardService, desktop: Any, tmp_path: Path
) -> None:
    file = tmp_path / "papers.csv"
    file.write_text("text\n" + "".join(f"Abstract {n}\n" for n in range(6)))
    begin(desktop, site, "Screening with criteria")
    id = create_by_clicks(desktop, [file], "Papers")
    assert len(spec_of(site, id)["criteria"]) == 2
    desktop.get_by_role("link", name="Preview as a worker").click()
    desktop.get_by_text("Preview: nothing is recorded.").wait_for()
    axe(desktop)
    desktop.get_by_role("link", name="Start", exact=True).click()
    desktop.locator("#deck .item:visible").wait_for()
    desktop.wait_for_timeout(400)
    desktop.keyboard.press("1")
    desktop.wait_for_function("() => document.getElementById('done').textContent === '1'")
    desktop.keyboard.press("u")
    desktop.wait_for_function("() => document.getElementById('done').textContent === '0'")
    axe(desktop)
    with site.store.reading() as c:
        assert projects.find(c, id).votes == 0


def test_what_is_wrong_is_shown_at_its_step_and_the_keyboard_goes_there(
    site: DashboardService, desktop: Any, tmp_path: Path
) -> None:
    wrong, file = tmp_path / "wrong.csv", tmp_path / "right.csv"
    wrong.write_text("name\nonly a name\n")
    file.write_text("text\nGood.\n")
    begin(desktop, site)
    desktop.locator("#files").set_input_files(wrong)
    desktop.get_by_text("These files cannot be used.").wait_for()
    desktop.locator("#files").set_input_files(file)
    desktop.get_by_text("1 item found").wait_for()
    desktop.get_by_role("button", name="Next", exact=True).press("Enter")
    desktop.locator("#part-2").wait_for()
    desktop.get_by_role("button", name="Next", exact=True).press("Enter")
    desktop.locator("#name-error").wait_for()
    assert desktop.evaluate("document.activeElement.id") == "name"
    axe(desktop)
    assert desktop.locator("#files").evaluate("one => one.files.length") == 1
