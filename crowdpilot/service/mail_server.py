"""The mail server of the operator, over which the service sends e-mails."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

DEFAULT_PORTS = {"smtp": 587, "smtps": 465}
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
SENDER = re.compile(r"[^@\s,;<>\"\x00-\x20]+@[^@\s,;<>\"\x00-\x20]+")


@dataclass(frozen=True, kw_only=True)
class MailServer:
    """Where e-mails are handed in, and as whom.

    Parameters
    ----------
    scheme
        `smtps` for TLS from the first byte; `smtp` for STARTTLS, which has to be there, except on this
        computer without a user.
    host, port
        Where it listens.
    user, password
        What it knows the service by; no user, no sign-in.
    sender
        The address in From.
    """

    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)
    sender: str

    def __post_init__(self) -> None:
        if not SENDER.fullmatch(self.sender):
            raise ValueError(
                f"{self.sender!r} is no address that e-mails can come from; give one with --mail-from, "
                "such as crowdpilot@example.org"
            )
        if self.user and not self.password:
            raise ValueError(
                f"the mail server wants a password for {self.user!r}; set CROWDPILOT_SMTP_PASSWORD"
            )

    @property
    def needs_tls(self) -> bool:
        """Whether nothing is sent before the connection is encrypted."""
        return bool(self.user) or self.host not in LOOPBACK_HOSTS


def parse_mail_server(url: str, sender: str = "", password: str = "") -> MailServer | None:
    """The mail server at a URL such as `smtp://user@host:587`; None without one.

    Examples
    --------
    >>> parse_mail_server("smtps://mail.example.org", "study@example.org").port
    465
    """
    if not url:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ValueError(
            f"{url.rpartition('@')[2]!r} is no mail server; write it as in smtp://user@mail.example.org:587 "
            "or smtps://user@mail.example.org"
        )
    if parts.password:
        raise ValueError(
            "leave the password out of the address of the mail server, where everybody can read it; "
            "set CROWDPILOT_SMTP_PASSWORD"
        )
    user = unquote(parts.username or "")
    return MailServer(
        scheme=parts.scheme, host=parts.hostname, port=port or DEFAULT_PORTS[parts.scheme], user=user,
        password=password, sender=sender or (user if "@" in user else ""),
    )  # fmt: skip
