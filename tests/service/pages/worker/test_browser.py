"""Worker pages in a browser: keys, accessibility, nothing that jumps."""

from __future__ import annotations

import re
from typing import Any

import pytest

from crowdpilot.service.store import projects, workers
from tests.service.harness.accessibility import axe
from tests.service.harness.worker_pages import FULL, HOSTILE, PLAIN, press, start_labelling

pytestmark = pytest.mark.thorough  # needs a browser

BALL = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='600' height='300'/%3E"


def tab_to(page: Any, name: str) -> None:
    """Go on with the tab key until a button or link of this name has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            return
    pytest.fail(f"the tab key does not lead to {name!r}")


def test_a_worker_goes_from_link_to_code_by_keyboard_only(serve: Any, desktop: Any) -> None:
    service = serve(FULL)
    desktop.goto(service.link)
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
    for key in ("1", "2", "0", "c", "1"):
        press(desktop, key)
    desktop.wait_for_url("**/done")
    assert re.fullmatch(r"\w{12}", desktop.locator("#code").inner_text())
    assert {row.state for row in service.answers()} == {"voted", "unsure"}
    assert all(row.seconds > 0.1 for row in service.answers())


@pytest.mark.parametrize(
    ("screen", "scheme"),
    [
        ("desktop", "light"),
        ("phone", "dark"),
        pytest.param("desktop", "dark", marks=pytest.mark.slow),
        pytest.param("phone", "light", marks=pytest.mark.slow),
    ],
)
def test_every_page_is_accessible(serve: Any, open_page: Any, trouble: Any, scheme: str, screen: str) -> None:
    service = serve(FULL)
    page = open_page(screen, color_scheme=scheme)
    page.goto(service.link)
    axe(page)
    page.get_by_role("button", name="I do not agree").click()
    axe(page)
    page.goto(service.url(""))
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
        service.change(state=state)
        page.goto(service.url(""))
        axe(page)
    page.wait_for_url("**/done")
    with service.store.writing() as c:
        workers.exclude(c, service.id, 1, workers.BLOCKED)
    page.goto(service.url(""))
    axe(page)
    page.goto(service.url("").replace(service.id, "0" * 12))
    axe(page)
    trouble.clear()  # the browser notes the status of the last page


def test_item_text_is_shown_literally(serve: Any, page: Any) -> None:
    service = serve(PLAIN)
    start_labelling(page, service)
    assert page.locator(".item:visible .item-text").text_content().endswith(HOSTILE)
    assert page.locator(".item script, .item svg").count() == 0


def test_nothing_jumps_from_item_to_item(serve: Any, page: Any) -> None:
    contents = [{"text": "Short."}, {"text": "Long. " * 60}, {"image": BALL}, {"text": "Two\nlines."}]
    service = serve({**PLAIN, "batch": 4}, contents=contents)
    start_labelling(page, service)
    positions = []
    for _ in range(3):
        positions.append([b.bounding_box() for b in (page.locator(".answers"), page.locator("#question"))])
        press(page, "1")
    assert positions[0] == positions[1] == positions[2]


def test_everything_to_touch_is_large_enough(serve: Any, phone: Any) -> None:
    service = serve(PLAIN)
    start_labelling(phone, service)
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
    service = serve({**PLAIN, "classes": ["no", "yes"], "criteria": criteria})
    start_labelling(desktop, service)
    for _ in range(3):
        asked = int(desktop.locator(".item:visible").get_attribute("data-criterion"))
        assert desktop.get_by_role("heading", level=1).inner_text() == criteria[asked]["question"]
        press(desktop, "2")


def test_an_image_can_be_enlarged_and_a_broken_one_shown(serve: Any, desktop: Any, trouble: Any) -> None:
    service = serve({**PLAIN, "batch": 1}, contents=[{"image": BALL}])
    start_labelling(desktop, service)
    desktop.get_by_role("button", name="Enlarge the image").click()
    assert desktop.locator("#zoom").is_visible()
    desktop.keyboard.press("1")
    desktop.keyboard.press("Escape")
    assert not desktop.locator("#zoom").is_visible()
    assert service.answers() == []
    desktop.route("**/gone.png", lambda route: route.abort())
    desktop.locator(".item-image img").evaluate("image => { image.src = '/gone.png' }")
    desktop.locator(".item:visible").get_by_text("The image did not load.").wait_for()
    trouble.clear()


def test_keys_can_be_switched_off(serve: Any, desktop: Any) -> None:
    service = serve(PLAIN)
    start_labelling(desktop, service)
    desktop.get_by_role("button", name="Help").click()
    desktop.get_by_label("Answer with the keys").uncheck()
    desktop.get_by_role("button", name="Carry on").click()
    desktop.wait_for_timeout(170)
    desktop.keyboard.press("1")
    desktop.wait_for_timeout(100)
    assert desktop.locator("#done").inner_text() == "0"


def test_a_new_item_is_announced_to_screen_readers(serve: Any, desktop: Any) -> None:
    service = serve(PLAIN)
    start_labelling(desktop, service)
    press(desktop, "1")
    said = desktop.locator("#say").text_content()
    assert said.startswith("Item 2. Does the writer like it?")
    assert desktop.locator(".item:visible .item-text").text_content() in said


def test_the_code_can_be_copied(serve: Any, open_page: Any) -> None:
    service = serve(PLAIN)
    page = open_page("desktop", permissions=["clipboard-read", "clipboard-write"])
    start_labelling(page, service)
    for done in ("0", "1", "2"):
        assert page.locator(".work-done").inner_text() == f"{done} of 3"
        press(page, "1")
    page.get_by_role("button", name="Copy the code").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#code").inner_text()
