"""Pictures of every page: sheets with a desktop and a phone, in light and in dark; see `docs.pictures`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, BrowserContext

from docs.gallery.shots import SETTLE_MS, SHOTS, Shot
from docs.gallery.site import Site

DESKTOP, PHONE = (1280, 800), (390, 844)
SCREENS: tuple[tuple[tuple[int, int], Any], ...] = (
    (DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light"), (PHONE, "dark"),
)  # fmt: skip
SHEET_HEIGHT, GAP = 620, 20  # of a sheet with the four of them, in pixels
MAX_HEIGHT = 1.25  # of what is shown, for each unit of a desktop's width


def take(browser: Browser, site: Site, sign_in: str, folder: Path) -> None:
    """Save a sheet of each page in a folder: desktop and phone, light and dark."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.webp"):
        old.unlink()
    with _context(browser, DESKTOP, "light") as first:
        page = first.new_page()
        page.goto(f"{site.address}{sign_in}")
        page.wait_for_url("**/projects")
        state = first.storage_state()
    for shot in SHOTS:
        shown = [
            _screenshot(browser, site, shot, *screen, None if shot.is_worker else state) for screen in SCREENS
        ]
        save_sheet(shown, folder / f"{shot.name}.webp")


@contextmanager
def _context(
    browser: Browser, size: tuple[int, int], scheme: Any, state: Any = None
) -> Iterator[BrowserContext]:
    screen: Any = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=screen, color_scheme=scheme, storage_state=state)
    context.set_default_timeout(10_000)
    yield context
    context.close()


def _screenshot(
    browser: Browser, site: Site, shot: Shot, size: tuple[int, int], scheme: Any, state: Any
) -> Image.Image:
    with _context(browser, size, scheme, state) as context:
        page = context.new_page()
        shot.show(site, page)
        page.wait_for_timeout(SETTLE_MS)
        return Image.open(io.BytesIO(page.screenshot(full_page=True)))


def save_sheet(shown: list[Image.Image], file: Path) -> None:
    """Save screenshots side by side, all of one height; what is longer is cut."""
    scaled = []
    for shot in shown:
        longest = int(MAX_HEIGHT * DESKTOP[0] if shot.width == DESKTOP[0] else 2.6 * shot.width)
        cut = shot.convert("RGB").crop((0, 0, shot.width, min(shot.height, longest)))
        scale = SHEET_HEIGHT / longest
        scaled.append(cut.resize((round(cut.width * scale), round(cut.height * scale))))
    width = sum(shot.width + GAP for shot in scaled) + GAP
    sheet = Image.new("RGB", (width, SHEET_HEIGHT + 2 * GAP), "#d7dce3")
    x = GAP
    for shot in scaled:
        sheet.paste(shot, (x, GAP))
        x += shot.width + GAP
    sheet.save(file, quality=72, method=6)


def write_page(file: Path) -> None:
    """Write the page of the docs with all sheets."""
    lines = [
        "# Pages of the service",
        "",
        "Every page on a desktop and on a phone, in light and in dark; taken by `make pictures`.",
    ]
    for title, is_worker in (("For requesters", False), ("For workers", True)):
        lines += ["", f"## {title}"]
        for shot in SHOTS:
            if shot.is_worker is is_worker:
                lines += ["", f"### {shot.title}", "", f"![{shot.title}](images/pages/{shot.name}.webp)"]
    file.write_text("\n".join(lines) + "\n")
