"""The map of the code: every module of the package with the first line of its docstring."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "crowdpilot"
LEFT_OUT = {"__pycache__", "migrations"}


def first_line(path: Path) -> str:
    """The first line of the docstring of a module."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]


def code_map() -> str:
    """One Markdown list: folders with what they hold, and below each its modules."""
    return "\n".join(["```text", *_tree(PACKAGE, ""), "```"])


def _tree(folder: Path, indent: str) -> Iterator[str]:
    yield _line(f"{indent}{folder.name}/", first_line(folder / "__init__.py"))
    modules = sorted(path for path in folder.glob("*.py") if path.stem not in {"__init__", "__main__"})
    for path in modules:
        yield _line(f"{indent}  {path.name}", first_line(path))
    for package in sorted(path.parent for path in folder.glob("*/__init__.py")):
        if package.name not in LEFT_OUT:
            yield from _tree(package, f"{indent}  ")


def _line(name: str, about: str) -> str:
    return f"{name:<40} {about}".rstrip()
