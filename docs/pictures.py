"""Take the pictures that the docs show, of the service and of a report: `make pictures`.

`images/taken.json` remembers what each was taken of, so that a test can tell when one is out of date.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import report
from crowdpilot.cli.commands.serve import free_port, login_link
from crowdpilot.cli.shared.service_options import open_store
from crowdpilot.service.demo import run_demo
from crowdpilot.service.demo.client import Client
from crowdpilot.service.processes import supervise
from crowdpilot.service.settings import load_settings
from crowdpilot.service.store import keys

HOME = Path(__file__).parents[1]
IMAGES = HOME / "docs" / "images"
TAKEN = IMAGES / "taken.json"
LOOKS = {  # the files that decide how a picture looks
    "service-label.png": ("crowdpilot/service/pages/templates/worker", "crowdpilot/service/pages/static"),
    "service-dashboard.png": (
        "crowdpilot/service/pages/templates/dashboard",
        "crowdpilot/service/pages/static",
    ),
    "report.png": ("crowdpilot/reporting",),
    "report_workers.png": ("crowdpilot/reporting",),
}
DESKTOP, PHONE = (1280, 800), (390, 844)
ITEMS = 400
LONGEST = 1700  # pixels
FILMS = {
    "name": "What do people say of films?",
    "classes": ["Against", "Neither", "For"],
    "question": "Is the writer for or against the film?",
    "instructions": "Read the sentence and say what its writer thinks of the film.",
    "batch": 1,
}
SENTENCES = [
    "The story goes nowhere and takes its time, but what a cast to do it with.",
    "Warm, funny, too soon over.",
]


def main(chromium: str) -> None:
    """Photograph a report; start a service, let a crowd work in it, and photograph that."""
    with tempfile.TemporaryDirectory() as folder:
        report.measure(Path(folder))
        report.browse(Path(folder) / "report.html", IMAGES / "report.png")
    with tempfile.TemporaryDirectory() as folder:
        port = free_port("127.0.0.1")
        settings = load_settings(str(Path(folder) / "a.db"), f"http://127.0.0.1:{port}", limits=False)
        store = open_store(settings.database)
        with store.writing() as c:
            key = keys.create(c, "docs", "admin")
        link = login_link(store, settings)
        store.close()

        def ready(address: str) -> None:
            try:
                photograph(address, key, link, chromium)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)

        supervise(settings, host="127.0.0.1", port=port, ready=ready)
    TAKEN.write_text(json.dumps(digests(), indent=2) + "\n")


def photograph(address: str, key: str, link: str, chromium: str) -> None:
    """The labelling page while a text waits, and the dashboard while a crowd works."""
    office = Client(address, {"X-API-Key": key})
    made = office.send("POST", "/api/projects", FILMS)
    office.send(
        "POST", f"/api/projects/{made['id']}/items", {"items": [{"text": text} for text in SENTENCES]}
    )
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        looks = ((DESKTOP, "light"), (PHONE, "dark"))
        labels = [shoot(visit(browser, size, scheme), made["link"]) for size, scheme in looks]
        beside(labels, "service-label.png")
        desktop = visit(browser, DESKTOP, "light")
        desktop.goto(f"{address}{link}")
        desktop.wait_for_url("**/projects")
        phone = visit(browser, PHONE, "dark", desktop.context.storage_state())
        taken: list[str] = []

        def on_progress(project: str, decided: int, _: int) -> None:
            if decided > 0.6 * ITEMS and not taken:
                taken.append(project)
                page = f"{address}/projects/{project}"
                beside(
                    [shoot(desktop, page, full=True), shoot(phone, page, full=True)], "service-dashboard.png"
                )

        run_demo(address, key, seconds=60, items=ITEMS, on_progress=on_progress)
        browser.close()


def digests() -> dict[str, str]:
    """What each picture would be taken of now, as a digest of the files that decide its look."""

    def digest(folders: tuple[str, ...]) -> str:
        files = (path for folder in folders for path in sorted((HOME / folder).rglob("*")))
        looks = (path for path in files if path.suffix in {".html", ".css", ".js", ".svg"})
        return hashlib.sha256(b"\0".join(path.read_bytes() for path in looks)).hexdigest()[:16]

    return {name: digest(folders) for name, folders in LOOKS.items()}


def visit(browser: Browser, size: tuple[int, int], scheme: Any, kept: Any = None) -> Page:
    """A screen of this size, with cookies that were kept."""
    screen = {"width": size[0], "height": size[1]}
    return browser.new_context(viewport=screen, color_scheme=scheme, storage_state=kept).new_page()


def shoot(page: Page, address: str, full: bool = False) -> Image.Image:
    """What a person sees who opens an address, and goes on to the items if it is a worker's."""
    page.goto(address)
    if "/w/" in page.url:
        page.click("main .btn--primary")
    page.wait_for_timeout(1000)
    if full:
        page.keyboard.press("End")  # pictures further down are loaded when one goes there
        page.wait_for_timeout(1000)
        page.keyboard.press("Home")
        page.wait_for_timeout(500)
    found = Image.open(io.BytesIO(page.screenshot(full_page=full)))
    return found.crop((0, 0, found.width, min(found.height, LONGEST)))


def beside(shots: list[Image.Image], name: str) -> None:
    """Pictures side by side on a plain ground, small enough for a page."""
    gap, height = 40, max(shot.height for shot in shots)
    sheet = Image.new("RGB", (sum(s.width + gap for s in shots) + gap, height + 2 * gap), "#d7dce3")
    x = gap
    for shot in shots:
        sheet.paste(shot, (x, gap))
        x += shot.width + gap
    sheet.thumbnail((1400, 1600))
    sheet.quantize(128).save(IMAGES / name, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/chromium")
