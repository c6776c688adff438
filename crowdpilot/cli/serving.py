"""What the commands of the service have in common: where the database is, and whether it is installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

DATABASE = "crowdpilot.db"
PACKAGES = {
    "fastapi",
    "uvicorn",
    "sqlalchemy",
    "alembic",
    "psycopg",
    "jinja2",
    "starlette",
    "pydantic",
    "multipart",
}

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
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        raise ValueError(f'the service needs {error.name}: pip install "crowdpilot[service]"') from None


def open_store(url: str) -> Any:
    """The database at this address in the form that this version needs; a new file is for its owner alone."""
    if url.startswith("sqlite:///"):
        file = Path(url.removeprefix("sqlite:///"))
        if not file.parent.is_dir():
            raise ValueError(f"there is no folder '{file.parent}' for the database; make it first")
        file.touch(0o600)  # it holds who workers are
    room = load_service("store")
    store = room.Store(url)
    room.migrate(store)
    return store
