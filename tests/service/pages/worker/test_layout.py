"""The labelling page at every width: nothing overlaps, nothing is cut, nothing scrolls sideways."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.service.harness.accessibility import axe
from tests.service.harness.media import png
from tests.service.harness.worker_pages import PLAIN, start_labelling

pytestmark = pytest.mark.thorough  # needs a browser

WIDTHS = [360, 390, 768, 1280]
WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
QUESTION = (
    "Does the writer of this text, taken as a whole and in the light of all that is said in it, like the "
    "film that they saw, or do they not like it, or is it impossible to say so from what they wrote here? "
)
MANY = [f"Class number {n}" for n in range(18)]
ALL = {"comments": True, "flags": True, "instructions": f"Read it. {WORD}"}


def image(width: int, height: int) -> str:
    return "data:image/png;base64," + base64.b64encode(png(width, height)).decode()


CASES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "a four-line question": ({"question": QUESTION}, {"text": "Short."}),
    "twenty classes": (
        {"classes": [*MANY, "A long name of a class that goes on and on " * 3, WORD]},
        {"text": "x"},
    ),
    "very long names": (
        {"classes": ["Positive in every respect " * 5, "Negative " * 12]},
        {"text": "A film."},
    ),
    "one long word": ({"question": WORD * 2, "classes": [WORD, WORD * 2], "name": WORD}, {"text": WORD * 20}),
    "right to left": (
        {"language": "ar", "question": "هل يحب الكاتب هذا الفيلم؟", "classes": ["إيجابي", "سلبي"]},
        {"text": "هذا النص طويل جدا. " * 60},
    ),
    "a tall image": ({}, {"image": image(100, 3000), "text": "Look."}),
    "a wide image": ({}, {"image": image(3000, 80)}),
    "a long text": ({}, {"text": "A long text. " * 800}),
    "markdown": (
        {"markdown": True},
        {"text": f"# {WORD}\n\n| a | b |\n|--|--|\n| {WORD} | {WORD} |\n\n```\n{WORD * 3}\n```\n\n- *one*"},
    ),
}
OVERLAPS = """() => {
  const controls = 'button, a:not(.skip), input:not([type=hidden]), textarea, audio, video';
  const seen = (one) => one.checkVisibility() && !one.closest('dialog');
  const boxes = [...document.querySelectorAll(controls)].filter(seen)
    .map((one) => [one, one.getBoundingClientRect()]);
  const named = (one) => one.outerHTML.slice(0, 80);
  const apart = (one, other) => !one.closest('.panel') !== !other.closest('.panel'); // scrolled under it
  const bad = [];
  for (const [one, a] of boxes) {
    if (a.left < -1 || a.right > innerWidth + 1) bad.push(`cut: ${named(one)}`);
    for (const [other, b] of boxes) {
      if (one.contains(other) || other.contains(one) || apart(one, other)) continue;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 1) bad.push(`overlap: ${named(one)} | ${named(other)}`);
    }
  }
  const texts = '.answer, .btn, #question, .item:not([hidden]) .item-text, .work-done';
  for (const one of [...document.querySelectorAll(texts)].filter(seen)) {
    const box = one.getBoundingClientRect(), range = document.createRange();
    range.selectNodeContents(one);
    const lines = [...range.getClientRects()].filter((line) => line.width > 1 && line.height > 1);
    const slack = one.matches('.item-text') ? 12 : 1; // a blank at the end of a line hangs out
    const outside = (line) => line.left < box.left - slack || line.right > box.right + slack
      || line.top < box.top - 3 || line.bottom > box.bottom + 3;
    if (lines.some(outside)) bad.push(`text outside: ${named(one)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) bad.push('the page scrolls sideways');
  const panel = document.querySelector('.panel').getBoundingClientRect();
  if (panel.top < 0 && !scrollY) bad.push('the item is covered');
  return bad;
}"""


LOADED = "() => !document.querySelector('.item-media[data-state=loading]')"
HELP_FITS = "() => { const d = document.getElementById('help'); return d.scrollWidth <= d.clientWidth; }"


@pytest.mark.parametrize("case", CASES)
def test_nothing_overlaps_is_cut_or_scrolls_sideways(serve: Any, open_page: Any, case: str) -> None:
    more, content = CASES[case]
    service = serve({**PLAIN, **ALL, **more}, contents=[content] * 8)
    for width in WIDTHS:
        scheme = "dark" if width in (390, 1280) else "light"
        page = open_page(viewport={"width": width, "height": 780}, color_scheme=scheme)
        page.goto(service.link)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "of the instructions"
        page.locator("a.btn--primary").click()
        page.wait_for_selector(".item:visible")
        page.wait_for_function(LOADED)
        assert page.evaluate(OVERLAPS) == [], f"at {width} px"
        page.locator("#comment-open").click()
        assert page.evaluate(OVERLAPS) == [], f"with a comment at {width} px"
        page.keyboard.press("Escape")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        assert page.locator("[data-open=help]").is_visible()
        if width in (360, 1280):
            axe(page)
        page.locator("[data-open=help]").click()
        assert page.evaluate(HELP_FITS)
        page.close()


def test_every_item_begins_at_its_top(serve: Any, page: Any) -> None:
    service = serve({**PLAIN, "batch": 4}, contents=[{"text": "A long text. " * 600} for _ in range(4)])
    start_labelling(page, service)
    for _ in range(3):
        page.wait_for_timeout(170)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        assert page.evaluate("scrollY") > 100
        page.get_by_role("button", name="Positive").click()
        page.wait_for_function("() => scrollY === 0 && document.activeElement.id === 'deck'")
        top = page.locator(".item:visible").bounding_box()["y"]
        assert 0 <= top < page.viewport_size["height"]
    page.keyboard.press("u")
    page.wait_for_function("() => document.getElementById('done').textContent === '2'")
    assert page.evaluate("scrollY") == 0
