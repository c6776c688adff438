"""Options of sign-in by OpenID Connect."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared.service_options import load_service

RULES = "ann@example.org, @example.org, CLAIM=VALUE of the ID token, or * for everybody"


@dataclass(frozen=True)
class OpenIDOptions:
    """The provider at which people sign in, as the user has set it."""

    oidc_issuer: Annotated[
        str,
        typer.Option(
            envvar="CROWDPILOT_OIDC_ISSUER",
            metavar="URL",
            help="Provider of OpenID Connect at which people may sign in.",
        ),
    ] = ""
    oidc_client_id: Annotated[
        str,
        typer.Option(
            envvar="CROWDPILOT_OIDC_CLIENT_ID", metavar="ID", help="What the provider knows the service by."
        ),
    ] = ""
    oidc_secret_file: Annotated[
        Path | None,
        typer.Option(help="File with the secret of the client; CROWDPILOT_OIDC_SECRET comes first."),
    ] = None
    oidc_allow: Annotated[
        list[str] | None,
        typer.Option(
            envvar="CROWDPILOT_OIDC_ALLOW", metavar="RULE", help=f"Who may sign in; repeat it: {RULES}."
        ),
    ] = None
    oidc_operators: Annotated[
        list[str] | None,
        typer.Option(
            envvar="CROWDPILOT_OIDC_OPERATORS",
            metavar="RULE",
            help="Who is an operator, by the same rules, decided at each sign-in.",
        ),
    ] = None
    oidc_name: Annotated[
        str,
        typer.Option(
            envvar="CROWDPILOT_OIDC_NAME",
            metavar="NAME",
            help="What people call the provider, for the button.",
        ),
    ] = ""

    def provider(self, environ: Mapping[str, str] = os.environ) -> Any:
        """The `IdentityProvider` of the settings, or None."""
        if not self.oidc_issuer:
            return None
        secret = environ.get("CROWDPILOT_OIDC_SECRET", "")
        if not secret and self.oidc_secret_file is not None:
            if load_service("private_files").others_can_read(self.oidc_secret_file):
                raise ValueError(f"others can read '{self.oidc_secret_file}'; run chmod 600 on it")
            secret = self.oidc_secret_file.read_text().strip()
        return load_service("settings").IdentityProvider(
            issuer=self.oidc_issuer,
            client_id=self.oidc_client_id,
            client_secret=secret,
            allow=tuple(self.oidc_allow or ()),
            operators=tuple(self.oidc_operators or ()),
            name=self.oidc_name,
        )
