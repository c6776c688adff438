"""Pages on which nothing happens for a while, two pages of one worker, and pages that wait, in a browser."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from crowdpilot.service.store import clock, leases
from crowdpilot.service.store import items as item_queries
from crowdpilot.service.store.answers import comments
from crowdpilot.service.store.tables import items, votes
from tests.service.harness.media import wav
from tests.service.harness.waiting import eventually
from tests.service.harness.worker_pages import PLAIN, WorkerService, start_labelling

pytestmark = pytest.mark.thorough  # needs a browser

LONG = [{"text": f"{n}. " + "A long review.\n" * 200} for n in range(8)]
ONE_VOTE_EACH = {**PLAIN, "min_answers": 5, "plan": {"pilot_votes": 1, "per_item": 1}}
HIDE = """() => {
  Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
PLAY = "() => document.querySelector('.item:not([hidden]) audio').play()"


def lasts(service: WorkerService) -> float:
    """For how many seconds items are leased, at most."""
    with service.store.reading() as c:
        held = [row.expires for row in c.execute(select(votes)) if row.state == "leased"]
        return float(max(held, default=0.0) - clock.now(c))


def give_back(service: WorkerService, *, stop: bool = False) -> None:
    """Nobody holds anything any more, and what they held is not asked about again, if so."""
    with service.store.writing() as c:
        held = [row.item for row in c.execute(select(votes)) if row.state == "leased"]
        leases.expire(c, service.id, 1e12)
        names = [row.name for row in c.execute(select(items).where(items.c.id.in_(held)))]
        if stop:
            item_queries.change(c, service.id, names, state=item_queries.STOPPED)


def count_signs(page: Any) -> list[str]:
    """The signs of life that a page gives from now on."""
    signs: list[str] = []
    page.on("request", lambda sent: signs.append(sent.url) if sent.url.endswith("/presence") else None)
    return signs


def test_a_page_on_which_nothing_happens_is_quiet_until_something_does(serve: Any, desktop: Any) -> None:
    service = serve(PLAIN)
    desktop.clock.install()
    start_labelling(desktop, service)
    signs = count_signs(desktop)
    desktop.clock.run_for(16_000)
    desktop.wait_for_timeout(300)
    before = len(signs)
    desktop.clock.run_for(100_000)
    desktop.wait_for_timeout(300)
    assert len(signs) == before, "leases last 45 seconds after the last: a minute in all"
    assert desktop.locator(".item:visible").count() == 1, "nobody sees anything of it"
    desktop.mouse.move(200, 200)
    desktop.mouse.move(210, 210)
    eventually(lambda: desktop.evaluate("1") and len(signs) == before + 1)


@pytest.mark.parametrize("how", ["scroll", "move", "key"])
def test_who_reads_a_long_text_is_here(serve: Any, desktop: Any, how: str) -> None:
    service = serve(PLAIN, contents=LONG)
    desktop.clock.install()
    start_labelling(desktop, service)
    signs = count_signs(desktop)
    for n in range(6):
        desktop.clock.run_for(12_000)
        if how == "scroll":
            desktop.evaluate("n => scrollTo(0, 40 * n)", n + 1)
            desktop.wait_for_timeout(50)
        elif how == "move":
            desktop.mouse.move(100 + n, 100)
        else:
            desktop.keyboard.press("ArrowDown")
    assert len(signs) >= 4, "one every fifteen seconds"


def test_who_moves_again_goes_on_with_the_item_that_is_still_free(serve: Any, desktop: Any) -> None:
    service = serve(PLAIN)
    desktop.clock.install()
    start_labelling(desktop, service)
    shown = desktop.locator(".item:visible").get_attribute("data-item")
    desktop.evaluate("document.querySelector('.item:not([hidden])').dataset.seen = 'yes'")
    desktop.clock.run_for(100_000)
    give_back(service)
    desktop.mouse.move(200, 200)
    eventually(lambda: desktop.evaluate("1") and lasts(service) > 40)
    assert desktop.locator(".item:visible").get_attribute("data-item") == shown
    assert desktop.locator(".item:visible").get_attribute("data-seen") == "yes", "the page is the same"
    assert desktop.locator("#notice").inner_text() == ""


def test_who_moves_again_reads_that_the_items_are_gone_and_gets_others(
    serve: Any, desktop: Any, noticed: Any
) -> None:
    service = serve(PLAIN)
    desktop.clock.install()
    start_labelling(desktop, service)
    before = desktop.locator(".item").evaluate_all("all => all.map((one) => one.dataset.item)")
    desktop.clock.run_for(100_000)
    give_back(service, stop=True)
    has_notice = noticed(desktop)
    desktop.mouse.move(200, 200)
    has_notice("went to other people")
    after = desktop.locator(".item").evaluate_all("all => all.map((one) => one.dataset.item)")
    assert desktop.locator(".item:visible").count() == 1
    assert not set(before) & set(after)
    desktop.clock.run_for(1000)
    desktop.keyboard.press("1")
    eventually(lambda: len(service.answers()) == 1)


def test_a_page_behind_others_stays_while_its_sound_plays(serve: Any, desktop: Any) -> None:
    service = serve(PLAIN, contents=[])
    with service.store.writing() as c:
        digest = item_queries.save_file(c, service.id, "audio/wav", wav(30))
        content = {"audio": f"/files/{service.id}/{digest}"}
        item_queries.add(c, service.id, [{"name": f"sound {k}", "content": content} for k in range(4)])
    desktop.clock.install()
    start_labelling(desktop, service)
    desktop.evaluate(PLAY)
    desktop.evaluate(HIDE)
    signs = count_signs(desktop)
    for _ in range(5):
        desktop.clock.run_for(20_000)
    assert desktop.url.endswith("/label")
    assert len(signs) >= 5, "what plays stays leased"
    desktop.evaluate("() => document.querySelectorAll('audio').forEach((one) => one.pause())")
    desktop.clock.run_for(80_000)
    desktop.wait_for_url("**/pause?away=1")


def test_closing_one_of_two_tabs_leaves_the_items_to_the_other(serve: Any, desktop: Any) -> None:
    service = serve(PLAIN)
    start_labelling(desktop, service)
    with desktop.context.expect_event("response", lambda got: got.url.endswith("/presence")):
        other = desktop.context.new_page()
        other.goto(service.url("/label"))
        other.wait_for_selector(".item:visible")
    desktop.close()
    other.wait_for_timeout(1000)
    assert lasts(service) > 30
    other.close()
    eventually(lambda: lasts(service) <= 5)


def said(service: WorkerService) -> list[str]:
    with service.store.reading() as c:
        return [row.text for row in comments.list_all(c, service.id)]


@pytest.mark.parametrize("how", ["by itself", "by the worker"])
def test_a_half_written_comment_survives_a_page_that_goes_away(serve: Any, desktop: Any, how: str) -> None:
    service = serve({**PLAIN, "comments": True})
    desktop.clock.install()
    start_labelling(desktop, service)
    desktop.keyboard.press("Shift+C")
    desktop.keyboard.type("Half a sen")
    if how == "by itself":
        desktop.clock.run_for(40_000)
        eventually(lambda: desktop.evaluate("1") and said(service) == ["Half a sen"])
        assert desktop.locator("#comment").input_value() == "Half a sen", "they may go on"
        desktop.clock.run_for(200_000)
        desktop.wait_for_url("**/pause?away=1")
    else:
        desktop.goto(service.url("/instructions"))
    eventually(lambda: said(service) == ["Half a sen"])


def held_by_another(serve: Any, page: Any) -> WorkerService:
    service: WorkerService = serve(ONE_VOTE_EACH, contents=[{"text": "One."}])
    start_labelling(page, service)
    return service


def test_a_page_that_waits_looks_again_after_a_look_that_failed(
    serve: Any, open_page: Any, desktop: Any, trouble: Any
) -> None:
    service = serve(ONE_VOTE_EACH, contents=[{"text": "One."}])
    first = open_page("phone")
    desktop.goto(service.link)
    start_labelling(first, service)
    desktop.get_by_role("link", name="Start").click()
    desktop.get_by_role("heading", name="Nothing to do right now").wait_for()
    looks: list[Any] = []

    def answer(route: Any) -> None:
        looks.append(route)
        if len(looks) == 1:
            route.fulfill(body="<p>Another page</p>", content_type="text/html")
        elif len(looks) == 2:
            route.abort()
        else:
            route.continue_()

    desktop.route("**/look", answer)
    first.close()
    desktop.wait_for_selector(".item:visible", timeout=40_000)
    trouble.clear()  # the browser notes the look that was aborted


def test_a_newcomer_who_waits_survives_being_offline(
    serve: Any, open_page: Any, desktop: Any, trouble: Any
) -> None:
    first = open_page("phone")
    service = held_by_another(serve, first)
    desktop.goto(service.link)
    heading = desktop.get_by_role("heading", name="Nothing to do right now")
    heading.wait_for()
    desktop.context.set_offline(True)
    desktop.wait_for_timeout(7000)  # in which it looks again
    assert heading.is_visible()
    desktop.context.set_offline(False)
    first.close()
    desktop.get_by_role("link", name="Start").wait_for(timeout=30_000)
    trouble.clear()  # the browser notes that it was offline
