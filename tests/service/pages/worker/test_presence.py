"""The labelling page while its worker is here, away or gone, in real browsers."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from sqlalchemy import select

from crowdpilot.service.store.tables import votes
from tests.service.harness.accessibility import axe
from tests.service.harness.waiting import eventually
from tests.service.harness.worker_pages import PLAIN, WorkerService, press, start_labelling

pytestmark = pytest.mark.thorough  # needs a browser

SIXTY = [{"text": f"Text {n}."} for n in range(60)]
ONE_VOTE_EACH = {**PLAIN, "batch": 6, "min_answers": 60, "plan": {"pilot_votes": 1, "per_item": 1}}
SHORT_LEASE = 6.0  # seconds, in which signs of life are frequent


def held(service: WorkerService) -> int:
    """How many items workers hold, as the database has it."""
    with service.store.reading() as c:
        return len([row for row in c.execute(select(votes)) if row.state == "leased"])


def kill_pages(browser: Any) -> None:
    """End the processes of all pages of a browser, which can do nothing more."""
    running = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    for process in running:
        if process["type"] == "renderer":
            os.kill(process["id"], signal.SIGKILL)


@pytest.mark.parametrize("ends", ["closed", "killed"])
def test_five_tabs_that_are_gone_do_not_stall_a_project_of_sixty_items(
    serve: Any, browser: Any, open_page: Any, ends: str
) -> None:
    lease = 900.0 if ends == "closed" else SHORT_LEASE
    service = serve({**ONE_VOTE_EACH, "lease": lease}, contents=SIXTY)
    gone = [open_page("desktop") for _ in range(5)]
    for page in gone:
        start_labelling(page, service)
        press(page, "1")
    eventually(lambda: len(service.answers()) == 5)
    assert held(service) >= 10
    for page in gone:
        if ends == "closed":
            page.close()
    if ends == "killed":
        kill_pages(browser)
    sixth = open_page("desktop")
    start_labelling(sixth, service)
    for _ in range(200):
        if len({row.item for row in service.answers()}) == 60:
            break
        if sixth.locator(".item:visible").count():
            sixth.wait_for_timeout(170)
            sixth.keyboard.press("1")
        else:
            sixth.wait_for_timeout(250)
    eventually(lambda: len({row.item for row in service.answers()}) == 60)
    sixth.get_by_role("heading", name="Thank you").wait_for()


def test_a_reload_or_a_way_back_keeps_what_the_worker_holds(serve: Any, desktop: Any) -> None:
    service = serve(PLAIN)
    start_labelling(desktop, service)
    first = desktop.locator(".item:visible").inner_text()
    for _ in range(3):
        desktop.reload()
        desktop.wait_for_selector(".item:visible")
        assert desktop.locator(".item:visible").inner_text() == first
    desktop.goto(service.url("/instructions"))
    desktop.go_back()
    desktop.wait_for_selector(".item:visible")
    assert desktop.locator(".item:visible").inner_text() == first
    desktop.wait_for_timeout(7000)  # longer than a page that was closed keeps its items
    assert held(service) == 3
    press(desktop, "1")
    eventually(lambda: len(service.answers()) == 1)


def test_who_does_nothing_for_long_finds_the_page_of_a_break_and_goes_on(serve: Any, desktop: Any) -> None:
    service = serve({**PLAIN, "lease": SHORT_LEASE})
    desktop.clock.install()
    start_labelling(desktop, service)
    desktop.clock.fast_forward("04:00")
    desktop.get_by_role("heading", name="Welcome back").wait_for()
    axe(desktop)
    desktop.get_by_role("link", name="Carry on").click()
    desktop.wait_for_selector(".item:visible")
    desktop.clock.fast_forward(1000)
    desktop.keyboard.press("1")
    eventually(lambda: len(service.answers()) == 1)


def test_after_a_sleep_in_which_items_were_given_back_the_page_gets_others(serve: Any, desktop: Any) -> None:
    service = serve({**PLAIN, "lease": SHORT_LEASE})
    start_labelling(desktop, service)
    with service.store.writing() as c:
        c.execute(votes.update().values(state="returned"))
    assert held(service) == 0
    eventually(lambda: held(service) == 3)
    desktop.wait_for_selector(".item:visible")
    press(desktop, "1")
    eventually(lambda: len(service.answers()) == 1)
    assert not desktop.locator("#problem").is_visible()


def test_a_page_that_waits_goes_on_by_itself_when_an_item_is_free(
    serve: Any, open_page: Any, desktop: Any
) -> None:
    service = serve({**ONE_VOTE_EACH, "min_answers": 5}, contents=[{"text": "One."}])
    first, second = open_page("phone"), desktop
    second.goto(service.link)
    start_labelling(first, service)
    second.get_by_role("link", name="Start").click()
    second.get_by_role("heading", name="Nothing to do right now").wait_for()
    axe(second)
    first.close()
    second.wait_for_selector(".item:visible", timeout=30_000)


@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_a_worker_sees_each_of_the_three_endings(serve: Any, open_page: Any, screen: str) -> None:
    contents = [{"text": f"Text {n}."} for n in range(3)]
    service = serve({**ONE_VOTE_EACH, "min_answers": 2}, contents=contents)
    page, other = open_page(screen), open_page(screen)
    other.goto(service.link)
    start_labelling(page, service)
    assert page.locator(".work-done").inner_text() == "0 of 2"
    for _ in range(2):
        press(page, "1")
    page.get_by_role("heading", name="Thank you, you are done").wait_for()
    assert page.locator("#code").is_visible()
    axe(page)
    page.get_by_role("button", name="Carry on").click()
    page.wait_for_selector(".item:visible")
    other.get_by_role("link", name="Start").click()
    other.get_by_role("heading", name="Nothing to do right now").wait_for()
    for one in (page, other):
        assert one.evaluate("document.documentElement.scrollWidth <= innerWidth")
    axe(other)
    press(page, "1")
    page.get_by_role("heading", name="Thank you").wait_for()
    service.do_jobs()
    other.get_by_role("heading", name="The study is complete").wait_for(timeout=20_000)
    axe(other)
