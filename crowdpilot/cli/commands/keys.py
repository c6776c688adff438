"""`crowdpilot keys`: keys of the API and the dashboard of the service."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from crowdpilot.cli.commands.serve import login_link
from crowdpilot.cli.shared.completion import one_of
from crowdpilot.cli.shared.options import Json, examples
from crowdpilot.cli.shared.output import print_message, print_table
from crowdpilot.cli.shared.service_options import (
    DATABASE,
    Database,
    IsOperator,
    SecretFile,
    load_service,
    moment,
    open_store,
    write_transaction,
)

DAY_SECONDS = 86400.0
keys = typer.Typer(
    no_args_is_help=True,
    epilog=examples("keys create ann", "keys list"),
    help="Create, list and revoke keys of the service's API and dashboard; print a link that signs in.",
)


@keys.command(
    epilog=examples(
        "keys create ann", "keys create robot --scope read --days 90", "keys create root --operator"
    )
)
def create(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    scope: Annotated[
        str,
        typer.Option(
            help="What it allows: read, label-ops (run the labelling), write or admin.",
            autocompletion=one_of("read", "label-ops", "write", "admin"),
        ),
    ] = "write",
    operator: IsOperator = False,
    project: Annotated[
        list[str] | None,
        typer.Option(help="Id of a project that it opens; repeat it; if not given, all of its owner."),
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0.001, max=36500, help="Days after which it expires.")
    ] = None,
    database: Database = DATABASE,
) -> None:
    """Print a new key of a member, who is created if need be; it cannot be shown again."""
    with write_transaction(database) as c:
        members, log = load_service("store.requesters.members"), load_service("store.requesters.action_log")
        owner, scope = members.find_or_create(c, name, operator=operator), "admin" if operator else scope
        expires = None if days is None else time.time() + days * DAY_SECONDS
        for id in project or []:
            load_service("store.projects").find(c, id)
        options = {"projects": project or None, "expires": expires}
        key = load_service("store.requesters.keys").create(c, owner.id, name, scope, **options)
        detail = {"name": name, "scope": scope, "operator": operator, "projects": project or None}
        log.write(c, log.COMMAND_LINE, "create key", category=log.ACCESS, **detail)
    typer.echo(key)


@keys.command("list", epilog=examples("keys list", "keys list --json"))
def list_keys(database: Database = DATABASE, as_json: Json = False) -> None:
    """List keys by their id, without their secret part."""
    with write_transaction(database) as c:
        rows = [
            (
                k.id,
                k.member_name,
                k.name,
                k.scope,
                moment(k.created),
                moment(k.expires),
                moment(k.used),
                moment(k.revoked),
            )
            for k in load_service("store.requesters.keys").list_all(c)
        ]
    names = "id", "member", "name", "scope", "created", "expires", "last use", "revoked"
    print_table(names, rows, as_json=as_json)


@keys.command(epilog=examples("keys revoke ID"))
def revoke(
    id: Annotated[str, typer.Argument(help="Id of the key, as `list` shows it.")],
    database: Database = DATABASE,
) -> None:
    """Revoke a key."""
    with write_transaction(database) as c:
        if not load_service("store.requesters.keys").revoke(c, id):
            raise ValueError(f"there is no valid key {id!r}; see crowdpilot keys list")
        log = load_service("store.requesters.action_log")
        log.write(c, log.COMMAND_LINE, "revoke key", category=log.ACCESS, id=id)
    print_message(f"key {id} is revoked")


@keys.command(epilog=examples("keys link", "keys link --address https://label.example.org"))
def link(
    database: Database = DATABASE,
    address: Annotated[
        str,
        typer.Option(
            envvar="CROWDPILOT_ADDRESS", help="Public URL of the service, as in https://label.example.org."
        ),
    ] = "http://127.0.0.1:8000",
    secret_file: SecretFile = None,
) -> None:
    """Print a link that signs in to the dashboard as an operator, once and within an hour."""
    module = load_service("settings")
    store = open_store(module.database_url(database))  # before the file of a new secret is made
    settings = module.load_settings(database, address, secret=secret_file)
    typer.echo(f"{settings.address}{login_link(store, settings)}")
    store.close()
