"""The page in a real browser, opened from the disk."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.aggregation import suggest_gold
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting import report
from crowdpilot.reporting.advice import recommend

CHROMIUM = shutil.which("chromium")
pytest.importorskip("playwright")
pytestmark = [
    pytest.mark.thorough,  # needs a browser
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not on this machine"),
]

QUIET = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Any, page: Callable[[str], str], tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open the page of a crowd; afterwards nothing has been logged and nothing else asked for."""
    asked, trouble = set(), []
    file = tmp_path / "report.html"

    def show(name: str, width: int = 1280) -> Any:
        file.write_text(page(name))
        tab = browser.new_page(viewport={"width": width, "height": 900})
        tab.on("console", lambda message: trouble.append(message.text))
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        tab.on("dialog", lambda dialog: trouble.append(dialog.message))
        tab.on("request", lambda request: asked.add(request.url))
        tab.goto(file.as_uri())
        return tab

    yield show
    assert trouble == []
    assert {url for url in asked if not url.startswith(("data:", "blob:"))} == {file.as_uri()}


def download(page: Any, button: Any, file: Path) -> list[dict[str, str]]:
    """The rows of what a button gives."""
    with page.expect_download() as waiting:
        button.click()
    assert waiting.value.suggested_filename == file.name
    waiting.value.save_as(file)
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def cells(page: Any, table: str, column: str) -> list[str]:
    """What stands in a column, from top to bottom."""
    script = """([table, column]) => {
      const box = document.getElementById(`table-${table}`);
      const heads = [...box.querySelectorAll("th")].map((head) => head.innerText.trim());
      const place = heads.findIndex((head) => head.startsWith(column));
      return [...box.querySelectorAll("tbody tr")].map((row) => row.cells[place].innerText.trim());
    }"""
    found: list[str] = page.evaluate(script, [table, column])
    return found


def numbers(texts: list[str]) -> list[float]:
    return [float(text.replace("−", "-").replace(",", "").replace("<", "")) for text in texts]


def test_a_click_on_a_head_sorts_and_another_turns_it_round(open_page: Any, whole: Diagnosis) -> None:
    page = open_page("all there is")
    head = page.locator("#table-workers th", has_text="skill")
    assert head.get_attribute("aria-sort") == "none"
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    down = numbers(cells(page, "workers", "skill"))
    assert down == sorted(down, reverse=True)
    assert down[0] == pytest.approx(100 * whole.workers["skill"].max(), abs=0.05)
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    up = numbers(cells(page, "workers", "skill"))
    assert up == sorted(up)


def test_numbers_sort_as_numbers_and_names_in_natural_order(open_page: Any, whole: Diagnosis) -> None:
    page = open_page("all there is")
    page.locator("#table-tasks th button", has_text="task").first.click()
    assert cells(page, "tasks", "task") == [str(n) for n in range(20)]


def test_what_is_not_known_comes_last_both_ways(open_page: Any, whole: Diagnosis) -> None:
    page = open_page("all there is")
    button = page.locator("#table-workers th", has_text="flags").locator("button")
    for _ in range(2):
        button.click()
        flagged = [bool(flags) for flags in cells(page, "workers", "flags")]
        assert flagged == sorted(flagged, reverse=True)


def test_the_search_finds_rows_and_says_how_many(open_page: Any, whole: Diagnosis) -> None:
    page = open_page("all there is")
    page.locator("#table-workers input[type=search]").fill("SPAMMER")
    spammers = int(whole.flags["spammer"].sum())
    assert page.locator("#table-workers .shown").inner_text() == f"{spammers} of 40 workers"
    assert all("spammer" in flags for flags in cells(page, "workers", "flags"))
    page.locator("#table-workers input[type=search]").fill("no such worker")
    assert cells(page, "workers", "worker") == []
    assert page.locator("#table-workers .where").inner_text() == "nothing found"


def test_pages_are_turned(open_page: Any, whole: Diagnosis) -> None:
    page = open_page("all there is")
    seen = cells(page, "tasks", "review")
    where = page.locator("#table-tasks .where")
    assert where.inner_text() == "1–20 of 400"
    page.locator("#table-tasks .next").click()
    assert where.inner_text() == "21–40 of 400"
    seen += cells(page, "tasks", "review")
    assert seen == [str(n) for n in range(1, 41)]
    page.locator("#table-tasks .previous").click()
    assert page.locator("#table-tasks .previous").is_disabled()


def test_flagged_workers_can_be_shown_alone(open_page: Any, whole: Diagnosis) -> None:
    page = open_page("all there is")
    page.get_by_label("flagged only").check()
    flagged = int((whole.workers["flags"] != "").sum())
    assert page.locator("#table-workers .shown").inner_text() == f"{flagged} of 40 workers"
    assert all(cells(page, "workers", "flags"))


def test_all_columns_can_be_shown(open_page: Any, whole: Diagnosis) -> None:
    page = open_page("all there is")
    box = page.locator("#table-workers")
    box.get_by_label("all columns").check()
    assert box.locator("th").count() == len(whole.workers)


def test_what_is_shown_can_be_downloaded(open_page: Any, whole: Diagnosis, tmp_path: Path) -> None:
    page = open_page("all there is")
    page.locator("#table-workers input[type=search]").fill("drifting")
    rows = download(page, page.locator("#table-workers .csv"), tmp_path / "workers.csv")
    assert {row["worker"] for row in rows} == {str(w) for w in whole.flags["drifting"].nonzero()[0]}
    assert set(rows[0]) == set(whole.workers)


def test_an_action_gives_its_file(open_page: Any, whole: Diagnosis, tmp_path: Path) -> None:
    page = open_page("all there is")
    button = page.get_by_role("button", name="Download exclude.csv")
    rows = download(page, button, tmp_path / "exclude.csv")
    out = next(action.rows for action in recommend(whole) if action.file == "exclude.csv")
    assert [row["worker"] for row in rows] == [str(w) for w in out]


def test_the_tasks_to_check_are_a_table_to_fill_in(browser: Any, of: Any, tmp_path: Path) -> None:
    diagnosis = of("seconds and times")
    page = browser.new_page()
    page.goto(report(diagnosis, tmp_path / "report.html").as_uri())
    rows = download(page, page.get_by_role("button", name="Download check.csv"), tmp_path / "check.csv")
    suggested = suggest_gold(diagnosis.result, None).tasks.tolist()
    assert {row["task"] for row in rows} == {str(task) for task in suggested}
    assert {tuple(row) for row in rows} == {("task", "truth")}
    assert {row["truth"] for row in rows} == {""}


def test_names_do_no_harm(open_page: Any, nasty: Diagnosis, tmp_path: Path) -> None:
    page = open_page("nasty names")
    page.locator("#table-workers th button", has_text="worker").click()
    assert "<script>alert('worker')</script>" in cells(page, "workers", "worker")
    rows = download(page, page.locator("#table-workers .csv"), tmp_path / "workers.csv")
    assert {row["worker"] for row in rows} == set(nasty.votes.workers)


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_is_never_wider_than_the_window(width: int, open_page: Any) -> None:
    page = open_page("nasty names", width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
