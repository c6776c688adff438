"""`crowdpilot demo`: the service on real images, with a simulated crowd."""

from __future__ import annotations

import os
import signal
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
DATABASE = "demo.db"
EXAMPLES = examples(
    "demo",
    "demo --seconds 20 --items 200 --folder demo",
)


def demo(
    seconds: Annotated[float, typer.Option(min=1, help="Approximate duration of the campaign.")] = 60.0,
    items: Annotated[int, typer.Option(min=20, max=600, help="Number of images.")] = 600,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0: any free port.")] = 0,
    folder: Annotated[
        Path, typer.Option(help="Folder for the database and the report, which stay there.")
    ] = Path("crowdpilot-demo"),
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the dashboard.")] = True,
    stay: Annotated[
        bool, typer.Option("--stay/--exit", help="Keep running until Ctrl-C, or exit at the end.")
    ] = True,
    seed: options.Seed = 0,
) -> None:
    """Start the service, let 30 simulated workers label handwritten digits over HTTP, and watch.

    The workers are of mixed quality: most are good, some guess, two always press the first button.
    In the end it writes the report and prints how many votes were saved, compared with a fixed number. The
    overview of the project shows the same. Run it again, and the database has one more project.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port = port or free_port(HOST)
    address = f"http://{HOST}:{port}"
    settings = load_service("settings").load_settings(str(folder / DATABASE), address, limits=False)
    store = open_store(settings.database)
    with store.writing() as c:
        owner = load_service("store.requesters.members").find_or_create(c, "demo")
        key = load_service("store.requesters.keys").create(c, owner.id, "demo", "write")
    store.close()
    errors: list[BaseException] = []

    def run_campaign(address: str) -> None:
        try:
            outcome = _watch(address, key, settings, seconds, items, open_browser, seed)
            _keep(settings, folder, outcome)
            if stay:
                page = _signed_in(settings, f"/projects/{outcome.project}")
                print_message(f"the result is on the page, too; in another browser open {page}")
                print_message(f"the dashboard stays open at {address}; Ctrl-C ends it")
                again = f"crowdpilot serve --database {folder / DATABASE}"
                print_message(f"the database stays in {folder / DATABASE}; see it again by {again}")
                return
        except BaseException as error:
            errors.append(error)
        os.kill(os.getpid(), signal.SIGTERM)

    load_service("processes").supervise(settings, host=HOST, port=port, ready=run_campaign)
    if errors:
        raise errors[0]


def _signed_in(settings: Any, path: str) -> str:
    """A new link that signs in once, and shows a page."""
    store = open_store(settings.database)
    link = login_link(store, settings)
    store.close()
    return f"{settings.address}{link}&next={path}"


def _watch(
    address: str, key: str, settings: Any, seconds: float, items: int, open_browser: bool, seed: int
) -> Any:
    """Run the demonstration, and say where to watch it and how far it is."""
    shown = threading.Event()

    def on_progress(project: str, decided: int, votes: int) -> None:
        if not shown.is_set():
            shown.set()
            page = _signed_in(settings, f"/projects/{project}")
            print_message(f"watch it at {page}")
            another = _signed_in(settings, f"/projects/{project}")
            print_message(f"a link signs in once; for a second browser: {another}")
            if open_browser:
                webbrowser.open(page)
        else:
            print_message(f"{decided} of {items} images settled, {votes} votes")

    return load_service("demo").run_demo(
        address, key, seconds=seconds, items=items, seed=seed, on_progress=on_progress
    )


def _keep(settings: Any, folder: Path, outcome: Any) -> None:
    """Write the report to a file and the result to the database, and print it."""
    report = folder / f"report-{outcome.project}.html"
    report.write_bytes(outcome.report)
    store = open_store(settings.database)
    load_service("demo").record_result(store, outcome, report.resolve())
    store.close()
    print_message(f"the report stays in {report}")
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
