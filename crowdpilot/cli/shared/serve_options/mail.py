"""Options of the mail server over which the service sends e-mails."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared.service_options import load_service


@dataclass(frozen=True)
class MailOptions:
    """The mail server, as the user has set it."""

    smtp: Annotated[
        str,
        typer.Option(
            envvar="CROWDPILOT_SMTP",
            metavar="URL",
            help="Mail server for notifications, as in smtp://user@mail.example.org:587 (STARTTLS) or "
            "smtps://user@mail.example.org; its password is in CROWDPILOT_SMTP_PASSWORD.",
        ),
    ] = ""
    mail_from: Annotated[
        str,
        typer.Option(
            envvar="CROWDPILOT_MAIL_FROM",
            metavar="ADDRESS",
            help="Sender of e-mails; the user of the mail server if that is an address.",
        ),
    ] = ""

    def server(self, environ: Mapping[str, str] = os.environ) -> Any:
        """The `MailServer` of the settings, or None."""
        parse = load_service("mail_server").parse_mail_server
        return parse(self.smtp, self.mail_from, environ.get("CROWDPILOT_SMTP_PASSWORD", ""))
