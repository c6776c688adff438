"""Tables made from the lists of the package: `python -m docs.press.lists strategies`.

A line `<!-- made: strategies -->` on a page is replaced by one of them when the site is built.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from crowdpilot.cli.commands.strategies import describe
from docs.press import rooms

MADE = re.compile(r"^<!-- made: (\w+) -->$", re.M)


def strategies() -> str:
    """What `aggregate` can do."""
    from crowdpilot.aggregation import MODELS

    return _described(MODELS)


def methods() -> str:
    """How classifiers learn from votes."""
    from crowdpilot.learning import METHODS

    return _described(METHODS)


def maps() -> str:
    """What makes probabilities honest."""
    from crowdpilot.calibration import MAPS

    return _table(("map", "what it does"), ((name, _brief(kind)) for name, kind in MAPS.items()))


def policies() -> str:
    """Who is asked next, and when it is enough."""
    from crowdpilot.hybrid import POLICIES

    return _table(("policy", "what it does"), ((name, _brief(kind)) for name, kind in POLICIES.items()))


def formats() -> str:
    """What is read and written."""
    from crowdpilot.io import FORMATS

    def written(suffixes: tuple[str, ...], can: bool) -> str:
        shown = ", ".join(f"`{suffix}`" for suffix in suffixes if suffix)
        return shown or ("by name" if can else "no")

    rows = ((n, f.summary, written(f.suffixes, f.write is not None)) for n, f in FORMATS.items())
    return _table(("format", "what it is", "written"), rows)


def simulations() -> str:
    """Crowds that can be drawn."""
    from crowdpilot.simulation import STRATEGIES

    return _table(("crowd", "what it is"), ((name, _brief(kind)) for name, kind in STRATEGIES.items()))


def identifications() -> str:
    """Scores of workers and tasks."""
    from crowdpilot.diagnosis.identify import IDENTIFICATIONS

    return _table(
        ("score", "what it tells"), ((name, _brief(kind)) for name, kind in IDENTIFICATIONS.items())
    )


def datasets() -> str:
    """Public votes, by name."""
    from crowdpilot.datasets import DATASETS

    def row(name: str, kind: Any) -> tuple[str, ...]:
        size = f"{kind.counts.tasks:,} tasks, {kind.counts.classes} classes"
        size += f", {kind.counts.votes:,} votes" if kind.counts.votes else ""
        return name, kind.description, size, kind.licence, "bundled" if kind.is_bundled else kind.checksum

    head = ("data set", "what it is", "size", "licence", "checksum")
    return _table(head, (row(name, kind) for name, kind in DATASETS.items()))


def _described(kinds: Mapping[str, Any]) -> str:
    rows = [(name, describe(kind)) for name, kind in kinds.items()]
    shown = ((name, row["summary"], _link(row["paper"])) for name, row in rows)
    return _table(("name", "what it does", "paper"), shown)


def _link(paper: str) -> str:
    return re.sub(r"(https?://\S+?)(?=[.,;)]?(?:\s|$))", r"<\1>", paper)


def _brief(kind: Any) -> str:
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split())


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [(f"`{name}`", *(cell.replace("|", "\\|") for cell in cells)) for name, *cells in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *lines))


LISTS: dict[str, Callable[[], str]] = {
    "house": rooms.diagram,
    "rooms": rooms.table,
    "strategies": strategies,
    "methods": methods,
    "maps": maps,
    "policies": policies,
    "formats": formats,
    "simulations": simulations,
    "identifications": identifications,
    "datasets": datasets,
}


def fill(text: str) -> str:
    """A page with the lists it asks for."""

    def made(match: re.Match[str]) -> str:
        if match[1] not in LISTS:
            raise ValueError(f"there is no list {match[1]!r}, expected one of {', '.join(LISTS)}")
        return LISTS[match[1]]()

    return MADE.sub(made, text)


if __name__ == "__main__":
    print(*(LISTS[name]() for name in sys.argv[1:]), sep="\n\n")
