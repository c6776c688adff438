"""Options of the service's commands, and opening its database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.optional_packages import load

DATABASE = "crowdpilot.db"
SQLITE = "sqlite:///"

Database = Annotated[
    str,
    typer.Option(
        "--database",
        "-d",
        envvar="CROWDPILOT_DATABASE",
        metavar="FILE|URL",
        help="An SQLite file, or postgresql://user@host/name.",
    ),
]
SecretFile = Annotated[
    Path | None,
    typer.Option(
        "--secret-file",
        help="File with the secret that signs sessions; CROWDPILOT_SECRET comes first.",
    ),
]

WebhookNetworks = Annotated[
    list[str] | None,
    typer.Option(
        "--webhook-network",
        envvar="CROWDPILOT_WEBHOOK_NETWORKS",
        metavar="CIDR",
        help="Network that the service may call although it is not public, as in 10.20.0.0/16.",
    ),
]
IsOperator = Annotated[
    bool, typer.Option("--operator", help="The member sees and may change everything in the service.")
]


def load_service(module: str) -> Any:
    """The module `crowdpilot.service.<module>`, if its packages are installed."""
    return load(f"crowdpilot.service.{module}", "the service")


def open_store(url: str) -> Any:
    """The database at this URL, migrated to this version; only its owner can read a new file."""
    store_package = load_service("store")
    check_database(url)
    if url.startswith(SQLITE):
        Path(url.removeprefix(SQLITE)).touch(0o600)  # it holds who workers are
    with database_errors():
        store = store_package.Store(url)
        store_package.migrate(store)
    return store


@contextmanager
def write_transaction(database: str) -> Iterator[Any]:
    """A write transaction on a database; what the service refuses is raised as a `ValueError`."""
    store = open_store(load_service("settings").database_url(database))
    try:
        with store.writing() as c:
            yield c
    except load_service("errors").RequestError as error:
        raise ValueError(str(error)) from None
    finally:
        store.close()


def moment(seconds: float | None) -> str | None:
    """A time to the minute, in UTC."""
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"


@contextmanager
def connect(url: str) -> Iterator[Any]:
    """The database at this URL, which has to be there, as it is."""
    check_database(url)
    if url.startswith(SQLITE) and not Path(url.removeprefix(SQLITE)).is_file():
        raise ValueError(f"there is no database '{url.removeprefix(SQLITE)}'; name another with --database")
    store = load_service("store").Store(url)
    try:
        yield store
    finally:
        store.close()


def check_database(url: str) -> None:
    """Raise if this is not the URL of a database that the service can use."""
    if not url.startswith((SQLITE, "postgresql:", "postgresql+")):
        kind = url.partition(":")[0]
        raise ValueError(f"the service knows no database {kind}: give a file, or postgresql://user@host/name")
    if url.startswith(SQLITE) and not (folder := Path(url.removeprefix(SQLITE)).parent).is_dir():
        raise ValueError(f"there is no folder '{folder}' for the database; make it first")


@contextmanager
def database_errors() -> Iterator[None]:
    """Raise errors of the database as a `ValueError` of one sentence."""
    from sqlalchemy.exc import SQLAlchemyError

    from crowdpilot.service.errors import ServiceUnavailableError

    try:
        yield
    except (SQLAlchemyError, ServiceUnavailableError) as error:
        reason = str(getattr(error, "orig", error)).partition("\n")[0]
        raise ValueError(f"the database cannot be used ({reason}); see to it, or name another") from None
