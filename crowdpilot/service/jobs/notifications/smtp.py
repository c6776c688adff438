"""SMTP: one e-mail handed to the mail server of the operator, encrypted and verified."""

from __future__ import annotations

import smtplib
import ssl
from contextlib import suppress
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from crowdpilot.service.mail_server import MailServer

TIMEOUT_SECONDS = 6.0  # of each step
MAX_ERROR_CHARACTERS = 300
PERMANENT = range(500, 600)  # replies that do not change when one tries again


class RejectedError(Exception):
    """The mail server does not take this e-mail, now or later."""


def compose(server: MailServer, recipient: str, subject: str, text: str) -> EmailMessage:
    """An e-mail of plain text; a `ValueError` if a header would hold a line end or no address."""
    message = EmailMessage()
    message["From"] = Address("Crowdpilot", addr_spec=server.sender)
    message["To"] = Address(addr_spec=recipient)
    message["Subject"] = subject
    message["Date"] = formatdate(usegmt=True)
    message["Message-ID"] = make_msgid(domain=server.sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: nobody answers it automatically
    message.set_content(text)
    return message


def send(server: MailServer, recipient: str, subject: str, text: str) -> None:
    """Hand in an e-mail; an `OSError` or `smtplib.SMTPException` if it may be tried again later.

    `RejectedError` if not.
    """
    try:
        message = compose(server, recipient, subject, text)
    except (MessageError, ValueError, IndexError) as error:  # what the parser of addresses raises
        raise RejectedError(f"{recipient!r} is no address that can be written to") from error
    connection = _connect(server)
    try:
        connection.send_message(message, server.sender, [recipient])
        with suppress(smtplib.SMTPException, OSError):  # it is taken, however the server says goodbye
            connection.quit()
    except smtplib.SMTPRecipientsRefused as error:
        code, reply = next(iter(error.recipients.values()))
        _raise_if_permanent(f"refuses {recipient!r}", code, reply, error)
        raise
    except (smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as error:
        _raise_if_permanent("refuses this e-mail", error.smtp_code, error.smtp_error, error)
        raise
    except smtplib.SMTPNotSupportedError as error:
        raise RejectedError(f"the mail server does not take an address such as {recipient!r}") from error
    finally:
        connection.close()


def _raise_if_permanent(what: str, code: int, reply: bytes | str, error: Exception) -> None:
    if code in PERMANENT:
        raise RejectedError(f"the mail server {what} ({_said(code, reply)})") from error


def _connect(server: MailServer) -> smtplib.SMTP:
    """A connection over which the user has signed in; certificates are verified."""
    context = ssl.create_default_context()
    if server.scheme == "smtps":
        connection: smtplib.SMTP = smtplib.SMTP_SSL(
            server.host, server.port, timeout=TIMEOUT_SECONDS, context=context
        )
    else:
        connection = smtplib.SMTP(server.host, server.port, timeout=TIMEOUT_SECONDS)
    try:
        if server.scheme == "smtp" and server.needs_tls:
            connection.starttls(context=context)  # raises if the server does not offer it
        if server.user:
            connection.login(server.user, server.password)
    except BaseException:
        connection.close()
        raise
    return connection


def describe(error: Exception) -> str:
    """Why an e-mail was not taken, in one sentence."""
    match error:
        case RejectedError():
            text = str(error)
        case ssl.SSLError():
            text = f"the mail server has no valid certificate or speaks no TLS ({error.reason})"
        case smtplib.SMTPAuthenticationError():
            text = "the mail server does not accept the user or the password of the settings"
        case smtplib.SMTPNotSupportedError():
            text = "the mail server offers no STARTTLS or no sign-in; use smtps://, or another server"
        case smtplib.SMTPResponseException():
            text = f"the mail server refused it ({_said(error.smtp_code, error.smtp_error)})"
        case smtplib.SMTPServerDisconnected() | TimeoutError():
            text = "the mail server did not answer in time or ended the connection"
        case OSError():
            text = f"the mail server cannot be reached ({error.strerror or type(error).__name__})"
        case _:
            text = f"the mail server did not take it ({type(error).__name__})"
    return text[:MAX_ERROR_CHARACTERS]


def _said(code: int, reply: bytes | str) -> str:
    words = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    return f"{code} {' '.join(words.split())}"
