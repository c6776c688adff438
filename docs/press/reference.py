"""Pages that are made: the reference of every room, and the results of every benchmark."""

from __future__ import annotations

from pathlib import Path

from docs.press import rooms

HOME = Path(__file__).parents[2]
RESULTS = HOME / "benchmarks" / "results"
APART = ("cli", "service", "arrays", "naming")  # a reference of its own, or none


def reference() -> dict[str, str]:
    """A page for each room whose names are for others to use."""
    named = [room for storey in reversed(rooms.storeys()) for room in storey if room not in APART]
    return {f"reference/{room}.md": _room(room) for room in named}


def _room(room: str) -> str:
    return f"# crowdpilot.{room}\n\n::: crowdpilot.{room}\n"


def results() -> dict[str, str]:
    """A page for each table of results, as the benchmark wrote it."""
    return {f"benchmarks/{path.stem}.md": _result(path) for path in sorted(RESULTS.glob("*.md"))}


def _result(path: Path) -> str:
    text = path.read_text()
    return text if text.startswith("# ") else f"# {path.stem.replace('_', ' ').capitalize()}\n\n{text}"


def pictures() -> dict[str, Path]:
    """What the pages of results show."""
    return {f"benchmarks/{path.name}": path for path in RESULTS.glob("*.png")}
