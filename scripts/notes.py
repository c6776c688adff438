"""Print what CHANGELOG.md says of a version, of this one if none is named: `python scripts/notes.py`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HOME = Path(__file__).parents[1]


def notes(changelog: str, version: str) -> str:
    """The section of a version, without its heading."""
    headings = list(re.finditer(r"^## \[?([^\]\s]+)\]?.*$", changelog, re.MULTILINE))
    ends = [heading.start() for heading in headings[1:]] + [len(changelog)]
    found = {head[1]: changelog[head.end() : end].strip() for head, end in zip(headings, ends, strict=True)}
    if not found.get(version):
        known = ", ".join(name for name, text in found.items() if text) or "none"
        raise ValueError(f"CHANGELOG.md says nothing of version {version!r}; it has notes of: {known}")
    return found[version]


def current() -> str:
    """The version of this tree."""
    code = (HOME / "crowdpilot/__init__.py").read_text()
    return re.findall(r'^__version__ = "(.+)"$', code, re.MULTILINE)[0]


def main(version: str = "") -> None:
    """Print the notes; a version without any is one sentence and exit code 2."""
    try:
        print(notes((HOME / "CHANGELOG.md").read_text(), version or current()))
    except ValueError as problem:
        print(f"notes: {problem}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main(*sys.argv[1:2])
