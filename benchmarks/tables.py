"""Markdown tables, and the machine in words."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
NONE = "–"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, rule, *rows)) + "\n"


def numbers(values: Sequence[float | None], digits: int = 3, *, best: bool = True) -> list[str]:
    """The numbers of a row as text, the highest in bold."""
    shown = [NONE if value is None else f"{value:.{digits}f}" for value in values]
    top = max((text for text in shown if text != NONE), key=float, default=None)
    return [f"**{text}**" if best and text == top else text for text in shown]


def whole(value: float | None) -> str:
    """A number without digits after the point, or what stands for none."""
    return NONE if value is None else f"{value:,.0f}"


def write(output: Path, name: str, text: str, data: dict[str, Any]) -> None:
    """Write `name.md` and `name.json`."""
    output.mkdir(parents=True, exist_ok=True)
    (output / f"{name}.md").write_text(text, encoding="utf-8")
    save_json(output / f"{name}.json", data)


def save_json(path: Path, data: Any) -> None:
    """Write JSON that people can read and compare."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def machine() -> str:
    """The machine in words, without its name."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    system = f"{platform.system()}, Python {platform.python_version()}"
    return f"{cores} cores, {gigabytes:.0f} GB of memory, {system}"
