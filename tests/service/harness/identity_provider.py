"""A provider of OpenID Connect on this machine that answers as a test wants, honestly or not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, CLIENT_SECRET = "crowdpilot", "the-secret-of-the-client"
BASIC = "Basic " + base64.b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, private=True)


class FakeProvider:
    """A provider: what it says about itself and about people can be changed."""

    def __init__(self, address: str) -> None:
        self.issuer = address
        self.metadata: dict[str, Any] = {
            "issuer": address, "authorization_endpoint": f"{address}/authorize",
            "token_endpoint": f"{address}/token", "jwks_uri": f"{address}/jwks",
        }  # fmt: skip
        self.person: dict[str, Any] = {"sub": "1", "email": "ann@example.org", "email_verified": True}
        self.userinfo: dict[str, Any] = {}
        self.encode: Callable[[dict[str, Any]], str] = signed
        self.claims: dict[str, Any] = {}  # instead of the right ones
        self.delay = 0.0  # seconds before an answer
        self.seen: list[str] = []  # paths that were asked for
        self._codes: dict[str, dict[str, str]] = {}

    def authorize(self, url: str, **wrong: str) -> dict[str, str]:
        """Somebody signs in where they were sent: the parameters that they come back with."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert url.startswith(self.metadata["authorization_endpoint"])
        assert (asked["client_id"], asked["response_type"]) == (CLIENT, "code")
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        return {"state": asked["state"], "code": code, **wrong}

    def answer(self, path: str, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        self.seen.append(path)
        time.sleep(self.delay)
        if path == "/.well-known/openid-configuration":
            return 200, self.metadata
        if path == "/jwks":
            return 200, {"keys": [KEY.as_dict(private=False)]}
        if path == "/userinfo":
            return 200, self.userinfo
        asked = self._codes.pop(form.get("code", ""), None)  # a code is good once
        challenge = encoded(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if asked is None or challenge != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        if form["redirect_uri"] != asked["redirect_uri"] or authorization != BASIC:
            return 401, {"error": "invalid_client"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        token = self.encode({**claims, **self.person, **self.claims})
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": token}


def signed(claims: dict[str, Any], key: Any = KEY, alg: str = "RS256", **header: Any) -> str:
    """An ID token."""
    return jwt.encode({"alg": alg, "kid": "one", **header}, claims, key, algorithms=[alg])


def unsigned(claims: dict[str, Any], alg: str = "none") -> str:
    """An ID token that says that it needs no signature."""
    return ".".join(encoded(json.dumps(part).encode()) for part in ({"alg": alg, "kid": "one"}, claims)) + "."


def signed_by_password(claims: dict[str, Any], password: bytes) -> str:
    """An ID token that is signed with a password, such as the public key, which everybody has."""
    text = unsigned(claims, "HS256").rstrip(".")
    return f"{text}.{encoded(hmac.digest(password, text.encode(), 'sha256'))}"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@contextmanager
def providing() -> Iterator[FakeProvider]:
    """A provider that listens until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.respond({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            self.respond({name: values[0] for name, values in parse_qs(body).items()})

        def respond(self, form: dict[str, str]) -> None:
            status, found = provider.answer(self.path, form, self.headers.get("authorization", ""))
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = FakeProvider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
