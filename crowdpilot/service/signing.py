"""Signed tokens with a purpose and an age, digests of API keys, webhook signatures, the file of the secret.

Tokens are signed by itsdangerous: HMAC-SHA256 under a key that is derived from the secret for each purpose.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import stat
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from itsdangerous import BadData, SignatureExpired, TimestampSigner, URLSafeTimedSerializer
from itsdangerous.encoding import base64_decode, base64_encode, want_bytes


class TokenError(ValueError):
    """A token was not made by `sign` with this secret for this purpose."""


class TokenExpiredError(TokenError):
    """A token is older than it may be."""


class _Signer(TimestampSigner):
    """Takes each signature in one spelling only, so that a token that was used once is known again.

    Base64 has several spellings of the same bytes, all of which itsdangerous takes.
    """

    default_key_derivation = "hmac"
    default_digest_method = staticmethod(sha256)

    def verify_signature(self, value: str | bytes, sig: str | bytes) -> bool:
        if not super().verify_signature(value, sig):  # which compares in constant time
            return False
        return base64_encode(base64_decode(sig)) == want_bytes(sig)


def sign(secret: str, purpose: str, payload: Any) -> str:
    """A token that holds this payload (JSON) and the time, and that only the owner of the secret can make.

    Examples
    --------
    >>> unsign("s" * 32, "session", sign("s" * 32, "session", {"worker": 7}))
    {'worker': 7}
    """
    return str(_serializer(secret, purpose).dumps(payload))


def unsign(secret: str, purpose: str, token: str, *, max_age_seconds: float | None = None) -> Any:
    """The payload of a token.

    Raises
    ------
    TokenExpiredError
        It is older than `max_age_seconds`.
    TokenError
        It was not made by `sign` with this secret for this purpose.
    """
    age = None if max_age_seconds is None else int(max_age_seconds)
    try:
        return _serializer(secret, purpose).loads(token, max_age=age)
    except SignatureExpired:
        raise TokenExpiredError("the token has expired; start again from the link you were given") from None
    except (BadData, UnicodeEncodeError):
        raise TokenError("the token is not valid; start again from the link you were given") from None


def _serializer(secret: str, purpose: str) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(secret, salt=f"sign:{purpose}", signer=_Signer)


def derive(secret: str, purpose: str, *parts: object) -> str:
    """A text that belongs to these parts and cannot be guessed, such as a completion code or a CSRF token."""
    signer = _Signer(secret, salt=f"derive:{purpose}")
    return signer.get_signature(json.dumps([str(part) for part in parts])).decode()


def is_same(a: str, b: str) -> bool:
    """Whether two texts are the same, in a time that does not depend on where they differ."""
    return hmac.compare_digest(a.encode(), b.encode())


def webhook_signature(secret: str, body: bytes, now: float | None = None) -> str:
    """The header of a webhook delivery: the time in seconds, and the HMAC-SHA256 of time and body."""
    seconds = int(time.time() if now is None else now)
    return f"t={seconds},v1={hmac.new(secret.encode(), f'{seconds}.'.encode() + body, sha256).hexdigest()}"


def new_key() -> tuple[str, str]:
    """A new API key, and the part of it by which it is found."""
    id = secrets.token_hex(6)
    return f"cp_{id}_{secrets.token_urlsafe(32)}", id


def digest(text: str) -> str:
    """The SHA-256 that is stored of a key: keys are long and random, so that a plain hash is enough."""
    return sha256(text.encode()).hexdigest()


def new_secret() -> str:
    """A secret that signs tokens."""
    return secrets.token_urlsafe(48)


def read_secret(path: Path) -> str:
    """The secret in a file that only its owner may read; the file is created if it does not exist."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise ValueError(
                f"others can read '{path}', which holds the secret; run chmod 600 on it"
            ) from None
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(new_secret())
    return path.read_text().strip()
