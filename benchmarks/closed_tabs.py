"""How long items stay with workers who are gone: `python -m benchmarks.closed_tabs`.

Five workers hold all open items of a project in a real browser, and a sixth waits. Then the five tabs are
closed, or their processes are killed, so that they cannot say anything.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import func, select

from benchmarks.service import databases
from benchmarks.service_hosts import SECRET, Host, serving
from benchmarks.tables import RESULTS, machine, markdown, write
from crowdpilot.service.platforms.invitation_links import sign_invitation
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.store import Store, items, migrate, projects
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.tables import votes
from crowdpilot.service.store.votes import LEASED, VOTED
from tests.equip import chromium

ITEMS, GONE = 60, 5  # items of the project, and workers who leave it
ENDS = "closed", "killed"
DATABASES = "sqlite", "postgresql"
SPEC = {
    "name": "closed tabs", "classes": ["no", "yes"], "question": "Is it?", "batch": 12, "min_answers": ITEMS,
    "plan": {"pilot_votes": 1, "per_item": 1},
}  # fmt: skip
SLIP_MS = 170  # in which the page takes a second press for a slip
POLL_SECONDS = 0.05
MAX_SECONDS = 120.0


class Measured(NamedTuple):
    """Items that the five held, and the seconds until the first and the last was free and one was shown."""

    held: int
    first_free: float
    all_free: float
    shown: float


class Watch:
    """What the database says of a project.

    Parameters
    ----------
    url
        Of the database.
    """

    def __init__(self, url: str) -> None:
        self.store = Store(url)
        migrate(self.store)
        with self.store.writing() as c:
            self.project = projects.create(c, ProjectIn.model_validate(SPEC).model_dump())
            new = [{"name": f"item {n}", "content": {"text": f"Text {n}."}} for n in range(ITEMS)]
            items.add(c, self.project, new)
            row = invitations.create(c, self.project, kind="crowd")
        self.path = f"/w/{self.project}?invite={sign_invitation(SECRET, self.project, row.id)}"

    def count(self, state: str, workers: Sequence[int] = ()) -> int:
        """Leases or votes, of these workers if any are named."""
        own = [votes.c.project == self.project, votes.c.state == state]
        if workers:
            own.append(votes.c.worker.in_(workers))
        with self.store.reading() as c:
            return int(c.execute(select(func.count()).where(*own)).scalar_one())

    def holders(self) -> list[int]:
        """Numbers of the workers who hold items."""
        own = votes.c.project == self.project, votes.c.state == LEASED
        with self.store.reading() as c:
            return [row.worker for row in c.execute(select(votes.c.worker).where(*own).distinct())]


def measure(browsers: Sequence[Browser], host: Host, watch: Watch, ends: str) -> Measured:
    """Let five workers hold what is open, end their tabs, and wait for what becomes of it."""
    address = f"http://{host.host}:{host.port}{watch.path}"
    five = [_open(browsers[0], address) for _ in range(GONE)]
    sixth = _open(browsers[1], address)
    for page in five:
        page.get_by_role("link", name="Start").click()
        page.wait_for_selector(".item:visible")
    while watch.count(LEASED) + watch.count(VOTED) < ITEMS:
        for page in five:
            page.wait_for_timeout(SLIP_MS)
            page.keyboard.press("1")
            page.wait_for_selector(".item:visible")
    sixth.get_by_role("link", name="Start").click()
    sixth.get_by_role("heading", name="Nothing to do right now").wait_for()
    workers, held = watch.holders(), watch.count(LEASED)
    begun = time.monotonic()
    if ends == "closed":
        for page in five:
            page.close()
    else:
        _kill_pages(browsers[0])
    return _await_free(watch, workers, held, sixth, begun)


def _open(browser: Browser, address: str) -> Page:
    page = browser.new_context().new_page()
    page.goto(address)
    return page


def _kill_pages(browser: Browser) -> None:
    for process in browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]:
        if process["type"] == "renderer":
            os.kill(process["id"], signal.SIGKILL)


def _await_free(watch: Watch, workers: list[int], held: int, sixth: Page, begun: float) -> Measured:
    """Poll until the items are free and the sixth worker sees one."""
    first_free = all_free = shown = None
    while None in (first_free, all_free, shown):
        now = time.monotonic() - begun
        if now > MAX_SECONDS:
            raise ValueError(f"items of workers who are gone are not free after {MAX_SECONDS:.0f} seconds")
        left = watch.count(LEASED, workers)
        first_free = now if first_free is None and left < held else first_free
        all_free = now if all_free is None and not left else all_free
        shown = now if shown is None and sixth.locator(".item:visible").count() else shown
        sixth.wait_for_timeout(1000 * POLL_SECONDS)
    return Measured(held, float(first_free or 0), float(all_free or 0), float(shown or 0))


def main(
    rounds: Annotated[int, typer.Option()] = 3, output: Annotated[Path, typer.Option()] = RESULTS
) -> None:
    """Measure both ways to go on both databases."""
    path = chromium()
    if path is None:
        raise ValueError("there is no chromium on this machine; `python -m tests.equip` installs it")
    found: dict[str, list[dict[str, Any]]] = {}
    with sync_playwright() as playwright:
        for kind in DATABASES:
            for ends in ENDS:
                several = [_round(playwright, path, kind, ends) for _ in range(rounds)]
                found[f"{kind}, {ends}"] = [one._asdict() for one in several]
                typer.echo(f"{kind}, {ends}: {several}", err=True)
    write(output, "closed_tabs", render(found, rounds), {"machine": machine(), "rounds": found})


def _round(playwright: Any, path: Path, kind: str, ends: str) -> Measured:
    options = {"executable_path": path, "args": ["--no-sandbox", "--disable-dev-shm-usage"]}
    with databases(kind) as (url, _):
        watch = Watch(url)
        browsers = [playwright.chromium.launch(**options) for _ in range(2)]
        try:
            with serving(url) as host:
                return measure(browsers, host, watch, ends)
        finally:
            for browser in browsers:
                browser.close()
            watch.store.close()


def render(found: dict[str, list[dict[str, Any]]], rounds: int) -> str:
    """The page of results."""
    text = (
        "# Tabs that are closed\n\n"
        f"`python -m benchmarks.closed_tabs`: {GONE} workers hold all open items of a project of {ITEMS} "
        "in a browser, and a sixth worker waits. Then the five tabs are closed, or their processes are "
        "killed so that they cannot say anything. Seconds from then until the first and the last of the "
        "items is free "
        "for others, and until the sixth worker sees one; the page that waits looks again every five "
        f"seconds. Medians of {rounds} rounds, with the longest in brackets; the default lease of a project, "
        f"one web process and one for jobs, on {machine()}.\n\n"
    )
    rows = [
        [name, str(round(float(np.median([one["held"] for one in several]))))]
        + [_seconds([one[column] for one in several]) for column in COLUMNS.values()]
        for name, several in found.items()
    ]
    return text + markdown(["The five tabs are", "items held", *COLUMNS], rows)


COLUMNS = {"first is free": "first_free", "all are free": "all_free", "sixth sees one": "shown"}


def _seconds(values: Sequence[float]) -> str:
    return f"{np.median(values):.1f} ({max(values):.1f})"


if __name__ == "__main__":
    typer.run(main)
