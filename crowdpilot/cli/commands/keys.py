"""`crowdpilot keys`: keys of the API and the dashboard of the service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared.completion import one_of
from crowdpilot.cli.shared.options import Json, examples
from crowdpilot.cli.shared.output import print_message, print_table
from crowdpilot.cli.shared.service_options import DATABASE, Database, load_service, open_store

keys = typer.Typer(
    no_args_is_help=True,
    epilog=examples("keys create ann", "keys list"),
    help="Create, list and revoke keys of the service's API and dashboard.",
)


@keys.command(epilog=examples("keys create ann", "keys create robot --scope read"))
def create(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    scope: Annotated[
        str,
        typer.Option(
            help="What it allows: read, write or admin.", autocompletion=one_of("read", "write", "admin")
        ),
    ] = "write",
    database: Database = DATABASE,
) -> None:
    """Print a new key, which cannot be shown again."""
    with _table(database) as (table, c):
        key = table.create(c, name, scope)
        table.log_action(c, "command line", "create key", name=name, scope=scope)
    typer.echo(key)


@keys.command("list", epilog=examples("keys list", "keys list --json"))
def list_keys(database: Database = DATABASE, as_json: Json = False) -> None:
    """List keys by their id, without their secret part."""
    with _table(database) as (table, c):
        rows = [(k.id, k.name, k.scopes[-1], _day(k.created), _day(k.revoked)) for k in table.list_all(c)]
    print_table(("id", "name", "scope", "created", "revoked"), rows, as_json=as_json)


@keys.command(epilog=examples("keys revoke ID"))
def revoke(
    id: Annotated[str, typer.Argument(help="Id of the key, as `list` shows it.")],
    database: Database = DATABASE,
) -> None:
    """Revoke a key."""
    with _table(database) as (table, c):
        if not table.revoke(c, id):
            raise ValueError(f"there is no valid key {id!r}; see crowdpilot keys list")
        table.log_action(c, "command line", "revoke key", id=id)
    print_message(f"key {id} is revoked")


@contextmanager
def _table(database: str) -> Iterator[tuple[Any, Any]]:
    store = open_store(database if "://" in database else f"sqlite:///{database}")
    with store.writing() as c:
        yield load_service("store.keys"), c
    store.close()


def _day(moment: float | None) -> str | None:
    return None if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M}"
