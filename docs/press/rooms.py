"""The house as a picture, drawn from the contract that says which room may import which."""

from __future__ import annotations

import re
import tomllib
from html import escape
from pathlib import Path

HOME = Path(__file__).parents[2]
WIDTH, HEIGHT, GAP = 760, 44, 14  # of the picture, of a storey, between storeys
OUTER = {"arrays", "naming", "confusion"}  # rooms without a page of their own
PAGES = {"io": "formats"}


def storeys() -> list[list[str]]:
    """The rooms of each storey, from the roof down."""
    with (HOME / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [[room.strip() for room in layer.split("|")] for layer in layers]


def about(room: str) -> str:
    """The first sentence of what a room says of itself."""
    folder, module = HOME / "crowdpilot" / room / "__init__.py", HOME / "crowdpilot" / f"{room}.py"
    text = (folder if folder.exists() else module).read_text()
    found = re.match(r'"""(.+?)(?:\n\n|""")', text, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def diagram() -> str:
    """The storeys as SVG; a room leads to its page."""
    floors = storeys()
    height = len(floors) * (HEIGHT + GAP) + GAP
    drawn = [_storey(rooms, GAP + n * (HEIGHT + GAP)) for n, rooms in enumerate(floors)]
    return (
        f'<svg class="house" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="The rooms of the package; each imports only those below it">{"".join(drawn)}</svg>'
    )


def _storey(rooms: list[str], top: float) -> str:
    width = (WIDTH - GAP * (len(rooms) + 1)) / len(rooms)
    return "".join(_room(room, GAP + n * (width + GAP), top, width) for n, room in enumerate(rooms))


def _room(room: str, left: float, top: float, width: float) -> str:
    box = (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{HEIGHT}" rx="6"/>'
        f'<text x="{left + width / 2:.0f}" y="{top + HEIGHT / 2 + 5:.0f}">{room}</text>'
    )
    titled = f"<title>{escape(about(room))}</title>{box}"
    return f"<g>{titled}</g>" if room in OUTER else f'<a href="../{PAGES.get(room, room)}/">{titled}</a>'


def table() -> str:
    """The rooms from the ground up, with what each says of itself."""
    rows = [f"| `{room}` | {about(room)} |" for rooms in reversed(storeys()) for room in rooms]
    return "\n".join(["| room | what it is |", "|---|---|", *rows])
