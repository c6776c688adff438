"""Do what a page of "how to add" shows, in a copy of the project.

`follow(page, folder)` copies the project, writes the files that the page shows in full and makes the
changes that it shows as diffs. The pages run their commands there, and so do the tests.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from docs.press.blocks import blocks

HOME = Path(__file__).parents[2]
FOLDERS = ("crowdpilot", "tests", "docs")
FILES = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "Makefile")


def follow(page: Path, folder: Path) -> list[str]:
    """Copy the project into a folder and change it as a page says; the paths of the new files."""
    copy(folder)
    new = []
    for block in blocks(page.read_text()):
        title = block.options.get("title", "")
        if block.language == "diff":
            place = folder / title
            place.write_text(patched(place.read_text(), block.code, title))
        elif block.is_file and title.startswith(FOLDERS):
            if (folder / title).exists():
                raise ValueError(f"{page.name} shows {title} as a new file, but there is one already")
            (folder / title).write_text(block.code)
            new.append(title)
    return new


def copy(folder: Path) -> None:
    """What is needed to run the package, its tests and its pages."""
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(HOME / name, folder / name, ignore=ignored, dirs_exist_ok=True)
    for name in FILES:
        if (HOME / name).exists():
            shutil.copy(HOME / name, folder / name)


def patched(text: str, diff: str, name: str = "the file") -> str:
    r"""A text with the changes of a diff.

    The lines of a part that are kept or removed must stand in the text one below the other, and only
    once. Parts begin with `@@`; headers are not needed.

    Examples
    --------
    >>> print(patched("a\nb\nc\n", " b\n+new\n-c\n"), end="")
    a
    b
    new
    """
    lines = text.splitlines()
    for part in _parts(diff):
        old = [line[1:] for line in part if line[:1] != "+"]
        found = [n for n in range(len(lines)) if lines[n : n + len(old)] == old]
        if not old or len(found) != 1:
            raise ValueError(f"a diff does not fit {name}: these lines occur {len(found)} times:\n{old}")
        lines[found[0] : found[0] + len(old)] = [line[1:] for line in part if line[:1] != "-"]
    return "\n".join(lines) + "\n"


def _parts(diff: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in diff.splitlines():
        if line.startswith("@@"):
            parts.append([])
        else:
            parts[-1].append(line or " ")
    return [part for part in parts if part]
