"""JSON Web Tokens of a platform, signed by RS256 and checked by PyJWT against the platform's public keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jwt
from jwt.algorithms import has_crypto

from crowdpilot.service.errors import InvalidLinkError, translatable

ALGORITHM = "RS256"  # never taken from the token
OPTIONS: Any = {  # the audience is compared by its host, see `prolific`; clocks may differ by seconds (iat)
    "require": ["exp"],
    "verify_aud": False,
    "verify_iat": False,
    "enforce_minimum_key_length": True,
}
NOT_VALID = translatable("the signed token of the link is not valid; open the study on the platform again")
EXPIRED = translatable("the signed link has expired; open the study on the platform again")


def read_claims(token: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """The claims of a token that was signed by one of the keys (a JWKS) and has not expired.

    References
    ----------
    RFC 7515 (signatures), RFC 7517 (keys), RFC 7518, section 3.3 (RS256), and RFC 7519 (tokens).
    """
    if not has_crypto:
        raise InvalidLinkError("checking signed links needs cryptography: pip install cryptography")
    if "=" in token:  # padding, which PyJWT takes: each token has one spelling only
        raise InvalidLinkError(NOT_VALID)
    try:
        key = _find_key(keys, jwt.get_unverified_header(token).get("kid"))
        claims: dict[str, Any] = jwt.decode(token, key, algorithms=[ALGORITHM], options=OPTIONS)
    except (jwt.ExpiredSignatureError, jwt.MissingRequiredClaimError):
        raise InvalidLinkError(EXPIRED) from None
    except jwt.InvalidKeyError:
        raise InvalidLinkError("the public key has fewer than 2048 bits; fetch the keys again") from None
    except (jwt.PyJWTError, UnicodeEncodeError):
        raise InvalidLinkError(NOT_VALID) from None
    if not isinstance(claims["exp"], int | float):  # PyJWT takes a text as well
        raise InvalidLinkError(NOT_VALID)
    return claims


def _find_key(keys: Mapping[str, Any], id: Any) -> jwt.PyJWK:
    """The one key of this id that may sign."""
    listed = keys.get("keys")
    if not isinstance(listed, list):
        raise InvalidLinkError("the public keys are not a JWKS; fetch them again from the platform")
    matching = [key for key in listed if isinstance(key, dict) and key.get("kid") == id and _may_sign(key)]
    if not isinstance(id, str) or len(matching) != 1:
        raise InvalidLinkError(
            "the link is signed with an unknown key; fetch the platform's public keys again"
        )
    try:
        return jwt.PyJWK.from_dict(matching[0], ALGORITHM)
    except (jwt.PyJWTError, ValueError, TypeError):
        raise InvalidLinkError("the platform's public key is not valid; fetch the keys again") from None


def _may_sign(key: Mapping[str, Any]) -> bool:
    return (
        key.get("kty") == "RSA" and key.get("use", "sig") == "sig" and key.get("alg", ALGORITHM) == ALGORITHM
    )
