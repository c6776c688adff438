"""`crowdpilot demo`: the service on real images, with a simulated crowd."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.commands.serve import free_port, login_link
from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message
from crowdpilot.cli.shared.service_options import load_service, open_store

HOST = "127.0.0.1"
EXAMPLES = examples(
    "demo",
    "demo --seconds 20 --items 200 --folder demo",
)


def demo(
    seconds: Annotated[float, typer.Option(min=1, help="Approximate duration of the campaign.")] = 60.0,
    items: Annotated[int, typer.Option(min=20, max=600, help="Number of images.")] = 600,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0: any free port.")] = 0,
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder for the database and the report; if not given, a temporary one."),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the dashboard.")] = True,
    stay: Annotated[
        bool, typer.Option("--stay/--exit", help="Keep running until Ctrl-C, or exit at the end.")
    ] = True,
    seed: options.Seed = 0,
) -> None:
    """Start the service, let 30 simulated workers label handwritten digits over HTTP, and watch.

    The workers are of mixed quality: most are good, some guess, two always press the first button.
    In the end it writes the report and prints how many votes were saved, compared with a fixed number.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        _run(folder, seconds, items, port, open_browser, stay, seed)
        return
    with tempfile.TemporaryDirectory(prefix="crowdpilot-demo-") as temporary:
        _run(Path(temporary), seconds, items, port, open_browser, stay, seed)


def _run(
    folder: Path, seconds: float, items: int, port: int, open_browser: bool, stay: bool, seed: int
) -> None:
    port = port or free_port(HOST)
    address = f"http://{HOST}:{port}"
    settings = load_service("settings").load_settings(str(folder / "demo.db"), address, limits=False)
    store = open_store(settings.database)
    with store.writing() as c:
        owner = load_service("store.requesters.members").find_or_create(c, "demo")
        key = load_service("store.requesters.keys").create(c, owner.id, "demo", "write")
    link = login_link(store, settings)
    store.close()
    errors: list[BaseException] = []

    def run_campaign(address: str) -> None:
        try:
            _watch(address, key, link, folder, seconds, items, open_browser, seed)
            if stay:
                print_message(f"the dashboard stays open at {address}; Ctrl-C ends it")
                return
        except BaseException as error:
            errors.append(error)
        os.kill(os.getpid(), signal.SIGTERM)

    load_service("processes").supervise(settings, host=HOST, port=port, ready=run_campaign)
    if errors:
        raise errors[0]


def _watch(
    address: str, key: str, link: str, folder: Path, seconds: float, items: int, open_browser: bool, seed: int
) -> None:
    shown = threading.Event()

    def on_progress(project: str, decided: int, votes: int) -> None:
        if not shown.is_set():
            shown.set()
            page = f"{address}{link}&next=/projects/{project}"
            print_message(f"watch it at {page}")
            if open_browser:
                webbrowser.open(page)
        else:
            print_message(f"{decided} of {items} images decided, {votes} votes")

    outcome = load_service("demo").run_demo(
        address, key, seconds=seconds, items=items, seed=seed, on_progress=on_progress
    )
    report = folder / "report.html"
    report.write_bytes(outcome.report)
    print_message(f"the report is in {report}")
    typer.echo(_sentence(outcome))


def _sentence(outcome: Any) -> str:
    saving = outcome.saving
    ours = f"{outcome.items} images, {outcome.votes} votes ({saving.votes:.2f} each), {outcome.wrong} wrong"
    if saving.reached:
        fixed = f"the majority of {saving.fixed} votes on each is wrong as rarely"
    else:
        wrong = saving.fixed_error * outcome.items
        fixed = f"the majority of {saving.fixed} votes on each is wrong in {wrong:.0f}"
    return f"{ours}; {fixed}: {saving.share:.0%} of the votes saved"
