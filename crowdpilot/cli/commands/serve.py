"""`crowdpilot serve`: the service with worker pages and a dashboard."""

from __future__ import annotations

import logging
import socket
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared.completion import one_of
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import on_terminal, print_message
from crowdpilot.cli.shared.serve_options.mail import MailOptions
from crowdpilot.cli.shared.serve_options.openid import OpenIDOptions
from crowdpilot.cli.shared.service_options import (
    DATABASE,
    Database,
    SecretFile,
    WebhookNetworks,
    load_service,
    open_store,
)

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LOG_FORMATS = ("text", "json")
EXAMPLES = examples(
    "serve",
    "serve --database postgresql://crowdpilot@db/crowdpilot --web 4 --jobs 2",
)


@expand_options
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
        str,
        typer.Option(
            envvar="CROWDPILOT_PROXY",
            metavar="ADDRESS[,ADDRESS]",
            help="Proxies whose X-Forwarded-For is trusted: IP addresses, or networks as in 10.0.0.0/8.",
        ),
    ] = "",
    webhook_network: WebhookNetworks = None,
    import_from: Annotated[
        list[str] | None,
        typer.Option(
            envvar="CROWDPILOT_IMPORT_FROM",
            metavar="URL",
            help="Address below which projects may import items with the credentials of the service, as in "
            "s3://bucket/items/; repeat it.",
        ),
    ] = None,
    secret_file: SecretFile = None,
    log_format: Annotated[
        str,
        typer.Option(
            envvar="CROWDPILOT_LOG_FORMAT",
            help="Lines of the log on standard error: text or json.",
            autocompletion=one_of(*LOG_FORMATS),
        ),
    ] = LOG_FORMATS[0],
    access_log: Annotated[
        bool, typer.Option("--access-log", help="Log every request, without its parameters.")
    ] = False,
    *,
    mail: MailOptions,
    openid: OpenIDOptions,
) -> None:
    """Start the service: an API, pages for workers and a dashboard for requesters.

    Everything is in one SQLite file, or in PostgreSQL. When it is ready, a link to the dashboard that signs
    in is printed on the terminal. Stop it with Ctrl-C: nothing is lost, and the next start resumes.
    """
    if log_format not in LOG_FORMATS:
        raise ValueError(f"there is no log format {log_format!r}; choose {' or '.join(LOG_FORMATS)}")
    port = port or free_port(host)
    module = load_service("settings")
    _check_private(module.database_url(database))  # before the file of a new secret is made
    settings = module.load_settings(
        database,
        address or f"http://{host}:{port}",
        secret=secret_file,
        proxies=[address.strip() for address in proxy.split(",") if address.strip()],
        webhook_networks=webhook_network or [],
        log_format=log_format,
        access_log=access_log,
        identity_provider=openid.provider(),
        mail_server=mail.server(),
        import_from=import_from or [],
    )
    store = open_store(settings.database)
    link = ""
    if host not in LOOPBACK:
        if settings.identity_provider is None:
            _check_keys(store)
    elif on_terminal(err=True):  # else whoever reads the log could sign in
        link = login_link(store, settings)
    _log_start(store, settings, host=host, port=port, web=web, jobs=jobs, log_format=log_format)
    store.close()

    def ready(url: str) -> None:
        say = print_message if log_format == LOG_FORMATS[0] else logging.getLogger(__name__).info
        say(f"listening at {url}")
        if link:
            print_message(f"open {url}{link} within an hour")
        else:
            say("sign in with a key, or with the link that crowdpilot keys link prints")

    load_service("processes").supervise(settings, host=host, port=port, web=web, jobs=jobs, ready=ready)


def _log_start(store: Any, settings: Any, **options: Any) -> None:
    """Write down with which settings the service is started, without secrets."""
    log, provider = load_service("store.requesters.action_log"), settings.identity_provider
    about = {
        "address": settings.address,
        "proxies": [str(network) for network in settings.proxies],
        "webhook_networks": [str(network) for network in settings.webhook_networks],
        "mail_server": settings.mail_server and settings.mail_server.host,
        "import_from": settings.import_from,
        "oidc_issuer": provider and provider.issuer,
        "oidc_allow": provider and provider.allow,
        "oidc_operators": provider and provider.operators,
    }
    with store.writing() as c:
        log.write(c, log.COMMAND_LINE, "start service", category=log.ACCESS, **about, **options)


def free_port(host: str) -> int:
    """A free port."""
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as server:
        return int(server.getsockname()[1])


def login_link(store: Any, settings: Any) -> str:
    """The path of a link that signs in and expires soon."""
    with store.writing() as c:
        id = load_service("store.requesters.keys").local_key_id(c)
    return str(load_service("pages.dashboard.access.sessions").login_path(settings.secret, id))


def _check_private(url: str) -> None:
    """Raise if others can read an SQLite file, which holds who workers are."""
    file = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///") and file.exists() and load_service("private_files").others_can_read(file):
        raise ValueError(f"others can read the database; run chmod 600 {file}")


def _check_keys(store: Any) -> None:
    with store.reading() as c:
        if not load_service("store.requesters.keys").any_valid(c):
            raise ValueError("a public address needs a key: run crowdpilot keys create NAME first")
