"""How long a new user needs from `pip install` to a link for workers: `python -m benchmarks.first_project`.

The package is built and installed into an empty environment, the service is started from there, and a browser
fills in the form of a first project. What the machine needs is measured. What a person needs is not: the
browser waits as a person would, by the pace below, for each character, each click and each page that is new.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from playwright.sync_api import Page, sync_playwright

from benchmarks.tables import RESULTS, machine, markdown, write
from crowdpilot.cli.commands.serve import free_port
from tests.equip import chromium

HOME = Path(__file__).parents[1]
SECONDS_PER_CHARACTER = 0.3  # 40 words a minute
SECONDS_PER_CLICK = 1.5
SECONDS_PER_PAGE = 6.0  # to look at a page or a step that is new
ITEMS = 60
LIMIT_SECONDS = 240.0


class Person:
    """Somebody who uses a page at the pace of a person; their waiting is counted.

    Parameters
    ----------
    page
        Of a browser.
    """

    def __init__(self, page: Page) -> None:
        self.page, self.waited, self.steps = page, 0.0, 0

    def _wait(self, seconds: float) -> None:
        self.waited += seconds
        time.sleep(seconds)

    def look(self) -> None:
        """Read a page that is new."""
        self._wait(SECONDS_PER_PAGE)

    def click(self, name: str, role: Any = "button") -> None:
        """Click a button or a link."""
        self.steps += 1
        self._wait(SECONDS_PER_CLICK)
        self.page.get_by_role(role, name=name).first.click()

    def type(self, field: str, text: str) -> None:
        """Fill in a field."""
        self.steps += 1
        self._wait(SECONDS_PER_CLICK + SECONDS_PER_CHARACTER * len(text))
        self.page.locator(f"#{field}").fill(text)


def measure(folder: Path) -> dict[str, float]:
    """Seconds of each step, in order."""
    seconds: dict[str, float] = {}

    @contextmanager
    def step(name: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        seconds[name] = time.monotonic() - begun

    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(HOME)], check=True
    )
    wheel = next(folder.glob("crowdpilot-*.whl"))
    own = folder / "env" / "bin"
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    with step("pip install"):
        install = [own / "pip", "install", "-q", "-c", HOME / "constraints.txt", f"{wheel}[service]"]
        subprocess.run(install, check=True, env=environment, stderr=subprocess.DEVNULL)
    items = folder / "reviews.csv"
    items.write_text(
        "name,text\n" + "".join(f"review-{n},A film about the number {n}.\n" for n in range(ITEMS))
    )
    port = str(free_port("127.0.0.1"))
    with step("crowdpilot serve, until one can sign in"):
        server = subprocess.Popen(
            [own / "crowdpilot", "serve", "--port", port], cwd=folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        _await_start(server)
        ask = [
            own / "crowdpilot",
            "keys",
            "link",
            "--address",
            f"http://127.0.0.1:{port}",
        ]  # as serve prints it
        said = subprocess.run(ask, cwd=folder, env=environment, text=True, capture_output=True, check=True)
        link = re.findall(r"https?://\S+/login\?token=\S+", said.stdout + said.stderr)[0]
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            person = Person(browser.new_page())
            with step("the form, filled in by a person"):
                create(person, link, items)
            browser.close()
    finally:
        server.terminate()
        server.wait(30)
    waited = {"of which the person": person.waited, "clicks and fields": float(person.steps)}
    return {**seconds, "in all": sum(seconds.values()), **waited}


def _await_start(server: subprocess.Popen[str]) -> None:
    assert server.stdout is not None
    if not any("listening at" in line for line in server.stdout):
        raise RuntimeError("the service did not start")


def create(person: Person, link: str, items: Path) -> None:
    """From the link to sign in to the link for workers."""
    page = person.page
    page.goto(link)
    page.wait_for_url("**/projects")
    person.look()
    person.click("New project", "link")
    person.look()
    person.steps += 1
    page.locator("#files").set_input_files(items)
    page.locator("#preview").get_by_text(str(ITEMS)).first.wait_for()
    person.look()
    person.click("Next")
    person.look()
    person.type("name", "Film reviews")
    person.type("question", "Does the writer like the film?")
    person.type("classes-0-name", "no")
    person.type("classes-1-name", "yes")
    for _ in range(5):
        person.click("Next")
        person.look()
    person.click("Create the project")
    page.wait_for_url(re.compile(r"/projects/[0-9a-f]{12}$"))
    person.look()
    page.locator("#link-crowd").first.wait_for()


def main(output: Annotated[Path, typer.Option()] = RESULTS) -> None:
    """Measure the way to a first project."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = measure(Path(folder))
    rows = [
        [name, f"{value:.0f}" if "clicks" in name else f"{value:.1f} s"] for name, value in seconds.items()
    ]
    text = (
        "# A first project\n\n"
        "`python -m benchmarks.first_project`: from `pip install` to a link for workers, on "
        f"{machine()}. Packages come from the registry that is set up here. A person needs "
        f"{SECONDS_PER_CHARACTER:g} s for a character, {SECONDS_PER_CLICK:g} s for a click and "
        f"{SECONDS_PER_PAGE:g} s for each page or step that is new; {ITEMS} texts in a CSV file are ready. "
        f"The aim is under {LIMIT_SECONDS:.0f} s.\n\n" + markdown(["step", "measured"], rows)
    )
    write(output, "first_project", text, {"machine": machine(), "seconds": seconds})


if __name__ == "__main__":
    typer.run(main)
