"""Build the package from a copy of what git holds, wherever and whenever."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]


@dataclass(frozen=True)
class Built:
    """A wheel and a source archive, and what they were made from."""

    source: Path
    wheel: Path
    sdist: Path


def copy_tracked(folder: Path) -> Path:
    """What git holds, as it is in the tree now, in a folder of its own."""
    if not (HOME / ".git").exists() or not shutil.which("git"):
        pytest.skip("what belongs to the package is known to git alone; this is no checkout")
    listed = subprocess.check_output(["git", "-C", str(HOME), "ls-files", "-z"], text=True)
    for name in filter(None, listed.split("\0")):
        if (HOME / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HOME / name, folder / name)
    return folder


def names_in(folder: Path) -> set[str]:
    """Names of all files in a folder, as seen from there."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def build(source: Path, target: Path, *targets: str, umask: int = 0o022) -> Path:
    """The folder with what was built."""
    environ = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    wanted = [word for kind in targets for word in ("-t", kind)]
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(target), *wanted],
        cwd=source, env=environ, umask=umask, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return target


def build_both(source: Path, target: Path, *, umask: int = 0o022) -> Built:
    """A wheel and a source archive, each made from the same files."""
    build(source, target, "sdist", "wheel", umask=umask)
    return Built(source, next(target.glob("*.whl")), next(target.glob("*.tar.gz")))


def unpack(sdist: Path, folder: Path) -> Path:
    """The one folder in a source archive."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.iterdir())
