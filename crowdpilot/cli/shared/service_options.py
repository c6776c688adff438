"""What the commands of the service have in common: where the database is, and whether it is installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared.missing_packages import missing_package_error

DATABASE = "crowdpilot.db"

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


def load_service(module: str) -> Any:
    """A module of the service; one sentence says what to install if it cannot be had."""
    try:
        return import_module(f"crowdpilot.service.{module}")
    except ModuleNotFoundError as error:
        raise missing_package_error("the service", error) from None


def open_store(url: str) -> Any:
    """The database at this address in the form that this version needs; a new file is for its owner alone."""
    room = load_service("store")
    if not url.startswith(("sqlite:///", "postgresql:", "postgresql+")):
        kind = url.partition(":")[0]
        raise ValueError(f"the service knows no database {kind}: give a file, or postgresql://user@host/name")
    if url.startswith("sqlite:///"):
        file = Path(url.removeprefix("sqlite:///"))
        if not file.parent.is_dir():
            raise ValueError(f"there is no folder '{file.parent}' for the database; make it first")
        file.touch(0o600)  # it holds who workers are
    from sqlalchemy.exc import SQLAlchemyError

    from crowdpilot.service.errors import ServiceUnavailableError

    try:
        store = room.Store(url)
        room.migrate(store)
    except (SQLAlchemyError, ServiceUnavailableError) as error:
        reason = str(getattr(error, "orig", error)).partition("\n")[0]
        raise ValueError(f"the database cannot be used ({reason}); see to it, or name another") from None
    return store
