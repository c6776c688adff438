"""Worker pages in a browser: keys, sending in the background, accessibility, nothing that jumps."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from crowdpilot.service.platforms.links import invite
from crowdpilot.service.store import projects, workers
from tests.service.pages.test_worker import FULL, HOSTILE, PLAIN, SECRET, Service
from tests.service.tools import axe, eventually, free_port

BALL = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='600' height='300'/%3E"
SCHEMES = ["light", "dark"]


class Site(Service):
    """A service that listens."""

    @property
    def link(self) -> str:
        return f"{self.app.state.settings.address}{self.home}?invite={invite(SECRET, self.project)}"

    def url(self, path: str) -> str:
        return f"{self.app.state.settings.address}{self.home}{path}"


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(spec: dict[str, Any], **more: Any) -> Site:
        port = free_port()
        site = Site(tmp_path, spec, address=f"http://127.0.0.1:{port}", **more)
        server = uvicorn.Server(uvicorn.Config(site.app, port=port, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        eventually(lambda: server.started)
        return site

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join(10)


def start_labelling(page: Any, site: Site) -> None:
    page.goto(site.link)
    page.get_by_role("link", name="Start").click()
    page.wait_for_selector(".item:visible")


def press(page: Any, key: str) -> None:
    """Answer the item that is shown, once it is there for long enough not to be a slip."""
    before = page.locator("#done").inner_text()
    page.wait_for_timeout(170)
    page.keyboard.press(key)
    page.wait_for_function("before => document.getElementById('done')?.textContent !== before", arg=before)


def tab_to(page: Any, name: str) -> None:
    """Go on with the tab key until a button or link of this name has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            return
    pytest.fail(f"the tab key does not lead to {name!r}")


def test_a_worker_goes_from_link_to_code_by_keyboard_only(serve: Any, desktop: Any) -> None:
    site = serve(FULL)
    desktop.goto(site.link)
    tab_to(desktop, "I agree")
    desktop.keyboard.press("Enter")
    desktop.wait_for_url("**/instructions")
    tab_to(desktop, "Go to the quiz")
    desktop.keyboard.press("Enter")
    desktop.wait_for_url("**/quiz")
    for key in ("Space", "ArrowDown"):  # the first answer of the first question, the second of the next
        desktop.keyboard.press("Tab")
        while desktop.evaluate("document.activeElement.type") != "radio":
            desktop.keyboard.press("Tab")
        desktop.keyboard.press(key)
    tab_to(desktop, "Check my answers")
    desktop.keyboard.press("Enter")
    desktop.wait_for_url("**/label")
    for key in ("1", "2", "0", "c"):
        press(desktop, key)
    eventually(lambda: len(site.answers()) == 4)
    desktop.keyboard.press("p")
    desktop.wait_for_url("**/pause")
    tab_to(desktop, "Finish and see my code")
    desktop.keyboard.press("Enter")
    desktop.wait_for_url("**/done")
    assert re.fullmatch(r"\w{12}", desktop.locator("#code").inner_text())
    assert {row.state for row in site.answers()} == {"voted", "unsure"}
    assert all(row.seconds > 0.1 for row in site.answers())


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_every_page_is_accessible(serve: Any, open_page: Any, trouble: Any, scheme: str, screen: str) -> None:
    site = serve(FULL)
    page = open_page(screen, color_scheme=scheme)
    page.goto(site.link)
    axe(page)
    page.get_by_role("button", name="I do not agree").click()
    axe(page)
    page.goto(site.url(""))
    page.get_by_role("button", name="I agree").click()
    axe(page)
    page.get_by_role("link", name="Go to the quiz").click()
    axe(page)
    for n, name in enumerate(["Positive", "Positive", "Positive", "Negative"]):
        page.locator(f"fieldset >> nth={n % 2}").get_by_label(name).check()
        if n % 2:
            page.get_by_role("button", name="Check my answers").click()
            page.wait_for_load_state()
            axe(page)
    page.wait_for_selector(".item:visible")
    axe(page)
    page.get_by_role("button", name="Help").click()
    axe(page)
    page.get_by_role("button", name="Carry on").click()
    page.wait_for_timeout(170)
    page.get_by_role("button", name="Positive").click()
    page.get_by_role("button", name="Pause").click()
    page.wait_for_url("**/pause")
    axe(page)
    for state in (projects.PAUSED, projects.CLOSED):
        site.change(state=state)
        page.goto(site.url(""))
        axe(page)
    page.get_by_role("button", name="See my code").click()
    page.wait_for_url("**/done")
    axe(page)
    with site.store.writing() as c:
        workers.bar(c, site.project, 1, workers.BLOCKED)
    page.goto(site.url(""))
    axe(page)
    page.goto(site.url("").replace(site.project, "0" * 12))
    axe(page)
    trouble.clear()  # the browser notes the status of the last page


def test_an_answer_given_offline_is_sent_later_and_once(serve: Any, desktop: Any, trouble: Any) -> None:
    site = serve(PLAIN)
    start_labelling(desktop, site)
    first = desktop.locator(".item:visible").get_attribute("data-item")
    desktop.context.set_offline(True)
    press(desktop, "1")
    desktop.get_by_text("Offline, will try again").wait_for()
    assert desktop.locator(".item:visible").get_attribute("data-item") != first
    assert site.answers() == []
    desktop.context.set_offline(False)
    desktop.get_by_text("Saved", exact=True).wait_for()
    assert len(site.answers()) == 1
    trouble.clear()


def test_an_answer_is_sent_again_with_the_same_key_when_the_service_is_busy(
    serve: Any, desktop: Any, trouble: Any
) -> None:
    site = serve(PLAIN)
    start_labelling(desktop, site)
    bodies: list[Any] = []

    def busy_at_first(route: Any) -> None:
        bodies.append(route.request.post_data_json)
        if len(bodies) == 1:
            route.fulfill(status=503, json={"detail": "busy"})
        else:
            route.continue_()

    desktop.route("**/vote", busy_at_first)
    press(desktop, "2")
    desktop.get_by_text("Saved", exact=True).wait_for()
    assert len(bodies) == 2
    assert bodies[0] == bodies[1]
    assert len(site.answers()) == 1
    trouble.clear()


def test_a_reload_does_not_lose_what_was_not_sent(serve: Any, desktop: Any, trouble: Any) -> None:
    site = serve(PLAIN)
    start_labelling(desktop, site)
    warned: list[str] = []
    desktop.on("dialog", lambda dialog: (warned.append(dialog.type), dialog.accept()))
    desktop.route("**/vote", lambda route: route.abort())
    press(desktop, "1")
    desktop.get_by_text("Offline, will try again").wait_for()
    desktop.unroute("**/vote")
    desktop.reload()
    eventually(lambda: len(site.answers()) == 1)
    assert warned == ["beforeunload"]
    assert desktop.locator("#done").inner_text() == "1"
    trouble.clear()


@pytest.mark.parametrize("key", ["u", "Backspace"])
def test_undo_brings_the_last_item_back(serve: Any, desktop: Any, key: str) -> None:
    site = serve(PLAIN)
    start_labelling(desktop, site)
    first = desktop.locator(".item:visible").inner_text()
    press(desktop, "1")
    assert desktop.locator(".item:visible").inner_text() != first
    press(desktop, key)
    assert desktop.locator(".item:visible").inner_text() == first
    assert site.answers() == []
    press(desktop, "2")
    eventually(lambda: [row.label for row in site.answers()] == [1])


def test_a_refusal_is_told_and_the_work_goes_on(serve: Any, desktop: Any, trouble: Any) -> None:
    site = serve(PLAIN)
    start_labelling(desktop, site)
    desktop.keyboard.press("u")
    desktop.get_by_text("there is nothing to take back").wait_for()
    press(desktop, "1")
    assert not desktop.locator("#problem").is_visible()
    trouble.clear()


def test_items_run_through_batches_until_there_is_nothing_to_do(serve: Any, page: Any) -> None:
    site = serve(PLAIN)
    start_labelling(page, site)
    for _ in range(7):
        press(page, "1")
    page.wait_for_timeout(170)
    page.keyboard.press("1")
    page.get_by_role("heading", name="Nothing to do right now").wait_for()
    assert len({row.item for row in site.answers()}) == 8


def test_item_text_is_shown_literally(serve: Any, page: Any) -> None:
    site = serve(PLAIN)
    start_labelling(page, site)
    assert page.locator(".item:visible .item-text").text_content().endswith(HOSTILE)
    assert page.locator(".item script, .item svg").count() == 0


def test_nothing_jumps_from_item_to_item(serve: Any, page: Any) -> None:
    contents = [{"text": "Short."}, {"text": "Long. " * 60}, {"image": BALL}, {"text": "Two\nlines."}]
    site = serve({**PLAIN, "batch": 4}, contents=contents)
    start_labelling(page, site)
    places = []
    for _ in range(3):
        places.append([b.bounding_box() for b in (page.locator(".answers"), page.locator("#question"))])
        press(page, "1")
    assert places[0] == places[1] == places[2]


def test_everything_to_touch_is_large_enough(serve: Any, phone: Any) -> None:
    site = serve(PLAIN)
    start_labelling(phone, site)
    small = [
        button.inner_text()
        for button in phone.locator("button:visible").all()
        if min(button.bounding_box()["width"], button.bounding_box()["height"]) < 44
    ]
    assert small == []
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_with_criteria_the_question_belongs_to_the_item(serve: Any, desktop: Any) -> None:
    criteria = [
        {"name": "film", "question": "Is it about a film?"},
        {"name": "kind", "question": "Is it kind?"},
    ]
    site = serve({**PLAIN, "classes": ["no", "yes"], "criteria": criteria})
    start_labelling(desktop, site)
    for _ in range(3):
        asked = int(desktop.locator(".item:visible").get_attribute("data-criterion"))
        assert desktop.get_by_role("heading", level=1).inner_text() == criteria[asked]["question"]
        press(desktop, "2")


def test_an_image_can_be_enlarged_and_a_broken_one_is_told(serve: Any, desktop: Any, trouble: Any) -> None:
    site = serve({**PLAIN, "batch": 1}, contents=[{"image": BALL}])
    start_labelling(desktop, site)
    desktop.get_by_role("button", name="Enlarge the image").click()
    assert desktop.locator("#zoom").is_visible()
    desktop.keyboard.press("1")
    desktop.keyboard.press("Escape")
    assert not desktop.locator("#zoom").is_visible()
    assert site.answers() == []
    desktop.route("**/gone.png", lambda route: route.abort())
    desktop.locator(".item-image img").evaluate("image => { image.src = '/gone.png' }")
    desktop.get_by_text("The image did not load.").wait_for()
    trouble.clear()


def test_keys_can_be_switched_off(serve: Any, desktop: Any) -> None:
    site = serve(PLAIN)
    start_labelling(desktop, site)
    desktop.get_by_role("button", name="Help").click()
    desktop.get_by_label("Answer with the keys").uncheck()
    desktop.get_by_role("button", name="Carry on").click()
    desktop.wait_for_timeout(170)
    desktop.keyboard.press("1")
    desktop.wait_for_timeout(100)
    assert desktop.locator("#done").inner_text() == "0"


def test_a_new_item_is_announced_to_screen_readers(serve: Any, desktop: Any) -> None:
    site = serve(PLAIN)
    start_labelling(desktop, site)
    press(desktop, "1")
    said = desktop.locator("#say").text_content()
    assert said.startswith("Item 2. Does the writer like it?")
    assert desktop.locator(".item:visible .item-text").text_content() in said
