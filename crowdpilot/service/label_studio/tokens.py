"""Access tokens of Label Studio as they are stored: AES-256-GCM under a key derived from the secret."""

from __future__ import annotations

import base64
import secrets
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from crowdpilot.service.errors import ConflictError
from crowdpilot.service.signing import derive_all

NONCE_BYTES = 12
PURPOSE = "label_studio_token"


def encrypt(secret: str, project: str, token: str) -> str:
    """A token as it is stored; another project, or another secret, cannot decrypt it."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    key = _keys(secret, project)[0]
    return base64.b64encode(nonce + AESGCM(key).encrypt(nonce, token.encode(), project.encode())).decode()


def decrypt(secret: str, project: str, stored: str) -> str:
    """The token, by any key of the secret; a `ConflictError` if all keys it was stored with are gone.

    Examples
    --------
    >>> decrypt("s" * 32, "birds", encrypt("s" * 32, "birds", "a token"))
    'a token'
    """
    data = base64.b64decode(stored)
    for key in _keys(secret, project):
        try:
            nonce, text = data[:NONCE_BYTES], data[NONCE_BYTES:]
            return AESGCM(key).decrypt(nonce, text, project.encode()).decode()
        except InvalidTag:
            continue
    raise ConflictError("the access token of Label Studio cannot be read any more; connect again")


def _keys(secret: str, project: str) -> list[bytes]:
    """One for each key of the secret, the newest first."""
    return [sha256(text.encode()).digest() for text in derive_all(secret, PURPOSE, project)]
