"""A real mail server on this machine, with or without STARTTLS and sign-in."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

USER, PASSWORD = "study@example.org", "correct horse"


class Mailbox:
    """Keeps what it gets; refuses the recipients it is told to."""

    def __init__(self) -> None:
        self.got: list[EmailMessage] = []
        self.envelopes: list[tuple[str, list[str]]] = []
        self.refused: set[str] = set()
        self.encrypted: list[bool] = []

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address in self.refused:
            return "550 5.1.1 there is no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        message = message_from_bytes(envelope.original_content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.got.append(message)
        self.envelopes.append((envelope.mail_from, list(envelope.rcpt_tos)))
        self.encrypted.append(session.ssl is not None)
        return "250 taken"


class _StartTls(Controller):
    """A server that takes e-mails only after STARTTLS and sign-in."""

    def __init__(self, box: Mailbox, context: ssl.SSLContext, **options: Any) -> None:
        super().__init__(box, **options)
        self.context = context

    def factory(self) -> SMTP:
        def check(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
            is_right = isinstance(data, LoginPassword) and data.password == PASSWORD.encode()
            return AuthResult(success=is_right and data.login == USER.encode())

        return SMTP(
            self.handler, tls_context=self.context, require_starttls=True, auth_required=True,
            authenticator=check,
        )  # fmt: skip


@contextmanager
def receiving_mail(port: int, box: Mailbox, tls: ssl.SSLContext | None = None) -> Iterator[Mailbox]:
    """A mail server that listens meanwhile."""
    where: dict[str, Any] = {"hostname": "127.0.0.1", "port": port}
    server = Controller(box, **where) if tls is None else _StartTls(box, tls, **where)
    server.start()
    try:
        yield box
    finally:
        server.stop()


def make_certificate(folder: Path, host: str = "localhost") -> tuple[Path, ssl.SSLContext]:
    """A certificate of a host that signs itself: its file, and what a server presents."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", str(key),
         "-out", str(certificate), "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate, context
