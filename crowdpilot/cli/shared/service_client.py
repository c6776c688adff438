"""Requests to a running service: JSON and files over HTTP, with a key."""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 300.0
JSON = "application/json"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: the key goes to the address that was given, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


OPENER = urllib.request.build_opener(_NoRedirects)


class SentFile(NamedTuple):
    """A file to be sent: its name, perhaps with folders, and its bytes."""

    name: str
    data: bytes


class ServiceClient(NamedTuple):
    """A service at an address, and a key of its API."""

    address: str
    key: str

    def get(self, path: str) -> Any:
        """The response to a request, parsed."""
        return self._send(path)

    def post(self, path: str, body: Any) -> Any:
        """The response to a request with JSON, parsed."""
        return self._send(path, json.dumps(body).encode(), JSON)

    def delete(self, path: str) -> None:
        """Delete something; nothing is answered."""
        self._send(path, method="DELETE")

    def post_files(self, path: str, files: Sequence[SentFile]) -> Any:
        """The response to a request with files, parsed."""
        boundary = secrets.token_hex(16)
        parts = [_part(boundary, file) for file in files]
        body = b"".join(parts) + f"--{boundary}--\r\n".encode()
        return self._send(path, body, f"multipart/form-data; boundary={boundary}")

    def _send(self, path: str, body: bytes | None = None, type: str = JSON, method: str | None = None) -> Any:
        if not self.address.startswith(("http://", "https://")):
            raise ValueError(f"the address {self.address!r} begins neither with http:// nor with https://")
        headers = {"X-API-Key": self.key, "Content-Type": type, "Accept": JSON}
        url = f"{self.address.rstrip('/')}{path}"
        request = urllib.request.Request(url, body, headers, method=method)  # checked
        try:
            with OPENER.open(request, timeout=TIMEOUT_SECONDS) as response:
                return json.loads(response.read() or "null")
        except urllib.error.HTTPError as error:
            with error:
                raise ValueError(_detail(error)) from None
        except (urllib.error.URLError, TimeoutError) as error:
            reason = getattr(error, "reason", error)
            raise ValueError(f"the service at {self.address} cannot be reached ({reason})") from None
        except ValueError:
            raise ValueError(f"what answers at {self.address} is not the service; check --address") from None


def _part(boundary: str, file: SentFile) -> bytes:
    name = file.name.replace("\\", "/").replace('"', "%22").replace("\r", "").replace("\n", "")
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + file.data + b"\r\n"


def _detail(error: urllib.error.HTTPError) -> str:
    """What the service says, or the status if it says nothing."""
    if error.code in range(300, 400):
        moved = urlsplit(error.headers.get("Location", ""))
        return (
            f"the service is at {moved.scheme}://{moved.netloc} (status {error.code}); give that as --address"
        )
    try:
        return str(json.loads(error.read())["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the service answers with the status {error.code}"
