"""Options of the service's commands, and opening its database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared.missing_packages import load_part

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
    """The module `crowdpilot.service.<module>`, if its packages are installed."""
    return load_part(f"service.{module}", "the service")


def open_store(url: str) -> Any:
    """The database at this URL, migrated to this version; only its owner can read a new file."""
    store_package = load_service("store")
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
        store = store_package.Store(url)
        store_package.migrate(store)
    except (SQLAlchemyError, ServiceUnavailableError) as error:
        reason = str(getattr(error, "orig", error)).partition("\n")[0]
        raise ValueError(f"the database cannot be used ({reason}); see to it, or name another") from None
    return store
