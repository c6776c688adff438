"""The environment of the libraries we are measured against: `python -m benchmarks.peers` makes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENT = ROOT / ".peers"
REQUIREMENTS = Path(__file__).parent / "requirements.txt"


def python() -> Path:
    """The interpreter of the peers: `CROWDPILOT_PEERS` if it is set, else that of `.peers/`."""
    path = Path(os.environ.get("CROWDPILOT_PEERS", ENVIRONMENT / "bin" / "python"))
    if not path.exists():
        raise ValueError("the peers are not installed; run `python -m benchmarks.peers` first")
    return path


def main() -> None:
    """Create `.peers/` and install the requirements into it."""
    subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    install = [python(), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, "-r", REQUIREMENTS], check=True)
    subprocess.run([*install, "--no-deps", "irrCAC==0.4.4"], check=True)  # it asks for an older pandas
    print(f"the peers are in {ENVIRONMENT.name}/")


if __name__ == "__main__":
    main()
