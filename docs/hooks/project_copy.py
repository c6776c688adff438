"""A copy of the project, in which the pages of "how to add" are followed."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("crowdpilot", "tests", "docs", "scripts")
FILES = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "Makefile")


def copy_project(folder: Path) -> None:
    """Copy what is needed to run the package, its tests and its pages."""
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored, dirs_exist_ok=True)
    for name in FILES:
        shutil.copy(ROOT / name, folder)
