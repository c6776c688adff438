"""Keys of the labelling page in a browser: what they answer, play and show, and what they never do."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from crowdpilot.service.store import items
from tests.service.harness.media import png, wav
from tests.service.harness.waiting import eventually
from tests.service.harness.worker_pages import PLAIN, press, start_labelling

pytestmark = pytest.mark.thorough  # needs a browser

ANIMALS = {**PLAIN, "classes": ["Wildcat", "Catfish", "Cat", *(f"Kind {n}" for n in range(9))], "batch": 4}
PICTURE = "data:image/png;base64," + base64.b64encode(png(300, 100)).decode()
SHOWN_SOUND = "document.querySelector('.item:not([hidden]) audio')"
ALL_PAUSED = "() => [...document.querySelectorAll('audio')].every((sound) => sound.paused)"


def labels(service: Any) -> list[int | None]:
    return [row.label for row in sorted(service.answers(), key=lambda row: row.time)]


def start_with_sounds(serve: Any, page: Any) -> Any:
    service = serve({**PLAIN, "batch": 3}, contents=[])
    with service.store.writing() as c:
        digest = items.save_file(c, service.id, "audio/wav", wav(12))
        content = {"audio": f"/files/{service.id}/{digest}"}
        items.add(c, service.id, [{"name": f"sound {k}", "content": content} for k in range(4)])
    start_labelling(page, service)
    page.wait_for_function(f"() => {SHOWN_SOUND}.readyState >= 1")
    return service


def search(page: Any, words: str) -> None:
    page.wait_for_timeout(170)
    page.keyboard.press("/")
    page.keyboard.type(words)


@pytest.mark.parametrize(("typed", "label"), [("cat", 2), ("CAT ", 2), ("ca", 1), ("d c", 0), ("kind 1", 4)])
def test_enter_takes_the_same_name_then_one_that_begins_so(
    serve: Any, desktop: Any, typed: str, label: int
) -> None:
    service = serve(ANIMALS)
    start_labelling(desktop, service)
    search(desktop, typed)
    first = desktop.locator(".answer--first").get_attribute("data-label")
    assert first == ANIMALS["classes"][label]
    desktop.keyboard.press("Enter")
    eventually(lambda: labels(service) == [label])


def test_a_key_does_not_answer_with_what_the_search_has_hidden(serve: Any, desktop: Any) -> None:
    service = serve(ANIMALS)
    start_labelling(desktop, service)
    search(desktop, "kind")
    desktop.locator(".item:visible").click()
    desktop.keyboard.press("1")
    assert desktop.locator("#done").inner_text() == "0", "nobody sees that it is the wildcat"
    press(desktop, "5")
    eventually(lambda: labels(service) == [4])


@pytest.mark.parametrize(
    ("key", "shift", "darker"), [("D", True, True), ("d", True, True), ("D", False, False)]
)
def test_shift_decides_whether_a_letter_is_about_the_image_also_with_caps_lock(
    serve: Any, desktop: Any, key: str, shift: bool, darker: bool
) -> None:
    service = serve(ANIMALS, contents=[{"image": PICTURE}] * 4)
    start_labelling(desktop, service)
    desktop.wait_for_timeout(170)
    image = desktop.locator(".item:visible .item-image img")
    typed = {"key": key, "shiftKey": shift, "bubbles": True, "cancelable": True}
    type_it = "document.body.dispatchEvent(new KeyboardEvent('keydown', typed))"
    after = image.evaluate(f"(one, typed) => {{ {type_it}; return one.style.filter; }}", typed)
    assert ("brightness(0.8)" in after) == darker
    assert desktop.locator("#done").inner_text() == ("0" if darker else "1")
    eventually(lambda: len(service.answers()) == (0 if darker else 1))


def test_holding_space_plays_and_does_not_stutter(serve: Any, desktop: Any) -> None:
    start_with_sounds(serve, desktop)
    for _ in range(4):
        desktop.keyboard.down(" ")
    desktop.wait_for_function(f"() => {SHOWN_SOUND}.currentTime > 0.1")
    assert not desktop.evaluate(f"{SHOWN_SOUND}.paused")
    desktop.keyboard.up(" ")
    assert desktop.evaluate("scrollY") == 0


def test_undo_stops_the_sound_of_the_item_that_it_hides(serve: Any, desktop: Any) -> None:
    start_with_sounds(serve, desktop)
    press(desktop, "1")
    desktop.keyboard.press(" ")
    desktop.wait_for_function(f"() => {SHOWN_SOUND}.currentTime > 0.1")
    press(desktop, "u")
    assert desktop.evaluate(ALL_PAUSED)


def test_the_time_of_an_answer_counts_from_when_a_sound_is_there(serve: Any, desktop: Any) -> None:
    service = start_with_sounds(serve, desktop)
    desktop.wait_for_timeout(1500)
    desktop.evaluate(f"{SHOWN_SOUND}.dispatchEvent(new Event('suspend'))")  # as browsers do once it is loaded
    desktop.wait_for_timeout(170)
    press(desktop, "1")
    eventually(lambda: [row.seconds >= 1.5 for row in service.answers()] == [True])
