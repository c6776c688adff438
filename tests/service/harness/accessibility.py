"""Accessibility of pages: axe in the browser, by the rules of WCAG 2 A and AA."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]  # has no types

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
MAX_LOOKS, NEXT_LOOK_MS = 3, 500
STILL = """() => Promise.race([
  Promise.all(document.getAnimations().map((one) => one.finished.catch(() => null))),
  new Promise((next) => setTimeout(next, 1000)),  // some never end
])"""  # what fades in has its full contrast only then


def axe(page: Any) -> None:
    """Assert that axe finds no serious or critical violation of WCAG 2 A and AA on a page.

    What it finds is looked for again a moment later: a button that was pressed changes its colours.
    """
    page.evaluate(AXE_SCRIPT)
    bad: list[dict[str, Any]] = []
    for _ in range(MAX_LOOKS):
        page.evaluate(STILL)
        options = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]}
        found = page.evaluate("options => axe.run(options)", options)["violations"]
        bad = [violation for violation in found if violation["impact"] in ("serious", "critical")]
        if not bad:
            return
        page.wait_for_timeout(NEXT_LOOK_MS)
    raise AssertionError(f"{page.url}\n" + "\n".join(map(describe, bad)))


def fits(page: Any) -> None:
    """Assert that axe finds nothing serious on a page, and that it does not scroll sideways."""
    axe(page)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= page.viewport_size["width"], f"{page.url} is {wide} pixels wide"


def describe(violation: dict[str, Any]) -> str:
    nodes = [f"  {' '.join(map(str, n['target']))}: {n['html'][:150]}" for n in violation["nodes"]]
    return "\n".join([f"{violation['id']} ({violation['impact']}): {violation['help']}", *nodes])
