"""The environments of other libraries and programs: `python -m benchmarks.peers` makes them.

The libraries we are measured against are in `.peers/`. The programs whose exports are in the corpus have an
environment each in `.programs/`, since they ask for other versions of the same packages.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENT = ROOT / ".peers"
REQUIREMENTS = Path(__file__).parent / "requirements.txt"
PROGRAMS = {
    "label-studio": ROOT / "tests" / "programs" / "label-studio.txt",
    "doccano": Path(__file__).parent / "requirements-doccano.txt",
}


def python() -> Path:
    """The interpreter of the peers: `CROWDPILOT_PEERS` if it is set, else that of `.peers/`."""
    path = Path(os.environ.get("CROWDPILOT_PEERS", ENVIRONMENT / "bin" / "python"))
    if not path.exists():
        raise ValueError("the peers are not installed; run `python -m benchmarks.peers` first")
    return path


def program(name: str) -> Path:
    """The command of a program: `CROWDPILOT_LABEL_STUDIO` if it is set, else that of `.programs/`."""
    named = os.environ.get(f"CROWDPILOT_{name.upper().replace('-', '_')}")
    path = Path(named) if named else folder_of(name) / "bin" / name
    if not path.exists():
        raise ValueError(f"{name} is not installed; run `python -m benchmarks.peers` first")
    return path


def folder_of(name: str) -> Path:
    """The environment of a program."""
    return ROOT / ".programs" / name


def install(environment: Path, *packages: str | Path) -> None:
    """Make an environment, unless it is there, and install packages into it."""
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    command = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
    subprocess.run(command, check=True)


def main() -> None:
    """Create `.peers/` and the environments of programs, and install their requirements."""
    install(ENVIRONMENT, "-r", REQUIREMENTS)
    install(ENVIRONMENT, "--no-deps", "irrCAC==0.4.4")  # it asks for an older pandas
    for name, requirements in PROGRAMS.items():
        install(folder_of(name), "-r", requirements)
    print(f"the peers are in {ENVIRONMENT.name}/, the programs in .programs/")


if __name__ == "__main__":
    main()
