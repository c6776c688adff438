"""Commands that pages show: those that end, and servers."""

from __future__ import annotations

import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

HOME = Path(__file__).parents[2]
LONGEST = 120.0  # seconds that a block may take, and a server to answer


def run(code: str, *, prompts: bool = False) -> tuple[str, int]:
    """What the commands write, and the code with which they end.

    Parameters
    ----------
    code
        Lines for a shell.
    prompts
        Commands stand behind a `$`; what would install, build or stay is tried without doing so.
    """
    lines = [_tried(line[2:]) for line in code.splitlines() if line.startswith("$ ")] if prompts else [code]
    ended = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", "\n".join(lines)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LONGEST,
    )  # fmt: skip
    return ("" if prompts else ended.stdout), ended.returncode


def _tried(command: str) -> str:
    """A command that can be run while a page is made, and fails if the shown one is wrong."""
    command = command.partition("  #")[0].strip()
    if install := re.match(r"(?:pip|uv pip|python3? -m pip) install (.*)", command):
        wanted = re.sub(r"(?<![\w-])crowdpilot(?=[\[\"'\s]|$)", str(HOME), install[1])
        wanted = re.sub(r"(?<![\w/.])\.(?=[\[\"'\s]|$)", str(HOME), wanted)
        wanted = wanted.replace("constraints.txt", str(HOME / "constraints.txt"))
        return f"pip install -q --dry-run --disable-pip-version-check {wanted}"
    if made := re.match(r"make ([\w-]+)", command):
        return f"make -n -C {HOME} {made[1]} >/dev/null"
    if served := re.match(r"crowdpilot ((?:serve|demo).*)", command):
        return f"crowdpilot {served[1].partition('&')[0]} --help >/dev/null"
    if command.split()[0] in ("docker", "pipx", "uvx", "uv", "git", "cd", "source", "mkdocs"):
        return f"echo {command.split()[0]} >/dev/null"
    return command


class Servers:
    """Servers that a page has started, which end with it."""

    def __init__(self) -> None:
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, code: str, address: str) -> str:
        """Start one in the background, and wait until it answers."""
        log = Path(f"server-{len(self._running)}.log")
        with log.open("wb") as file:
            server = subprocess.Popen(
                ["bash", "-eu", "-c", f"exec {code}"],
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running.append(server)
        end = time.monotonic() + LONGEST
        while time.monotonic() < end and server.poll() is None:
            try:
                with urllib.request.urlopen(address, timeout=2):
                    return log.read_text()
            except urllib.error.HTTPError:
                return log.read_text()
            except OSError:
                time.sleep(0.1)
        raise ValueError(f"{address} does not answer:\n{log.read_text()}")

    def close(self) -> None:
        """End all of them."""
        for server in self._running:
            server.send_signal(signal.SIGTERM)
        for server in self._running:
            try:
                server.wait(timeout=15)
            except subprocess.TimeoutExpired:
                server.kill()
