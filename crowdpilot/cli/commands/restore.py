"""`crowdpilot restore`: the data of the service from a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    check_database,
    database_errors,
    load_service,
)

EXAMPLES = examples(
    "restore monday.backup",
    "restore monday.backup --passphrase-file passphrase",
    "restore monday.backup --database postgresql://crowdpilot@db/crowdpilot",
)


def restore(
    file: Annotated[Path, typer.Argument(help="File that `crowdpilot backup` wrote.")],
    database: Database = DATABASE,
    secret_file: SecretFile = None,
    passphrase_file: PassphraseFile = None,
    without_secrets: WithoutSecrets = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace all that is in the database, and the secrets.")
    ] = False,
) -> None:
    """Fill an empty database from a backup, and write the file of the secret.

    The database is an SQLite file or in PostgreSQL, whatever the backup was made of. Stop the service
    first. If anything fails, nothing is changed.
    """
    settings, signing = load_service("settings"), load_service("signing")
    restoring = load_service("store.backup.restoring")
    url = settings.database_url(database)
    check_database(url)
    key_file = secret_file or settings.default_secret_file(url)
    with restoring.open_backup(file) as archive:
        manifest = archive.manifest
        secret = None
        if not without_secrets:
            secret = restoring.read_backup_secret(manifest, read_passphrase(passphrase_file))
        is_new = secret is not None and _is_new(secret, key_file, force)

        def finish(c: Any) -> None:
            log = load_service("store.requesters.action_log")
            log.write(c, log.COMMAND_LINE, "restore", category=log.DATA, saved=manifest.created.isoformat())
            load_service("store.requesters.sessions").end_all(c)  # somebody may have signed out since
            if is_new:
                signing.write_secret(key_file, secret)

        with database_errors(), show_status("loading all tables"):
            restoring.restore_backup(archive, url, replace=force, before_commit=finish)
    secrets = f"; the secrets are in '{key_file}'" if is_new else ""
    print_message(
        f"restored {manifest.rows:,} rows of {len(manifest.tables)} tables as of "
        f"{manifest.created:%Y-%m-%d %H:%M} UTC{secrets}"
    )
    if manifest.secret is None:
        print_message(
            "warning: the backup has no secrets: sessions, links and codes made before are valid only with "
            "the secret of then"
        )


def _is_new(secret: str, file: Path, replace: bool) -> bool:
    """Whether the secret has to be written: it is not if all its keys are known; else others are replaced."""
    in_environment, in_file = secret_in_environment(), secret_in_file(file)
    keys = {*secret.split()}
    if keys <= {*(in_environment or in_file).split()}:
        return False
    if in_environment:
        raise ValueError(
            "CROWDPILOT_SECRET has other keys than the backup; unset it to have them written to a file, "
            "or use --without-secrets"
        )
    if in_file and not replace:
        raise ValueError(
            f"'{file}' has other keys than the backup; replace it and all data with --force, "
            "or keep it with --without-secrets"
        )
    return True
