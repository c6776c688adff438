"""Signed tokens with a purpose and an age, digests of API keys, webhook signatures, the file of the secret.

Tokens are signed by itsdangerous: HMAC-SHA256 under a key that is derived from the secret for each purpose.
A secret is one key, or several with a space between them, so that keys can be rotated: the first, which is
the newest, signs and derives; what any of them has signed or derived is valid.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import time
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from itsdangerous import BadData, SignatureExpired, TimestampSigner, URLSafeTimedSerializer
from itsdangerous.encoding import base64_decode, base64_encode, want_bytes

from crowdpilot.service.private_files import others_can_read, private_file


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


@lru_cache
def _serializer(secret: str, purpose: str) -> URLSafeTimedSerializer:
    oldest_first = secret.split()[::-1]  # itsdangerous signs with the last and verifies with all
    return URLSafeTimedSerializer(oldest_first, salt=f"sign:{purpose}", signer=_Signer)


def derive(secret: str, purpose: str, *parts: object) -> str:
    """A text that belongs to these parts and cannot be guessed, such as a completion code or a CSRF token."""
    return derive_all(secret, purpose, *parts)[0]


def derive_all(secret: str, purpose: str, *parts: object) -> tuple[str, ...]:
    """What `derive` gives with each key of the secret, the newest first: to recognise what it gave before."""
    text = json.dumps([str(part) for part in parts])
    signers = (_Signer(key, salt=f"derive:{purpose}") for key in secret.split())
    return tuple(signer.get_signature(text).decode() for signer in signers)


def is_derived(secret: str, text: str, purpose: str, *parts: object) -> bool:
    """Whether `derive` gave this text with any key of the secret, each compared in constant time."""
    return any(is_same(text, derived) for derived in derive_all(secret, purpose, *parts))


def is_same(a: str, b: str) -> bool:
    """Whether two texts are the same, in a time that does not depend on where they differ."""
    return hmac.compare_digest(a.encode(), b.encode())


def webhook_signature(secret: str, body: bytes, now: float | None = None) -> str:
    """The header of a webhook delivery: the time in seconds, and the HMAC-SHA256 of time and body.

    There is one HMAC for each key of the secret, so that a receiver who has an older one can verify it too.
    """
    seconds = int(time.time() if now is None else now)
    signed = f"{seconds}.".encode() + body
    codes = (hmac.new(key.encode(), signed, sha256).hexdigest() for key in secret.split())
    return ",".join([f"t={seconds}", *(f"v1={code}" for code in codes)])


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


def parse_secret(text: str) -> str:
    """A secret from a text in which commas or white space separate the keys."""
    return " ".join(re.split(r"[\s,]+", text.strip(" \t\r\n,")))


def read_secret(path: Path) -> str:
    """The secret in a file that only its owner may read, one key a line; the file is created if need be."""
    if not path.exists():
        with suppress(FileExistsError), private_file(path, replace=False) as file:  # of two, one creates it
            file.write(new_secret().encode())
    if others_can_read(path):
        raise ValueError(f"others can read '{path}', which holds the secret; run chmod 600 on it")
    return parse_secret(path.read_text())


def write_secret(path: Path, secret: str) -> None:
    """Write a secret to a file that only its owner may read, one key a line."""
    with private_file(path, replace=True) as file:
        file.write("\n".join(secret.split()).encode())


def rotate_secret(path: Path, *, keep: int) -> int:
    """Put a new key first in the file of the secret, of which so many are kept; how many were dropped."""
    keys = read_secret(path).split()
    write_secret(path, " ".join([new_secret(), *keys][:keep]))
    return max(len(keys) + 1 - keep, 0)
