"""The wizard of a new project in a browser: from the files to the page of the project, by clicks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.service.harness.accessibility import axe

LAST_STEP = 7


def next_step(page: Any, step: int, *, check: bool = False) -> None:
    """Go to a step."""
    page.get_by_role("button", name="Next", exact=True).click()
    page.locator(f"#part-{step}").wait_for()
    if check:
        axe(page)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= page.viewport_size["width"], step


def create_by_clicks(
    page: Any, files: Sequence[Path], name: str, classes: Sequence[str] = (), *,
    fill: dict[int, Callable[[Any], None]] | None = None, check: bool = False,
) -> str:  # fmt: skip
    """Fill in all steps from the page of projects, and create the project; its id.

    `fill` does more at some steps; without classes, those of the template are kept.
    """
    page.locator("#files").set_input_files(list(files))
    page.locator(".setup-preview").wait_for()
    for step in range(2, LAST_STEP + 1):
        next_step(page, step, check=check)
        if step == 2:
            page.get_by_label("Name of the project").fill(name)
            for n, one in enumerate(classes):
                if n >= page.locator("[data-rows=classes] > li").count():
                    page.get_by_role("button", name="Add an answer").click()
                page.locator(f"#classes-{n}-name").fill(one)
        if fill and step in fill:
            fill[step](page)
    page.get_by_role("button", name="Create the project").click()
    page.wait_for_url(re.compile(r"/projects/[0-9a-f]{12}$"))
    return str(page.url.rpartition("/")[2])
