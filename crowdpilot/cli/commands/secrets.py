"""`crowdpilot secrets`: the keys that sign sessions, links and codes."""

from __future__ import annotations

from typing import Annotated

import typer

from crowdpilot.cli.shared.backup_options import secret_in_environment
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message
from crowdpilot.cli.shared.service_options import DATABASE, Database, SecretFile, load_service

MAX_KEYS = 16
secrets = typer.Typer(
    no_args_is_help=True,
    epilog=examples("secrets rotate"),
    help="Rotate the secrets of the service, which sign sessions, links and codes.",
)


@secrets.callback()
def _group() -> None:
    """A group although it has one command."""


@secrets.command(epilog=examples("secrets rotate", "secrets rotate --keep 1"))
def rotate(
    keep: Annotated[
        int,
        typer.Option(
            min=1, max=MAX_KEYS, help="Keys to keep, the new one included; 1: what was signed before ends."
        ),
    ] = 2,
    database: Database = DATABASE,
    secret_file: SecretFile = None,
) -> None:
    """Add a new key, which signs from the next start of the service on, and drop the oldest.

    What the kept keys have signed stays valid: sessions, links to projects, completion codes, addresses for
    Label Studio. Webhooks are signed by all of them.
    """
    if secret_in_environment():
        raise ValueError(
            "the secret is in CROWDPILOT_SECRET: put a new key of 32 characters or more before those there, "
            "with a comma between them"
        )
    settings = load_service("settings")
    file = secret_file or settings.default_secret_file(settings.database_url(database))
    if not file.exists():
        raise ValueError(f"there is no secret in '{file}' yet; the service makes one when it starts")
    dropped = load_service("signing").rotate_secret(file, keep=keep)
    print_message(
        f"'{file}' has a new key, and {dropped} old ones are dropped; restart the service to use it"
    )
