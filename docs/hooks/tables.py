"""Tables that pages show, made from the lists of the package and from its layers."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import crowdpilot
from crowdpilot.aggregation import MODELS
from crowdpilot.cli.shared.completion import describe
from crowdpilot.datasets import DATASETS

ROOT = Path(__file__).parents[2]
OWN_PAGES = {"cli", "service"}  # for people who write no Python
PARTS_WITH_NAMES = sorted({"reporting.plots", *(home for home in crowdpilot._NAMES_OF if "." in home)})


def layers() -> list[list[str]]:
    """The rooms of each layer from the top down, by the contract that `lint-imports` checks."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = [contract for contract in contracts if contract.get("containers") == ["crowdpilot"]]
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


def reference_rooms() -> list[str]:
    """The rooms that the reference describes, from the bottom up: `votes` and the folders."""
    rooms = [room for layer in reversed(layers()) for room in layer if room not in OWN_PAGES]
    return [room for room in rooms if room == "votes" or (ROOT / "crowdpilot" / room).is_dir()]


def reference_pages() -> dict[str, str]:
    """A page of the reference for each room, with its parts, by its path."""
    return {f"reference/{room}.md": reference_page(room) for room in reference_rooms()}


def parts_of(room: str) -> list[str]:
    """The parts of a room with public names of their own."""
    return [part for part in PARTS_WITH_NAMES if part.startswith(f"{room}.")]


def reference_page(room: str) -> str:
    """The page of a room."""
    parts = (f"\n## crowdpilot.{part}\n\n::: crowdpilot.{part}\n" for part in parts_of(room))
    return f"# crowdpilot.{room}\n\n::: crowdpilot.{room}\n" + "".join(parts)


def about(room: str) -> str:
    """The first paragraph of the docstring of a room."""
    folder, module = ROOT / "crowdpilot" / room / "__init__.py", ROOT / "crowdpilot" / f"{room}.py"
    text = ast.get_docstring(ast.parse((folder if folder.exists() else module).read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())


def architecture() -> str:
    """The layers one above the other; a room leads to its page or to its public names."""
    drawn = "\n\n".join(" ".join(map(box, layer)) for layer in layers())
    return f'<div class="layers" markdown>\n\n{drawn}\n\n</div>'


def box(room: str) -> str:
    """A room of the picture."""
    if (ROOT / "docs" / f"{room}.md").exists():
        return f"[{room}]({room}.md)"
    if room in reference_rooms():
        return f"[{room}](api.md#crowdpilot{room})"
    return f"<span>{room}</span>"


def rooms() -> str:
    """The rooms from the bottom up."""
    return table(
        ("room", "what it is"), ((room, about(room)) for layer in reversed(layers()) for room in layer)
    )


def strategies() -> str:
    """The aggregators."""
    rows = [(name, describe(model)) for name, model in MODELS.items()]
    link = re.compile(r"(https?://\S+?)(?=[.,;)]?(?:\s|$))")
    shown = ((name, row["summary"], link.sub(r"<\1>", row["paper"])) for name, row in rows)
    return table(("name", "what it does", "paper"), shown)


def datasets() -> str:
    """The public data sets."""
    head = ("data set", "what it is", "size", "licence", "checksum")
    rows = []
    for name, kind in DATASETS.items():
        size = f"{kind.counts.tasks:,} tasks, {kind.counts.classes} classes"
        size += f", {kind.counts.votes:,} votes" if kind.counts.votes else ""
        rows.append(
            (name, kind.description, size, kind.licence, "bundled" if kind.is_bundled else kind.checksum)
        )
    return table(head, rows)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table whose first column is code."""
    lines = [(f"`{name}`", *(cell.replace("|", "\\|") for cell in cells)) for name, *cells in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *lines))
