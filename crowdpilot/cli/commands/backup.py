"""`crowdpilot backup`: all data of the service in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowdpilot.cli.shared.backup_options import (
    PassphraseFile,
    WithoutSecrets,
    read_passphrase,
    secret_in_environment,
    secret_in_file,
)
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message, show_status
from crowdpilot.cli.shared.service_options import (
    DATABASE,
    Database,
    SecretFile,
    connect,
    database_errors,
    load_service,
)

EXAMPLES = examples(
    "backup monday.backup",
    "backup monday.backup --passphrase-file passphrase",
    "backup monday.backup --without-secrets --database postgresql://crowdpilot@db/crowdpilot",
)


def backup(
    file: Annotated[Path, typer.Argument(help="File to write.")],
    database: Database = DATABASE,
    secret_file: SecretFile = None,
    passphrase_file: PassphraseFile = None,
    without_secrets: WithoutSecrets = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
) -> None:
    """Save all data of the service in one file, while it runs or not.

    FILE holds every table of the database as it is at one moment, and the secrets. Only you can read it.
    `crowdpilot restore` makes an SQLite file or a PostgreSQL database of it.
    """
    settings = load_service("settings")
    url = settings.database_url(database)
    secret, passphrase = None, ""
    if not without_secrets:
        passphrase = read_passphrase(passphrase_file)
        key_file = secret_file or settings.default_secret_file(url)
        secret = secret_in_environment() or secret_in_file(key_file) or None
    with connect(url) as store, database_errors(), show_status("saving all tables"):
        saved = load_service("store.backup.saving").save_backup(
            store, file, secret=secret, passphrase=passphrase, replace=force
        )
    print_message(f"'{file}' holds {saved.rows:,} rows of {len(saved.tables)} tables")
    if without_secrets:
        return
    if secret is None:
        print_message(
            f"warning: there is no secret in '{key_file}' or CROWDPILOT_SECRET, so that none is saved"
        )
    elif not passphrase:
        print_message(
            f"'{file}' also holds the secrets, not encrypted: with them one can sign in as anybody. "
            "Keep it private, or use --passphrase-file"
        )
