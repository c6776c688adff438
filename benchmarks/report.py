"""How long a report takes: `python -m benchmarks.report`.

A crowd of the size of CIFAR-10H goes to a Parquet file, and `crowdpilot report` makes a page of it
in a process of its own: reading, labels, diagnosis, plots and page together. Where Debian's chromium
is installed the page is opened there, sorted and searched.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer

import crowdpilot
from benchmarks.peers import ROOT
from benchmarks.process import launch
from benchmarks.tables import RESULTS, machine, markdown, write
from crowdpilot.simulation.crowds.one_coin import OneCoin
from crowdpilot.votes import Votes

TASKS, WORKERS, CLASSES, VOTES = 10_000, 2_571, 10, 511_400
TITLE = "A simulated crowd"
SIMULATED_SHARES = {"spammers": 0.1, "colluding": 0.05, "drifting": 0.05}


def simulate(seed: int = 0) -> Votes:
    """Votes with times and seconds of workers who are right in about 95 of 100 cases, but for spammers."""
    rng = np.random.default_rng(seed)
    skill = rng.beta(19, 1, WORKERS)
    skill[rng.permutation(WORKERS) < round(SIMULATED_SHARES["spammers"] * WORKERS)] = 1 / CLASSES
    votes = OneCoin(
        tasks=TASKS, workers=WORKERS, classes=CLASSES, votes_per_task=52, skill=tuple(skill), seconds=8.0,
        colluding=SIMULATED_SHARES["colluding"], group_size=3, drifting=SIMULATED_SHARES["drifting"],
        seed=seed,
    ).run().votes  # fmt: skip
    return votes.take(np.sort(rng.permutation(len(votes))[:VOTES]))


def measure(folder: Path) -> dict[str, Any]:
    """Seconds and megabytes of one report, and the size of the page."""
    source, page = folder / "votes.parquet", folder / "report.html"
    crowdpilot.write(simulate(), source)
    start = perf_counter()
    command = [sys.executable, "-m", "crowdpilot", "report", str(source), "-o", str(page), "--title", TITLE]
    subprocess.run(command, cwd=ROOT, check=True)
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"seconds": seconds, "megabytes": peak, "page_megabytes": page.stat().st_size / 1e6}


def browse(page: Path, picture: Path | None) -> dict[str, Any]:
    """Seconds to open, sort and search the page in a browser, and its console messages."""
    from playwright.sync_api import sync_playwright

    seconds, messages = {}, []
    quiet = ["--no-sandbox", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=quiet)
        tab = browser.new_page(viewport={"width": 1280, "height": 960})
        tab.on("console", lambda message: messages.append(message.text))
        tab.on("pageerror", lambda error: messages.append(str(error)))
        steps = {
            "open": lambda: tab.goto(page.as_uri()),
            "sort 10,000 tasks": lambda: tab.click("#table-tasks th button:has-text('confidence')"),
            "search 10,000 tasks": lambda: tab.fill("#table-tasks [type=search]", "999"),
            "sort 2,571 workers": lambda: tab.click("#table-workers th button:has-text('skill')"),
        }
        for name, step in steps.items():
            start = perf_counter()
            step()
            tab.evaluate("document.body.offsetHeight")  # until it is laid out
            seconds[name] = perf_counter() - start
        found = tab.inner_text("#table-tasks .shown")
        if picture is not None:
            tab.goto(page.as_uri())
            tab.screenshot(path=picture)
            tab.evaluate("document.getElementById('workers').scrollIntoView({behavior: 'instant'})")
            tab.screenshot(path=picture.with_stem(f"{picture.stem}_workers"))
        browser.close()
    return {"seconds": seconds, "found": found, "messages": messages}


def render(record: dict[str, Any]) -> str:
    """The table as Markdown."""
    rows = [
        [f"{run['seconds']:.1f}", f"{run['megabytes']:.0f}", f"{run['page_megabytes']:.1f}"]
        for run in record["runs"]
    ]
    size = f"{TASKS:,} tasks, {WORKERS:,} workers, {CLASSES} classes, {VOTES:,} votes with times"
    head = "# The time of a report\n\nWritten by `python -m benchmarks.report`."
    table = markdown(["seconds", "memory (MB)", "page (MB)"], rows)
    text = f"{head} Measured on {record['machine']}.\n\n{size}, from a Parquet file to the page.\n\n{table}"
    if not record["browser"]:
        return text
    steps = [[name, f"{time:.2f}"] for name, time in record["browser"]["seconds"].items()]
    quiet = f"Messages on the console: {len(record['browser']['messages'])}."
    return f"{text}\nIn chromium:\n\n{markdown(['step', 'seconds'], steps)}\n{quiet}\n"


def main(
    repeats: Annotated[int, typer.Option(help="How many times to make it.")] = 3,
    picture: Annotated[
        Path | None, typer.Option(help="File for a picture of the page; one of its workers stands beside it.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder for report.md and report.json.")] = RESULTS,
) -> None:
    """Make the votes, the report some times over, and look at it."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [measure(Path(folder)) for _ in range(repeats)]
        seen = browse(Path(folder) / "report.html", picture) if shutil.which("chromium") else {}
    record = {"machine": machine(), "runs": runs, "browser": seen}
    write(output, "report", render(record), record)
    typer.echo(render(record))


if __name__ == "__main__":
    launch(main)
