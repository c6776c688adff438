"""Accessibility of pages: axe in the browser, by the rules of WCAG 2 A and AA."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]  # has no types

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
STILL = """() => Promise.race([
  Promise.all(document.getAnimations().map((one) => one.finished.catch(() => null))),
  new Promise((next) => setTimeout(next, 1000)),  // some never end
])"""  # what fades in has its full contrast only then


def axe(page: Any) -> None:
    """Assert that axe finds no serious or critical violation of WCAG 2 A and AA on a page."""
    page.evaluate(STILL)
    page.evaluate(AXE_SCRIPT)
    options = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]}
    found = page.evaluate("options => axe.run(options)", options)["violations"]
    bad = [violation for violation in found if violation["impact"] in ("serious", "critical")]
    assert not bad, f"{page.url}\n" + "\n".join(map(describe, bad))


def describe(violation: dict[str, Any]) -> str:
    nodes = [f"  {' '.join(map(str, n['target']))}: {n['html'][:150]}" for n in violation["nodes"]]
    return "\n".join([f"{violation['id']} ({violation['impact']}): {violation['help']}", *nodes])
