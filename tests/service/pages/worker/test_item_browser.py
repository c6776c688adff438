"""The labelling page in a browser: many classes, media that load slowly or fail, sounds, comments, flags."""

from __future__ import annotations

import base64
import threading
from typing import Any

import pytest

from crowdpilot.service.store import items
from crowdpilot.service.store.answers import comments
from tests.service.harness.accessibility import axe
from tests.service.harness.media import png, wav
from tests.service.harness.waiting import eventually
from tests.service.harness.worker_pages import PLAIN, press, start_labelling

pytestmark = pytest.mark.thorough  # needs a browser

MANY = {**PLAIN, "classes": [f"Kind {n}" for n in range(14)] + ["Élan", "Otter"], "batch": 4}
PICTURE = "data:image/png;base64," + base64.b64encode(png(300, 100)).decode()
WHOLE = {**PLAIN, "comments": True, "flags": True, "batch": 2}
PLAYED = "() => document.querySelector('.item:not([hidden]) audio').currentTime"


def said(service: Any) -> list[tuple[str, bool]]:
    with service.store.reading() as c:
        return [(row.text, row.flagged) for row in comments.list_all(c, service.id)]


def labels(service: Any) -> list[int | None]:
    return [row.label for row in sorted(service.answers(), key=lambda row: row.time)]


def add_sounds(service: Any, n: int) -> None:
    with service.store.writing() as c:
        digest = items.save_file(c, service.id, "audio/wav", wav(12))
        content = {"audio": f"/files/{service.id}/{digest}"}
        items.add(c, service.id, [{"name": f"sound {k}", "content": content} for k in range(n)])


def test_letters_answer_where_there_are_many_classes(serve: Any, desktop: Any) -> None:
    service = serve(MANY)
    start_labelling(desktop, service)
    assert desktop.locator(".answer .key").all_inner_texts() == list("123456789ABDEGIJ")
    press(desktop, "a")
    press(desktop, "3")
    press(desktop, "c")
    eventually(lambda: labels(service) == [9, 2, None])
    axe(desktop)


def test_a_search_leaves_what_matches_and_enter_answers(serve: Any, desktop: Any) -> None:
    service = serve(MANY)
    start_labelling(desktop, service)
    desktop.wait_for_timeout(170)
    desktop.keyboard.press("/")
    desktop.keyboard.type("ela")
    assert desktop.locator(".answer:visible").count() == 1
    axe(desktop)
    desktop.keyboard.press("Enter")
    eventually(lambda: labels(service) == [14])
    assert desktop.locator(".answer:visible").count() == 16
    desktop.wait_for_timeout(170)
    desktop.keyboard.press("/")
    desktop.keyboard.type("nothing 1")
    desktop.keyboard.press("Enter")
    assert desktop.locator("#done").inner_text() == "1", "no match, no answer"
    desktop.keyboard.press("Escape")
    assert desktop.locator(".answer:visible").count() == 16
    press(desktop, "1")
    eventually(lambda: labels(service) == [14, 0])


def test_nobody_answers_before_the_image_is_there(serve: Any, desktop: Any, noticed: Any) -> None:
    service = serve(WHOLE, contents=[{"image": "https://slow.example/a.png"}] * 4)
    arrived = threading.Event()

    def answer(route: Any) -> None:
        if arrived.is_set():
            route.fulfill(body=png(80, 60), content_type="image/png")
        else:
            held.append(route)

    held: list[Any] = []
    desktop.route("https://slow.example/**", answer)
    start_labelling(desktop, service)
    assert desktop.locator(".item:visible .item-waiting").is_visible()
    has_notice = noticed(desktop)
    for key in ("1", "2", "0"):
        desktop.wait_for_timeout(170)
        desktop.keyboard.press(key)
    has_notice("still loading")
    desktop.get_by_role("button", name="Positive").click()
    assert desktop.locator("#done").inner_text() == "0"
    axe(desktop)
    arrived.set()
    for route in held:
        route.fulfill(body=png(80, 60), content_type="image/png")
    desktop.locator(".item:visible .item-waiting").wait_for(state="hidden")
    press(desktop, "1")
    eventually(lambda: len(service.answers()) == 1)


def test_an_image_that_failed_is_tried_again_or_flagged(
    serve: Any, page: Any, noticed: Any, trouble: Any
) -> None:
    service = serve(WHOLE, contents=[{"image": "https://gone.example/a.png"}] * 4)
    fails = [True]
    page.route(
        "https://gone.example/**",
        lambda route: (
            route.abort() if fails[0] else route.fulfill(body=png(80, 60), content_type="image/png")
        ),
    )
    start_labelling(page, service)
    has_notice = noticed(page)
    page.locator(".item:visible").get_by_text("The image did not load.").wait_for()
    page.wait_for_timeout(170)
    page.get_by_role("button", name="Positive").click()
    has_notice("not loaded")
    assert page.locator("#done").inner_text() == "0"
    axe(page)
    page.locator(".item:visible").get_by_role("button", name="Not labellable").click()
    flagged = [("The image did not load. Check your connection.", True)]
    eventually(lambda: said(service) == flagged, seconds=60)
    eventually(lambda: labels(service) == [None], seconds=60)
    page.locator(".item:visible").get_by_text("The image did not load.").wait_for()
    fails[0] = False
    page.locator(".item:visible").get_by_role("button", name="Try again").click()
    page.locator(".item:visible .item-media[data-state=ready]").wait_for()
    page.wait_for_timeout(170)
    page.get_by_role("button", name="Positive").click()
    eventually(lambda: labels(service) == [None, 0], seconds=60)
    assert said(service) == flagged, "the reason stays"
    trouble.clear()  # the browser notes what did not load


def test_an_image_is_turned_and_made_brighter_by_keys_and_buttons(serve: Any, desktop: Any) -> None:
    service = serve(WHOLE, contents=[{"image": PICTURE}] * 4)
    start_labelling(desktop, service)
    image = desktop.locator(".item:visible .item-image img")
    desktop.keyboard.press("Shift+R")
    desktop.locator(".item:visible").get_by_role("button", name="Brighter").click()
    assert image.get_attribute("data-turns") == "1"
    assert "brightness(1.3)" in image.evaluate("one => one.style.filter")
    box, frame = image.bounding_box(), desktop.locator(".item:visible .item-image").bounding_box()
    assert box["height"] <= frame["height"] + 1, "the turned image is not cut"
    desktop.keyboard.press("Shift+Z")
    large = desktop.locator("#zoom img")
    desktop.keyboard.press("r")
    desktop.keyboard.press("k")
    assert large.get_attribute("data-turns") == image.get_attribute("data-turns") == "2"
    assert "contrast(1.5)" in large.evaluate("one => one.style.filter")
    axe(desktop)
    desktop.keyboard.press("Escape")
    desktop.keyboard.press("Shift+O")
    assert image.get_attribute("data-turns") == "0"
    assert service.answers() == []


def test_a_sound_is_played_by_keyboard_when_the_worker_wants(serve: Any, desktop: Any) -> None:
    service = serve(WHOLE, contents=[])
    add_sounds(service, 4)
    start_labelling(desktop, service)
    desktop.wait_for_function("() => document.querySelector('.item:not([hidden]) audio').readyState >= 1")
    axe(desktop)
    assert desktop.evaluate(PLAYED) == 0, "nothing plays by itself"
    desktop.keyboard.press(" ")
    desktop.wait_for_function(f"() => ({PLAYED})() > 0.1")
    desktop.keyboard.press(" ")
    assert desktop.evaluate("() => document.querySelector('.item:not([hidden]) audio').paused")
    desktop.keyboard.press("ArrowRight")
    assert desktop.evaluate(PLAYED) > 5
    desktop.keyboard.press("ArrowLeft")
    assert desktop.evaluate(PLAYED) < 5
    press(desktop, "1")
    assert desktop.evaluate(PLAYED) == 0
    eventually(lambda: labels(service) == [0])


def test_comments_and_flags_survive_offline_and_never_answer(serve: Any, desktop: Any, trouble: Any) -> None:
    service = serve(WHOLE)
    start_labelling(desktop, service)
    desktop.wait_for_timeout(170)
    desktop.context.set_offline(True)
    desktop.keyboard.press("f")
    assert desktop.locator("#flag").get_attribute("aria-pressed") == "true"
    desktop.keyboard.press("Shift+C")
    desktop.keyboard.type("120 pages: cut off. u p f")
    axe(desktop)
    desktop.keyboard.press("Escape")
    assert desktop.locator("#done").inner_text() == "0"
    press(desktop, "1")
    assert desktop.locator("#flag").get_attribute("aria-pressed") == "false", "of the next item"
    assert said(service) == []
    desktop.context.set_offline(False)
    eventually(lambda: said(service) == [("120 pages: cut off. u p f", True)], seconds=20)
    eventually(lambda: labels(service) == [0], seconds=20)
    desktop.wait_for_timeout(170)
    desktop.keyboard.press("u")
    desktop.wait_for_function(
        "() => document.getElementById('comment').value === '120 pages: cut off. u p f'"
    )
    desktop.keyboard.press("f")
    eventually(lambda: said(service) == [("120 pages: cut off. u p f", False)], seconds=20)
    trouble.clear()  # the browser notes that it was offline


def test_a_comment_is_saved_with_the_answer(serve: Any, phone: Any) -> None:
    service = serve(WHOLE)
    start_labelling(phone, service)
    phone.get_by_role("button", name="Comment").click()
    phone.get_by_label("Comment on this item").fill("Sounds odd.")
    phone.wait_for_timeout(170)
    phone.get_by_role("button", name="Negative").click()
    eventually(lambda: said(service) == [("Sounds odd.", False)])
    eventually(lambda: labels(service) == [1])
    assert phone.locator("#comment-box").is_hidden()


def test_descriptions_and_pictures_are_in_the_help(serve: Any, desktop: Any) -> None:
    details = {"Positive": {"description": "They praise it.", "color": "#101418", "key": "x"}}
    pictures = [{"image": "https://pictures.example/a.png", "caption": "Look here"}]
    service = serve({**WHOLE, "class_details": details, "pictures": pictures})
    desktop.route(
        "https://pictures.example/**", lambda r: r.fulfill(body=png(30, 30), content_type="image/png")
    )
    start_labelling(desktop, service)
    assert (
        desktop.get_by_role("button", name="Positive").evaluate(
            "one => document.getElementById(one.getAttribute('aria-describedby')).textContent"
        )
        == "They praise it."
    )
    mark = desktop.locator(".answer .answer-mark").evaluate("one => getComputedStyle(one).backgroundColor")
    assert mark == "rgb(16, 20, 24)"
    desktop.keyboard.press("h")
    desktop.locator("#help").get_by_text("They praise it.").wait_for()
    assert desktop.locator("#help img").get_attribute("alt") == "Look here"
    axe(desktop)
    desktop.keyboard.press("Escape")
    press(desktop, "x")
    eventually(lambda: labels(service) == [0])
