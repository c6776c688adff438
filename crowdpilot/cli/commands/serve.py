"""`crowdpilot serve`: the service with worker pages and a dashboard."""

from __future__ import annotations

import socket
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message
from crowdpilot.cli.shared.service_options import DATABASE, Database, SecretFile, load_service, open_store

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EXAMPLES = examples(
    "serve",
    "serve --database postgresql://crowdpilot@db/crowdpilot --web 4 --jobs 2",
)


def serve(
    database: Database = DATABASE,
    host: Annotated[
        str, typer.Option(help="Address to listen at; others than loopback need a key.")
    ] = LOOPBACK[0],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0: any free port.")] = 8000,
    web: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer requests.")] = 1,
    jobs: Annotated[
        int, typer.Option(min=0, max=16, help="Processes that run jobs: training, forecasts, audits.")
    ] = 1,
    address: Annotated[
        str,
        typer.Option(
            envvar="CROWDPILOT_ADDRESS",
            help="Public URL of the service, as in https://label.example.org.",
        ),
    ] = "",
    proxy: Annotated[
        bool, typer.Option("--proxy", help="Trust the X-Forwarded-For header of a proxy.")
    ] = False,
    webhook_network: Annotated[
        list[str] | None,
        typer.Option(
            envvar="CROWDPILOT_WEBHOOK_NETWORKS",
            metavar="CIDR",
            help="Network that webhooks may reach although it is not public, as in 10.20.0.0/16.",
        ),
    ] = None,
    secret_file: SecretFile = None,
) -> None:
    """Start the service: an API, pages for workers and a dashboard for requesters.

    Everything is in one SQLite file, or in PostgreSQL. The dashboard's address is printed when it is
    ready. Stop it with Ctrl-C: nothing is lost, and the next start resumes.
    """
    port = port or free_port(host)
    settings = load_service("settings").load_settings(
        database,
        address or f"http://{host}:{port}",
        secret=secret_file,
        proxy=proxy,
        webhook_networks=webhook_network or [],
    )
    store = open_store(settings.database)
    link = ""
    if host in LOOPBACK:
        link = login_link(store, settings)
    else:
        _check_keys(store)
    store.close()

    def ready(url: str) -> None:
        print_message(f"listening at {url}")
        if link:
            print_message(f"open {url}{link} within an hour")

    load_service("processes").supervise(settings, host=host, port=port, web=web, jobs=jobs, ready=ready)


def free_port(host: str) -> int:
    """A free port."""
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as server:
        return int(server.getsockname()[1])


def login_link(store: Any, settings: Any) -> str:
    """The path of a link that signs in and expires soon."""
    with store.writing() as c:
        id = load_service("store.requesters.keys").local_key_id(c)
    return str(load_service("pages.dashboard.access.sessions").login_path(settings.secret, id))


def _check_keys(store: Any) -> None:
    with store.reading() as c:
        if not load_service("store.requesters.keys").any_valid(c):
            raise ValueError("a public address needs a key: run crowdpilot keys create NAME first")
