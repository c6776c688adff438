"""The import graph of the package, from its source: every import counts, lazy and type-checking ones too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import crowdpilot

PACKAGE = Path(crowdpilot.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    """Dotted name of a file; a package is named like its folder."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_names(path: Path) -> Iterator[tuple[str, str]]:
    """Module and name of every `from crowdpilot... import name` of a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "crowdpilot":
            yield from ((node.module or "", alias.name) for alias in node.names)


def import_graph() -> dict[str, set[str]]:
    """The modules that each module imports by name."""
    known = {module_name(path) for path in MODULES}
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        targets = {
            f"{module}.{name}" if f"{module}.{name}" in known else module
            for module, name in imported_names(path)
        }
        graph[module_name(path)] = targets - {module_name(path)}
    return graph


def import_circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other: strongly connected components, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in order:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], order[target])
        if low[node] == order[node]:
            group = [stack.pop()]
            while group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                circles.append(sorted(group))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return circles
