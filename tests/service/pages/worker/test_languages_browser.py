"""Worker pages in other languages in a browser: directions, layout, and what scripts say."""

from __future__ import annotations

from typing import Any

import pytest

from crowdpilot.service.pages.languages import catalogue
from tests.service.harness.accessibility import axe
from tests.service.harness.worker_pages import press

pytestmark = pytest.mark.thorough  # needs a browser

OVERLAPS = """() => {
  const parts = "main :is(button, a, h1, h2, p, li, input, output, legend), .top :is(button, p, .brand)";
  const hidden = ".sr, dialog:not([open])";
  const shown = [...document.querySelectorAll(parts)].filter((one) => one.checkVisibility() && !one.closest(hidden));
  const boxes = shown.map((one) => [one, one.getBoundingClientRect()]).filter(([, box]) => box.width > 1);
  const width = document.documentElement.clientWidth;
  const outside = boxes.filter(([, box]) => box.left < -1 || box.right > width + 1).map(([one]) => [one]);
  const over = ([one, a], [other, b]) => !one.contains(other) && !other.contains(one)
    && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const pairs = boxes.flatMap((box, n) => boxes.slice(n + 1).filter((other) => over(box, other)).map((other) => [box[0], other[0]]));
  const name = (one) => `${one.tagName} ${one.textContent.trim().slice(0, 40)}`;
  return [...outside, ...pairs].map((found) => found.map(name));
}"""  # noqa: E501
SPECS = {
    "ar": {
        "name": "مراجعات الأفلام القديمة والجديدة", "classes": ["إيجابي", "سلبي", "مختلط"],
        "question": "هل أعجب الفيلم كاتب المراجعة؟", "consent": "أنت تشارك في دراسة.",
        "instructions": "اقرأ النص كاملًا.",
    },
    "de": {
        "name": "Besprechungen von Filmen", "classes": ["Zustimmend", "Ablehnend", "Unentschieden"],
        "question": "Hat der Film der Person gefallen?", "consent": "Sie nehmen an einer Studie teil.",
        "instructions": "Lesen Sie den ganzen Text.",
    },
}  # fmt: skip


def look(page: Any) -> None:
    """Nothing overlaps, is outside of the page or scrolls sideways; axe finds nothing serious."""
    page.wait_for_load_state()
    page.wait_for_function("() => !document.querySelector('.answer--pressed')")  # before its colours fade
    assert page.evaluate(OVERLAPS) == [], page.url
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), page.url
    axe(page)


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("language", SPECS)
def test_a_worker_goes_from_link_to_code(serve: Any, open_page: Any, language: str, width: int) -> None:
    texts, words = SPECS[language], catalogue(language).gettext
    first, second, *_ = texts["classes"]
    example = {"text": texts["instructions"], "label": first, "why": texts["question"]}
    quiz = [example, {**example, "label": second}]
    spec = {**texts, "language": language, "examples": [example], "quiz": quiz, "batch": 3,
            "min_answers": 2, "currency": "EUR", "comments": True, "flags": True}  # fmt: skip
    service = serve(spec, contents=[{"text": texts["question"]}] * 6)
    page = open_page(viewport={"width": width, "height": 800})
    page.goto(service.link)
    assert page.evaluate("getComputedStyle(document.body).direction") == (
        "rtl" if language == "ar" else "ltr"
    )
    look(page)
    page.get_by_role("button", name=words("I agree"), exact=True).click()
    page.wait_for_url("**/instructions")
    look(page)
    page.get_by_role("link", name=words("Go to the quiz")).click()
    for answers in ([first, first], [first, second]):
        page.wait_for_url("**/quiz")
        look(page)
        for n, answer in enumerate(answers):
            page.locator("fieldset.quiz").nth(n).get_by_label(answer, exact=True).check()
        page.get_by_role("button", name=words("Check my answers")).click()
    page.wait_for_selector(".item:visible")
    look(page)
    press(page, "1")
    page.get_by_text(words("Saved"), exact=True).wait_for()
    look(page)
    page.get_by_role("button", name=words("Pause")).click()
    page.wait_for_url("**/pause")
    look(page)
    page.get_by_role("link", name=words("Carry on")).click()
    page.wait_for_selector(".item:visible")
    page.wait_for_timeout(200)
    page.keyboard.press("2")
    page.wait_for_url("**/done")
    look(page)


def test_an_overlap_would_be_seen(serve: Any, desktop: Any) -> None:
    desktop.goto(serve(SPECS["ar"]).link)
    desktop.evaluate("document.querySelector('h1').style.marginBottom = '-2rem'")
    assert len(desktop.evaluate(OVERLAPS)) == 1


@pytest.mark.parametrize("language", SPECS)
def test_what_a_script_says_is_in_the_language_of_the_page(
    serve: Any, desktop: Any, trouble: list[str], language: str
) -> None:
    service = serve({**SPECS[language], "consent": "", "language": language})
    desktop.goto(service.link)
    desktop.get_by_role("link", name=catalogue(language).gettext("Start")).click()
    desktop.wait_for_selector(".item:visible")
    desktop.route("**/undo", lambda route: route.abort())
    desktop.keyboard.press("u")
    offline = "You are offline. Undo works again when the connection is back."
    desktop.get_by_text(catalogue(language).gettext(offline)).wait_for()
    desktop.unroute("**/undo")
    desktop.keyboard.press("u")
    error = catalogue(language).gettext(
        "there is nothing to take back; only the answers just given can be changed"
    )
    desktop.get_by_text(error[1:]).wait_for()  # with a capital letter
    trouble.clear()  # the browser notes the requests that failed
