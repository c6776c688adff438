"""The labelling page sends answers in the background: nothing is lost, nothing is doubled."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.harness.waiting import eventually
from tests.service.harness.worker_pages import PLAIN, press, start_labelling

pytestmark = pytest.mark.thorough  # needs a browser


def test_an_offline_answer_is_sent_later_and_once(serve: Any, desktop: Any, trouble: Any) -> None:
    service = serve(PLAIN)
    start_labelling(desktop, service)
    first = desktop.locator(".item:visible").get_attribute("data-item")
    desktop.context.set_offline(True)
    press(desktop, "1")
    desktop.get_by_text("Offline, will try again").wait_for()
    assert desktop.locator(".item:visible").get_attribute("data-item") != first
    assert service.answers() == []
    desktop.context.set_offline(False)
    desktop.get_by_text("Saved", exact=True).wait_for()
    assert len(service.answers()) == 1
    trouble.clear()


def test_an_answer_is_sent_again_with_the_same_key_when_the_service_is_busy(
    serve: Any, desktop: Any, trouble: Any
) -> None:
    service = serve(PLAIN)
    start_labelling(desktop, service)
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
    assert len(service.answers()) == 1
    trouble.clear()


def test_a_reload_does_not_lose_what_was_not_sent(serve: Any, desktop: Any, trouble: Any) -> None:
    service = serve(PLAIN)
    start_labelling(desktop, service)
    warned: list[str] = []
    desktop.on("dialog", lambda dialog: (warned.append(dialog.type), dialog.accept()))
    desktop.route("**/vote", lambda route: route.abort())
    press(desktop, "1")
    desktop.get_by_text("Offline, will try again").wait_for()
    desktop.unroute("**/vote")
    desktop.reload()
    eventually(lambda: len(service.answers()) == 1)
    assert warned == ["beforeunload"]
    assert desktop.locator("#done").inner_text() == "1"
    trouble.clear()


@pytest.mark.parametrize("key", ["u", "Backspace"])
def test_undo_brings_the_last_item_back(serve: Any, desktop: Any, key: str) -> None:
    service = serve(PLAIN)
    start_labelling(desktop, service)
    first = desktop.locator(".item:visible").inner_text()
    press(desktop, "1")
    assert desktop.locator(".item:visible").inner_text() != first
    press(desktop, key)
    assert desktop.locator(".item:visible").inner_text() == first
    assert service.answers() == []
    press(desktop, "2")
    eventually(lambda: [row.label for row in service.answers()] == [1])


def test_a_refused_answer_is_shown_and_the_work_goes_on(serve: Any, desktop: Any, trouble: Any) -> None:
    service = serve(PLAIN)
    start_labelling(desktop, service)
    desktop.keyboard.press("u")
    desktop.get_by_text("There is nothing to take back").wait_for()
    press(desktop, "1")
    assert not desktop.locator("#problem").is_visible()
    trouble.clear()


def test_items_run_through_batches_until_there_is_nothing_to_do(serve: Any, page: Any) -> None:
    service = serve({**PLAIN, "min_answers": 8})
    start_labelling(page, service)
    for _ in range(7):
        press(page, "1")
    page.wait_for_timeout(170)
    page.keyboard.press("1")
    page.get_by_role("heading", name="Thank you, you are done").wait_for()
    assert len({row.item for row in service.answers()}) == 8


def test_after_the_end_of_a_session_answers_wait_until_the_worker_is_back(
    serve: Any, desktop: Any, trouble: Any
) -> None:
    service = serve(PLAIN)
    start_labelling(desktop, service)
    session = next(cookie for cookie in desktop.context.cookies() if cookie["name"] == "worker_session")
    desktop.context.clear_cookies(name="worker_session")
    press(desktop, "1")
    desktop.get_by_text("open the link to the project again").wait_for()
    assert service.answers() == []
    desktop.context.add_cookies([session])
    desktop.get_by_text("Saved", exact=True).wait_for()
    assert len(service.answers()) == 1
    trouble.clear()


def test_undo_takes_back_what_was_not_sent_yet(serve: Any, desktop: Any, trouble: Any) -> None:
    service = serve({**PLAIN, "batch": 6})
    start_labelling(desktop, service)
    desktop.context.set_offline(True)
    press(desktop, "1")
    second = desktop.locator(".item:visible").inner_text()
    press(desktop, "1")
    press(desktop, "u")
    assert desktop.locator(".item:visible").inner_text() == second
    desktop.context.set_offline(False)
    desktop.get_by_text("Saved", exact=True).wait_for()
    assert len(service.answers()) == 1
    trouble.clear()
