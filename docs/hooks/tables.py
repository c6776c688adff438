"""Tables that pages show, made from the lists of the package and from its layers."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable
from html import escape
from pathlib import Path

from crowdpilot.aggregation import MODELS
from crowdpilot.cli.shared.completion import describe
from crowdpilot.datasets import DATASETS

ROOT = Path(__file__).parents[2]
NO_REFERENCE = {  # they have a page of their own, or none
    "arrays", "cli", "confusion_matrices", "growing_arrays", "json_values", "names", "option_strings",
    "service",
}  # fmt: skip


def layers() -> list[list[str]]:
    """The rooms of each layer from the top down, by the contract that `lint-imports` checks."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = [contract for contract in contracts if contract.get("containers") == ["crowdpilot"]]
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


def reference_pages() -> dict[str, str]:
    """A page of the reference for each room, from the bottom up, by its path."""
    rooms = [room for layer in reversed(layers()) for room in layer if room not in NO_REFERENCE]
    return {f"reference/{room}.md": f"# crowdpilot.{room}\n\n::: crowdpilot.{room}\n" for room in rooms}


def about(room: str) -> str:
    """The first paragraph of the docstring of a room."""
    folder, module = ROOT / "crowdpilot" / room / "__init__.py", ROOT / "crowdpilot" / f"{room}.py"
    text = ast.get_docstring(ast.parse((folder if folder.exists() else module).read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())


def architecture() -> str:
    """The layers one above the other, as HTML; a room leads to its page or its reference."""
    return "\n".join(
        ["<div class='layers'>", *(f"<div>{''.join(map(box, layer))}</div>" for layer in layers()), "</div>"]
    )


def box(room: str) -> str:
    """A room of the picture."""
    title = f"title='{escape(about(room))}'"
    if (ROOT / "docs" / f"{room}.md").exists():
        return f"<a href='../{room}/' {title}>{room}</a>"
    if room not in NO_REFERENCE:
        return f"<a href='../reference/{room}/' {title}>{room}</a>"
    return f"<span {title}>{room}</span>"


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
