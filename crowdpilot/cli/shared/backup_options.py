"""Options of `crowdpilot backup` and `restore`, and the secrets that they save and write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from crowdpilot.cli.shared.service_options import load_service

PassphraseFile = Annotated[
    Path | None,
    typer.Option(help="File with the passphrase of the secrets; else CROWDPILOT_PASSPHRASE, if it is set."),
]
WithoutSecrets = Annotated[bool, typer.Option("--without-secrets", help="Leave out the secrets.")]


def read_passphrase(file: Path | None) -> str:
    """The passphrase in a file or in the environment, empty if there is none."""
    if file is None:
        return os.environ.get("CROWDPILOT_PASSPHRASE", "")
    if file.is_file() and load_service("private_files").others_can_read(file):
        raise ValueError(f"others can read '{file}', which holds the passphrase; run chmod 600 on it")
    if not (passphrase := file.read_text().strip("\r\n")):
        raise ValueError(f"there is no passphrase in '{file}'; write one to it")
    return passphrase


def secret_in_environment() -> str:
    """The secret in CROWDPILOT_SECRET, empty if there is none."""
    return str(load_service("signing").parse_secret(os.environ.get("CROWDPILOT_SECRET", "")))


def secret_in_file(file: Path) -> str:
    """The secret in a file, empty if there is no such file."""
    return str(load_service("signing").read_secret(file)) if file.exists() else ""
