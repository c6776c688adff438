"""Sign-in by OpenID Connect: the code flow with PKCE, by authlib, and the members whom it signs in.

References
----------
OpenID Connect Core 1.0 and Discovery 1.0; RFC 7636 (PKCE); RFC 9207 (the issuer in the response).
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from crowdpilot.service.errors import ForbiddenError, NotReadyError
from crowdpilot.service.settings import IdentityProvider
from crowdpilot.service.signing import is_same

SCOPE = "openid email profile"
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519"]
REQUEST_SECONDS = 5.0  # for each answer of the provider
METADATA_SECONDS = 3600.0  # for which the description of the provider is kept
CLOCK_SECONDS = 60  # by which its clock may differ
MAX_SIGN_INS_AT_ONCE = 4  # so that a provider that does not answer cannot hold all threads
DISCOVERY = "/.well-known/openid-configuration"
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
FAILED = "the sign-in did not succeed; start again from the page to sign in"
UNREACHABLE = "the provider of sign-ins does not answer as it should; try again later, or sign in with a key"
BUSY = "many sign in now; try again in a moment"


class Attempt(NamedTuple):
    """A sign-in that has begun, which the browser keeps: only it can go on with it."""

    state: str
    nonce: str
    verifier: str  # of PKCE


class OpenIDConnect:
    """A provider, as the service talks to it.

    Parameters
    ----------
    settings
        Of the provider.
    callback
        The address of ours to which the provider sends people back.
    """

    def __init__(self, settings: IdentityProvider, callback: str) -> None:
        self.settings, self.callback = settings, callback
        self._metadata: dict[str, Any] = {}
        self._read_at = -METADATA_SECONDS
        self._slots = threading.BoundedSemaphore(MAX_SIGN_INS_AT_ONCE)

    def begin(self) -> tuple[str, Attempt]:
        """The address at which somebody signs in, and what their browser keeps."""
        attempt = Attempt(*(secrets.token_urlsafe(32) for _ in range(3)))
        endpoint = self._describe()["authorization_endpoint"]
        with self._session() as session:
            url, _ = session.create_authorization_url(
                endpoint, state=attempt.state, nonce=attempt.nonce, code_verifier=attempt.verifier
            )
        return str(url), attempt

    def finish(self, attempt: Attempt, query: Mapping[str, str]) -> dict[str, Any]:
        """The claims about somebody who comes back from the provider.

        Raises
        ------
        ForbiddenError
            The answer is not of this attempt, or not of the provider.
        NotReadyError
            The provider cannot be reached.
        """
        if not is_same(query.get("state", ""), attempt.state):
            raise ForbiddenError(FAILED)
        metadata = self._describe()
        needs_issuer = metadata.get("authorization_response_iss_parameter_supported") is True
        if query.get("iss", None if needs_issuer else self.settings.issuer) != self.settings.issuer:
            raise ForbiddenError(FAILED)
        if not query.get("code"):  # such as when somebody declined
            raise ForbiddenError(FAILED)
        if not self._slots.acquire(blocking=False):
            raise NotReadyError(BUSY)
        try:
            return self._exchange(metadata, attempt, query["code"])
        except (requests.ConnectionError, requests.Timeout):
            raise NotReadyError(UNREACHABLE) from None
        except (requests.RequestException, AuthlibBaseError, JoseError, ValueError, KeyError, TypeError):
            raise ForbiddenError(FAILED) from None
        finally:
            self._slots.release()

    def _exchange(self, metadata: dict[str, Any], attempt: Attempt, code: str) -> dict[str, Any]:
        """Exchange a code for an ID token, and check that."""
        with self._session() as session:
            token = session.fetch_token(
                metadata["token_endpoint"], grant_type="authorization_code", code=code,
                code_verifier=attempt.verifier, timeout=REQUEST_SECONDS, allow_redirects=False,
            )  # fmt: skip
            keys = KeySet.import_key_set(_get(metadata["jwks_uri"]))  # also those that it has just rotated
            signed = jwt.decode(token["id_token"], keys, algorithms=ALGORITHMS)
            expected = {"iss": self.settings.issuer, "aud": self.settings.client_id}
            claims = CodeIDToken(
                signed.claims, signed.header,
                options={name: {"essential": True, "value": value} for name, value in expected.items()},
                params={"nonce": attempt.nonce, "client_id": self.settings.client_id,
                        "access_token": token.get("access_token")},
            )  # fmt: skip
            claims.validate(leeway=CLOCK_SECONDS)
            if not isinstance(claims["sub"], str) or not claims["sub"]:
                raise ValueError("the ID token names nobody")
            if "email" in claims or "userinfo_endpoint" not in metadata:
                return dict(claims)
            about = session.get(
                metadata["userinfo_endpoint"], timeout=REQUEST_SECONDS, allow_redirects=False
            ).json()
            if about["sub"] != claims["sub"]:
                raise ValueError("the provider tells about somebody else")
            return {**about, **claims}

    def _session(self) -> Any:
        return OAuth2Session(
            self.settings.client_id, self.settings.client_secret or None, scope=SCOPE,
            redirect_uri=self.callback, code_challenge_method="S256",
        )  # fmt: skip

    def _describe(self) -> dict[str, Any]:
        """The description of the provider, of the issuer that is expected, with addresses as safe as its."""
        if time.monotonic() - self._read_at < METADATA_SECONDS:
            return self._metadata
        issuer = self.settings.issuer
        try:
            found = _get(issuer.rstrip("/") + DISCOVERY)
            if found["issuer"] != issuer:
                raise ValueError("the provider is another")
            if issuer.startswith("https:") and not all(
                found[name].startswith("https:") for name in ENDPOINTS
            ):
                raise ValueError("the provider has addresses without https")
        except (requests.RequestException, ValueError, KeyError, TypeError, AttributeError):
            raise NotReadyError(UNREACHABLE) from None
        self._metadata, self._read_at = found, time.monotonic()
        return self._metadata


def _get(url: str) -> Any:
    """A JSON object of the provider."""
    response = requests.get(url, timeout=REQUEST_SECONDS, allow_redirects=False)
    response.raise_for_status()
    found = response.json()
    if not isinstance(found, dict):
        raise ValueError("the provider answers with something else than an object")
    return found
