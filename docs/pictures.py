"""Take the screenshots of the docs, of the service and of a report: `make pictures`.

`images/taken.json` has a digest of the files that each shows, so that a test detects one that is out of date.
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
from crowdpilot.service.store.requesters import keys, members
from docs.gallery import sheets
from docs.gallery.site import Site, fill
from tests.service.harness.mturk_server import AWS_VARIABLES, MTurk, running_mturk
from tests.service.harness.prolific_server import TOKEN, Prolific, running_prolific

HOME = Path(__file__).parents[1]
IMAGES = HOME / "docs" / "images"
DIGESTS_FILE = IMAGES / "taken.json"
SHOWN_FOLDERS = {  # folders of the templates and styles that each screenshot shows
    "service-label.png": ("crowdpilot/service/pages/templates/worker", "crowdpilot/service/pages/static"),
    "service-dashboard.png": (
        "crowdpilot/service/pages/templates/dashboard",
        "crowdpilot/service/pages/static",
    ),
    "pages/overview.webp": ("crowdpilot/service/pages/templates", "crowdpilot/service/pages/static"),
    "report.png": ("crowdpilot/reporting",),
    "report_workers.png": ("crowdpilot/reporting",),
}
DESKTOP, PHONE = (1280, 800), (390, 844)
ITEMS = 400
MAX_HEIGHT_PIXELS = 1700
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
    """Take the screenshots of a report, then of a service in which a simulated crowd votes."""
    with tempfile.TemporaryDirectory() as folder:
        report.measure(Path(folder))
        report.browse(Path(folder) / "report.html", IMAGES / "report.png")
    with tempfile.TemporaryDirectory() as folder:
        port = free_port("127.0.0.1")
        database, address = str(Path(folder) / "a.db"), f"https://127.0.0.1:{port}"  # MTurk shows https only
        settings = load_settings(database, address, limits=False)
        store = open_store(settings.database)
        with store.writing() as c:
            key = keys.create(c, members.find_or_create(c, "docs", operator=True).id, "docs", "admin")
        links = [login_link(store, settings) for _ in range(2)]
        store.close()

        def ready(_: str) -> None:
            address = f"http://127.0.0.1:{port}"
            try:
                screenshots_of_pages(Site(address, key), mturk, prolific, links[0], chromium)
                screenshots_of_service(address, key, links[1], chromium)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)

        with running_mturk() as mturk, running_prolific() as prolific:
            os.environ.update(AWS_VARIABLES, AWS_ENDPOINT_URL_MTURK=mturk.address)
            os.environ.update(PROLIFIC_URL=prolific.address, PROLIFIC_TOKEN=TOKEN)
            supervise(settings, host="127.0.0.1", port=port, ready=ready)
    DIGESTS_FILE.write_text(json.dumps(digests(), indent=2) + "\n")


def screenshots_of_pages(site: Site, mturk: MTurk, prolific: Prolific, link: str, chromium: str) -> None:
    """Save a sheet of every page of the service, and the page of the docs that shows them."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        fill(site, mturk, prolific)
        sheets.take(browser, site, link, IMAGES / "pages")
        site.close()
        browser.close()
    sheets.write_page(HOME / "docs" / "pages.md")


def screenshots_of_service(address: str, key: str, link: str, chromium: str) -> None:
    """Save the labelling page with a text, and the dashboard while a simulated crowd votes."""
    requester = Client(address, {"X-API-Key": key})
    project = requester.send("POST", "/api/projects", FILMS)
    requester.send(
        "POST", f"/api/projects/{project['id']}/items", {"items": [{"text": text} for text in SENTENCES]}
    )
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        screens = ((DESKTOP, "light"), (PHONE, "dark"))
        link_to_work = project["link"].replace("https:", "http:")
        shots = [screenshot(open_page(browser, size, scheme), link_to_work) for size, scheme in screens]
        save_side_by_side(shots, "service-label.png")
        desktop = open_page(browser, DESKTOP, "light")
        desktop.goto(f"{address}{link}")
        desktop.wait_for_url("**/projects")
        phone = open_page(browser, PHONE, "dark", desktop.context.storage_state())
        done: list[str] = []

        def on_progress(project: str, decided: int, _: int) -> None:
            if decided > 0.6 * ITEMS and not done:
                done.append(project)
                page = f"{address}/projects/{project}"
                shots = [screenshot(desktop, page, full=True), screenshot(phone, page, full=True)]
                save_side_by_side(shots, "service-dashboard.png")

        run_demo(address, key, seconds=60, items=ITEMS, on_progress=on_progress)
        browser.close()


def digests() -> dict[str, str]:
    """Digests of the files that each screenshot shows, as they are now."""

    def digest(folders: tuple[str, ...]) -> str:
        files = (path for folder in folders for path in sorted((HOME / folder).rglob("*")))
        shown = (path for path in files if path.suffix in {".html", ".css", ".js", ".svg"})
        return hashlib.sha256(b"\0".join(path.read_bytes() for path in shown)).hexdigest()[:16]

    return {name: digest(folders) for name, folders in SHOWN_FOLDERS.items()}


def open_page(browser: Browser, size: tuple[int, int], scheme: Any, cookies: Any = None) -> Page:
    """A browser page of this size and colour scheme, with the cookies of an earlier one."""
    screen = {"width": size[0], "height": size[1]}
    return browser.new_context(viewport=screen, color_scheme=scheme, storage_state=cookies).new_page()


def screenshot(page: Page, address: str, full: bool = False) -> Image.Image:
    """A screenshot of an address; of the first item, if it is the address for workers."""
    page.goto(address)
    if "/w/" in page.url:
        page.click("main .btn--primary")
    page.wait_for_timeout(1000)
    if full:
        page.keyboard.press("End")  # images further down are loaded when they become visible
        page.wait_for_timeout(1000)
        page.keyboard.press("Home")
        page.wait_for_timeout(500)
    shot = Image.open(io.BytesIO(page.screenshot(full_page=full)))
    return shot.crop((0, 0, shot.width, min(shot.height, MAX_HEIGHT_PIXELS)))


def save_side_by_side(shots: list[Image.Image], name: str) -> None:
    """Save screenshots side by side on a plain background, scaled down for a page."""
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
