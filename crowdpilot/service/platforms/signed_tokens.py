"""Signed tokens of a platform: JSON Web Tokens by RS256, checked against the platform's public keys."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

BITS = 2048  # a shorter key can be broken
NOT_VALID = "the signed token of the link is not valid; open the study on the platform again"


def read_claims(token: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """What a token says, once its signature is found to be made by one of the keys (a JWKS).

    The algorithm is never taken from the token, and each text has one spelling only.

    References
    ----------
    RFC 7515 (signatures), RFC 7517 (keys) and RFC 7518, section 3.3 (RS256).
    """
    parts = token.split(".")
    if len(parts) != 3:
        raise ValueError(NOT_VALID)
    head, body = _record(parts[0]), _record(parts[1])
    if head.get("alg") != "RS256" or "crit" in head:
        raise ValueError(NOT_VALID)
    _verify(_find(keys, head.get("kid")), _decode(parts[2]), f"{parts[0]}.{parts[1]}".encode())
    return body


def _find(keys: Mapping[str, Any], name: Any) -> Mapping[str, Any]:
    """The one key of this name that may sign."""
    listed = keys.get("keys")
    if not isinstance(listed, list):
        raise ValueError("the public keys are not a JWKS; fetch them again from the platform")
    found = [key for key in listed if isinstance(key, dict) and key.get("kid") == name and _signs(key)]
    if not isinstance(name, str) or len(found) != 1:
        raise ValueError("the link is signed with an unknown key; fetch the platform's public keys again")
    return found[0]


def _signs(key: Mapping[str, Any]) -> bool:
    return key.get("kty") == "RSA" and key.get("use", "sig") == "sig" and key.get("alg", "RS256") == "RS256"


def _verify(key: Mapping[str, Any], signature: bytes, signed: bytes) -> None:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
        from cryptography.hazmat.primitives.hashes import SHA256
    except ModuleNotFoundError:
        raise ValueError("checking signed links needs cryptography: pip install cryptography") from None
    modulus, exponent = (int.from_bytes(_decode(str(key.get(part, "")))) for part in "ne")
    if modulus.bit_length() < BITS:
        raise ValueError(f"the public key has fewer than {BITS} bits; fetch the keys again from the platform")
    try:
        RSAPublicNumbers(exponent, modulus).public_key().verify(signature, signed, PKCS1v15(), SHA256())
    except (InvalidSignature, ValueError):
        raise ValueError(NOT_VALID) from None


def _record(text: str) -> dict[str, Any]:
    try:
        record = json.loads(_decode(text))
    except (ValueError, RecursionError):
        raise ValueError(NOT_VALID) from None
    if not isinstance(record, dict):
        raise ValueError(NOT_VALID)
    return record


def _decode(text: str) -> bytes:
    """Bytes of base64url without padding, in the one spelling that these bytes have."""
    try:
        found = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise ValueError(NOT_VALID) from None
    if urlsafe_b64encode(found).decode().rstrip("=") != text:
        raise ValueError(NOT_VALID)
    return found
