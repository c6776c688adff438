"""Commands that pages show: those that end, and servers."""

from __future__ import annotations

import re
import signal
import subprocess
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

HOME = Path(__file__).parents[2]
ELSEWHERE = ("docker", "pipx", "uvx", "uv", "git", "cd", "source", "python3")  # tests/packaging has those
PIP = "pip install -q --dry-run --no-deps --no-index --no-build-isolation --disable-pip-version-check"
LONGEST = 120.0  # seconds that a block may take, and a server to answer


def run(code: str, *, prompts: bool = False) -> tuple[str, int]:
    """What the commands write, and the code with which they end.

    Parameters
    ----------
    code
        Lines for a shell.
    prompts
        Commands stand behind a `$`, and what they write below them, so that nothing is added. What
        would install something, stay, or take hours is tried without doing so.
    """
    shown = re.findall(r"^\$ (.*(?:\\\n.*)*)", code, re.M)
    lines = [_tried(" ".join(line.replace("\\\n", " ").split())) for line in shown] if prompts else [code]
    ended = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", "\n".join(lines)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LONGEST,
    )  # fmt: skip
    return ended.stdout if ended.returncode or not prompts else "", ended.returncode


def _tried(command: str) -> str:
    """A command that can be run while a page is made, and fails if the shown one is wrong."""
    command = command.partition(" #")[0].strip()
    if install := re.match(r"(?:pip|uv pip) install (.*)", command):
        unknown = _extras(install[1]) - _known_extras()
        return f"echo there is no extra {min(unknown)}; false" if unknown else f"{PIP} {_here(install[1])}"
    if made := re.match(r"make ([\w-]+)", command):
        return f"make -n -C {HOME} {made[1]} > /dev/null"
    if long := re.match(r"(crowdpilot (?:serve|demo|keys \w+)|python -m benchmarks\.\w+)(.*)", command):
        return _knows(f"cd {HOME}; {long[1]} --help", re.findall(r"--[a-z][\w-]*", long[2]))
    if command.split()[0] in ELSEWHERE:
        return ":"
    return command


def _extras(wanted: str) -> set[str]:
    return {extra.strip() for found in re.findall(r"\[([\w, -]+)\]", wanted) for extra in found.split(",")}


def _known_extras() -> set[str]:
    with (HOME / "pyproject.toml").open("rb") as file:
        return set(tomllib.load(file)["project"]["optional-dependencies"])


def _here(wanted: str) -> str:
    """What pip is asked for, with this tree in the place of the published package."""
    wanted = re.sub(r"(?<![\w/.-])(?:crowdpilot|\.)(?=[\[\"'\s]|$)", str(HOME), wanted)
    return wanted.replace("constraints.txt", str(HOME / "constraints.txt"))


def _knows(help: str, options: list[str]) -> str:
    """A command that fails if the help of another does not know one of these options."""
    asked = "".join(f'grep -q -e "{option}" <<< "$said"; ' for option in options)
    return f"(said=$({help}); {asked}:)"


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
