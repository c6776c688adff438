"""The pages of the service: what each is called, and how it is opened in a browser."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page

from docs.gallery.site import Site

Show = Callable[[Site, Page], None]
SETTLE_MS = 400  # until a second key press counts
STEPS = 7  # of the wizard
TABLE = "name,text,gold\n" + "".join(
    f"review-{n},A film about the number {n}.,{('For', 'Against', '', '')[n % 4]}\n" for n in range(12)
)


class Shot(NamedTuple):
    """A page of the service: the name of its picture, what it is, and how it is opened."""

    name: str
    title: str
    show: Show
    is_worker: bool = False  # who is not signed in as a requester


def _open(path: str, project: str = "running") -> Show:
    def show(site: Site, page: Page) -> None:
        page.goto(site.address + path.format(id=site.projects[project], hit=site.hit, study=site.study))

    return show


def _first_link(path: str, pattern: str, more: str = "") -> Show:
    """The first page of this kind that a list links to, or one below it."""

    def show(site: Site, page: Page) -> None:
        _open(path)(site, page)
        addresses = page.eval_on_selector_all("main a", "links => links.map(link => link.href)")
        page.goto(next(address for address in addresses if re.search(pattern, address)) + more)

    return show


# The wizard


def _step(step: int) -> Show:
    """A step of the wizard of a new project, after a table was uploaded."""

    def show(site: Site, page: Page) -> None:
        page.goto(f"{site.address}/projects/new")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "reviews.csv")
            file.write_text(TABLE)
            page.locator("#files").set_input_files(file)
            page.locator(".setup-preview").wait_for()
            page.get_by_role("button", name="Use these as the answers").click()
            for reached in range(2, step + 1):
                page.get_by_role("button", name="Next", exact=True).click()
                page.locator(f"#part-{reached}").wait_for()
                if reached == 2:
                    page.get_by_label("Name of the project").fill("Film reviews")

    return show


# What requesters do


def _drawn_audit(site: Site, page: Page) -> None:
    _open("/projects/{id}/audit", "finished")(site, page)
    if page.get_by_label("Items to check").is_visible():
        page.get_by_label("Items to check").fill("5")
        page.get_by_role("button", name="Draw the items").click()
        page.locator(".audit-deck").wait_for()


def _check(site: Site, page: Page) -> None:
    _open("/projects/{id}")(site, page)
    page.get_by_role("link", name="Check items here").click()
    page.wait_for_url("**/check*")


def _removed_audit(site: Site, page: Page) -> None:
    _drawn_audit(site, page)
    _open("/projects/{id}/audit/remove", "finished")(site, page)


def _report(end: str) -> Show:
    def show(site: Site, page: Page) -> None:
        _open("/projects/{id}/export/report", "finished")(site, page)
        page.get_by_role("link", name="Open the report").wait_for(timeout=60_000)
        if end:
            _open(f"/projects/{{id}}/export/report{end}", "finished")(site, page)

    return show


def _wrong(site: Site, page: Page) -> None:
    _open("/projects/{id}/items/999999")(site, page)


# What workers see


def _consent(site: Site, page: Page) -> None:
    page.goto(site.links["running"])


def _instructions(site: Site, page: Page) -> None:
    _consent(site, page)
    page.get_by_role("button", name="I agree").click()
    page.wait_for_url("**/instructions")


def _quiz(site: Site, page: Page) -> None:
    _instructions(site, page)
    page.locator("main .btn--primary").click()
    page.wait_for_url("**/quiz")


def _failed(site: Site, page: Page) -> None:
    _quiz(site, page)
    for _ in range(2):
        for wrong in ("Against", "For"):
            page.locator(f'input[name="answer-{int(wrong == "For")}"][value="{wrong}"]').check()
        page.locator("form .btn--primary").click()
        page.wait_for_load_state()


def _link(project: str) -> Show:
    def show(site: Site, page: Page) -> None:
        page.goto(site.links[project])

    return show


def _label(project: str) -> Show:
    def show(site: Site, page: Page) -> None:
        page.goto(site.links[project])
        page.locator("main .btn--primary").first.click()
        page.wait_for_url("**/label")
        page.locator("article.item:not([hidden])").wait_for()

    return show


def _after(project: str, answers: int) -> Show:
    """What a worker sees after so many answers."""

    def show(site: Site, page: Page) -> None:
        _label(project)(site, page)
        for _ in range(answers):
            page.wait_for_timeout(SETTLE_MS)
            page.keyboard.press("1")
        page.wait_for_url("**/done")

    return show


def _paused(site: Site, page: Page) -> None:
    _label("share")(site, page)
    page.keyboard.press("p")
    page.wait_for_url("**/pause")


def _held(site: Site, page: Page) -> None:
    """All items are held by others."""
    holder = site.worker("held", site.invite("held"))
    holder.send("GET", "/api/next?n=5")
    holder.close()
    page.goto(site.links["held"])


def _wrong_link(site: Site, page: Page) -> None:
    page.goto(site.links["share"][:-4])


SHOTS = (
    Shot("projects", "All projects", _open("/projects")),
    Shot("archive", "Projects in the archive", _open("/projects/archive")),
    Shot("new", "A new project", _open("/projects/new")),
    Shot("new-items", "A new project: items", _step(1)),
    Shot("new-question", "A new project: question and answers", _step(2)),
    Shot("new-instructions", "A new project: what workers read", _step(3)),
    Shot("new-costs", "A new project: what mistakes cost", _step(4)),
    Shot("new-deciding", "A new project: who decides", _step(5)),
    Shot("new-workers", "A new project: workers and limits", _step(6)),
    Shot("new-summary", "A new project: summary", _step(STEPS)),
    Shot("new-label-studio", "A new project from Label Studio", _open("/projects/new/label-studio")),
    Shot("duplicate", "A project is duplicated", _open("/projects/{id}/duplicate")),
    Shot("preview", "Preview as a worker", _open("/projects/{id}/preview")),
    Shot("preview-label", "Preview as a worker: items", _open("/projects/{id}/preview/label")),
    Shot("overview", "A project that is running", _open("/projects/{id}")),
    Shot("overview-finished", "A project that is finished", _open("/projects/{id}", "finished")),
    Shot("overview-empty", "A project without items", _open("/projects/{id}", "empty")),
    Shot("add", "Items are added", _open("/projects/{id}/add")),
    Shot("import", "Items are imported", _open("/projects/{id}/import")),
    Shot("items", "All items", _open("/projects/{id}/items")),
    Shot("item", "Why an item is decided", _first_link("/projects/{id}/items", r"/items/[0-9]+$")),
    Shot("item-delete", "An item is deleted",
         _first_link("/projects/{id}/items", r"/items/[0-9]+$", "/delete")),
    Shot("review", "Decisions are reviewed", _open("/projects/{id}/review")),
    Shot("check", "Known answers are given", _check),
    Shot("workers", "All workers", _open("/projects/{id}/workers")),
    Shot("worker", "One worker", _first_link("/projects/{id}/workers", r"/workers/[0-9]+$")),
    Shot("worker-block", "A worker is blocked",
         _first_link("/projects/{id}/workers", r"/workers/[0-9]+$", "/block")),
    Shot("worker-erase", "A worker is erased",
         _first_link("/projects/{id}/workers", r"/workers/[0-9]+$", "/erase")),
    Shot("recruiting", "Where workers come from", _open("/projects/{id}/recruiting")),
    Shot("hit-new", "A HIT is created", _open("/projects/{id}/recruiting/hits/new")),
    Shot("hit", "A HIT", _open("/projects/{id}/recruiting/hits/{hit}")),
    Shot("study-new", "A study on Prolific is drafted", _open("/projects/{id}/recruiting/studies/new")),
    Shot("study", "A study on Prolific", _open("/projects/{id}/recruiting/studies/{study}")),
    Shot("label-studio", "A project of Label Studio is connected", _open("/projects/{id}/label-studio")),
    Shot("links", "Invitations", _open("/projects/{id}/links")),
    Shot("link", "One invitation", _first_link("/projects/{id}/links", r"/links/[^/]+$")),
    Shot("audit", "An audit", _open("/projects/{id}/audit")),
    Shot("audit-drawn", "An audit with items to check", _drawn_audit),
    Shot("audit-remove", "An audit is deleted", _removed_audit),
    Shot("export", "Exports", _open("/projects/{id}/export", "finished")),
    Shot("report", "The report is made", _report("")),
    Shot("report-open", "The report", _report("/open")),
    Shot("settings", "Settings of a project", _open("/projects/{id}/settings")),
    Shot("notifications", "Notifications", _open("/projects/{id}/notifications")),
    Shot("team", "Who may do what", _open("/projects/{id}/members")),
    Shot("team-remove", "A member leaves a project",
         _first_link("/projects/{id}/members", r"/members/[^/]+/remove$")),
    Shot("log", "Who did what in a project", _open("/projects/{id}/log")),
    Shot("close", "A project is stopped", _open("/projects/{id}/close")),
    Shot("archive-one", "A project is archived", _open("/projects/{id}/archive", "finished")),
    Shot("delete", "A project is deleted", _open("/projects/{id}/delete")),
    Shot("keys", "Keys", _open("/keys")),
    Shot("key-revoke", "A key is revoked", _first_link("/keys", r"/keys/[^/]+/revoke$")),
    Shot("members", "Members", _open("/members")),
    Shot("member-remove", "A member leaves the service", _first_link("/members", r"/members/[^/]+/remove$")),
    Shot("log-all", "Who did what", _open("/log")),
    Shot("wrong-address", "A page that is not there", _wrong),
    Shot("sign-in", "Signing in", _open("/login"), True),
    Shot("worker-consent", "Consent", _consent, True),
    Shot("worker-instructions", "Instructions", _instructions, True),
    Shot("worker-quiz", "The quiz", _quiz, True),
    Shot("worker-failed", "The quiz was not passed", _failed, True),
    Shot("worker-text", "A text", _label("share"), True),
    Shot("worker-arabic", "The page in Arabic", _label("arabic"), True),
    Shot("worker-image", "An image", _label("images"), True),
    Shot("worker-sound", "A sound", _label("sounds"), True),
    Shot("worker-many", "Many classes", _label("many"), True),
    Shot("worker-criteria", "Several questions about an item", _label("criteria"), True),
    Shot("worker-pause", "A break", _paused, True),
    Shot("worker-done", "The share is done", _after("share", 3), True),
    Shot("worker-complete", "The study is complete", _link("finished"), True),
    Shot("worker-wait", "Nothing now", _held, True),
    Shot("worker-wrong-link", "A link that does not work", _wrong_link, True),
)  # fmt: skip
