"""Secrets: signed tokens, keys that are kept only as digests, and a file that nobody else can read."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import stat
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any


def sign(secret: str, purpose: str, payload: Any) -> str:
    """A token that says this, and that only who has the secret can make.

    Examples
    --------
    >>> unsign("s" * 32, "session", sign("s" * 32, "session", {"worker": 7}))
    {'worker': 7}
    """
    body = urlsafe_b64encode(json.dumps(payload, separators=(",", ":")).encode()).decode().rstrip("=")
    return f"{body}.{_seal(secret, purpose, body)}"


def unsign(secret: str, purpose: str, token: str) -> Any:
    """What a token says; a `ValueError` if it was not made by `sign` for this purpose."""
    body, _, sign_session = token.partition(".")
    if not hmac.compare_digest(sign_session.encode(), _seal(secret, purpose, body).encode()):
        raise ValueError("the token is not valid; start again from the link you were given")
    return json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def _seal(secret: str, purpose: str, body: str) -> str:
    mac = hmac.new(secret.encode(), f"{purpose}:{body}".encode(), sha256).digest()
    return urlsafe_b64encode(mac).decode().rstrip("=")


def derive(secret: str, purpose: str, *parts: object) -> str:
    """A text that belongs to these parts and cannot be guessed, such as a completion code or a CSRF token."""
    return _seal(secret, purpose, json.dumps([str(part) for part in parts]))


def same(a: str, b: str) -> bool:
    """Whether two texts are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(a.encode(), b.encode())


def webhook_signature(secret: str, body: bytes, now: float | None = None) -> str:
    """What a webhook carries: the time, and a seal of time and body."""
    moment = int(time.time() if now is None else now)
    return f"t={moment},v1={hmac.new(secret.encode(), f'{moment}.'.encode() + body, sha256).hexdigest()}"


def new_key() -> tuple[str, str]:
    """A new API key, and the part of it by which it is found."""
    name = secrets.token_hex(6)
    return f"cp_{name}_{secrets.token_urlsafe(32)}", name


def digest(text: str) -> str:
    """What is kept of a key: keys are long and random, so that a plain hash cannot be undone."""
    return sha256(text.encode()).hexdigest()


def new_secret() -> str:
    """A secret that signs tokens."""
    return secrets.token_urlsafe(48)


def read_secret(path: Path) -> str:
    """The secret in a file that only its owner may read; the file is made if it is not there."""
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise ValueError(
                f"others can read '{path}', which holds the secret; run chmod 600 on it"
            ) from None
        return path.read_text().strip()
    with os.fdopen(made, "w") as file:
        file.write(new_secret())
    return path.read_text().strip()
