"""From an empty server to a running study, by clicks alone: texts, images, sounds, criteria, Prolific."""

from __future__ import annotations

import io
import re
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crowdpilot.datasets.sets.digits import load_digits, to_png
from tests.service.harness.accessibility import axe
from tests.service.harness.dashboard import DashboardService, sign_in

pytestmark = pytest.mark.thorough  # needs a browser
ITEMS = 6


class Study(NamedTuple):
    """What is typed into the form of a project, and how its workers come."""

    files: Callable[[Path], list[Path]]
    classes: tuple[str, ...]
    question: str = "What is it?"
    criteria: tuple[str, ...] = ()
    is_prolific: bool = False


def texts(folder: Path) -> list[Path]:
    file = folder / "reviews.csv"
    rows = [f"review-{n},A film about the number {n},{'For' if n < 2 else ''}\n" for n in range(ITEMS)]
    file.write_text("name,text,gold\n" + "".join(rows))
    return [file]


def plain_texts(folder: Path) -> list[Path]:
    file = folder / "abstracts.csv"
    file.write_text("name,text\n" + "".join(f"paper-{n},Abstract {n}\n" for n in range(ITEMS)))
    return [file]


def images(folder: Path) -> list[Path]:
    digits, _ = load_digits()
    files = [folder / f"digit-{n}.png" for n in range(ITEMS)]
    for n, file in enumerate(files):
        file.write_bytes(to_png(digits[n]))
    return files


def sounds(folder: Path) -> list[Path]:
    files = [folder / f"sound-{n}.wav" for n in range(ITEMS)]
    for n, file in enumerate(files):
        stream = io.BytesIO()
        with wave.open(stream, "wb") as sound:
            sound.setparams((1, 2, 8000, 0, "NONE", ""))
            sound.writeframes(bytes([n, 0]) * 4000)
        file.write_bytes(stream.getvalue())
    return files


STUDIES = {
    "texts": Study(texts, ("Against", "For"), "Is the writer for or against the film?"),
    "images": Study(images, ("three", "five", "eight", "nine"), "Which digit is it?"),
    "sounds": Study(sounds, ("Low", "High"), "Is the tone low or high?"),
    "criteria": Study(plain_texts, ("No", "Yes"), "", ("Adults", "Exercise")),
    "prolific": Study(plain_texts, ("No", "Yes"), "Is it about sport?", is_prolific=True),
}


def go_on(page: Any, title: str) -> None:
    """To the next step of the form, which has this title."""
    page.get_by_role("button", name="Next", exact=True).click()
    page.get_by_role("heading", name=title).wait_for()


def create(page: Any, study: Study, folder: Path) -> str:
    """Fill in the form of a project step by step; the project's id."""
    page.get_by_role("link", name=re.compile("new project|first project", re.IGNORECASE)).first.click()
    page.locator("#files").set_input_files(study.files(folder))
    page.locator("#preview").get_by_text(re.compile(rf"\b{ITEMS}\b")).first.wait_for()
    go_on(page, "Question and answers")
    page.get_by_label("Name of the project").fill("A study")
    page.locator("#question").fill(study.question)
    for n, name in enumerate(study.classes):
        if not page.locator(f"#classes-{n}-name").count():
            page.get_by_role("button", name="Add an answer").click()
        page.locator(f"#classes-{n}-name").fill(name)
    if study.criteria:
        page.get_by_text("Several criteria:").click()
        for n, name in enumerate(study.criteria):
            if not page.locator(f"#criteria-{n}-name").count():
                page.get_by_role("button", name="Add a criterion").click()
            page.locator(f"#criteria-{n}-name").fill(name)
            page.locator(f"#criteria-{n}-question").fill(f"Is it about {name.lower()}?")
    for title in ("What workers read", "What it is worth", "Who decides", "Workers and limits"):
        go_on(page, title)
    page.get_by_label("Answers until a worker is done").fill("3")
    if study.is_prolific:
        page.get_by_label("Prolific", exact=True).check()
        if not page.locator("#prolific_code").is_visible():
            page.get_by_text("Your study on Prolific").click()
        page.locator("#prolific_code").fill("C0DE1234")
    go_on(page, "Is this right?")
    page.get_by_role("button", name="Create the project").click()
    page.wait_for_url(re.compile(r"/projects/[0-9a-f]{12}$"))
    return str(page.url.rpartition("/")[2])


def worker_link(page: Any, study: Study) -> str:
    """The link that a worker opens, as the page of the project shows it."""
    id = page.url.rpartition("/")[2]
    page.get_by_role("link", name="Recruiting").click()
    page.wait_for_url("**/recruiting")
    if not study.is_prolific:
        return str(page.locator("#link-crowd").inner_text().strip())
    shown = str(page.locator("#link-prolific").inner_text().strip())
    assert f"/w/{id}/prolific" in shown
    for name, value in (("PROLIFIC_PID", "5f" * 12), ("STUDY_ID", "6a" * 12), ("SESSION_ID", "7b" * 12)):
        shown = shown.replace("{{%" + name + "%}}", value)
    return shown


def label_a_share(worker: Any, link: str) -> None:
    """A worker comes, answers until their share is done, and sees the code."""
    worker.goto(link)
    worker.get_by_role("link", name="Start").click()
    for n in range(3):
        worker.locator("article.item:not([hidden])").wait_for()
        worker.wait_for_timeout(300)  # a second press at once would be ignored
        if n == 0:
            axe(worker)
        worker.keyboard.press("1") if n else worker.locator(".answer").first.click()
    worker.wait_for_url("**/done")
    assert worker.locator("#code").inner_text().strip()


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_set_up_and_labelled_by_clicks(
    name: str, site: DashboardService, page: Any, open_page: Any, tmp_path: Path
) -> None:
    study = STUDIES[name]
    sign_in(page, site)
    id = create(page, study, tmp_path)
    axe(page)
    link = worker_link(page, study)
    worker = open_page("phone")
    label_a_share(worker, link)
    if study.is_prolific:
        assert worker.locator("#code").inner_text().strip() == "C0DE1234"
        assert worker.get_by_role("link", name="Prolific").get_attribute("href").endswith("cc=C0DE1234")
    page.goto(f"{site.settings.address}/projects/{id}")
    page.wait_for_function("() => document.getElementById('votes')?.textContent.trim() === '3'")
    page.get_by_role("link", name="Workers", exact=True).click()
    assert page.get_by_text("1 worker").first.is_visible()
